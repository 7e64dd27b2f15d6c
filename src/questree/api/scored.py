"""Predictions scored on a run or on files: the tables of the papers as `Scores`."""

from functools import partial
from typing import TYPE_CHECKING, Any, Literal, Unpack

from questree.api import score_sets
from questree.api.asking import ask
from questree.api.choices import Scoring, ScoringOptions, StrPath, chosen
from questree.api.dag_tables import node_table
from questree.api.given_predictions import predictions_of
from questree.api.question_tables import question_table
from questree.api.scores import Scores
from questree.faults import BadInput, Fault
from questree.models.predictions import FieldNames, Predictions
from questree.places import path_of
from questree.scoring.compared import one_source
from questree.stages.decompose.hierarchies import hierarchies_in

if TYPE_CHECKING:
    from questree.api.runs import Run

On = Literal["dags", "questions"]
ALONE = 'sub-questions are scored too; give on="questions" to score the questions alone'


def score(
    predictions: Any,
    *,
    hierarchies: StrPath | None = None,
    questions: StrPath | None = None,
    model: str = "",
    **how: Unpack[ScoringOptions],
) -> Scores:
    """Score predictions on released files, without a run.

    Parameters
    ----------
    predictions
        {id: answer}, a table with the columns id and prediction, or a file of predictions.
    hierarchies
        Folder of AGQA-Decomp hierarchies, one <video>.json per video.
    questions
        Instead: a file of AGQA questions {id: record}.
    model
        Name of the model in tables.
    how
        Options of `questree score`: missing, policy, resamples, seed, vocabulary, synonyms, id_column, answer_column.

    >>> scores = questree.score("predictions.jsonl", hierarchies="released/balanced_test_hierarchies", model="mine")
    >>> scores.models, scores["accuracy"]
    (['mine'], 1.0)
    """
    options, told = chosen(Scoring, how), list[str]()
    dags, records = (None if place is None else path_of(place) for place in (hierarchies, questions))
    given = predictions_of(predictions, model, FieldNames(options.id_column, options.answer_column))
    one_source(dags, records, None, None)
    if dags is not None:
        return score_sets.scored_dags([given], (), None, dags, how=options, say=told.append, told=told)
    return score_sets.scored_agqa([given], (), questions=records, how=options, say=told.append, told=told)


def score_run(
    run: "Run",
    predictions: Any,
    on: On | None = None,
    split: str | None = None,
    every: bool = False,
    model: str = "",
    batch: int | None = None,
    **how: Unpack[ScoringOptions],
) -> Scores:
    """As `Run.score` says."""
    options, told = chosen(Scoring, how), list[str]()
    over: On = on or ("dags" if run._own.has(run._place, "decomposed") else "questions")
    if over not in ("dags", "questions"):
        raise BadInput.at("on", f"expected what to score, got {over!r}; choose from dags, questions")
    stored = isinstance(predictions, str) and predictions in run.models
    given = [] if stored else [_given(run, over, predictions, model, batch, split, every, options)]
    alone = partial(run._own.part("scores of questions"), every=every)
    work = partial(score_sets.scored_dags, benchmark=run.benchmark) if over == "dags" else alone
    try:
        found: Scores = work(
            given,
            [predictions] if stored else [],
            run=run.folder,
            split=split,
            how=options,
            say=told.append,
            told=told,
        )
    except BadInput as bad:
        if over == "dags" and on is None:
            raise BadInput([*bad.faults, Fault("on", ALONE)]) from None
        raise
    return found


def _given(
    run: "Run",
    over: On,
    predictions: Any,
    model: str,
    batch: int | None,
    split: str | None,
    every: bool,
    how: Scoring,
) -> Predictions:
    """Of a callable, its answers to whatever is scored."""
    if isinstance(predictions, str) and not path_of(predictions).exists():
        stored = f"; models of this run: {', '.join(run.models) or 'none'}"
        raise BadInput.at(predictions, f"no such file of predictions, and no stored model{stored}")
    if not callable(predictions):
        return predictions_of(predictions, model, FieldNames(how.id_column, how.answer_column))
    if over == "dags":
        asked = node_table(hierarchies_in(run._place, split, run.benchmark), programs=False)
    else:
        asked = question_table(run._place, run._own, split or "test", not every, ["id", "question", "scope"])
    return predictions_of(ask(predictions, asked, batch), model or called(predictions))


def called(model: Any) -> str:
    """The name of a callable."""
    return str(getattr(model, "__name__", type(model).__name__)).strip("<>")
