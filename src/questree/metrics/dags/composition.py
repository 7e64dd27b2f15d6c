"""CA = right parents / parents, all usable children right; RWR-k the same with exactly k wrong; RWR with k > 0.

Delta = RWR - CA. AGQA-Decomp, section 4 "Compositional accuracy", "Right for the wrong reasons", Tables 3, 4, 6, 7.
A parent has a scored type and a truth and counts once per text and video; a usable child likewise has a scored type and
a truth. By type a parent's children are a set over all compositions, by composition the list of that composition.
"""

import numpy as np
from numpy.typing import NDArray

from questree.metrics.cells import Cell
from questree.metrics.dags.answered import OVERALL, Answered, first
from questree.metrics.tallies import Column, Tallies, joined, tally

Ints = NDArray[np.int64]


def count_composition(model: Answered) -> Tallies:
    """Columns ("CA", "type" or "composition", group, k)."""
    found = model.hierarchies
    parents = np.flatnonzero(model.column("parent") & model.scored & model.answered)
    chosen = np.zeros(len(model.scored), bool)
    chosen[first(model.column("text"), parents)] = True

    child = found.edges["child"].to_numpy()
    usable = (model.scored & model.answered)[child]
    wrong = usable & ~model.correct[child]
    parent = found.composed["parent"].to_numpy().astype(np.int64)
    first_edge, edges = (found.composed[name].to_numpy().astype(np.int64) for name in ("first", "edges"))
    once = ~found.edges["repeated"].to_numpy()

    listed, wrong_listed = (span_sums(flag, first_edge, edges) for flag in (usable, wrong))
    rows = np.flatnonzero(chosen[parent] & (listed > 0))
    kinds = model.compositions
    place = np.array([kinds.index(c) for c in found.compositions], np.int64)
    kind = place[found.composed["composition"].to_numpy()[rows]]
    by_composition = _tally(model, parent[rows], kind, wrong_listed[rows], "composition", kinds)

    begins = np.flatnonzero(np.diff(parent, prepend=-1))  # composed is sorted by parent
    different, wrong_different = (
        np.add.reduceat(span_sums(flag & once, first_edge, edges), begins) if len(begins) else np.zeros(0, np.int64)
        for flag in (usable, wrong)
    )
    of = parent[begins]
    kept = np.flatnonzero(chosen[of] & (different > 0))
    by_type = _tally(model, of[kept], model.group(of[kept]), wrong_different[kept], "type", model.groups)
    return joined([by_type, by_composition])


def span_sums(flags: NDArray[np.bool_], start: Ints, length: Ints) -> Ints:
    """[span] how many flags are set from `start` on."""
    before = np.zeros(len(flags) + 1, np.int32)
    np.cumsum(flags, out=before[1:], dtype=np.int32)
    return np.asarray(before[start + length] - before[start], np.int64)


def _tally(model: Answered, parent: Ints, group: Ints, wrong: Ints, by: str, groups: list[str]) -> Tallies:
    most = int(wrong.max(initial=0)) + 1
    names: list[Column] = [("CA", by, name, k) for name in groups for k in range(most)]
    video = model.video[parent].astype(np.int64)
    return tally(video, group * most + wrong, model.correct[parent], len(model.hierarchies.videos), names)


def composition_cells(tallies: Tallies, by: str, groups: list[str]) -> list[Cell]:
    """CA, RWR, Delta, RWR-1, RWR-2 ... for every group and Overall."""
    found = [(at, str(c[2]), int(str(c[3]))) for at, c in enumerate(tallies.columns) if c[:2] == ("CA", by)]
    most = max([1, *(k for _, _, k in found)])
    cells: dict[str, list[Cell]] = {}
    for group in [*groups, OVERALL]:
        here = [(at, k) for at, name, k in found if group in (name, OVERALL)]
        right = tuple(at for at, k in here if k == 0)
        wrong = tuple(at for at, k in here if k > 0)
        cells.setdefault("CA", []).append(Cell("CA", by, group, (right,)))
        cells.setdefault("RWR", []).append(Cell("RWR", by, group, (wrong,)))
        cells.setdefault("Delta", []).append(Cell("Delta", by, group, (right, wrong), "difference", counted=False))
        for n in range(1, most + 1):
            exactly = tuple(at for at, k in here if k == n)
            cells.setdefault(f"RWR-{n}", []).append(Cell(f"RWR-{n}", by, group, (exactly,)))
    return [cell for block in cells.values() for cell in block]
