"""Predictions scored on a run or on files: the tables of the papers as `Scores`."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import fields
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypedDict, Unpack, get_args

from questree.api.asking import ask
from questree.api.dag_tables import node_table
from questree.api.given_predictions import predictions_of
from questree.api.question_tables import question_table
from questree.api.scores import Scores
from questree.benchmarks import COVR
from questree.faults import BadInput, Fault, refuse
from questree.metrics.answered import Missing
from questree.metrics.answers import fit_rows, most_likely
from questree.metrics.scores import Score, Scored
from questree.models.policies import POLICIES
from questree.models.predictions import FieldNames, Predictions
from questree.scoring.compared import ComparedQuestions, OneModel, Scoring, compared, of_run

if TYPE_CHECKING:
    from questree.api.runs import Run

StrPath = str | PathLike[str]
On = Literal["dags", "questions"]
ALONE = 'sub-questions are scored too; give on="questions" to score the questions alone'
CHOICES = {"missing": get_args(Missing), "policy": (*POLICIES, "all")}


class ScoringOptions(TypedDict, total=False):
    """The options of `questree score`."""

    missing: Missing  # questions without a prediction: error, wrong or skip
    policy: Literal["exact", "vqa", "lenient", "all"]  # how free-form answers are read
    resamples: int  # behind intervals; 0 for none
    seed: int
    vocabulary: StrPath  # with synonyms for `lenient`
    synonyms: StrPath  # further ways to say answers
    id_column: str
    answer_column: str


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
    options, told = scoring(how), list[str]()
    dags, records = (None if place is None else Path(place) for place in (hierarchies, questions))
    corpus = compared(dags, records, None, None, "", options, told.append)
    given = predictions_of(predictions, model, FieldNames(options.id_column, options.answer_column))
    return collected(corpus.scored_given(given, _place(predictions)), options, told)


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
    options, told = scoring(how), list[str]()
    own = run._own
    over: On = on or ("dags" if own.has(run._place, "decomposed") else "questions")
    if over not in ("dags", "questions"):
        raise BadInput.at("on", f"expected what to score, got {over!r}; choose from dags, questions")
    corpus, finish = (_dags if over == "dags" else _questions)(run, split, every, options, told.append)
    if isinstance(predictions, str) and predictions in run.models:
        assert corpus.stored is not None
        found: Iterable[OneModel] = corpus.scored([], [predictions])
    else:
        found = corpus.scored_given(
            _given(run, corpus, predictions, model, batch, split, every, options), _place(predictions)
        )
    try:
        return collected(found, options, told, finish)
    except BadInput as bad:
        if over == "dags" and on is None:
            raise BadInput([*bad.faults, Fault("on", ALONE)]) from None
        raise


def _place(predictions: Any) -> str:
    return str(predictions) if isinstance(predictions, str | PathLike) else "predictions"


def scoring(how: ScoringOptions) -> Scoring:
    """Options by name; paths may be texts."""
    known = [each.name for each in fields(Scoring)]
    strange = [name for name in how if name not in known]
    if strange:
        raise BadInput.at(
            strange[0], f"expected an option of scoring, got {strange[0]!r}; choose from {', '.join(known)}"
        )
    given: dict[str, Any] = dict(how)
    refuse(
        [
            Fault(name, f"expected a known one, got {given[name]!r}; choose from {', '.join(there)}")
            for name, there in CHOICES.items()
            if given.get(name, there[0]) not in there
        ]
    )
    paths = {name: Path(given[name]) for name in ("vocabulary", "synonyms") if given.get(name) is not None}
    return Scoring(**given | paths)


class Finish(NamedTuple):
    """What tables have besides the scores of cells."""

    fitted: Callable[[str, Scored], list[Score]] = lambda *_: []  # rows that follow from the scores of a model
    baselines: Sequence[Score] = ()  # rows that need no predictions


def _dags(
    run: "Run", split: str | None, every: bool, how: Scoring, say: Callable[[str], None]
) -> tuple[ComparedQuestions, Finish]:
    return of_run(run._place, split, run.benchmark, how, say), Finish()


def _questions(
    run: "Run", split: str | None, every: bool, how: Scoring, say: Callable[[str], None]
) -> tuple[ComparedQuestions, Finish]:
    """The questions of a split alone, test if none is named."""
    from questree.scoring import agqa_questions, image_sets

    if run._own is COVR:
        asked, learnt = image_sets.of_run(run._place, split or "test", "", every)
        guesses = image_sets.baselines(asked, learnt)
        rows = [row for name, one in guesses.items() for row in one.rows(name, how.resampling)]
        return image_sets.of_questions(asked, run._place, how, say), Finish(baselines=rows)
    records = agqa_questions.of_run(run._place, split or "test", every)
    corpus = agqa_questions.scored_on(records, run._place, how, say)
    return corpus, Finish(lambda name, one: fit_rows(one.tallies, name, how.resampling), most_likely(records))


def _given(
    run: "Run",
    corpus: ComparedQuestions,
    predictions: Any,
    model: str,
    batch: int | None,
    split: str | None,
    every: bool,
    how: Scoring,
) -> Predictions:
    """Of a callable, its answers to whatever is scored."""
    if isinstance(predictions, str) and not Path(predictions).exists():
        stored = f"; models of this run: {', '.join(run.models) or 'none'}"
        raise BadInput.at(predictions, f"no such file of predictions, and no stored model{stored}")
    if not callable(predictions):
        return predictions_of(predictions, model, FieldNames(how.id_column, how.answer_column))
    if corpus.asked is not None:
        asked = node_table(corpus.asked, programs=False)
    else:
        asked = question_table(run._place, run._own, split or "test", not every, ["id", "question", "scope"])
    return predictions_of(ask(predictions, asked, batch), model or called(predictions))


def called(model: Any) -> str:
    """The name of a callable."""
    return str(getattr(model, "__name__", type(model).__name__)).strip("<>")


def collected(found: Iterable[OneModel], how: Scoring, told: list[str], finish: Finish | None = None) -> Scores:
    rows, scored, about, more_rows = list[Score](), dict[str, Scored](), list[Score](), finish or Finish()
    for name, one, more in found:
        scored[name] = one
        rows += one.rows(name, how.resampling)
        rows += more_rows.fitted(name, one)
        about += more
    return Scores([*rows, *more_rows.baselines, *about], scored, how.resampling, told)
