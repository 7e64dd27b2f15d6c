"""Predictions as people have them in memory: dicts, tables, files."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Any

import polars as pl

from questree.faults import BadInput
from questree.models.predictions import COLUMNS, IDS, PREDICTION, FieldNames, Predictions, read_predictions
from questree.places import path_of

Given = Mapping[str, Any] | pl.DataFrame | str | PathLike[str]


def predictions_of(given: Any, model: str = "", names: FieldNames | None = None) -> Predictions:
    """{id: answer}, a table with the columns id and prediction (polars, pandas, Arrow, a list of dicts), or a file."""
    names = names or FieldNames()
    if isinstance(given, str | PathLike):
        return replace(read_predictions(path_of(given), model, names), place=str(given))
    called = model or "model"
    if isinstance(given, Mapping):
        table = pl.DataFrame({"id": list(given), PREDICTION: list(given.values())}, strict=False)
    else:
        table = names.own(as_frame(given), Path(called))
    return tidy(table, called)


def as_frame(given: Any) -> pl.DataFrame:
    """A table of another library, too."""
    if isinstance(given, pl.DataFrame):
        return given
    if isinstance(given, pl.LazyFrame):
        return given.collect()
    if hasattr(given, "__arrow_c_stream__") or hasattr(given, "__dataframe__"):
        return pl.DataFrame(given)
    if isinstance(given, Sequence) and given and all(isinstance(each, Mapping) for each in given):
        return pl.DataFrame(given, strict=False, infer_schema_length=None)
    wanted = "a dict {id: answer}, a table with the columns id and prediction, a file or a callable"
    raise BadInput.at("predictions", f"expected {wanted}, got {type(given).__name__}")


def tidy(table: pl.DataFrame, model: str) -> Predictions:
    """With the usual columns; a later row with the same id wins, null is no prediction."""
    own = next((name for name in IDS if name in table.columns), None)
    if own is None or PREDICTION not in table.columns:
        found = f"expected columns id and prediction, got {', '.join(table.columns) or 'none'}"
        raise BadInput.at("predictions", f"{found}; name others by id_column= and answer_column=")
    rest = [pl.lit(None, kind).alias(name) for name, kind in COLUMNS.items() if name not in (*table.columns, "id")]
    known = table.with_columns(*rest, id=pl.col(own)).select(
        pl.col(name).cast(kind, strict=False) for name, kind in COLUMNS.items()
    )
    known = known.drop_nulls(["id", PREDICTION])
    last = known.unique("id", keep="last", maintain_order=True)
    return Predictions(model, last, len(known) - len(last))
