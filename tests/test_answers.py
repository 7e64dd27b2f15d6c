"""Answers that can be checked by eye; the judge is held to them as much as the columns."""

import pytest

from judges import operators as judge
from judges.facts import WORDS, read
from questree.domains.video import VIDEO, videos
from questree.notation.own import parse
from questree.readings.answer import answer, spell
from worlds.small import facts

HANDS = """
video A
frames 0 1 2 3 4 5 6 7
phone 0-1: holding
dish 3: holding
paper 5: holding
phone 2-3: touching
dish 4-5: touching
light 6: turning
bag 0
bare box 1: in front of
mirror 2: not contacting
bare door 3: looking at
action c104 3 4
action c154 6 7
"""
RUNS = """
video A
frames 0 1 2 3 4 5
phone 1: holding
paper 4-5: holding
dish 0: touching
bag 1: touching
action c154 2 5
"""
ORDER = """
video A
frames 0 2 4 6 8 20
light 2: turning
action c154 4 5
action c104 8 9
action c151 0 1
action c151 20 21
"""
LENGTHS = """
video A
frames 0 5 10 30
action c154 0 12
action c104 0 5
action c149 27 30.5
"""


def both(world: str, program: str, released_last: bool = False, released_between: bool = False) -> str | None:
    """The printed answer, about which judge and columns agree."""
    tables, node = facts(world), parse(program, VIDEO)
    said = judge.verdict(node, read(tables, released_last, released_between)[0], {})
    value = answer(node, videos(tables, WORDS, released_last, released_between), {})
    assert said == spell(node.kind, int(value[0]), WORDS)
    return said


@pytest.mark.parametrize(
    ("program", "wanted"),
    [
        # what exists: annotated, or object of anything but attention
        ("exists(bag)", "yes"),
        ("exists(box)", "yes"),
        ("exists(mirror)", "yes"),
        ("exists(door)", "no"),
        ("exists(book)", "yes"),  # counted as paper
        ("exists(person)", "yes"),
        ("interacting(mirror)", "no"),  # not contacting is no contact
        ("interacting(light)", "no"),  # a verb is no contact
        ("interacting(book)", "no"),  # a merged-away class is never annotated itself
        ("interaction(holding, book)", "yes"),
        # windows: before has the first frame of the action, after begins behind its last
        ("within(interaction(holding, dish), before(turning on a light))", "yes"),
        ("within(interaction(touching, dish), before(turning on a light))", "no"),
        ("within(interaction(touching, dish), after(turning on a light))", "yes"),
        ("within(doing(holding), between(turning on a light, standing up))", "yes"),
        ("within(doing(turning), between(turning on a light, standing up))", "no"),
        ("within(exists(person), between(standing up, turning on a light))", "no"),
        ("within(exists(person), after(standing up))", "no"),  # nothing is left
        ("within(exists(person), before(opening a door))", "no"),  # it does not occur
        # logic is about the window, not about one frame
        ("both(interaction(holding, phone), interaction(holding, paper))", "yes"),
        ("but_not(interaction(holding, phone), interaction(holding, paper))", "no"),
        ("but_not(interaction(holding, phone), interaction(holding, bag))", "yes"),
        # which object
        ("only(objects(holding, whole()))", None),
        ("only(objects(holding, after(turning on a light)))", "paper"),
        ("among(dish, objects(holding, whole()))", "yes"),
        ("first(holding, whole())", "phone"),
        ("last(holding, whole())", "paper"),
        ("first(touching, whole())", None),  # one run, two objects
        ("first(holding, while(turning on a light))", "dish"),
        ("last(holding, while(turning on a light))", None),  # it never begins inside
        ("equals(book, last(holding, whole()))", "yes"),
        ("choose_first(holding, whole(), dish, paper)", "dish"),
        ("choose_first(touching, whole(), phone, dish)", None),  # the other one follows at once
        ("choose_last(holding, whole(), phone, dish)", "dish"),
        ("choose(holding, before(turning on a light), phone, paper)", "phone"),
        ("choose(holding, whole(), phone, paper)", None),  # both are held
        ("relation_order(turning, turning on a light)", "after"),
        ("relation_order(touching, turning on a light)", None),  # during it as well
        ("object_order(paper, standing up)", "before"),
    ],
)
def test_frames_and_objects(program: str, wanted: str | None) -> None:
    assert both(HANDS, program) == wanted


@pytest.mark.parametrize(
    ("program", "plain", "released"),
    [
        ("last(holding, whole())", "paper", None),  # two frames before the gap show a phone
        ("last(touching, whole())", None, None),
        ("last(holding, while(standing up))", "paper", "paper"),  # two frames back, but not out of the window
        ("last(holding, before(standing up))", "phone", None),  # held on one frame only
        ("choose_last(holding, before(standing up), phone, paper)", "phone", None),
    ],
)
def test_last_mirrors_first_or_is_as_released(program: str, plain: str | None, released: str | None) -> None:
    assert both(RUNS, program) == plain
    assert both(RUNS, program, released_last=True) == released


@pytest.mark.parametrize(
    ("program", "wanted"),
    [
        ("action_order(standing up, turning on a light)", "before"),
        ("action_order(turning on a light, standing up)", None),  # a light is turned before as well
        ("action_order(standing up, c151)", None),  # it happens twice
        ("within(happening(standing up), after(c151))", "yes"),  # after the first time
        ("within(happening(standing up), between(c151, turning on a light))", "yes"),  # after the first time, too
        ("action_after(after(turning on a light))", "going from standing to sitting"),
        ("action_after(after(standing up))", None),  # two are going on or come later
        ("action_before(before(turning on a light))", None),  # two have ended
        ("action_before(before(standing up))", "going from standing to sitting"),
        ("first_action(whole())", None),  # two within five seconds
        ("first_action(after(standing up))", "turning on a light"),
        ("last_action(before(turning on a light))", None),
        ("to_action(turning, light)", "turning on a light"),
    ],
)
def test_order_of_actions(program: str, wanted: str | None) -> None:
    assert both(ORDER, program) == wanted


@pytest.mark.parametrize(
    ("program", "wanted"),
    [
        ("longest()", None),  # 12 against 5: a margin of 7 is not enough
        ("shortest()", None),
        ("longer(standing up, turning on a light)", None),
        ("longer(standing up, laughing at something)", "standing up"),
        ("shorter(standing up, laughing at something)", "laughing at something"),
        ("same_action(standing up, longer(standing up, laughing at something))", "yes"),
        ("same_action(standing up, shorter(standing up, laughing at something))", "no"),
    ],
)
def test_lengths_of_actions(program: str, wanted: str | None) -> None:
    assert both(LENGTHS, program) == wanted
