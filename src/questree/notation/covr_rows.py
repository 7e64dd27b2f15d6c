"""Programs run row by row: rows that do the same with the same kinds are one batch, whatever is around them."""

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from questree.domains.images.batches import SEVERAL, SINGLE
from questree.domains.images.corpus import Corpus, ImageSets, Ints
from questree.domains.images.kinds import LINKS, PADDING
from questree.notation.covr_written import Rows
from questree.readings.answer import WELL, evaluate, noted
from questree.terms import Array, Kind, Slot, slots

CHUNK = 16_384  # programs that are run together


@dataclass(frozen=True)
class SomeSets(ImageSets):
    """Some of the sets, each as often as a row asks about it; many operators never look at their pages."""

    row: Ints  # [row] which set
    pages: Ints  # [set, page]

    def __len__(self) -> int:
        return len(self.row)

    @cached_property
    def page(self) -> Ints:
        return self.pages[self.row]


@dataclass
class RowsRun:
    """Values of rows by their kinds, and why programs have no answer."""

    corpus: Corpus
    rows: Rows
    images: Ints  # [program, image]
    values: dict[Kind, Array] = field(default_factory=dict)  # [row, ...] of the rows of a kind

    def run(self) -> tuple[list[Any], list[int]]:
        """[program] its value, None without one; [program] position in REASONS of why, WELL with one."""
        rows, operations = self.rows, self.rows.written.operations
        program, does, needs, said = rows.program, rows.does, rows.needs, rows.said
        begin = np.searchsorted(program, np.arange(len(self.images) + 1))
        step = np.arange(len(program)) - begin[program]
        sizes = np.array([(each.needs, each.words) for each in operations.read], np.int64).reshape(-1, 2)
        first_need, first_word = (np.cumsum(own) - own for own in sizes[does].T)
        page = ImageSets(self.corpus, self.images).page
        reason, words = np.full(len(self.images), WELL, np.int64), list(rows.written.words)
        where = np.full(len(self.images), len(program))  # [program] the first step that went wrong
        key = rows.level * len(sizes) + does
        order = np.argsort(key.astype(np.int16) if key.max(initial=0) < 2**15 else key, kind="stable")  # short: faster
        key = key[order]
        for own in np.split(order, np.flatnonzero(np.diff(key)) + 1) if len(order) else ():
            node, of = operations.read[does[own[0]]].node, program[own]
            world = SomeSets(self.corpus, self.images, of, page)
            given = dict[str, Array]()

            def column(slot: Slot, own: Ints = own) -> Array:
                if slot.name[0] == "d":
                    return np.asarray(self.values[slot.kind][needs[first_need[own] + int(slot.name[1:])]])
                word, used = said[first_word[own] + int(slot.name)], np.zeros(len(words), bool)
                used[word] = True
                position = np.zeros(len(words), np.int64)
                position[used] = self.corpus.positions([words[at] for at in np.flatnonzero(used)], slot.kind)
                return np.asarray(position[word])

            for param, arg in node.named():
                if isinstance(arg, Slot):
                    given[param] = column(arg)
                else:  # what a row leaves out, or a list of words
                    inner = {name: column(slot) for name, slot in slots(arg).items()}
                    given[param] = evaluate(arg, world, inner).values[arg]
            why = np.full(len(own), WELL, np.int64)
            self._keep(node.kind, own, noted(node.kind, node.op.run(world, **given), why), len(program))
            wrong = np.flatnonzero(why != WELL)[::-1]  # of several rows of a program the first stays
            wrong = wrong[step[own[wrong]] < where[of[wrong]]]
            where[of[wrong]], reason[of[wrong]] = step[own[wrong]], why[wrong]
        return self._spelled(begin, page, reason), reason.tolist()

    def _keep(self, kind: Kind, rows: Ints, value: Array, size: int) -> None:
        there = self.values.get(kind)
        if there is None:
            there = self.values[kind] = np.zeros((size, *value.shape[1:]), value.dtype)
        if kind == LINKS:  # as many places as one has at most
            wide = max(there.shape[1], value.shape[1])
            there, value = (
                np.pad(own, ((0, 0), (0, wide - own.shape[1])), constant_values=PADDING) for own in (there, value)
            )
            self.values[kind] = there
        there[rows] = value

    def _spelled(self, begin: Ints, page: Ints, reason: Ints) -> list[Any]:
        found: list[Any] = [None] * len(self.images)
        last, operations = begin[1:] - 1, self.rows.written.operations
        run = np.flatnonzero((np.diff(begin) > 0) & (reason == WELL))
        kinds = np.array([each.kind for each in operations.read], np.int64)
        of = kinds[self.rows.does[last[run]]] if len(run) else run
        for number in np.unique(of).tolist():
            kind, own = operations.kinds[number], run[of == number]
            value = self.values[kind][last[own]]
            if kind in SINGLE:
                there = SINGLE[kind](self.corpus, value)
            else:
                there = [SEVERAL[kind](self.corpus, *row) for row in zip(page[own], value, strict=True)]
            for row, one in zip(own.tolist(), there, strict=True):
                found[row] = one
        return found
