"""The image operators mean what COVR's executor computes, row by row of every program, and what a naive judge says."""

import gzip
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from image_judge import Judge, Undefined
from questree.domains.images import IMAGES, ImageSets, evaluate, image_sets, reasons, spelled
from questree.domains.images.answers import all_same, count, every, exists, none, query_attr, same_attr, some
from questree.domains.images.kinds import ATTRIBUTE, COUNT, GROUP, LINK_NAME, NOUN, REASONS
from questree.domains.images.things import anything, assert_unique, find, only, unique, with_relation
from questree.faults import BadInput
from questree.notation import covr
from questree.program import Node, Slot, Term, Word
from questree.sources import gqa
from questree.synth.images import write_images
from questree.tables.images import Images

DATA = Path(__file__).parent / "data" / "covr"


def data(name: str) -> Any:
    return json.loads(gzip.decompress((DATA / f"{name}.json.gz").read_bytes()))


def read_scenes(folder: Path, scenes: dict[str, Any]) -> Images:
    path = folder / "sceneGraphs.json"
    path.write_text(json.dumps(scenes))
    return gqa.read_files([path])


# -- the vectors ---------------------------------------------------------------------------------------

SCENES, VECTORS = data("scenes"), list(zip(data("executor_programs"), data("executor_expected"), strict=True))
ERRORS = {
    "NonExistentException": "does not exist",
    "NonUniqueException": "not unique",
    "MultipleAttributesForTypeException": "several attributes",
    "NoCommonAttributeException": "no common attribute",
    "NeitherOfChooseException": "neither option",
}
SANE = "quirk:rows_after_quantifier"  # the release reads inner rows there; ours mean the outer ones
CHECKED = [pair for pair in VECTORS if pair[0]["tag"] != SANE and not pair[1]["hash_order_dependent"]]


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> ImageSets:
    images = read_scenes(tmp_path_factory.mktemp("scenes"), SCENES["gqa"] | SCENES["imsitu"])
    return image_sets(images, [program["scenes"] for program, _ in CHECKED], SCENES["attribute_groups"])


def flat(value: Any) -> Any:
    """Lists are in no particular order; groups are told by their things."""
    if isinstance(value, dict):
        return sorted(thing for group in value.values() for thing in group)
    return sorted(value) if isinstance(value, list) else value


def outcome(rows: list[dict[str, Any]], world: ImageSets) -> tuple[Any, str | None]:
    node = covr.read(rows)
    found = evaluate(node, world)
    return flat(spelled(node, found, world)[0]), reasons(found)[0]


@pytest.mark.parametrize("tag", sorted({program["tag"] for program, _ in CHECKED}))
def test_every_row_has_the_value_of_the_released_executor(world: ImageSets, tag: str) -> None:
    for at, (program, expected) in enumerate(CHECKED):
        if program["tag"] == tag:
            rows = program["program"]
            prefixes = [rows[: length + 1] for length in range(len(rows))]
            for prefix, want in zip(prefixes or [rows], expected["trace"] or [expected["result"]], strict=False):
                answer = (flat(want["v"]), None) if want["ok"] else (None, ERRORS[want["error"]])
                assert outcome(prefix, world.ask(at)) == answer, (program["id"], prefix[-1:])


def test_rows_after_a_quantifier_mean_the_outer_rows(tmp_path: Path) -> None:
    images = read_scenes(tmp_path, SCENES["gqa"] | SCENES["imsitu"])
    results = {}
    for program, _ in VECTORS:
        if program["tag"] == SANE:
            world = image_sets(images, [program["scenes"]], SCENES["attribute_groups"])
            results[program["id"]] = outcome(program["program"], world)[0]
    # by eye: 582 some cup is plastic, but no frisbee; 587 some man is black, a frisbee exists; 590 no ball, no bench
    assert {key: results[key] for key in (582, 587, 590)} == {582: False, 587: True, 590: False}


