"""Every FPVG score of one model."""

import polars as pl

from questree.metrics.fpvg.degradation import c2i_cells, count_c2i
from questree.metrics.fpvg.faithfulness import count_faithfulness, faithfulness_cells
from questree.metrics.fpvg.grounding import count_grounding, grounding, grounding_cells
from questree.metrics.fpvg.ranking import count_ranking, ranking_cells
from questree.metrics.scores import Scored
from questree.metrics.tallies import joined
from questree.tables.scored import Grounded, Relevance


def score_fpvg(
    grounded: Grounded,
    found: list[Relevance],
    answers: dict[str, pl.DataFrame],
    skip_missing: bool = False,
    outside: set[str] | None = None,
    importance: dict[str, list[float]] | None = None,
) -> Scored:
    """`answers`: all, rel, irrel -> table id, prediction[, probability]; `outside`: ids out of distribution."""
    model = grounding(grounded, found, answers, skip_missing)
    faithful = count_faithfulness(model)
    parts = [count_grounding(model), count_c2i(model, outside)]
    parts += [faithful] if faithful is not None else []
    parts += [count_ranking(model, found, importance)] if importance is not None else []
    tallies = joined(parts)
    cells = grounding_cells(tallies, model.structures)
    cells += c2i_cells(tallies, outside is not None)
    cells += faithfulness_cells(tallies) if faithful is not None else []
    cells += ranking_cells(tallies) if importance is not None else []
    return Scored(tallies, cells)
