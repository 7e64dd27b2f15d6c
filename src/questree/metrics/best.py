"""The best of several models in every cell, and which of the others differ from it."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from questree.metrics.cells import Cell, behind
from questree.metrics.comparison import FEWEST
from questree.metrics.paired import Counts, benjamini_hochberg, contributions, p_values
from questree.metrics.scores import QUESTION_ACCURACY, Resampling, Score, Scored

CellName = tuple[str, str, str]  # metric, by, group
Key = tuple[str, str, str, str]  # the same and a model
TrainingRuns = Scored | Sequence[Scored]  # of one model; several are summed up by their medians
HIGHER = frozenset({"accuracy", QUESTION_ACCURACY, "CA", "IC", "precision", "recall", "generalization score"})
HIGHER |= {"FPVG+", "modified FPVG+", "FPVG+T", "Acc_all", "Acc_rel"}
LOWER = frozenset({"RWR", "Delta", "FPVG-"})  # right for wrong reasons, or without looking
LEVEL = 0.05  # false discovery rate
BEST = "Bold: the best of the models."
TEST = (
    f"*: differs from it at a false discovery rate of {LEVEL} (paired test over videos or images, all or {{:,}} random "
    f"signs, of {FEWEST} items or more; of k models p times k / 2, as any two might have been the best and the other; "
    "Benjamini-Hochberg over all such differences that are printed)."
)
MEDIANS = "Of several training runs the medians are compared; their intervals reach as far as the run farthest away."


@dataclass(frozen=True)
class Marks:
    """Of score rows."""

    best: frozenset[Key] = frozenset()
    p: Mapping[Key, float] = field(default_factory=dict)  # of the difference to the best, which was chosen


def differing(p: Mapping[Key, float]) -> set[Key]:
    """Benjamini and Hochberg 1995, over differences that are shown together."""
    q = benjamini_hochberg(np.array(list(p.values())))
    return {key for key, one in zip(p, q, strict=True) if one <= LEVEL}


def note(resampling: Resampling | None) -> str:
    """What marks mean, for captions."""
    return BEST if resampling is None else f"{BEST} {TEST.format(resampling.resamples)}"


def sign(metric: str) -> int:
    """1 where more is better, -1 where less is, 0 where neither can be said."""
    if metric in LOWER or metric.startswith("RWR-"):
        return -1
    return int(metric in HIGHER)


def marks(rows: Collection[Score], models: Mapping[str, TrainingRuns], resampling: Resampling | None) -> Marks:
    """The best values among these models; with resampling, p of every other's difference to it: that of `compare`, of
    k models times k / 2.

    The best of k models is ahead of the others by chance, too: with that, the first step of Benjamini and Hochberg over
    its k - 1 differences is Bonferroni 1936 over all k (k - 1) / 2 pairs.
    """
    found: dict[CellName, dict[str, float]] = {}
    for row in rows:
        if row.model in models and row.value is not None and sign(row.metric):
            found.setdefault((row.metric, row.by, row.group), {})[row.model] = sign(row.metric) * row.value
    of_several = {name: own for name, own in found.items() if len(own) > 1}
    best = {name: max(own, key=lambda model: own[model]) for name, own in of_several.items()}
    ties = {(*name, m) for name, own in of_several.items() for m, value in own.items() if value == own[best[name]]}
    others = [(*name, m) for name, own in of_several.items() for m in own if m != best[name]]
    if resampling is None:
        return Marks(frozenset(ties))
    p = _p(models, best, others, resampling)
    return Marks(frozenset(ties), {key: min(1.0, one * len(of_several[key[:3]]) / 2) for key, one in p.items()})


def _p(
    models: Mapping[str, TrainingRuns], best: Mapping[CellName, str], others: Sequence[Key], resampling: Resampling
) -> dict[Key, float]:
    """Of those with enough items whose difference resamples change."""
    middle = {model: _medians([runs] if isinstance(runs, Scored) else runs) for model, runs in models.items()}
    found = dict[Key, Any]()
    for *name, model in others:
        cell = (name[0], name[1], name[2])
        pairs = list(zip(middle[best[cell]].get(cell, ()), middle[model].get(cell, ()), strict=False))
        if pairs:
            found[*cell, model] = np.mean([contributions(*pair) for pair in pairs], axis=0)
    if not found:
        return {}
    null, free = np.moveaxis(np.array(list(found.values())), 1, 0)
    p = p_values(null.T, free.T, resampling)
    return {key: float(one) for key, one in zip(found, p, strict=True) if not np.isnan(one)}


def _medians(runs: Sequence[Scored]) -> dict[CellName, list[Counts]]:
    """Cell -> it in the run with the median, of an even number in the two beside it; none of too few items."""
    each: dict[CellName, list[tuple[float, int, Cell]]] = {}
    for at, run in enumerate(runs):
        for cell, value, n in zip(run.cells, run.values(), behind(run.cells, run.tallies.summed()[1]), strict=True):
            if n >= FEWEST and not np.isnan(value):
                each.setdefault(cell.name, []).append((float(value), at, cell))
    found = dict[CellName, list[Counts]]()
    for name, own in each.items():
        if len(own) == len(runs):
            ordered = sorted(own, key=lambda one: one[:2])
            sides = ordered[(len(runs) - 1) // 2], ordered[len(runs) // 2]
            found[name] = [(cell, runs[at].tallies) for _, at, cell in sides]
    return found
