"""The questions of all DAGs as the one table that metrics of plugins count: a row per scored text and video."""

import numpy as np
import polars as pl

from questree.metrics.dags.answered import Answered, first
from questree.tables.hierarchies import NOTHING


def questions_of(model: Answered) -> pl.DataFrame:
    """With or without a DAG; `parts` are the rows of a question's sub-questions, `dag` is null without one."""
    found, rows = model.hierarchies, first(model.column("text"), np.flatnonzero(model.scored))
    alone = model.group_of_type[found.isolated["type"].to_numpy()] != NOTHING
    nodes, loose = found.nodes[rows], found.isolated.filter(pl.Series(alone))
    words, types = pl.Series([*model.words.number, None], dtype=pl.String), pl.Series(found.types, dtype=pl.String)
    last = len(words) - 1
    truth = np.concatenate([nodes["answer"].to_numpy(), loose["answer"].to_numpy()])
    said = np.concatenate([model.prediction[rows], model.isolated[alone]])
    table = pl.DataFrame(
        {
            "row": np.arange(len(truth)),
            "scope": np.concatenate([model.video[rows], loose["video"].to_numpy()]),
            "dag": np.concatenate([nodes["dag"].to_numpy().astype(np.int64), np.full(len(loose), NOTHING)]),
            "id": found.keys.gather(pl.concat([nodes["key"], loose["key"]])),
            "type": types.gather(pl.concat([nodes["type"], loose["type"]])),
            "answer": words.gather(np.where(truth == NOTHING, last, truth)),
            "prediction": words.gather(np.where(said == NOTHING, last, said)),
            "correct": (said == truth) & (said != NOTHING),
        }
    )
    listed = _parts(model, rows).group_by("row", maintain_order=True).agg("parts")
    dag = pl.when(pl.col("dag") != NOTHING).then("dag")
    return table.with_columns(dag).join(listed, on="row", how="left", maintain_order="left").drop("row")


def _parts(model: Answered, rows: np.ndarray[tuple[int], np.dtype[np.int64]]) -> pl.DataFrame:
    """row, parts: each sub-question of a row once."""
    found, text = model.hierarchies, model.column("text")
    row_of = np.full(int(text.max(initial=0)) + 1, NOTHING, np.int64)
    row_of[text[rows]] = np.arange(len(rows))
    parent = np.repeat(found.composed["parent"].to_numpy(), found.composed["edges"].to_numpy())
    edges = pl.DataFrame({"row": row_of[text[parent]], "parts": row_of[text[found.edges["child"].to_numpy()]]})
    return edges.filter(pl.col("row") != NOTHING, pl.col("parts") != NOTHING).unique().sort("row", "parts")
