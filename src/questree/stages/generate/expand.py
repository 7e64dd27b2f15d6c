"""Cores times wordings times phrases, less what takes too many steps."""

from dataclasses import dataclass

import numpy as np
from numba import njit

from questree.columns.joins import Ints


@dataclass(frozen=True)
class Wordings:
    """Ways to fill the object (or action) slots of an argument, sorted by argument; NOTHING where there is no slot."""

    start: Ints  # [argument + 1]
    first: Ints  # row of the references (or action references) of its video
    second: Ints
    steps: Ints
    marks: Ints


@dataclass(frozen=True)
class Rows:
    core: Ints
    wording: Ints
    phrase: Ints
    steps: Ints
    marks: Ints


def expand(
    core: tuple[Ints, Ints, Ints], wordings: Wordings, phrases: tuple[Ints, Ints, Ints], steps: tuple[int, int]
) -> Rows:
    """core = argument, span, marks; phrases = start per span, steps, marks; steps = of the template, at most."""
    argument, span, marks = core
    start, phrase_steps, phrase_marks = phrases
    base, most = steps
    arrays = (argument, span, wordings.start, wordings.steps, start, phrase_steps)
    return Rows(*_fill(*arrays, base, most, _count(*arrays, base, most), marks, wordings.marks, phrase_marks))


@njit(cache=True)
def _count(argument, span, words, word_steps, phrases, phrase_steps, base, most):  # type: ignore[no-untyped-def]
    total = 0
    for core in range(len(argument)):
        for wording in range(words[argument[core]], words[argument[core] + 1]):
            left = most - base - word_steps[wording]
            for phrase in range(phrases[span[core]], phrases[span[core] + 1]):
                total += phrase_steps[phrase] <= left
    return total


@njit(cache=True)
def _fill(  # type: ignore[no-untyped-def]
    argument, span, words, word_steps, phrases, phrase_steps, base, most, total, core_marks, word_marks, phrase_marks
):
    cores, wordings, named = np.empty(total, np.int32), np.empty(total, np.int32), np.empty(total, np.int32)
    steps, marks = np.empty(total, np.uint8), np.empty(total, np.uint32)
    row = 0
    for core in range(len(argument)):
        for wording in range(words[argument[core]], words[argument[core] + 1]):
            so_far = base + word_steps[wording]
            for phrase in range(phrases[span[core]], phrases[span[core] + 1]):
                if so_far + phrase_steps[phrase] <= most:
                    cores[row], wordings[row], named[row] = core, wording, phrase
                    steps[row] = so_far + phrase_steps[phrase]
                    marks[row] = core_marks[core] | word_marks[wording] | phrase_marks[phrase]
                    row += 1
    return cores, wordings, named, steps, marks