def test_things_are_read_as_the_release_reads_them(tmp_path: Path) -> None:
    scenes = SCENES["gqa"] | SCENES["imsitu"]
    formatted = data("scenes_formatted_expected")
    world = image_sets(read_scenes(tmp_path, scenes), [[name] for name in formatted], SCENES["attribute_groups"])
    for at, objects in enumerate(formatted.values()):
        place = {world.thing_ids[thing]: i for i, thing in enumerate(world.thing[at]) if thing >= 0}
        assert sorted(place) == sorted(objects)
        for key, want in objects.items():
            values = [int(v) for v in world.attributes_of[world.thing[at, place[key]]] if v >= 0]
            assert [world.words[v] for v in values] == want["attributes"]
            grouped: dict[str, list[str]] = {}
            for v in values:
                if world.group_of[v] >= 0:
                    grouped.setdefault(world.groups[world.group_of[v]], []).append(world.words[v])
            assert {g: sorted(v) for g, v in grouped.items()} == {
                g: sorted(v) for g, v in want["attributes_by_group"].items()
            }
            mine = (world.subject[at] == place[key]) & (world.link[at] >= 0) & ~world.preposition[at]
            assert [world.words[link] for link in world.link[at][mine]] == [r["name"] for r in want["relations"]]


# -- a world small enough to check by eye --------------------------------------------------------------

KITCHEN = {
    "kitchen": {
        "objects": {
            "k1": {"name": "cup", "attributes": ["red", "small"], "relations": [{"name": "on", "object": "k3"}]},
            "k2": {"name": "cup", "attributes": ["red", "blue"], "relations": [{"name": "near", "object": "k1"}]},
            "k3": {"name": "table", "attributes": ["brown"]},
        }
    },
    "yard": {
        "objects": {
            "y1": {"name": "dog", "relations": [{"name": "to the left of", "object": "y2"}]},
            "y2": {"name": "table", "attributes": ["brown"]},
        }
    },
    "empty": {"objects": {}},
}
COLORS = {"red": "color", "blue": "color", "brown": "color", "wood": "material"}


@pytest.fixture
def home(tmp_path: Path) -> ImageSets:
    return image_sets(read_scenes(tmp_path, KITCHEN), [["kitchen", "yard"], ["yard"], ["empty"]], COLORS)


def nouns(name: str) -> Node:
    return find(Word(name, NOUN))


def of_all(node: Node, world: ImageSets) -> list[Any]:
    found = evaluate(node, world)
    return [why if why else value for why, value in zip(reasons(found), spelled(node, found, world), strict=True)]


def test_one_program_answers_every_row_at_once(home: ImageSets) -> None:
    assert of_all(count(nouns("table")), home) == [2, 1, 0]
    assert of_all(unique(nouns("table")), home) == ["not unique", "y2", "does not exist"]


def test_a_slot_takes_its_column_and_rows_choose_their_set(home: ImageSets) -> None:
    world = home.ask([0, 0, 1])
    column = np.array([home.word_at["cup"], home.word_at["dog"], home.word_at["dog"]])
    node = count(find(Slot("noun", NOUN)))
    found = evaluate(node, world, {"noun": column})
    assert spelled(node, found, world) == [2, 1, 1]


def test_the_first_reason_stays(home: ImageSets) -> None:
    color = Word("color", GROUP)
    several = query_attr(unique(with_relation(nouns("cup"), nouns("cup"), Word("near", LINK_NAME))), color)
    missing = query_attr(unique(nouns("zebra")), color)
    assert of_all(same_attr(several, missing), home)[0] == "several attributes"
    assert of_all(same_attr(missing, several), home)[0] == "does not exist"


def test_an_error_inside_a_quantifier_is_an_error_of_the_whole(home: ImageSets) -> None:
    assert of_all(some(nouns("cup"), assert_unique(nouns("table"))), home)[:2] == ["not unique", False]


def test_quantifiers_over_nothing(home: ImageSets) -> None:
    zebras, cups = nouns("zebra"), nouns("cup")
    assert of_all(every(zebras, cups), home) == [True, True, True]
    assert of_all(none(zebras, cups), home) == [True, True, True]
    assert of_all(some(zebras, cups), home) == [False, False, False]


def test_all_same_wants_one_value_common_to_all(home: ImageSets) -> None:
    color = Word("color", GROUP)
    assert of_all(all_same(nouns("cup"), color), home) == [True, True, True]  # red is common; no cups: true
    assert of_all(all_same(nouns("table"), color), home) == [True, True, True]
    assert of_all(all_same(nouns("dog"), color), home) == [False, False, True]  # the dog has no color
    assert of_all(all_same(nouns("table"), Word("material", GROUP)), home) == [False, False, True]


def test_left_and_right_are_not_read_unless_asked_for(tmp_path: Path) -> None:
    node = exists(with_relation(nouns("dog"), anything(), Word("to the left of", LINK_NAME)))
    images = read_scenes(tmp_path, KITCHEN)
    assert of_all(node, image_sets(images, [["yard"]], COLORS)) == [False]
    assert of_all(node, image_sets(images, [["yard"]], COLORS, unread=())) == [True]


