"""COVR's rows are read into programs and written back; what is malformed is told with its row."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from questree.domains.images.answers import count, every, geq, nothing
from questree.domains.images.kinds import ATTRIBUTE, COUNT, LINK_NAME, NOUN
from questree.domains.images.things import any_link, anything, find, only, scene, with_relation
from questree.notation.covr import read, write
from questree.terms import ProgramError, Slot, Word

DATA = Path(__file__).parent / "data" / "covr"
VECTORS = json.loads(gzip.decompress((DATA / "executor_programs.json.gz").read_bytes()))
Rows = list[dict[str, Any]]


def row(operation: str, *dependencies: int, args: list[Any] | None = None) -> dict[str, Any]:
    made: dict[str, Any] = {"operation": operation}
    if args is not None:
        made["arguments"] = args
    return made | ({"dependencies": list(dependencies)} if dependencies else {})


def needed(rows: Rows) -> Rows:
    """Without the rows that the last one does not need, renumbered."""
    keep: set[int] = set()
    waiting = [len(rows) - 1] if rows else []
    while waiting:
        at = waiting.pop()
        keep.add(at)
        waiting += rows[at].get("dependencies", [])
    new = {old: at for at, old in enumerate(sorted(keep))}
    links = {
        old: {"dependencies": [new[at] for at in rows[old]["dependencies"]]}
        for old in keep
        if "dependencies" in rows[old]
    }
    return [rows[old] | links.get(old, {}) for old in sorted(keep)]


# programs whose rows put the things before what they are related to; nothing but the order changes
OTHER_ORDER = {526, 532, 607, 631, 646}


def test_every_program_of_the_release_is_written_as_it_was_read() -> None:
    changed = {vector["id"] for vector in VECTORS if write(read(vector["program"])) != needed(vector["program"])}
    assert changed == OTHER_ORDER


def test_programs_in_another_order_are_written_with_targets_first_and_then_stay() -> None:
    for vector in VECTORS:
        node = read(vector["program"])
        assert read(write(node)) == node
        assert write(read(write(node))) == write(node)


def test_a_reference_is_written_targets_first() -> None:
    tables = only(find(Word("table", NOUN)), Word("brown", ATTRIBUTE))
    men = find(Word("man", NOUN))
    cups = with_relation(find(Word("cup", NOUN)), tables, Word("on", LINK_NAME))
    node = count(with_relation(cups, men, Word("near", LINK_NAME)))
    assert write(node) == [
        row("find", args=["table"]),
        row("filter", 0, args=["brown"]),
        row("find", args=["man"]),
        row("find", args=["cup"]),
        row("with_relation", 3, 1, args=["on"]),
        row("with_relation", 4, 2, args=["near"]),
        row("count", 5),
    ]
    assert read(write(node)) == node


def test_a_row_used_twice_stays_one_row_and_two_equal_rows_stay_two() -> None:
    shared = [row("scene"), row("count", 0), row("eq", 1, 1)]
    equal = [row("scene"), row("count", 0), row("scene"), row("count", 2), row("eq", 1, 3)]
    assert write(read(shared)) == shared
    assert write(read(equal)) == equal
    assert read(shared) == read(equal)  # they mean the same


def test_a_sub_program_has_rows_of_its_own() -> None:
    rows = [
        row("find", args=["cup"]),
        row("all", 0, args=[[row("scene"), row("filter", 0, args=["red"])]]),
    ]
    node = read(rows)
    assert node == every(find(Word("cup", NOUN)), only(scene(), Word("red", ATTRIBUTE)))
    assert write(node) == [rows[0], row("all", 0, args=[[row("scene"), row("filter", 0, args=["red"])]])]


def test_what_is_left_out_is_any() -> None:
    cups = find(Word("cup", NOUN))
    on = Word("on", LINK_NAME)
    cases = {
        with_relation(cups, anything(), on): row("with_relation", 0, args=[None, "on"]),
        with_relation(cups, anything(), any_link()): row("with_relation", 0, args=[]),
    }
    for node, last in cases.items():
        assert read([row("find", args=["cup"]), last]) == node
        assert write(node)[-1] == last
    assert read([row("find", args=["cup"]), row("with_relation", 0)]) == with_relation(cups, anything(), any_link())


def test_lists_nothing_and_the_empty_word_keep_their_spelling() -> None:
    spellings: list[list[Any]] = [[["cup", "man"]], [["cup"]], [[]], [None], [""]]
    for args in spellings:
        assert write(read([row("find", args=args)])) == [row("find", args=args)]


def test_a_number_may_stand_where_a_count_may() -> None:
    rows = [row("scene"), row("count", 0), row("geq", 1, args=[3])]
    assert read(rows) == geq(count(scene()), Word("3", COUNT))
    assert write(read(rows)) == rows


def test_an_empty_program_is_nothing() -> None:
    assert read([]) == nothing()
    assert write(nothing()) == []


def test_a_slot_cannot_be_written() -> None:
    with pytest.raises(ProgramError, match=r"the slot \$noun has no spelling"):
        write(count(find(Slot("noun", NOUN))))


FIND = row("find", args=["cup"])
MALFORMED: dict[str, tuple[Any, int, str]] = {
    "unknown operation": ([FIND, row("cuont", 0)], 1, "expected an operation, got 'cuont'; choose from count"),
    "dependency on itself": (
        [FIND, row("count", 1)],
        1,
        "count: expected one of the rows 0 to 0 before it, got a dependency on 1",
    ),
    "dependency on a later row": (
        [row("count", 1), FIND],
        0,
        "count: expected no dependency in the first row, got a dependency on 1",
    ),
    "negative dependency": (
        [FIND, row("count", -1)],
        1,
        "count: expected one of the rows 0 to 0 before it, got a dependency on -1",
    ),
    "dependency that is no number": (
        [FIND, {"operation": "exists", "dependencies": ["0"]}],
        1,
        "exists: expected one of the rows 0 to 0 before it, got a dependency on '0'",
    ),
    "too few arguments": (
        [FIND, row("filter", 0)],
        1,
        "filter: expected 2 dependencies and arguments (things: things, attribute: attribute), got 1",
    ),
    "too many arguments": (
        [FIND, row("exists", 0, args=["cup"])],
        1,
        "exists: expected 1 dependencies and arguments (things: things), got 2",
    ),
    "wrong kind of row": (
        [FIND, row("exists", 0), row("group_by_images", 1)],
        2,
        "group_by_images: expected things of kind things, got bool",
    ),
    "wrong kind for several operators": (
        [FIND, row("exists", 0), row("count", 1)],
        2,
        "count: expected things of kind things, got bool, or expected images of kind scenes, got bool, "
        "or expected groups of kind groups, got bool",
    ),
    "a number where a word is wanted": (
        [FIND, row("unique", 0), row("verify_attr", 1, args=[3])],
        2,
        "verify_attr: expected attribute as a word, got 3",
    ),
    "a word where a number is wanted": (
        [FIND, row("count", 0), row("leq", 1, args=["two"])],
        2,
        "leq: expected b as a number, got 'two'",
    ),
    "true is no number": (
        [FIND, row("count", 0), row("leq", 1, args=[True])],
        2,
        "leq: expected b as a number, got True",
    ),
    "inside a sub-program": (
        [FIND, row("some", 0, args=[[row("scene"), row("filter", 1, args=["red"])]])],
        1,
        "some: in its sub-program, at 1: filter: expected one of the rows 0 to 0 before it, got a dependency on 1",
    ),
    "a sub-program of another kind": (
        [FIND, row("none", 0, args=[[row("scene"), row("count", 0)]])],
        1,
        "none: expected condition to give things, got count",
    ),
    "a sub-program without rows": (
        [FIND, row("none", 0, args=[[]])],
        1,
        "none: expected condition to give things, got nothing",
    ),
    "a dependency in place of a sub-program": (
        [FIND, row("all", 0, 0)],
        1,
        "all: expected condition as a sub-program among the arguments, got a dependency",
    ),
    "a row that is no row": ([FIND, "count"], 1, "expected a row {operation, arguments, dependencies}, got 'count'"),
    "a field too much": (
        [FIND | {"argument": "cup"}],
        0,
        "expected operation, arguments and dependencies, got also argument",
    ),
    "arguments that are no list": (
        [{"operation": "find", "arguments": "cup"}],
        0,
        "expected a list of arguments, got 'cup'",
    ),
    "also in rows nobody needs": (
        [row("verify_attr", args=["red"]), row("scene")],
        0,
        "verify_attr: expected 2 dependencies and arguments (thing: thing, attribute: attribute), got 1",
    ),
}


@pytest.mark.parametrize("case", MALFORMED)
def test_a_malformed_program_is_told_with_its_row(case: str) -> None:
    rows, position, message = MALFORMED[case]
    with pytest.raises(ProgramError) as caught:
        read(rows)
    assert caught.value.position == position
    assert str(caught.value).startswith(f"at {position}: {message}")
