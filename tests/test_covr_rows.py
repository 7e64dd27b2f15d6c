"""Programs run row by row, whatever their shapes, answer as each of them does when it is read and run by itself."""

import json
import random
from typing import Any

import msgspec
import pytest

from bench.image_programs import random_programs
from questree.api.covr_programs import explained, results_of
from questree.domains.images import Corpus, corpus
from questree.notation.covr_written import ODD
from questree.sources.covr import read_scenes
from questree.sources.covr_programs import ProgramRecord, RowsRecord, WrittenPrograms, read_programs

NOUNS, ATTRIBUTES, LINKS = ["dog", "cat", "man", "cup"], ["red", "big", "wood"], ["on", "near", "holding"]
KINDS = ["find", "filter", "with_relation", "count", "exists", "unique", "query_name", "query_attr", "eq", "scene"]
KINDS += ["relation_between_nouns", "unique_images", "group_by_images", "keep_if_values_count_geq", "keys", "all", "x"]


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Corpus:
    draw = random.Random(1)

    def image(many: int) -> dict[str, Any]:
        return {
            "objects": {
                str(at): {
                    "name": draw.choice(NOUNS),
                    "attributes": draw.sample(ATTRIBUTES, draw.randint(0, 2)),
                    "relations": [
                        {"object": str(draw.randrange(many)), "name": draw.choice(LINKS)}
                        for _ in range(draw.randint(0, 2))
                    ],
                    **dict.fromkeys(("x", "y", "w", "h"), 1),
                }
                for at in range(many)
            }
        }

    place = tmp_path_factory.mktemp("scenes") / "scenes.json"
    graphs = {str(at): image(70 if at == 3 else draw.randint(0, 6)) for at in range(8)}  # one of two pages
    place.write_bytes(msgspec.json.encode({"gqa": graphs, "imsitu": {}}))
    return corpus(read_scenes(place).images, {"red": "color", "wood": "material"})


def alone(world: Corpus, asked: list[ProgramRecord]) -> list[dict[str, Any]]:
    """By shapes, with care."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("questree.notation.covr_written.WrittenRows.__missing__", lambda *_: ODD)
        return results_of(asked, world)[0]


def as_read(records: list[dict[str, Any]]) -> list[ProgramRecord]:
    return list[ProgramRecord](msgspec.json.decode(msgspec.json.encode(records), type=list[RowsRecord]))


def test_programs_of_many_shapes(world: Corpus) -> None:
    records = random_programs(400, world.image_ids, NOUNS, ATTRIBUTES, LINKS, 5)
    found, wrong = results_of(as_read(records), world)
    assert not wrong
    assert found == alone(world, as_read(records)) == results_of([ProgramRecord(**each) for each in records], world)[0]
    assert len({str(each["value"]) for each in found}) > 4


def any_program(draw: random.Random) -> list[dict[str, Any]]:
    """Rows of any operations on any rows before: most are malformed, or undefined somewhere."""
    rows: list[dict[str, Any]] = [{"operation": "find", "arguments": [draw.choice(NOUNS)]}]
    for at in range(1, draw.randint(2, 7)):
        name = draw.choice(KINDS)
        words: dict[str, list[Any]] = {
            "find": [draw.choice([draw.choice(NOUNS), ["dog", "cat"], "unheard of"])],
            "filter": [draw.choice([draw.choice(ATTRIBUTES), ["red", "big"]])],
            "with_relation": draw.choice([[], [None], [draw.choice(LINKS)]]),
            "query_attr": [draw.choice(["color", "size"])],
            "keep_if_values_count_geq": [draw.randint(0, 3)],
            "all": [[{"operation": "scene"}, {"operation": "filter", "arguments": ["red"], "dependencies": [0]}]],
        }
        many = {"find": 0, "scene": 0, "with_relation": 2, "eq": 2, "relation_between_nouns": 2}.get(name, 1)
        needs = [draw.randrange(max(0, at - 3), at) for _ in range(many)]
        rows.append({"operation": name, "arguments": words.get(name, []), "dependencies": needs})
    return rows


def test_undefined_and_malformed_programs(world: Corpus) -> None:
    """The reason is that of the first row that cannot be run, whatever order rows are run in."""
    draw = random.Random(3)
    records = [
        {"id": n, "scenes": draw.sample(world.image_ids, draw.randint(0, 3)), "program": any_program(draw)}
        for n in range(3000)
    ]
    found = results_of(as_read(records), world)[0]
    assert found == alone(world, as_read(records))
    reasons = {each.get("error") for each in found}
    assert reasons >= {None, "malformed", "not_unique", "does_not_exist"}
    assert sum(each["ok"] for each in found) > 150


@pytest.mark.parametrize("program", [[], {}, None, [1], [{"operation": 3}], [{"operation": "find", "x": 1}], [[]]])
def test_programs_that_are_none(world: Corpus, program: Any) -> None:
    asked = [ProgramRecord(1, [world.image_ids[0]], program)]
    assert results_of(asked, world) == (alone(world, asked), results_of(asked, world)[1])


def test_programs_of_a_file_are_those_of_its_records(world: Corpus, tmp_path: Any) -> None:
    """Scenes that are named twice or are not there, and programs that are malformed, among others."""
    draw, place = random.Random(4), tmp_path / "programs.json"
    scenes = [*world.image_ids, "nowhere", world.image_ids[0]]
    records = [
        {
            "id": draw.choice([n, f"n{n}", None]),
            "scenes": draw.choices(scenes, k=draw.randint(0, 4)),
            "program": program,
        }
        for n in range(600)
        for program in [any_program(draw) if n % 3 else []]
    ]
    place.write_text(json.dumps(records, indent=draw.choice([None, 2])))
    read = read_programs(place)
    assert isinstance(read, WrittenPrograms)
    assert [(each.id, each.scenes, each.rows) for each in read] == [tuple(each.values()) for each in records]
    found, wrong = results_of(read, world)
    assert (found, wrong) == results_of(as_read(records), world)
    assert list(explained(read, wrong)) == list(explained(as_read(records), wrong))
    assert {each.get("error") for each in found} >= {None, "malformed", "not_unique"}


def test_a_file_with_one_bad_record_is_read(tmp_path: Any) -> None:
    place = tmp_path / "programs.json"
    place.write_text('[{"id": 1, "scenes": [], "program": [{"operation": "scene"}]}, 5, {"program": "x"}]')
    assert [each.rows for each in read_programs(place)] == [[{"operation": "scene"}], None, "x"]
