"""The frames an answer rests on: small worlds by eye, and what holds for every question."""

from collections.abc import Iterator
from random import Random

import numpy as np
import pytest

from judges.facts import WORDS, read
from questree.domains.images import IMAGES
from questree.domains.images.kinds import THINGS
from questree.domains.video import VIDEO, videos
from questree.domains.video.facts import frames_of
from questree.notation.own import parse, show
from questree.readings.answer import answer
from questree.readings.evidence import evidence, roles
from questree.terms import ACTION, OBJECT, UNKNOWN, Array, Node, Term
from worlds import random_worlds as chance
from worlds.agqa_rows import rows, words_of
from worlds.agqa_shapes import TEMPLATES, shapes
from worlds.small import facts

KITCHEN = """
video A
frames 0 1 2 3 6 7
phone 0-1: holding
dish 3: holding
paper 5: holding
table 0-5: in front of
action c104 2 3
action c154 6 7
"""


def grounds(program: str) -> dict[str, list[int]]:
    """Every sub-program that names frames, with its frames."""
    world = videos(facts(KITCHEN), WORDS)
    return {show(node): frames_of(bits[0]) for node, bits in evidence(parse(program, VIDEO), world, {}).items()}


BEFORE = "before(turning on a light)"


@pytest.mark.parametrize(
    ("program", "wanted"),
    [
        ("interaction(holding, phone)", {"interaction(holding, phone)": [0, 1]}),
        ("interaction(holding, table)", {"interaction(holding, table)": []}),
        ("interacting(dish)", {"interacting(dish)": [3]}),
        ("happening(standing up)", {"happening(standing up)": [4, 5]}),
        (
            f"within(doing(holding), {BEFORE})",
            {f"within(doing(holding), {BEFORE})": [0, 1], "doing(holding)": [0, 1], BEFORE: [0, 1, 2]},
        ),
        (
            "within(doing(holding), while(turning on a light))",
            {
                "within(doing(holding), while(turning on a light))": [3],
                "doing(holding)": [3],
                "while(turning on a light)": [2, 3],
            },
        ),
        ("first(holding, whole())", {"first(holding, whole())": [0], "whole()": [0, 1, 2, 3, 4, 5]}),
        ("last(holding, whole())", {"last(holding, whole())": [5], "whole()": [0, 1, 2, 3, 4, 5]}),
        (
            "choose_last(holding, whole(), phone, dish)",
            {"choose_last(holding, whole(), phone, dish)": [3], "whole()": [0, 1, 2, 3, 4, 5]},
        ),
        ("action_order(turning on a light, standing up)", {"action_order(turning on a light, standing up)": [2, 3]}),
    ],
)
def test_evidence_by_eye(program: str, wanted: dict[str, list[int]]) -> None:
    assert grounds(program) == wanted


def test_a_reference_is_grounded_outside_the_window_of_the_question() -> None:
    found = grounds("within(interaction(holding, last(holding, whole())), before(turning on a light))")
    assert found["last(holding, whole())"] == [5]
    assert found["interaction(holding, last(holding, whole()))"] == []


@pytest.mark.parametrize(
    ("program", "wanted"),
    [
        ("first(holding, whole())", {"first(holding, whole())": "decides", "whole()": "time"}),
        (
            f"within(interaction(touching, last(holding, whole())), {BEFORE})",
            {
                "interaction(touching, last(holding, whole()))": "decides",
                "last(holding, whole())": "reference",
                "whole()": "searched",
                BEFORE: "time",
            },
        ),
        # what is compared with decides; what a time is told by is a reference
        ("equals(phone, first(holding, whole()))", {"first(holding, whole())": "decides", "whole()": "time"}),
        (
            "within(doing(holding), before(longest()))",
            {"doing(holding)": "decides", "longest()": "reference"},
        ),
        # the same time is asked about and searched: what is asked about counts
        (
            f"within(interaction(touching, last(holding, {BEFORE})), {BEFORE})",
            {BEFORE: "time", f"last(holding, {BEFORE})": "reference"},
        ),
    ],
)
def test_evidence_decides_or_tells_what_is_meant_or_is_the_time_asked_about(
    program: str, wanted: dict[str, str]
) -> None:
    found = {show(node): role for node, role in roles(parse(program, VIDEO)).items()}
    assert {part: found[part] for part in wanted} == wanted


