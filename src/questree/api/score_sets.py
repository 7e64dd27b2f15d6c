"""What predictions are scored on, DAGs or questions, of a run or of files; and their scores as `Scores`."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Required, TypedDict, Unpack

from questree.api.scores import Scores
from questree.benchmarks import chosen
from questree.faults import BadInput, Fault, in_python, refuse
from questree.metrics.scores import Score, Scored
from questree.rules.schemes import SCHEMES, unscored
from questree.scoring import compared
from questree.scoring.compared import ComparedQuestions, Given, OneModel, Scoring, Tell, silent
from questree.tables.run import Run

Fitted = Callable[[str, Scored], list[Score]]


@dataclass(frozen=True)
class ScoreSet:
    """Questions or DAGs, and what tables of their scores have besides the models'."""

    corpus: ComparedQuestions
    how: Scoring
    fitted: Fitted = lambda *_: []  # rows that follow from the scores of a model
    guessed: Sequence[Score] = ()  # rows that need no predictions
    guesses: Mapping[str, Scored] = field(default_factory=dict)  # what these are computed from, where it is known

    def scores(self, found: Iterable[OneModel], told: Sequence[str] = ()) -> Scores:
        """Of models one by one."""
        return scores(found, self.how, told, self.fitted, self.guessed, self.guesses)

    def of_files(self, files: Sequence[Given], models: Iterable[str] = (), told: Sequence[str] = ()) -> Scores:
        """Of models that are stored in the run, and of predictions in files or in memory."""
        return self.scores(self.corpus.scored(files, models), told)


def scores(
    found: Iterable[OneModel],
    how: Scoring,
    told: Sequence[str] = (),
    fitted: Fitted = lambda *_: [],
    guessed: Sequence[Score] = (),
    guesses: Mapping[str, Scored] | None = None,
) -> Scores:
    """Of models one by one; rows about coverage come last."""
    rows, scored, about = list(guessed), dict[str, Scored](), list[Score]()
    for name, one, more in found:
        scored[name] = one
        rows += [*one.rows(name, how.resampling), *fitted(name, one)]
        about += more
    return Scores([*rows, *about], scored, how.resampling, [*map(in_python, told)], guesses or {})


class DagOptions(TypedDict, total=False):
    """How DAGs are scored."""

    split: str | None
    benchmark: str
    how: Required[Scoring]
    say: Tell
    cache: bool
    errors: bool
    train: Path | None


class AloneOptions(TypedDict, total=False):
    """How questions are scored, each alone."""

    run: Path | None
    questions: Path | None
    split: str | None
    every: bool
    how: Required[Scoring]
    say: Tell


class QuestionOptions(AloneOptions, total=False):
    """The same of videos."""

    as_released: bool


class SetOptions(AloneOptions, total=False):
    """The same of image sets."""

    train: Path | None
    held_out: str


def dags(
    run: Path | None = None,
    hierarchies: Path | None = None,
    questions: Path | None = None,
    *,
    split: str | None = None,
    benchmark: str = "",
    how: Scoring,
    say: Tell = silent,
    cache: bool = False,
    errors: bool = False,
    train: Path | None = None,
) -> ScoreSet:
    """DAGs of a run or of released hierarchies; `train`: hierarchies from which Most-Likely learns."""
    if train and not hierarchies:
        wanted = "expected --hierarchies DIR beside it; in a run Most-Likely is the bot most-likely"
        raise BadInput.at("--train", wanted)
    corpus = compared.compared(hierarchies, questions, run, split, benchmark, how, say, cache, errors)
    if train is None:
        return ScoreSet(corpus, how)
    from questree.metrics.commonest import answers_learnt, commonest

    of_type = commonest(answers_learnt(compared.released(train, say, cache)))
    return ScoreSet(corpus, how, guessed=compared.most_likely(corpus, of_type, how))


