"""Released files read from their bytes: the same columns as the careful reader, or not understood; nothing else."""

import json
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from questree.faults import BadInput
from questree.formats import decomp_files
from questree.formats.decomp_files import hierarchies_of, read_hierarchies
from questree.formats.decomp_scan import Scanner, padded
from questree.tables.hierarchies import HierarchyPart
from worlds.decomp_files import dag, load, random_files

ODD = [
    "é",
    "日本",
    "😀",
    'a "quoted" one',
    "back\\slash",
    "\\",
    '\\"',
    "line\nend",
    "\u2028",
    "",
    " ",
    "objExists(cup)",
]
PROGRAMS = ["objExists(cup)", "objExists( a cup )", "objExists(a(b))", "objExists(a) ", "objExists(", "objExists()"]
PROGRAMS += ["objExists(\u00a0é)", "objExists(a)b)", "objExist", "query()"]


scanned = Scanner().scanned


def careful(content: bytes) -> HierarchyPart | None:
    read = decomp_files._one(Path("V.json"), content)
    return read if isinstance(read, HierarchyPart) else None


def same(one: HierarchyPart | None, other: HierarchyPart | None) -> bool:
    if one is None or other is None:
        return one is other
    return (
        one.names == other.names
        and list(one.keys) == list(other.keys)
        and all(
            np.array_equal(column, one.tables[table][name])
            for table, columns in other.tables.items()
            for name, column in columns.items()
        )
    )


def files() -> list[Any]:
    """The vectors of AGQA-Decomp's scripts, and random files with every oddity of DAGs."""
    vectors = (
        load("agqa_decomp/hierarchies.json.gz"),
        *(case["hierarchies"] for case in load("agqa_decomp/edge_cases.json.gz").values()),
    )
    made = *vectors, *(random_files(seed)[0] for seed in range(4))
    return [content for each in made for name, content in each.items() if name != "isolated.json"]


def test_files_as_released_are_read_from_their_bytes() -> None:
    for content in files():
        for text in (json.dumps(content), json.dumps(content, indent=1), json.dumps(content, separators=(",", ":"))):
            assert same(scanned("V", padded(text.encode())), careful(text.encode())), text
            assert careful(text.encode()) is not None


def hostile(draw: random.Random) -> dict[str, Any]:
    """A DAG with odd strings and other fields, in other orders."""
    texts = draw.sample([*ODD, *"abcdefgh"], draw.randint(1, 6))

    def told() -> dict[str, Any]:
        fields = [("key", f"V-{draw.choice(ODD)}"), ("type", draw.choice(["Object Exists", *ODD]))]
        more = [("answer", draw.choice(["yes", None, *ODD])), ("program", draw.choice([*PROGRAMS, None]))]
        more.append((draw.choice([*ODD, "keys", "typ"]), draw.choice(["x", None])))
        return dict(draw.sample(both := [*fields, *draw.sample(more, draw.randint(0, 3))], len(both)))

    hierarchy = {
        text: {name: draw.choices(texts, k=draw.randint(0, 3)) for name in draw.sample(["And", "Xor", *ODD], 2)}
        for text in draw.sample(texts, draw.randint(0, len(texts)))
    }
    subquestion = {text: told() for text in texts}
    fields = [("subquestion", subquestion), ("hierarchy", hierarchy), ("question", draw.choice(ODD)), ("answer", None)]
    return dict(fields if draw.random() < 0.7 else draw.sample(fields, 4))


def test_odd_strings_and_orders_are_read_like_the_careful_reader_does() -> None:
    read = 0
    for seed in range(300):
        draw = random.Random(seed)
        content = {f"V-{draw.choice(ODD)}-{n}": hostile(draw) for n in range(3)}
        text = json.dumps(content, ensure_ascii=draw.random() < 0.5, indent=draw.choice([None, 2])).encode()
        found = scanned("V", padded(text))
        assert found is None or same(found, careful(text)), text
        read += found is not None
    assert read > 90  # all whose sub-questions stand before their hierarchy


def test_broken_bytes_are_never_read_as_something_else() -> None:
    """Bytes changed, left out, doubled or put in: what is understood is what the careful reader reads."""
    draw, understood = random.Random(5), 0
    content = json.dumps({f"V-{n}": hostile(random.Random(n)) for n in range(2)}).encode()
    plain = json.dumps(
        {"V-1": dag({"a": ("V-1", "And", "yes"), "b": ("V-2", "Xor", None)}, {"a": {"And": ["b", "b"]}})}
    )
    for _ in range(3000):
        broken = bytearray(draw.choice([content, plain.encode()]))
        for _ in range(draw.randint(1, 2)):
            at, many = draw.randrange(len(broken)), draw.randint(0, 2)
            new = draw.choice(
                [b'"', b"\\", b"{", b"}", b"[", b"]", b",", b":", b" ", b"\n", b"\x00", b"\xff", b"1", b"null"]
            )
            broken[at : at + many] = draw.choice([b"", new, bytes(broken[at : at + many]) * 2])
        found = scanned("V", padded(bytes(broken)))
        assert found is None or same(found, careful(bytes(broken))), bytes(broken)
        understood += found is not None
    assert understood > 300


