"""Second round: how many questions of each content key stay, so that structures have their shares (Algorithm 2)."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from questree.columns.hashing import Hashes
from questree.columns.joins import Ints, by_value
from questree.stages.balance.levelling import QUERY, SHARES, SPLITS, BalanceOptions

TINY = 1e-9  # of a sum of shares of a total


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

    def row(self, whole: int) -> dict[str, Any]:
        """For a person; whole: questions kept of all structures."""
        return {
            "structure": self.structure,
            "after answers": self.before,
            "target": self.target,
            "kept": self.kept,
            "share": f"{100 * self.kept / max(whole, 1):.1f} %",
        }


def targets(there: dict[str, int], options: BalanceOptions) -> dict[str, int]:
    """How many questions each structure may have, of those that are there after the first round.

    Query questions lose nothing and say how many the others may be; if there are to be none, the rarest of the others
    says so. With a tolerance no share may miss by more, and query questions are cut where others are too few.
    """
    shares, tolerance = options.shares, options.share_tolerance
    rarest = min((there[name] / share for name, share in shares.items() if share and there[name]), default=0.0)
    total = there[QUERY] / shares[QUERY] if shares[QUERY] else rarest
    if tolerance is None:
        others = {name: math.ceil(round(share * total, 6)) for name, share in shares.items()}
        return others | {QUERY: there[QUERY] if shares[QUERY] else 0}
    have = sum(share for name, share in shares.items() if there[name]) or 1
    # the share of what is not there is shared out
    shares = {name: share / have for name, share in shares.items() if there[name]}
    low, high = 0.0, total
    for _ in range(64):  # the largest total, at most that, at which all shares can be had
        least, most = _limits(there, shares, tolerance, total)
        can = sum(most.values()) >= total * (1 - TINY) and all(least[name] <= most[name] for name in shares)
        low, high = (total, high) if can else (low, total)
        total = (low + high) / 2
    _, most = _limits(there, shares, tolerance, low)
    found = {name: min(share * low, most[name]) for name, share in shares.items()}
    for name in shares:  # query, the first, takes what others have too few for
        found[name] = min(found[name] + low - sum(found.values()), most[name])
    return dict.fromkeys(there, 0) | {name: math.floor(round(number, 6)) for name, number in found.items()}


def _limits(
    there: dict[str, int], shares: dict[str, float], tolerance: float, total: float
) -> tuple[dict[str, float], dict[str, float]]:
    least = {name: (share - tolerance) * total for name, share in shares.items()}
    return least, {name: min(there[name], (share + tolerance) * total) for name, share in shares.items()}


def present(binary: Ints, query: int, structures: list[str]) -> dict[str, int]:
    """Structure -> questions of a split; binary: [template]."""
    found = dict.fromkeys(SHARES, 0)
    for name, number in zip(structures, binary.tolist(), strict=True):
        found[name] += number
    return found | {QUERY: query}


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


def cells_kept(sizes: Ints, wanted: list[dict[str, int]], structures: list[str]) -> Ints:
    """How many questions stay: a structure's target by water-filling over templates, then over time kinds.

    sizes: [split, template, time kind] how many there are.
    """
    left = np.zeros_like(sizes)
    for split in range(len(SPLITS)):
        for structure, target in wanted[split].items():
            own = np.array([at for at, name in enumerate(structures) if name == structure])
            for template, total in zip(own, water(sizes[split, own].sum(axis=1), target), strict=True):
                left[split, template] = water(sizes[split, template], int(total))
            left[split, own] = evened(left[split, own].ravel(), sizes[split, own].ravel()).reshape(len(own), -1)
    return left


def evened(kept: Ints, sizes: Ints) -> Ints:
    """Keys lose questions in pairs, so an odd one goes to the next cell that has room; sizes are even."""
    found, carried = np.empty_like(kept), 0
    for cell, (own, size) in enumerate(zip(kept.tolist(), sizes.tolist(), strict=True)):
        found[cell] = min((own + carried) // 2 * 2, size)
        carried += own - int(found[cell])
    return found


def keys_kept(cell: Ints, size: Ints, order: Hashes, cells: Ints) -> Ints:
    """[key] how many of its questions stay; order: hashes in which keys are visited, cells: [cell] how many stay."""
    keep = np.empty_like(size)
    for own, at in by_value(cell):
        keep[at] = cell_keys_kept(size[at], order[at], int(cells[own]))
    return keep


def cell_keys_kept(size: Ints, order: Hashes, total: int) -> Ints:
    """[key] the same of one cell: the largest keys are lowered to one level.

    A key that cannot lose half of its surplus from each answer keeps one more; once there are enough, others go whole.
    """
    if total >= size.sum():
        return size
    level = level_of(size, total)
    above = np.flatnonzero(size > level)
    above = above[np.argsort(order[above])]
    room = total - int(size[size <= level].sum())
    wanted = np.full(len(above), level)
    wanted[: room - level * len(above)] += 1  # those visited first
    wanted += wanted % 2
    before = np.cumsum(wanted) - wanted
    keep = size.copy()
    keep[above] = np.clip((room - before) // 2 * 2, 0, wanted)
    return keep
