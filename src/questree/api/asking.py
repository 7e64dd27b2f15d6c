"""Models as callables: asked about questions one by one or in batches, their answers as predictions."""

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TYPE_CHECKING

import polars as pl

from questree.ask.voices import Asked as Asked
from questree.ask.voices import Model as Model
from questree.ask.voices import said_by
from questree.faults import BadInput, refuse
from questree.models.predictions import PREDICTION
from questree.progress import watch

if TYPE_CHECKING:
    from questree.api.runs import Run


def ask_run(run: "Run", model: Model, split: str | None, parts: bool, batch: int | None, name: str) -> pl.DataFrame:
    """As `Run.ask` says."""
    from questree.api.dag_tables import node_table
    from questree.api.given_predictions import predictions_of
    from questree.api.stored_answers import keep, named

    if not callable(model):
        raise BadInput.at("model", f"expected a callable of a question, got {type(model).__name__}")
    refuse(named(run._place, name, run._own, "--name") if name else [])
    if parts and run._own.has(run._place, "decomposed"):
        asked = node_table(run._dags(split), programs=False)
    else:
        asked = run.questions(split=split, columns=["id", "question", "scope"])
    found = ask(model, asked, batch)
    if name:
        keep(run._place, run._own, predictions_of(found, name), {"callable": name})
    return found


def ask(model: Model, questions: pl.DataFrame, batch: int | None = None) -> pl.DataFrame:
    """id, prediction: what a callable says to questions (id, question, scope); None is no answer."""
    columns = (questions[name] for name in ("id", "question", "scope"))
    every = [Asked(*row) for row in zip(*(column.to_list() for column in columns), strict=True)]
    answers: list[object] = []
    for some in watch(batches(every, batch or 1), "asking", -(-len(every) // (batch or 1))):
        answers += said_by(model, some, batch)
    words = [None if said is None else str(said) for said in answers]
    table = pl.DataFrame({"id": questions["id"], PREDICTION: pl.Series(words, dtype=pl.String)})
    return table.drop_nulls(PREDICTION)


def batches(every: Iterable[Asked], size: int) -> Iterator[list[Asked]]:
    if size < 1:
        raise BadInput.at("batch", f"expected at least 1, got {size}")
    rest = iter(every)
    while some := list(islice(rest, size)):
        yield some
