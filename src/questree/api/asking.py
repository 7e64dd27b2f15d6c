"""Models as callables: asked about questions one by one or in batches, their answers as predictions."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any

import polars as pl

from questree.faults import BadInput, refuse
from questree.models.predictions import PREDICTION
from questree.progress import watch

if TYPE_CHECKING:
    from questree.api.runs import Run


@dataclass(frozen=True)
class Asked:
    """A question or sub-question as a model is asked it.

    >>> said = run.ask(lambda question: "yes" if question.text.startswith("Is ") else "no")
    >>> said["prediction"].to_list().count("yes")
    727
    """

    id: str
    text: str
    scope: Any  # the id of the video, or the ids of the images

    def __str__(self) -> str:
        return self.text


Model = Callable[[Asked], object] | Callable[[Sequence[Asked]], Iterable[object]]


def ask_run(run: "Run", model: Model, split: str | None, parts: bool, batch: int | None, name: str) -> pl.DataFrame:
    """As `Run.ask` says."""
    from questree.api.dag_tables import node_table
    from questree.api.given_predictions import predictions_of
    from questree.api.stored_answers import keep, named

    if not callable(model):
        raise BadInput.at("model", f"expected a callable of a question, got {type(model).__name__}")
    refuse(named(run._place, name, run._own) if name else [])
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
        said: Any = model(some if batch else some[0])  # type: ignore[arg-type]
        answers += answered(said, len(some)) if batch else [said]
    words = [None if said is None else str(said) for said in answers]
    table = pl.DataFrame({"id": questions["id"], PREDICTION: pl.Series(words, dtype=pl.String)})
    return table.drop_nulls(PREDICTION)


def answered(said: Any, wanted: int) -> list[object]:
    """As many answers as there were questions."""
    if isinstance(said, str) or not isinstance(said, Iterable):
        raise BadInput.at("model", f"expected a list of {wanted} answers to a batch, got {type(said).__name__}")
    found = list(said)
    if len(found) != wanted:
        raise BadInput.at("model", f"expected {wanted} answers to a batch, got {len(found)}")
    return found


def batches(every: Iterable[Asked], size: int) -> Iterator[list[Asked]]:
    if size < 1:
        raise BadInput.at("batch", f"expected at least 1, got {size}")
    rest = iter(every)
    while some := list(islice(rest, size)):
        yield some
