"""The truth never contradicts itself: executed answers of all sub-questions break none of the 18 rules (13).

Worlds keep the promises of 13.1; questions are the 27 templates with slots filled at random. Each fault of 13.11,
switched on alone, must be noticed.
"""

from functools import cache
from random import Random

import pytest

from judges.contradictions import Findings, look
from judges.facts import WORDS, read
from judges.wrong_meanings import FAULTS, Wrong
from questree.domains.video import videos
from worlds import random_worlds as chance
from worlds.agqa_rows import rows, words_of
from worlds.agqa_shapes import TEMPLATES, Shape, shapes
from worlds.small import facts

ROWS = 700  # per shape
BOTH_WAYS = ("Interaction", "After", "Before", "While", "And", "Between", "Xor", "Equals")
EIGHTEEN = {f"{rule} {way}" for rule in BOTH_WAYS for way in ("Yes", "No")} | {"Choose Object", "Choose Temporal"}


@cache
def some_shapes(template: str, simple: int) -> list[Shape]:
    """The simplest shapes of a template, and some others."""
    found = sorted(shapes(template), key=lambda shape: shape.steps)
    return found[:simple] + Random(7).sample(found[simple:], min(5, len(found[simple:])))


def search(wrong: Wrong, size: int, simple: int, released_last: bool = False, all: bool = True) -> Findings:
    """Look for contradictions in questions about so many videos: all of them, or until there is one."""
    tables = wrong.facts(facts("\n".join(chance.world(seed=13, videos=size, whole=True))))
    words, columns = [words_of(video) for video in read(tables)], videos(tables, WORDS, released_last)
    random, found = Random(13), Findings()
    with wrong.on():
        for template in wrong.shown_by.split():
            for shape in some_shapes(template, simple):
                asked = rows(random, shape.node, words, ROWS)
                look(found, shape.node, columns.ask(asked.pop("video")), asked, wrong.relabel)
                if not all and found.contradictions:
                    return found
    return found


def test_the_truth_never_contradicts_itself() -> None:
    found = search(Wrong(" ".join(TEMPLATES)), size=60, simple=14)
    assert not +found.broken
    assert not +found.undefined, "every scored sub-question has an answer"
    assert not found.clashes, "a text means one thing in a video"
    assert found.applied.keys() == EIGHTEEN
    assert min(found.applied.values()) >= 50
    assert found.relabelled >= 50


def test_the_truth_never_contradicts_itself_with_last_as_released() -> None:
    found = search(Wrong("objLast objLastChoose objLastVerify objRelExists"), 60, 20, released_last=True)
    assert found.contradictions == 0
    assert found.applied["Choose Object"] >= 50 and found.applied["Equals Yes"] >= 50


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_in_the_meaning_is_noticed(fault: str) -> None:
    assert search(FAULTS[fault], size=30, simple=25, all=False).contradictions > 0