NODE = '{"key": "V-1", "type": "And"}'
# @ is a node
STRANGE = {
    "a name twice": '{"V-1": {"subquestion": {"a": @, "a": @}, "hierarchy": {}}}',
    "a DAG twice": '{"V-1": {"subquestion": {}, "hierarchy": {}}, "V-1": {"subquestion": {}, "hierarchy": {}}}',
    "a field twice": '{"V-1": {"subquestion": {"a": {"key": "1", "key": "2", "type": "And"}}, "hierarchy": {}}}',
    "a parent twice": '{"V-1": {"subquestion": {"a": @}, "hierarchy": {"a": {}, "a": {"And": []}}}}',
    "a composition twice": '{"V-1": {"subquestion": {"a": @}, "hierarchy": {"a": {"X": [], "X": ["a"]}}}}',
    "hierarchy first": '{"V-1": {"hierarchy": {"a": {"X": ["a"]}}, "subquestion": {"a": @}}}',
    "another value": '{"V-1": {"n": [1, {"b": 2}], "subquestion": {"a": @}, "hierarchy": {}}}',
}
WRONG = {
    "a number for a key": '{"V-1": {"subquestion": {"a": {"key": 1, "type": "And"}}, "hierarchy": {}}}',
    "null for a type": '{"V-1": {"subquestion": {"a": {"key": "1", "type": null}}, "hierarchy": {}}}',
    "no key": '{"V-1": {"subquestion": {"a": {"type": "And"}}, "hierarchy": {}}}',
    "no hierarchy": '{"V-1": {"subquestion": {}}}',
    "no sub-question": '{"V-1": {"subquestion": {"a": @}, "hierarchy": {"a": {"X": ["b"]}}}}',
    "of another DAG": '{"V-1": {"subquestion": {"a": @}, "hierarchy": {}}, '
    '"V-2": {"subquestion": {"b": @}, "hierarchy": {"b": {"X": ["a"]}}}}',
    "not UTF-8": '{"V-1": {"subquestion": {"a\udcff": @}, "hierarchy": {}}}',
    "a control character": '{"V-1": {"subquestion": {"a\t": @}, "hierarchy": {}}}',
    "more after the end": '{"V-1": {"subquestion": {}, "hierarchy": {}}} {}',
    "a comma at the end": '{"V-1": {"subquestion": {}, "hierarchy": {}},}',
    "nothing": "",
    "a list": "[]",
    "deep": "[" * 5000,
}


@pytest.mark.parametrize("name", [*STRANGE, *WRONG])
def test_what_is_not_as_released_is_left_to_the_careful_reader(name: str) -> None:
    content = (STRANGE | WRONG)[name].replace("@", NODE).encode(errors="surrogateescape")
    assert scanned("V", padded(content)) is None
    if name in STRANGE:
        assert careful(content) is not None


def test_more_different_strings_than_expected_are_read_too() -> None:
    content = json.dumps({"V-1": dag({f"t{n}": (f"V-{n}", "And", str(n)) for n in range(3000)}, {})}).encode()
    assert same(scanned("V", padded(content)), careful(content))
    assert same(scanned("V", padded(b"{}")), careful(b"{}"))


def test_folders_are_read_alike_by_either_way(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = random_files(9)[0] | {"odd.json": {"V-1": {"x": 1.5, **hostile(random.Random(3))}}}
    for name, content in made.items():
        (tmp_path / name).write_text(json.dumps(content))
    wanted = hierarchies_of(made)
    monkeypatch.setattr("questree.formats.decomp_files.SCANNED", 0)
    found = read_hierarchies(tmp_path)
    assert all(found.__dict__[name].equals(wanted.__dict__[name]) for name in ("nodes", "composed", "edges", "dags"))
    assert (found.words, found.types, found.keys.to_list()) == (wanted.words, wanted.types, wanted.keys.to_list())
    (tmp_path / "A.json").write_text('{"A-0": {"subquestion": {}}}')
    (tmp_path / "B.json").write_text("nonsense")
    with pytest.raises(BadInput) as bad:
        read_hierarchies(tmp_path)
    assert [fault.place for fault in bad.value.faults] == [str(tmp_path / "A.json"), str(tmp_path / "B.json")]


def test_memory_is_used_again_for_the_next_file(tmp_path: Path) -> None:
    files = Scanner()
    for size in (100, 5, 0, 300):
        (tmp_path / "f").write_bytes(b"x" * size)
        assert files.file(tmp_path / "f").tobytes() == b"x" * size + bytes(16)
