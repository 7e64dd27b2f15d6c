"""Released hierarchies are read as a reader with loops reads them; what is not as wanted has a fault."""

import json
import random
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from questree.faults import BadInput
from questree.formats import decomp_files
from questree.formats.decomp_files import hierarchies_of, read_hierarchies
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


Columns = dict[str, list[Any]]


def read(content: bytes) -> HierarchyPart | None:
    tables = decomp_files.file_tables(Path("V.json"), content)
    return tables if isinstance(tables, HierarchyPart) else None


def in_words(part: HierarchyPart | None) -> Columns | None:
    """The columns of a part with words in place of numbers."""
    if part is None:
        return None
    nodes, composed, edges = (part.tables[name] for name in ("nodes", "composed", "edges"))

    def named(column: Any, names: Any) -> list[Any]:
        return [None if at < 0 else names[at] for at in np.asarray(column).tolist()]

    return {
        "dag": nodes["dag"].tolist(),
        "type": named(nodes["type"], part.names["types"]),
        "key": named(nodes["key"], part.keys),
        "answer": named(nodes["answer"], part.names["words"]),
        "object": named(nodes["object"], part.names["words"]),
        "parent": nodes["parent"].tolist(),
        "parents": composed["parent"].tolist(),
        "composition": named(composed["composition"], part.names["compositions"]),
        "edges": composed["edges"].tolist(),
        "first": composed["first"].tolist(),
        "child": edges["child"].tolist(),
        "repeated": edges["repeated"].tolist(),
    }


def naive(content: bytes) -> Columns:
    """The same read with loops."""
    file, made = json.loads(content.decode(errors="replace"), strict=False), Columns()  # nobody reads all fields

    def put(**values: Any) -> None:
        for name, value in values.items():
            made.setdefault(name, []).append(value)

    begin = edges = 0
    for number, one in enumerate(file.values()):
        place = {text: begin + at for at, text in enumerate(one["subquestion"])}
        begin += len(place)
        for text, node in one["subquestion"].items():
            found = re.fullmatch(r"objExists\(([^()]*)\)", node.get("program") or "")
            thing = found[1].strip() if found else None
            put(dag=number, type=node["type"], key=node["key"], answer=node.get("answer"), object=thing)
            put(parent=text in one["hierarchy"])
        for text in sorted(one["hierarchy"], key=place.__getitem__):
            before = set[str]()
            for label, children in one["hierarchy"][text].items():
                put(parents=place[text], composition=label, edges=len(children), first=edges)
                edges += len(children)
                for child in children:
                    put(child=place[child], repeated=child in before)
                    before.add(child)
    return made


def same(part: HierarchyPart | None, content: bytes) -> bool:
    words, wanted = in_words(part), naive(content)
    return words is not None and all(column == wanted.get(name, []) for name, column in words.items())


def files() -> list[Any]:
    """The vectors of AGQA-Decomp's scripts, and random files with every oddity of DAGs."""
    vectors = (
        load("agqa_decomp/hierarchies.json.gz"),
        *(case["hierarchies"] for case in load("agqa_decomp/edge_cases.json.gz").values()),
    )
    made = *vectors, *(random_files(seed)[0] for seed in range(4))
    return [content for each in made for name, content in each.items() if name != "isolated.json"]


def test_files_are_read_as_a_reader_with_loops_reads_them() -> None:
    for content in files():
        for text in (json.dumps(content), json.dumps(content, indent=1), json.dumps(content, separators=(",", ":"))):
            assert same(read(text.encode()), text.encode()), text


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


def test_odd_strings_and_orders_are_read_too() -> None:
    for seed in range(300):
        draw = random.Random(seed)
        content = {f"V-{draw.choice(ODD)}-{n}": hostile(draw) for n in range(3)}
        text = json.dumps(content, ensure_ascii=draw.random() < 0.5, indent=draw.choice([None, 2])).encode()
        assert same(read(text), text), text


def test_broken_bytes_are_never_read_as_something_else() -> None:
    """Bytes changed, left out, doubled or put in: what is read is what stands there, the rest has a fault."""
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
        tables = decomp_files.file_tables(Path("V.json"), bytes(broken))
        if isinstance(tables, HierarchyPart):
            assert same(tables, bytes(broken)), bytes(broken)
            understood += 1
        else:
            assert tables, bytes(broken)
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
def test_what_is_strange_is_read_and_what_is_wrong_has_a_fault(name: str) -> None:
    content = (STRANGE | WRONG)[name].replace("@", NODE).encode(errors="surrogateescape")
    if name in STRANGE:
        assert same(read(content), content)
    else:
        assert read(content) is None


def test_many_different_strings_are_read_too() -> None:
    content = json.dumps({"V-1": dag({f"t{n}": (f"V-{n}", "And", str(n)) for n in range(3000)}, {})}).encode()
    assert same(read(content), content)
    assert same(read(b"{}"), b"{}")


def test_a_folder_is_read_like_its_files(tmp_path: Path) -> None:
    made = random_files(9)[0] | {"odd.json": {"V-1": {"x": 1.5, **hostile(random.Random(3))}}}
    for name, content in made.items():
        (tmp_path / name).write_text(json.dumps(content))
    wanted = hierarchies_of(made)
    found = read_hierarchies(tmp_path)
    assert all(found.__dict__[name].equals(wanted.__dict__[name]) for name in ("nodes", "composed", "edges", "dags"))
    assert (found.words, found.types, found.keys.to_list()) == (wanted.words, wanted.types, wanted.keys.to_list())
    (tmp_path / "A.json").write_text('{"A-0": {"subquestion": {}}}')
    (tmp_path / "B.json").write_text("nonsense")
    with pytest.raises(BadInput) as bad:
        read_hierarchies(tmp_path)
    assert [fault.place for fault in bad.value.faults] == [str(tmp_path / "A.json"), str(tmp_path / "B.json")]