def scored_dags(
    files: Sequence[Given],
    models: Sequence[str],
    run: Path | None = None,
    hierarchies: Path | None = None,
    *,
    workers: int = 2,
    told: Sequence[str] = (),
    **given: Unpack[DagOptions],
) -> Scores:
    """Predictions and stored models on DAGs; of a run shard by shard, if that is the same."""
    how, say = given["how"], given.get("say", silent)
    whole = bool(not (files or models) or given.get("train"))
    from questree.scoring.dag_scores import in_shards, scored_in_shards

    if run is not None and not (hierarchies or whole):
        place, asked = Run.at(run), (given.get("split"), how, say, workers, files, given.get("errors", False))
        own = chosen(place, given.get("benchmark", ""), "decomposed")
        if in_shards(place, own, files, workers):
            return scores(scored_in_shards(place, own, models, *asked), how, told)
    return dags(run, hierarchies, **given).of_files(files, models, told)


def leaving_out(types: Path | None) -> AbstractContextManager[None]:
    """Inside, the types that a file lists are not scored, one per line; those of the paper without a file."""
    if types is None:
        return nullcontext()
    try:
        listed = [line.strip() for line in types.read_text("utf-8").splitlines() if line.strip()]
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput.at(types, f"expected a list of types, one per line ({error})") from error
    known = {type for scheme in SCHEMES.values() for type in scheme.types}
    wanted = f"choose from {', '.join(sorted(known))}"
    refuse([Fault(str(types), f"expected a type, got {one!r}; {wanted}") for one in listed if one not in known])
    return unscored(listed)


def agqa_questions(
    run: Path | None = None,
    questions: Path | None = None,
    *,
    split: str | None = None,
    every: bool = False,
    how: Scoring,
    say: Tell = silent,
    as_released: bool = False,
) -> ScoreSet:
    """Questions about videos, each alone; test, if no split is named."""
    from questree.formats.agqa_import import read_questions
    from questree.metrics.answers import AnswerCounts, fit_rows, most_likely
    from questree.scoring import agqa_questions

    if (run is None) == (questions is None):
        raise BadInput.at("", "expected one of a run and --questions FILE")
    if run is None and (split or every or as_released):
        option = "--split" if split else "--all" if every else "--as-released"
        raise BadInput.at(option, "expected a run, got a file, which is scored whole and by its flags")
    if questions is not None:
        asked = read_questions(questions)
        corpus = compared.of_records(asked, how, say)
    else:
        assert run is not None
        asked = agqa_questions.of_run(Run.at(run), split or "test", every, as_released)
        corpus = agqa_questions.scored_on(asked, Run.at(run), how, say)
    guessed = most_likely(AnswerCounts.of(asked.table))
    return ScoreSet(corpus, how, lambda name, one: fit_rows(one.tallies, name, how.resampling), guessed)


def scored_agqa(
    files: Sequence[Given],
    models: Sequence[str],
    *,
    workers: int = 2,
    told: Sequence[str] = (),
    **given: Unpack[QuestionOptions],
) -> Scores:
    """Predictions and stored models on questions about videos; of a run or a large file shard by shard, if that is the
    same."""
    from questree.metrics.answers import fit_rows, most_likely
    from questree.scoring.file_questions import file_together
    from questree.scoring.question_scores import answer_counts, questions_together
    from questree.scoring.run_shards import by_video

    run, questions, how = given.get("run"), given.get("questions"), given["how"]
    asked, found = (given.get("split"), given.get("every", False), given.get("as_released", False)), None
    if questions is not None and run is None and not any(asked):
        found = file_together(questions, how, workers, files)
    elif run is not None and questions is None and by_video():
        found = questions_together(Run.at(run), models, asked[0] or "test", asked[1], how, workers, files, asked[2])
    if found is None:
        return agqa_questions(**given).of_files(files, models, told)

    def fitted(name: str, one: Scored) -> list[Score]:
        return fit_rows(one.tallies, name, how.resampling)

    return scores(found.scored(files, given.get("say", silent)), how, told, fitted, most_likely(answer_counts(found)))


