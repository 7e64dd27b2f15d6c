"""The list as a file: every question that was found, a row each, in pieces so that no list is too long."""

from collections.abc import Iterator

import numpy as np
import polars as pl
from numpy.typing import NDArray

from questree.show.page.questions import RIGHT, UNKNOWN
from questree.show.page.site import Collection

CHUNK = 50_000  # questions made into text at a time
KINDS = {"csv": "text/csv; charset=utf-8", "jsonl": "application/x-ndjson"}


def written(own: Collection, rows: NDArray[np.int64], models: list[str], kind: str) -> Iterator[bytes]:
    """As CSV with a header, or a JSON object per line."""
    for begin in range(0, max(len(rows), 1), CHUNK):
        table = listed(own, rows[begin : begin + CHUNK], models)
        if kind == "csv":
            yield table.write_csv(include_header=begin == 0).encode()
        else:
            yield table.write_ndjson().encode()


def listed(own: Collection, rows: NDArray[np.int64], models: list[str]) -> pl.DataFrame:
    asked, view = own.questions, own.view
    words, keys = pl.Series(asked.words, dtype=pl.String), asked.columns["key"][rows]
    found = {"id": view.ids(keys), view.scope: view.scopes(keys), "question": asked.texts(rows)}
    found["answer"] = words.gather(asked.columns["answer"][rows])
    found["template"] = pl.Series(view.templates, dtype=pl.String).gather(asked.columns["template"][rows])
    if view.decomposed:
        found["type"] = pl.Series(asked.types, dtype=pl.String).gather(asked.columns["type"][rows])
    found |= {name: pl.Series(asked.columns[name][rows]) for name in view.numbers}
    for name in models:
        judged = asked.models[name].judgement.at(rows)
        said, right = pl.Series(judged.said, dtype=pl.Int64), pl.Series(judged.right, dtype=pl.Int8)
        found[f"{name} says"] = words.gather(said.set(said < 0, None))
        found[f"{name} right"] = (right == RIGHT).set(right == UNKNOWN, None)
        found[f"{name} contradicts itself"] = pl.Series(judged.broken > 0)
    return pl.DataFrame(found)
