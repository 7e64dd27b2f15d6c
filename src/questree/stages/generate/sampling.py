"""Of a video with more questions than are wanted names of objects, actions and times are kept, at most so
many of each, by keyed hashes: what is asked about these is what is asked about them anyway. Asking tells how many.
"""

from collections.abc import Callable
from dataclasses import dataclass
from math import log
from typing import NamedTuple

import numpy as np

from questree.columns.hashing import Hashes, mix
from questree.columns.joins import Ints, in_turn
from questree.stages.generate.layout import expected, related, times
from questree.stages.generate.references import ALL, Phrases, Spans
from questree.tables.facts import VIDEOS
from questree.tables.questions import NOTHING16
from questree.tables.run import Run

MOST_ROWS = NOTHING16  # of a side table, in a video
WANTED = 3_000_000  # questions of a video at most, unless given: 1 GiB in every stage
ENOUGH = 0.7  # a share of the questions wanted; a sample that gives fewer is made larger
AIM, CUBE = 0.85, 3
FIRST, FASTER = 16, 4  # how many of each are tried first, and how fast their number grows
UNSURE = 10  # how many times the questions that are expected of it a video may have, or how many times fewer
WORDS = 128  # asked about in every time, whatever the video has: relations and things of other videos
LOCALISED = 1 << 23  # relations times times of a video: what they do then is in memory for all of these at once
PLENTY = 1_000  # actions, which give a million pairs
EVERYTHING = 1 << 32  # how many are kept of what is not sampled


class DenseVideo(NamedTuple):
    """What is expected of a video that may have too many questions."""

    questions: int
    times: int

    def first(self, wanted: int, limit: int) -> int:
        """How many of each to try first: all, if perhaps nothing has to be dropped."""
        return limit if self.questions + WORDS * self.times <= UNSURE * wanted else min(FIRST, limit)


@dataclass(frozen=True)
class SampledVideo:
    """What a video that was sampled is asked about, and what there is: pairs of how many are kept, of how many."""

    questions: int  # as many as are expected of all
    references: tuple[int, int]
    actions: tuple[int, int]
    times: tuple[int, int]


def dense(run: Run, wanted: int) -> dict[str, DenseVideo]:
    """Videos that may have more questions than are wanted, or more that they rest on than memory has room for."""
    questions, when = expected(run), times(run)
    maybe = (UNSURE * questions + WORDS * when > wanted) | (related(run) * when > LOCALISED)
    ids = run.table("facts", VIDEOS)["id"].to_list() if maybe.any() else []
    return {ids[at]: DenseVideo(int(questions[at]), int(when[at])) for at in np.flatnonzero(maybe)}


def fitted(asked: Callable[[int], tuple[int, bool]], wanted: int, first: int, limit: int) -> int:
    """How many to keep of each so that at most so many questions are asked, and not far fewer.

    asked: of a number, the questions (or some more than are wanted), and whether anything was dropped. They grow with a
    power of the number: at most its cube (two objects in a time), less where no more is there to be added.
    """
    low, high, number, before, power = 0, limit + 1, first, 0, float(CUBE)
    while low < number < high:
        questions, dropped = asked(number)
        if questions > wanted:
            high, number = number, (low + number) // 2 if low else min(FIRST, number // 2)
            continue
        if before:
            power = min(max(log(questions / before) / log(number / low), 1), CUBE)
        low, before = number, questions
        if not dropped or questions >= ENOUGH * wanted:
            break
        larger = number * min(FASTER, (AIM * wanted / max(questions, 1)) ** (1 / power))
        number = max(int(larger), low + 1) if larger < high else (low + high) // 2
    return low


def fewer(spans: Spans, passes: tuple[Phrases, Phrases], seeds: Hashes, most: int) -> tuple[Phrases, Phrases]:
    """The whole video and at most so many phrases of every video: the kinds of either pass take turns, each with its
    phrases in the order of a keyed hash, so that the many pairs of actions do not crowd out the rest."""
    span = np.concatenate([each.span for each in passes])
    side = np.repeat([0, 1], [len(each.span) for each in passes])
    a, b = (np.concatenate([getattr(each, name) for each in passes]) for name in "ab")
    video, kind = spans.video[span], spans.kind[span]
    kept = kind == ALL
    rest = np.flatnonzero(~kept)
    draw = mix(seeds[video], side, kind, a, b)[rest]
    kept[rest] = in_turn(np.full(len(seeds), most), video[rest], (2 * kind + side)[rest], draw)
    first = len(passes[0].span)
    return some(passes[0], kept[:first]), some(passes[1], kept[first:])


def some(phrases: Phrases, kept: Ints) -> Phrases:
    columns = (getattr(phrases, name)[kept] for name in ("span", "a", "b", "steps", "marks"))
    return Phrases(np.append(0, np.cumsum(kept))[phrases.start], *columns)
