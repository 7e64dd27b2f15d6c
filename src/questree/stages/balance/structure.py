"""Second round: how many questions of each content key stay, so that structures have their shares (Algorithm 2)."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from questree.columns.hashing import Hashes
from questree.columns.joins import Ints
from questree.stages.balance.binary import CELLS, KINDS, MOST_TEMPLATES, template_of
from questree.stages.balance.levelling import QUERY, SPLITS, BalanceOptions


@dataclass(frozen=True)
class Target:
    """What a structure was to have in a split, and has."""

    split: str
    structure: str
    before: int  # questions after the first round
    target: int
    kept: int

    @property
    def short(self) -> int:
        """How many are missing: a target is an upper limit where a structure is rare."""
        return max(0, self.target - self.kept)

    def row(self) -> dict[str, Any]:
        """For a person."""
        return {
            "structure": self.structure,
            "after answers": self.before,
            "target": self.target,
            "kept": self.kept,
        }


def targets(query: int, shares: dict[str, float]) -> dict[str, int]:
    """Query questions lose nothing, so they say how many the others may be."""
    total = query / shares[QUERY]
    return {name: query if name == QUERY else math.ceil(round(share * total, 6)) for name, share in shares.items()}


def water(counts: Ints, total: int) -> Ints:
    """The largest counts lowered to a level at which they add up to `total`; what is left over goes to the first."""
    if total >= counts.sum():
        return counts.copy()
    level = level_of(counts, total)
    lowered = np.minimum(counts, level)
    above = np.flatnonzero(counts > level)
    lowered[above[: total - int(lowered.sum())]] += 1
    return lowered


def level_of(counts: Ints, total: int, times: Ints | int = 1) -> int:
    """The highest level at which the counts, cut at it, add up to at most `total`; `times`: how often each occurs."""
    low, high = 0, int(counts.max())
    while low < high:
        middle = (low + high + 1) // 2
        if int((np.minimum(counts, middle) * times).sum()) <= total:
            low = middle
        else:
            high = middle - 1
    return low


def cells_kept(sizes: Ints, query: tuple[int, int], options: BalanceOptions, structures: list[str]) -> Ints:
    """[cell] how many questions stay: a structure's target by water-filling over templates, then over time kinds."""
    kept = np.zeros(CELLS, np.int64)
    by_template = sizes.reshape(len(SPLITS), MOST_TEMPLATES, KINDS)  # [split, template, time kind]
    grid = kept.reshape(by_template.shape)
    for split in range(len(SPLITS)):
        for structure, target in targets(query[split], options.shares).items():
            own = np.array([at for at, name in enumerate(structures) if name == structure])
            for template, total in zip(own, water(by_template[split, own].sum(axis=1), target), strict=True):
                grid[split, template] = water(by_template[split, template], int(total))
            grid[split, own] = evened(grid[split, own].ravel(), by_template[split, own].ravel()).reshape(-1, KINDS)
    return kept


def evened(kept: Ints, sizes: Ints) -> Ints:
    """Keys lose questions in pairs, so an odd one goes to the next cell that has room; sizes are even."""
    found, carried = np.empty_like(kept), 0
    for cell, (own, size) in enumerate(zip(kept.tolist(), sizes.tolist(), strict=True)):
        found[cell] = min((own + carried) // 2 * 2, size)
        carried += own - int(found[cell])
    return found


@dataclass(frozen=True)
class KeyCuts:
    """How far the keys of each cell are lowered; those above the level are visited in the order of their hashes.

    One that cannot lose half of its surplus from each answer keeps one more; once there are enough, the rest go whole.
    """

    level: Ints  # [cell]
    above: Ints  # [cell] keys with more questions
    more: Ints  # [cell] how many of these may keep one more than the level
    full: Ints  # [cell] how many have what they may keep
    rest: Ints  # [cell] what the next one has

    @property
    def ranks(self) -> Ints:
        """[2 * cell] whose hashes must be known; -1 where no key is above the level, or all are full."""
        more = np.where(self.above > 0, self.more, -1)
        return np.append(more, np.where(self.full < self.above, self.full, -1))

    def kept(self, cell: Ints, size: Ints, order: Hashes, at: Hashes) -> Ints:
        """[key] how many of its questions stay; at: the hashes of the ranks."""
        level, room = self.level[cell], self.full[cell] == self.above[cell]
        wanted = level + (order < at[:CELLS][cell])
        wanted += wanted % 2
        last = at[CELLS:][cell]
        lowered = np.where(room | (order < last), wanted, np.where(order == last, self.rest[cell], 0))
        return np.where(size > level, lowered, size)


def key_cuts(cell: Ints, size: Ints, number: Ints, cells: Ints) -> KeyCuts:
    """cell, size, number: so many keys of a cell have so many questions; cells: [cell] how many questions stay."""
    found = KeyCuts(*(np.zeros(CELLS, np.int64) for _ in range(5)))
    order = np.argsort(cell, kind="stable")
    start = np.searchsorted(cell[order], np.arange(CELLS + 1))
    for own in np.flatnonzero(np.diff(start)):
        at = order[start[own] : start[own + 1]]
        cut = cut_of(size[at], number[at], int(cells[own]))
        found.level[own], found.above[own], found.more[own], found.full[own], found.rest[own] = cut
    return found


def cut_of(size: Ints, number: Ints, total: int) -> tuple[int, int, int, int, int]:
    """level, above, more, full and rest of a cell that keeps `total` questions."""
    if total >= (size * number).sum():
        return int(size.max()), 0, 0, 0, 0
    level = level_of(size, total, number)
    above = int(number[size > level].sum())
    room = total - int((size * number)[size <= level].sum())
    more = room - level * above
    large, small = level + 1 + (level + 1) % 2, level + level % 2
    full = min(more, room // large)
    if full == more:
        full += min(above - more, (room - large * more) // small) if small else above - more
    before = large * min(full, more) + small * max(full - more, 0)
    return level, above, more, full, (room - before) // 2 * 2


def shown(
    split: int, cells: Ints, before: Ints, query: int, options: BalanceOptions, structures: list[str]
) -> list[Target]:
    """cells, before: [cell] questions after the second and after the first round."""
    structure = np.array([structures[t] if t < len(structures) else "" for t in template_of(np.arange(CELLS))])
    own = np.arange(CELLS) // (CELLS // len(SPLITS)) == split
    found = []
    for name, target in targets(query, options.shares).items():
        at = own & (structure == name)
        counts = (query, query) if name == QUERY else (int(before[at].sum()), int(cells[at].sum()))
        found.append(Target(SPLITS[split], name, counts[0], target, counts[1]))
    return found
