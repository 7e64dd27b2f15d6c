"""Predictions kept in a run for its image questions, by the ids of the questions."""

import polars as pl

from questree.models.predictions import COLUMNS, PREDICTION, Predictions
from questree.stages.decompose.image_sets import read_sets
from questree.tables.hierarchies import NOTHING
from questree.tables.predictions import IMAGE_SETS, Stored
from questree.tables.run import Run


def image_predictions(run: Run, model: str, ids: pl.Series) -> Predictions:
    """What a stored model answers to the questions with these ids; those it does not answer are left out."""
    stored, folder = Stored.of(run, model), run.covr / "decomposed"
    tables = read_sets(folder)
    tops, nodes = tables["tops"], stored.shard(IMAGE_SETS, len(tables["nodes"]))
    word = stored.asked(IMAGE_SETS, nodes[tops["node"].to_numpy()])
    said = pl.Series(stored.words, dtype=pl.String).gather(word[word != NOTHING])
    found = tops.filter(pl.Series(word != NOTHING)).select("id", said.alias(PREDICTION))
    found = found.filter(pl.col("id").is_in(ids.implode()))
    rest = [pl.lit(None, dtype).alias(name) for name, dtype in COLUMNS.items() if name not in found.columns]
    return Predictions(model, found.with_columns(rest), 0)
