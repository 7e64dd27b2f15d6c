"""The best of several models in every cell, and which of the others differ from it."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from questree.metrics.cells import Cell
from questree.metrics.comparison import benjamini_hochberg, p_values
from questree.metrics.scores import Resampling, Score, Scored, resampled

CellName = tuple[str, str, str]  # metric, by, group
Key = tuple[str, str, str, str]  # the same and a model
TrainingRuns = Scored | Sequence[Scored]  # of one model; several are summed up by their medians
HIGHER = frozenset({"accuracy", "CA", "IC", "precision", "recall", "generalization score"})
HIGHER |= {"FPVG+", "modified FPVG+", "FPVG+T", "Acc_all", "Acc_rel"}
LOWER = frozenset({"RWR", "Delta", "FPVG-"})  # right for wrong reasons, or without looking
LEVEL = 0.05  # false discovery rate
BEST = "Bold: the best of the models."
TEST = (
    f"*: differs from it at a false discovery rate of {LEVEL} (paired bootstrap over videos or images, {{:,}} "
    "resamples; Benjamini-Hochberg over all such differences)."
)
MEDIANS = "Of several training runs the medians are compared, on the same resamples."


@dataclass(frozen=True)
class Marks:
    """Of score rows."""

    best: frozenset[Key] = frozenset()
    q: Mapping[Key, float] = field(default_factory=dict)  # of the difference to the best

    def differs(self, key: Key) -> bool:
        return self.q.get(key, 1.0) <= LEVEL


def note(resampling: Resampling | None, medians: bool = False) -> str:
    """What marks mean, for captions."""
    if resampling is None:
        return BEST
    return " ".join([BEST, TEST.format(resampling.resamples), *[MEDIANS] * medians])


def sign(metric: str) -> int:
    """1 where more is better, -1 where less is, 0 where neither can be said."""
    if metric in LOWER or metric.startswith("RWR-"):
        return -1
    return int(metric in HIGHER)


def marks(rows: Collection[Score], models: Mapping[str, TrainingRuns], resampling: Resampling | None) -> Marks:
    """The best values among these models; with resampling, q of every other's difference to it.

    p as in `comparison.compare`, on the same resampled videos; q over all of these differences (Benjamini, Hochberg).
    """
    found: dict[CellName, dict[str, float]] = {}
    for row in rows:
        if row.model in models and row.value is not None and sign(row.metric):
            found.setdefault((row.metric, row.by, row.group), {})[row.model] = sign(row.metric) * row.value
    ranked = {name: own for name, own in found.items() if len(own) > 1}
    best = {name: max(own, key=lambda model: own[model]) for name, own in ranked.items()}
    ties = {(*name, m) for name, own in ranked.items() for m, value in own.items() if value == own[best[name]]}
    q = _q(models, best, ranked, resampling) if resampling is not None and best else {}
    return Marks(frozenset(ties), q)


def _q(
    models: Mapping[str, TrainingRuns],
    best: Mapping[CellName, str],
    ranked: Mapping[CellName, Mapping[str, float]],
    resampling: Resampling,
) -> dict[Key, float]:
    draws, values, place = {}, {}, {}
    for model, scored in models.items():
        runs = [scored] if isinstance(scored, Scored) else scored
        names = [cell.name for cell in runs[0].cells if model in ranked.get(cell.name, ())]
        place[model] = {name: at for at, name in enumerate(names)}
        parts = [Scored(run.tallies, _of(run, names)) for run in runs]
        values[model] = np.median([part.values() for part in parts], axis=0)
        draws[model] = np.median([resampled(part.cells, part.tallies, resampling) for part in parts], axis=0)
    keys, p = list[Key](), list[float]()
    for name, own in ranked.items():
        first = best[name]
        for model in own:
            if model == first or name not in place[model] or name not in place[first]:
                continue
            mine, other = place[model][name], place[first][name]
            gap = np.array([values[model][mine] - values[first][other]])
            apart = draws[model][:, [mine]] - draws[first][:, [other]]
            keys.append((*name, model))
            p.append(float(p_values(gap, apart)[0]))
    return {key: float(q) for key, q in zip(keys, benjamini_hochberg(np.array(p)), strict=True) if not np.isnan(q)}


def _of(scored: Scored, names: Sequence[CellName]) -> list[Cell]:
    own = {cell.name: cell for cell in scored.cells}
    return [own[name] for name in names]