def test_an_image_said_twice_counts_once(tmp_path: Path) -> None:
    world = image_sets(read_scenes(tmp_path, KITCHEN), [["yard", "yard"]], COLORS)
    assert of_all(count(nouns("dog")), world) == [1]


def test_unknown_images_are_all_told(tmp_path: Path) -> None:
    with pytest.raises(BadInput) as caught:
        image_sets(read_scenes(tmp_path, KITCHEN), [["yard", "attic"], ["cellar"]], COLORS)
    assert [fault.message for fault in caught.value.faults] == [
        "no image 'attic' among the 3 images",
        "no image 'cellar' among the 3 images",
    ]


# -- random programs against sets and loops ------------------------------------------------------------

JUDGED = [op for op in IMAGES.ops.values() if hasattr(Judge, "do_" + op.name)]
VOCABULARY = {
    NOUN: ["cup", "table", "man", "horse", "bottle", "tea", "zzz"],
    ATTRIBUTE: ["red", "blue", "wood", "small", "round", "zzz"],
    LINK_NAME: ["on", "near", "wearing", "with", "uncorking", "uncorking:_from", "to the left of"],
    GROUP: ["color", "material", "shape", "nogroup"],
    COUNT: ["0", "1", "2", "3"],
}


def random_term(kind: Any, depth: int, draw: np.random.Generator) -> Term:
    """A term of this kind, drawn from the signatures of the operators; shallow ones when the depth is used up."""
    words, ops = VOCABULARY.get(kind, []), [op for op in JUDGED if op.result == kind]
    if words and (not ops or depth <= 0 or draw.random() < 0.6):
        return Word(str(draw.choice(words)), kind)
    if depth <= 0:
        fewest = min(sum(p not in VOCABULARY for p in op.params.values()) for op in ops)
        ops = [op for op in ops if sum(p not in VOCABULARY for p in op.params.values()) == fewest]
    op = ops[int(draw.integers(len(ops)))]
    return op(*(random_term(param, depth - 1, draw) for param in op.params.values()))


def judged(node: Node, judge: Judge) -> Any:
    try:
        value = judge.value(node)
    except Undefined as error:
        return str(error)
    return sorted(value) if isinstance(value, set) else flat(value)


def test_random_programs_agree_with_sets_and_loops(tmp_path: Path) -> None:
    scenes, draw = SCENES["gqa"] | SCENES["imsitu"], np.random.default_rng(7)
    sets = [list(draw.choice(sorted(scenes), int(draw.integers(1, 4)), replace=False)) for _ in range(20)]
    world = image_sets(read_scenes(tmp_path, scenes), sets, SCENES["attribute_groups"])
    judges = [Judge(scenes, SCENES["attribute_groups"], names) for names in sets]
    used, seen = set(), set()
    for at in range(1080):
        op = JUDGED[at % len(JUDGED)]
        node = op(*(random_term(param, 2, draw) for param in op.params.values()))
        found = [flat(value) for value in of_all(node, world)]
        assert found == [judged(node, judge) for judge in judges], covr.write(node)
        used.add(op.name)
        seen |= {value for value in found if isinstance(value, str) and value in REASONS}
    assert len(used) == len(JUDGED) == 36
    assert seen == set(REASONS)


def test_the_example_of_the_page_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = (Path(__file__).parents[1] / "docs" / "images.md").read_text("utf-8")
    write_images(tmp_path / "made", 10, seed=1)
    gqa.ingest(tmp_path / "made", tmp_path / "RUN")
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    exec(page.split("```python")[1].split("```")[0], names)
    assert len(names["spelled"](names["program"], names["outcome"], names["world"])) == 2


def test_only_the_operators_of_lists_and_gaps_are_not_judged() -> None:
    unjudged = {name for name, op in IMAGES.ops.items() if op not in JUDGED}
    lists = {"anything", "any_link", "any_choice", "no_choice", "either", "find_any", "filter_any", "nothing"}
    assert unjudged == lists | {"relation_between_nouns", "unique_link", "query_link", "choose_relation"}
    assert of_all(only(nouns("cup"), Word("blue", ATTRIBUTE)), image_sets_of_nothing()) == []


def image_sets_of_nothing() -> ImageSets:
    from questree.tables.images import Gathering

    return image_sets(Gathering().done(), [], COLORS)