def covr_questions(
    run: Path | None = None,
    questions: Path | None = None,
    train: Path | None = None,
    *,
    split: str | None = None,
    held_out: str = "",
    every: bool = False,
    how: Scoring,
    say: Tell = silent,
) -> ScoreSet:
    """Questions about image sets, each alone; test, if no split is named. Beside the models MAJ and MAJTEMPL."""
    from questree.scoring import image_sets

    place = None if run is None else Run.at(run)
    asked, learnt = (
        image_sets.of_run(place, split or "test", held_out, every) if place else image_sets.of_files(questions, train)
    )
    guesses = image_sets.baselines(asked, learnt)
    rows = guessed_rows(guesses, how)
    return ScoreSet(image_sets.of_questions(asked, place, how, say), how, guessed=rows, guesses=guesses)


def scored_covr(
    files: Sequence[Given],
    models: Sequence[str],
    *,
    workers: int = 2,
    told: Sequence[str] = (),
    **given: Unpack[SetOptions],
) -> Scores:
    """Predictions and stored models on questions about image sets; of a run chunk by chunk, of large files part by
    part, if that is the same."""
    from questree.scoring.file_sets import set_files_together
    from questree.scoring.set_scores import baselines, in_chunks, sets_together

    run, questions, how, found = given.get("run"), given.get("questions"), given["how"], None
    asked = given.get("split") or "test", given.get("held_out", ""), given.get("every", False)
    if run is not None and in_chunks():
        found = sets_together(Run.at(run), models, *asked, how, workers, files)
    elif run is None and questions is not None:
        found = set_files_together(questions, given.get("train"), how, workers, files)
    if found is None:
        return covr_questions(**given).of_files(files, models, told)
    guesses, models_of = baselines(found), found.scored(files, given.get("say", silent))
    return scores(models_of, how, told, guessed=guessed_rows(guesses, how), guesses=guesses)


def guessed_rows(guesses: Mapping[str, Scored], how: Scoring) -> list[Score]:
    return [row for name, scored in guesses.items() for row in scored.rows(name, how.resampling)]


def given_files(files: Iterable[Path], more: str = "") -> list[Path]:
    """All files of predictions that do not exist are said at once, before anything is read."""
    from questree.models.predictions import is_given

    there = list(files)
    wanted = f"expected a file of predictions, got nothing of this name{more}"
    refuse([Fault(str(file), wanted) for file in there if not is_given(file)])
    return there


def stored_models(
    run: Path | None, wanted: Iterable[str], files: Sequence[Path], benchmark: str = "", say: Tell = silent
) -> tuple[str, ...]:
    """The stored models to score: those that are named, or all if there are no files."""
    named = tuple(wanted)
    if run is None and (named or not files):
        raise BadInput.at("", "expected --predictions FILE, or a run with models (`questree answer RUN --model NAME`)")
    if run is None or (files and not named):
        return ()
    known = models_in(run, benchmark)
    if not (named or known):
        raise BadInput.at(run, "no models are stored here; `questree answer RUN --model NAME` stores one")
    return compared.known_models(run, named or compared.current_models(Run.at(run), known, say), known)


def models_in(run: Path, benchmark: str = "") -> list[str]:
    """Models that have answered the DAGs of a run."""
    return compared.stored_models(Run.at(run), chosen(Run.at(run), benchmark, "decomposed"))


def by_flags(run: Path | None, as_released: bool) -> list[str]:
    """How what is held out is known where no split says it."""
    from questree.scoring.split_rows import BY_FLAGS, is_split

    return [] if run is None or as_released or is_split(Run.at(run)) else [BY_FLAGS.format(run)]


def not_asked(run: Path | None) -> list[str]:
    """What videos without annotated relations are not asked."""
    if run is None:
        return []
    from questree.stages.generate.annotated import told

    return list(told(Run.at(run)))