def test_what_a_thing_is_told_by_is_a_reference_in_images_too() -> None:
    program = parse("exists(with_relation(filter(find(dog), black), find(table), on))", IMAGES)
    found = {show(node): role for node, role in roles(program).items() if node.kind == THINGS}
    outer = "with_relation(filter(find(dog), black), find(table), on)"
    inner = dict.fromkeys(("filter(find(dog), black)", "find(dog)", "find(table)"), "reference")
    assert found == {outer: "decides", **inner}


def test_all_frames_with_the_relation_ground_which_object_it_has() -> None:
    found = grounds("only(objects(holding, before(turning on a light)))")
    assert found["objects(holding, before(turning on a light))"] == [0, 1]


def test_a_verified_yes_rests_on_the_deciding_frame_and_a_no_on_nothing() -> None:
    assert grounds("equals(phone, first(holding, whole()))")["first(holding, whole())"] == [0]
    assert grounds("equals(dish, first(holding, whole()))")["first(holding, whole())"] == []


def test_both_sides_of_a_conjunction_have_their_own_evidence() -> None:
    found = grounds("but_not(interaction(holding, phone), interaction(holding, table))")
    assert found == {"interaction(holding, phone)": [0, 1], "interaction(holding, table)": []}


def test_an_action_is_seen_inside_the_window_only() -> None:
    assert grounds("action_after(after(turning on a light))")["action_after(after(turning on a light))"] == [4, 5]


def test_what_is_undefined_rests_on_nothing() -> None:
    assert set(map(tuple, grounds("only(objects(holding, whole()))").values())) == {()}


WORLD = facts("\n".join(chance.world(seed=4, videos=40, whole=True)))
COLUMNS, VIDEO_WORDS = videos(WORLD, WORDS), [words_of(video) for video in read(WORLD)]


def asked(node: Node) -> tuple[Array, dict[Node, Array]]:
    """[row] answers to questions of a shape, and [row, word] their evidence."""
    columns = rows(Random(show(node)), node, VIDEO_WORDS, 100)
    world = COLUMNS.ask(columns.pop("video"))
    return answer(node, world, columns), evidence(node, world, columns)


def itself(term: Term) -> Iterator[Node]:
    """The operators of a question itself: nothing inside a reference or a time phrase."""
    if isinstance(term, Node):
        yield term
        for name, arg in term.named():
            if term.kind.name != "window" and (name == term.op.target or arg.kind not in (OBJECT, ACTION)):
                yield from itself(arg)


@pytest.mark.parametrize("template", TEMPLATES)
def test_evidence_lies_inside_the_window_of_the_question(template: str) -> None:
    for shape in list(shapes(template))[::3]:
        answers, found = asked(shape.node)
        own = [part for part in itself(shape.node) if part in found]
        for window in (part for part in own if part.kind.name == "window"):
            assert not any((found[part] & ~found[window]).any() for part in own)
        assert not any(bits[answers == UNKNOWN].any() for bits in found.values())


@pytest.mark.parametrize("template", ["objExists", "objRelExists", "relExists"])
def test_a_yes_has_evidence_and_a_no_has_none(template: str) -> None:
    seen = set()
    for shape in shapes(template):
        answers, found = asked(shape.node)
        known = answers != UNKNOWN
        assert (found[shape.node].any(1) == (answers == 1))[known].all()
        seen |= set(answers.tolist())
    assert seen >= {0, 1}


@pytest.mark.parametrize("template", ["objFirst", "objLast", "objFirstChoose", "objLastChoose"])
def test_a_superlative_rests_on_one_frame(template: str) -> None:
    answered = 0
    for shape in shapes(template):
        answers, found = asked(shape.node)
        counts = np.bitwise_count(found[shape.node]).sum(1)
        assert (counts == (answers != UNKNOWN)).all()
        answered += int((answers != UNKNOWN).sum())
    assert answered > 50


@pytest.mark.parametrize("template", ["objFirstVerify", "objLastVerify"])
def test_a_verified_superlative_rests_on_one_frame_if_it_is_true(template: str) -> None:
    for shape in shapes(template):
        answers, found = asked(shape.node)
        target = shape.node.args[1]
        assert isinstance(target, Node)
        assert (np.bitwise_count(found[target]).sum(1) == (answers == 1)).all()
