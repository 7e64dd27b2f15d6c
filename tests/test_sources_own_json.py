"""People's own videos: documented, checked to the last field, and the same after writing and reading again."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import polars as pl
import pytest

from questree.faults import BadInput
from questree.sources.assemble import CLIPPED, SourceReading
from questree.sources.catalogue import kind_of
from questree.sources.own_json import read_own_images, read_own_json, write
from questree.tables.facts import TABLES, Facts, pack
from questree.vocabulary import default
from questree.vocabulary.load import default_text, parse
from worlds.small import actions, facts, presence, relations

FIXTURE = Path(__file__).parent / "fixtures" / "own_videos.json"


def example() -> dict[str, Any]:
    found: dict[str, Any] = msgspec.json.decode(FIXTURE.read_bytes())
    return found


def read(path: Path) -> SourceReading:
    return read_own_json(path, default())


def faults(path: Path, content: Any) -> list[str]:
    """The lines with which this content is refused, without what is the same in all of them."""
    file = path / "mine.json"
    file.write_bytes(content if isinstance(content, bytes) else msgspec.json.encode(content))
    with pytest.raises(BadInput) as caught:
        read(file)
    return [
        str(fault).removeprefix(f"{file}").removeprefix(", video kitchen-1").lstrip(",: ")
        for fault in caught.value.faults
    ]


def changed(*path: Any, to: Any) -> dict[str, Any]:
    """The first video of the example with one place changed."""
    content = example()
    place = content["videos"][0]
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = to
    return content


def test_the_example_becomes_facts() -> None:
    reading = read(FIXTURE)
    found = reading.facts
    assert found.videos.rows() == [("kitchen-1", "train", 12.5, 640, 480)]
    assert found.frames.select("frame", "number", "seconds").rows() == [(0, 30, 1.0), (1, 90, 3.0)]
    assert found.persons.rows() == [(0, 0, 100, 50, 220, 470, None)]
    assert relations(found) == {
        "holding cup": [0],
        "in front of cup": [0],
        "not contacting table": [0],
        "drinking from cup": [1],
    }
    assert presence(found) == {"cup": [0, 1], "table": [0]}
    assert actions(found) == [("c107", 1, 0.0, 4.2, 0, 1), ("c106", 1, 2.5, 4.0, 1, 1)]
    assert reading.skipped == {}


def test_two_spellings_of_a_class_in_a_frame_are_one_object(tmp_path: Path) -> None:
    first = {"class": "cup", "relations": ["holding"]}
    second = {"class": "cup/glass/bottle", "relations": ["in front of", "holding"]}
    frame = {"number": 0, "seconds": 0, "objects": [first, second]}
    (tmp_path / "x.json").write_bytes(msgspec.json.encode({"videos": [{"id": "a", "frames": [frame]}]}))
    reading = read(tmp_path / "x.json")
    assert presence(reading.facts) == {"cup": [0]}
    assert relations(reading.facts) == {"holding cup": [0], "in front of cup": [0]}
    assert reading.skipped == {"object that its frame has under another spelling, counted as that one": 1}


def test_a_folder_of_files_is_read_as_one(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / f"{name}.json").write_bytes(msgspec.json.encode(changed("id", to=name)))
    assert read(tmp_path).facts.videos["id"].to_list() == ["a", "b"]


def test_only_an_id_is_needed(tmp_path: Path) -> None:
    (tmp_path / "x.json").write_text('{"videos": [{"id": "a"}]}')
    assert read(tmp_path / "x.json").facts.videos.rows() == [("a", "", None, None, None)]


@pytest.mark.parametrize(
    ("content", "line"),
    [
        (changed("split", to="dev"), "unknown split 'dev'; known: train, test, or none"),
        (changed("id", to=""), "video : id is empty"),
        (changed("length", to=0), "length must be positive, is 0"),
        (changed("width", to=70000), "width must be 1 to 65535 pixels, is 70000"),
        (changed("frames", 1, "number", to=30), "frame 30 is there 2 times"),
        (changed("frames", 0, "number", to=-5), "frame -5: a number is 0 to 4294967295"),
        (
            changed("frames", 1, "seconds", to=0.5),
            "frame 90 (0.5 s) has a higher number than frame 30 (1 s) and must be later",
        ),
        (changed("frames", 0, "seconds", to=-1), "frame 30: seconds must not be negative, are -1"),
        (
            changed("frames", 0, "objects", 0, "box", to=[600, 10, 650, 20]),
            "frame 30, object cup: box [600.0, 10.0, 650.0, 20.0] is outside the frame of 640 x 480 pixels",
        ),
        (
            changed("frames", 0, "person", to=[-20, 0, 5, 5]),
            "frame 30: person: box [-20.0, 0.0, 5.0, 5.0] is outside the frame of 640 x 480 pixels",
        ),
        (
            changed("frames", 0, "objects", 0, "box", to=[9, 1, 5, 2]),
            "frame 30, object cup: box [9.0, 1.0, 5.0, 2.0] is not [x1, y1, x2, y2] with x1 <= x2 and y1 <= y2",
        ),
        (
            changed("frames", 0, "objects", 0, "visible", to=False),
            "frame 30, object cup: has a box but is not visible; leave one of them out",
        ),
        (
            changed("frames", 0, "objects", 1, "class", to="cup"),
            "frame 30: two objects of class cup; the facts hold one per class and frame",
        ),
        (changed("actions", 0, "end", to=-1), "action 1 (c107): end -1 is before start 0"),
        (changed("actions", 0, "start", to=-1), "action 1 (c107): start must not be negative, is -1"),
    ],
    ids=lambda value: value.split(" ", 1)[0] if isinstance(value, str) else "",
)
def test_what_cannot_be_true_gives_one_line(tmp_path: Path, content: Any, line: str) -> None:
    assert faults(tmp_path, content) == [line]


@pytest.mark.parametrize(
    ("content", "begin"),
    [
        (
            changed("frames", 0, "objects", 0, "relations", to=["holdin"]),
            "frame 30, object cup: unknown relation 'holdin'; did you mean 'holding'? known: 53 relations, see ",
        ),
        (
            changed("frames", 0, "objects", 0, "class", to="cupp"),
            "frame 30: unknown object 'cupp'; did you mean 'cup'?",
        ),
        (changed("frames", 0, "relations", to=[["holding", "xyz"]]), "frame 30: unknown object 'xyz'; known: person, "),
        (changed("frames", 0, "relations", to=[["annotated", "cup"]]), "frame 30: unknown relation 'annotated'"),
        (
            changed("actions", 0, "class", to="c999"),
            "action 1 (c999): unknown action 'c999'; did you mean 'c099'? known: 157 actions, see the vocabulary",
        ),
    ],
    ids=["relation", "object", "object of a relation", "derived relation", "action"],
)
def test_unknown_words_give_one_line_with_the_valid_ones(tmp_path: Path, content: Any, begin: str) -> None:
    (line,) = faults(tmp_path, content)
    assert line.startswith(begin)


def test_a_box_may_reach_one_pixel_over_the_edge_and_is_clipped(tmp_path: Path) -> None:
    (tmp_path / "x.json").write_bytes(msgspec.json.encode(changed("frames", 0, "person", to=[-1, 0, 641, 480.5])))
    reading = read(tmp_path / "x.json")
    assert reading.facts.persons.select("x1", "y1", "x2", "y2").rows() == [(0, 0, 640, 480)]
    assert reading.skipped[CLIPPED] == 1


def test_fields_that_are_missing_unknown_or_of_another_type_are_all_named(tmp_path: Path) -> None:
    content = example()
    video = content["videos"][0]
    del video["frames"][0]["seconds"]
    video["frames"][0]["number"] = "thirty"
    video["frames"][0]["objects"][0] |= {"bbox": [1, 2, 3, 4], "box": [1, 2], "visible": 1}
    video["frames"][1]["objects"] = "cup"
    video["actions"][1] = ["c107", 1, 2]
    del video["id"]
    content["videos"].append({"length": 2})
    content["note"] = "hello"
    lines = faults(tmp_path, content)
    nameless, frame = "video 1 of the list", "video 1 of the list, frame thirty"
    assert [line.split(" - at")[0] for line in lines] == [
        f"{nameless}: id is missing",
        f"{frame}: number: Expected `int`, got `str`",
        f"{frame}: seconds is missing",
        f"{frame}, object 1 of the list: box: Expected `array` of length 4, got 2"
        if "got 2" in lines[3]
        else f"{frame}, object 1 of the list: box: Expected `array` of length 4",
        f"{frame}, object 1 of the list: visible: Expected `bool`, got `int`",
        f"{frame}, object 1 of the list: unknown field 'bbox'; known: class, box, visible, relations",
        f"{nameless}, frame 90: objects: Expected `array`, got `str`",
        f"{nameless}, action 2 of the list: expected an object with class, start, end, got ['c107', 1, 2]",
        "video 2 of the list: id is missing",
        "unknown field 'note'; known: videos",
    ]


def test_faults_of_form_and_of_content_are_told_together(tmp_path: Path) -> None:
    content = changed("split", to="dev")
    content["videos"].append({"length": 2})
    assert faults(tmp_path, content) == [
        "video 2 of the list: id is missing",
        "unknown split 'dev'; known: train, test, or none",
    ]


@pytest.mark.parametrize(
    ("content", "begin"),
    [
        (b"{", "not JSON ("),
        (b"", "not JSON ("),
        (b'{"videos": [\xff]}', "not JSON ("),
        (b'{"videos": [{"id": "a", "frames": [], "length": 1e400}]}', "not JSON (Number out of range"),
        (b'{"videos": ' + b"[" * 100_000, "nested too deeply to be read"),
        (b"[]", "expected an object with videos, got []"),
        (b"{}", "videos is missing"),
        (b'{"videos": 3}', "videos: Expected `array`, got `int`"),
        (b'{"videos": [3]}', "video 1 of the list: expected an object with id, got 3"),
    ],
)
def test_what_is_not_our_form_gives_one_line(tmp_path: Path, content: bytes, begin: str) -> None:
    (line,) = faults(tmp_path, content)
    assert line.startswith(begin)


def test_a_byte_order_mark_is_no_part_of_the_text(tmp_path: Path) -> None:
    (tmp_path / "x.json").write_bytes(b"\xef\xbb\xbf" + FIXTURE.read_bytes())
    assert read(tmp_path / "x.json").facts.videos["id"].to_list() == ["kitchen-1"]


def test_an_id_that_is_used_twice_is_refused_also_across_files(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / f"{name}.json").write_bytes(FIXTURE.read_bytes())
    with pytest.raises(BadInput) as caught:
        read(tmp_path)
    assert list(map(str, caught.value.faults)) == [
        f"{tmp_path / 'b.json'}, video kitchen-1: a video of this id is also in {tmp_path / 'a.json'}"
    ]


def test_a_missing_or_empty_source_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="no such file or folder"):
        read(tmp_path / "absent")
    with pytest.raises(BadInput, match="no JSON file in this folder"):
        read(tmp_path)


def same(one: Facts, other: Facts) -> bool:
    return all(getattr(one, name).equals(getattr(other, name)) for name in TABLES)


def test_what_is_written_is_read_again_as_it_was(tmp_path: Path) -> None:
    world = facts(
        """
        video A train 30
        frames 0 1 2 3.5
        cup 0-2 at 5.1 5.2 9.3 9.4: holding, in front of
        table 3 unseen
        bare hair 3: fixing
        action c107 1 3
        action c107 3 20
        action c144 3.5 4
        video B test 10
        frames 1
        """
    )
    folded = world.relations.filter(pl.col("relation") == default().relation_at["holding"])
    folded = folded.with_columns(relation=pl.lit(default().relation_at["v008"], pl.UInt8))
    world = replace(world, tracks=pack(pl.concat([world.relations, folded])))
    write(world, default(), tmp_path / "again.json")
    assert same(read(tmp_path / "again.json").facts, world)
    assert b"5.1," in (tmp_path / "again.json").read_bytes().replace(b"\n", b"").replace(b" ", b"")


def test_the_example_is_the_same_after_writing_and_reading(tmp_path: Path) -> None:
    first = read(FIXTURE).facts
    write(first, default(), tmp_path / "again.json")
    assert same(read(tmp_path / "again.json").facts, first)


def floated(value: Any) -> Any:
    """The same with a point in every number."""
    if isinstance(value, dict):
        return {name: floated(each) for name, each in value.items()}
    if isinstance(value, list):
        return [floated(each) for each in value]
    return float(value) if type(value) is int else value


def test_a_number_with_a_point_is_the_whole_number_it_looks_like(tmp_path: Path) -> None:
    (tmp_path / "mine.json").write_bytes(msgspec.json.encode(floated(example())))
    assert b'"number":30.0' in (tmp_path / "mine.json").read_bytes()
    assert same(read(tmp_path / "mine.json").facts, read(FIXTURE).facts)
    assert faults(tmp_path, changed("frames", 0, "number", to=30.5)) == [
        "frame 1 of the list: number: Expected `int`, got `float`"
    ]


def test_a_line_of_json_lines_is_a_video(tmp_path: Path) -> None:
    videos = [msgspec.json.encode(changed("id", to=name)["videos"][0]) for name in "ab"]
    file = tmp_path / "mine.jsonl"
    file.write_bytes(b"\n".join([videos[0], b"", videos[1], b""]))
    (tmp_path / "other.json").write_bytes(msgspec.json.encode(changed("id", to="c")))
    assert read(file).facts.videos["id"].to_list() == ["a", "b"]
    assert read(tmp_path).facts.videos["id"].to_list() == ["a", "b", "c"]
    assert kind_of(file) == "json"
    file.write_bytes(b"\n".join([videos[0], b"{", b"[]", videos[1].replace(b'"train"', b'"dev"')]))
    with pytest.raises(BadInput) as caught:
        read(file)
    assert [str(fault).removeprefix(f"{file}, ") for fault in caught.value.faults] == [
        "line 2: not JSON (Input data was truncated)",
        "video 2 of the list: expected an object with id, got []",
        "video b: unknown split 'dev'; known: train, test, or none",
    ]


def test_a_line_of_json_lines_is_an_image(tmp_path: Path) -> None:
    file = tmp_path / "mine.jsonl"
    file.write_text('{"id": "a", "things": []}\n{"id": "b", "things": [{"id": "x", "name": "cup"}]}\n')
    assert kind_of(file) == "images"
    assert read_own_images(file)[0].images["id"].to_list() == ["a", "b"]


def test_the_order_of_own_images_does_not_matter(tmp_path: Path) -> None:
    album = [{"id": name, "things": [{"id": "x", "name": thing}]} for name, thing in (("b", "cup"), ("a", "dog"))]
    for name, records in (("mine.json", album), ("turned.json", album[::-1])):
        (tmp_path / name).write_bytes(msgspec.json.encode({"images": records}))
    one, other = (read_own_images(tmp_path / name)[0] for name in ("mine.json", "turned.json"))
    assert one.images["id"].to_list() == ["a", "b"]
    assert all(table.equals(getattr(other, name)) for name, table in vars(one).items())


def test_nul_is_refused(tmp_path: Path) -> None:
    assert faults(tmp_path, changed("id", to="a\0b")) == ["video id: expected a text without NUL, got 'a\\x00b'"]
    named = {"images": [{"id": "a", "things": [{"id": "x", "name": "c\0p", "attributes": ["r\0d"]}]}]}
    (tmp_path / "mine.json").write_bytes(msgspec.json.encode(named))
    with pytest.raises(BadInput, match=r"name: expected a text without NUL, got 'c.x00p'"):
        read_own_images(tmp_path / "mine.json")
    with pytest.raises(BadInput, match=r"object number 2: word: expected a text without NUL, got 'c.x00p'"):
        parse(default_text().replace('name = "bag"', 'name = "c\\u0000p"'), "")


def test_facts_about_another_than_the_person_are_counted_and_left_out(tmp_path: Path) -> None:
    pairs = [["holding", "hair"], ["person", "touching", "hair"], ["cup", "on the side of", "table"], ["dog", "x", "y"]]
    content = changed("frames", 0, "relations", to=pairs)
    content["videos"][0]["actions"] += [
        {"class": "c106", "start": 0, "end": 1, "subject": "woman"},
        {"class": "c106", "start": 6, "end": 7, "subject": "o1"},
    ]
    (tmp_path / "mine.json").write_bytes(msgspec.json.encode(content))
    reading = read(tmp_path / "mine.json")
    assert reading.skipped == {
        "action of another than the person, left out": 1,
        "relation that does not begin at the person, left out": 2,
    }
    more = {"holding hair": [0], "touching hair": [0]}
    assert relations(reading.facts) == relations(read(FIXTURE).facts) | more
    assert actions(reading.facts) == [*actions(read(FIXTURE).facts), ("c106", 2, 6.0, 7.0, None, None)]
    assert faults(tmp_path, changed("frames", 0, "relations", to=[["holding"]])) == [
        "frame 30: relations: expected [relation, object] or [subject, relation, object], got ['holding']"
    ]
