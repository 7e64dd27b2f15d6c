"""Second round: how many questions of each content key stay, so that structures have their shares (Algorithm 2)."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from questree.columns.hashing import mix, seed_of
from questree.columns.joins import Ints
from questree.stages.balance.binary import CELLS, KINDS, MOST_TEMPLATES, Keys, template_of
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


def level_of(counts: Ints, total: int) -> int:
    """The highest level at which the counts, cut at it, add up to at most `total`."""
    low, high = 0, int(counts.max())
    while low < high:
        middle = (low + high + 1) // 2
        if int(np.minimum(counts, middle).sum()) <= total:
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


def keys_kept(keys: list[Keys], cells: Ints, seed: int) -> list[NDArray[np.int64]]:
    """Per bucket [key] how many of its questions stay; of both answers the same number."""
    size, cell = np.concatenate([k.size for k in keys]), np.concatenate([k.cell for k in keys])
    order = np.concatenate([mix(seed_of(seed, "keys"), k.content) for k in keys])
    by_cell = np.argsort(cell, kind="stable")
    start = np.searchsorted(cell[by_cell], np.arange(CELLS + 1))
    kept = np.empty(len(size), np.int64)
    for number in np.flatnonzero(np.diff(start)):
        at = by_cell[start[number] : start[number + 1]]
        kept[at] = visit(size[at], order[at], int(cells[number]))
    ends = np.cumsum([len(k.size) for k in keys])[:-1]
    return np.split(kept, ends)


def visit(size: Ints, order: Ints, total: int) -> Ints:
    """Keys lowered to a common level; those with a surplus are visited in the order of their hashes.

    One that cannot lose half of its surplus from each answer keeps one more; once there are enough, the rest go whole.
    """
    if total >= size.sum():
        return size.copy()
    level = level_of(size, total)
    kept = np.where(size > level, 0, size)
    room = total - int(kept.sum())
    above = np.flatnonzero(size > level)
    above = above[np.argsort(order[above])]
    wanted = np.full(len(above), level, np.int64)
    wanted[: room - level * len(above)] += 1
    wanted += wanted % 2
    before = np.cumsum(wanted) - wanted
    kept[above] = np.clip((room - before) // 2 * 2, 0, wanted)
    return kept


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
