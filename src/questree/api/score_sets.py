"""Predictions and stored models scored on DAGs or questions, of a run or of files, as `Scores`."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Required, TypedDict, Unpack

from questree.api.scores import Scores
from questree.benchmarks import chosen
from questree.faults import BadInput, Fault, in_python, refuse
from questree.metrics.scores import Score, Scored
from questree.rules.schemes import SCHEMES, unscored
from questree.scoring import compared
from questree.scoring.compared import Given, OneModel, Scoring, Tell, silent
from questree.scoring.run_shards import ShardsTogether
from questree.tables.run import Run

Fitted = Callable[[str, Scored], list[Score]]


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


def scored_models(
    files: Sequence[Given],
    models: Sequence[str],
    run: Path | None = None,
    hierarchies: Path | None = None,
    questions: Path | None = None,
    *,
    workers: int = 2,
    **given: Unpack[DagOptions],
) -> list[tuple[str, Scored]]:
    """Stored models and predictions on DAGs, or on a file of AGQA's questions."""
    split, say = given.get("split"), given.get("say", silent)
    compared.one_source(hierarchies, questions, run, split)
    if questions is None:
        found, _ = counted_dags(files, models, run, hierarchies, workers=workers, **given)
    else:
        found = agqa_file(questions, given["how"], files, workers)
    return [(name, scored) for name, scored, _ in found.scored(files, say)]


def counted_dags(
    files: Sequence[Given],
    models: Sequence[str],
    run: Path | None,
    hierarchies: Path | None,
    *,
    workers: int,
    split: str | None = None,
    benchmark: str = "",
    how: Scoring,
    say: Tell = silent,
    cache: bool = False,
    errors: bool = False,
    train: Path | None = None,
) -> tuple[ShardsTogether, list[Score]]:
    """What predictions and stored models got on DAGs, and rows of Most-Likely, which learns from `train`."""
    if train and not hierarchies:
        wanted = "expected --hierarchies DIR beside it; in a run Most-Likely is the bot most-likely"
        raise BadInput.at("--train", wanted)
    compared.one_source(hierarchies, None, run, split)
    if hierarchies is not None:
        from questree.scoring.released_dags import score_released

        return score_released(hierarchies, files, how, say, cache, errors, train)
    from questree.scoring.dag_scores import run_dags

    assert run is not None
    place = Run.at(run)
    dags_of = chosen(place, benchmark, "decomposed")
    return run_dags(place, dags_of, models, split, how, workers, files, errors), []


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
    """Predictions and stored models on DAGs."""
    found, guessed = counted_dags(files, models, run, hierarchies, workers=workers, **given)
    return scores(found.scored(files, given.get("say", silent)), given["how"], told, guessed=guessed)


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


def scored_agqa(
    files: Sequence[Given],
    models: Sequence[str],
    *,
    run: Path | None = None,
    questions: Path | None = None,
    split: str | None = None,
    every: bool = False,
    as_released: bool = False,
    how: Scoring,
    say: Tell = silent,
    workers: int = 2,
    told: Sequence[str] = (),
) -> Scores:
    """Predictions and stored models on questions about videos, each alone; test, if no split is named."""
    from questree.metrics.answers import fit_rows, most_likely
    from questree.scoring.question_scores import answer_counts, questions_together

    if (run is None) == (questions is None):
        raise BadInput.at("", "expected one of a run and --questions FILE")
    if run is not None:
        found = questions_together(Run.at(run), models, split or "test", every, how, workers, files, as_released)
    elif split or every or as_released:
        option = "--split" if split else "--all" if every else "--as-released"
        raise BadInput.at(option, "expected a run, got a file, which is scored whole and by its flags")
    else:
        assert questions is not None
        found = agqa_file(questions, how, files, workers)

    def fitted(name: str, one: Scored) -> list[Score]:
        return fit_rows(one.tallies, name, how.resampling)

    return scores(found.scored(files, say), how, told, fitted, most_likely(answer_counts(found)))


def agqa_file(questions: Path, how: Scoring, files: Sequence[Given], workers: int) -> ShardsTogether:
    """A file of AGQA's questions in shards of videos, or in one that holds everything."""
    from questree.formats.agqa_import import read_questions
    from questree.scoring.file_questions import file_together
    from questree.scoring.question_scores import records_together

    found = file_together(questions, how, workers, files)
    return found or records_together(questions, read_questions(questions), how, files)


def scored_covr(
    files: Sequence[Given],
    models: Sequence[str],
    *,
    run: Path | None = None,
    questions: Path | None = None,
    train: Path | None = None,
    split: str | None = None,
    held_out: str = "",
    every: bool = False,
    how: Scoring,
    say: Tell = silent,
    workers: int = 2,
    told: Sequence[str] = (),
) -> Scores:
    """Predictions and stored models on questions about image sets, each alone; test, if no split is named. Beside the
    models MAJ and MAJTEMPL."""
    from questree.scoring.file_sets import set_files_together
    from questree.scoring.set_scores import baselines, records_together, sets_together

    if run is not None:
        found = sets_together(Run.at(run), models, split or "test", held_out, every, how, workers, files)
    elif questions is None:
        raise BadInput.at("", "expected either a run folder or --questions FILE")
    else:
        in_parts = set_files_together(questions, train, how, workers, files)
        found = in_parts or records_together(questions, train, how, files)
    guesses = baselines(found)
    return scores(found.scored(files, say), how, told, guessed=guessed_rows(guesses, how), guesses=guesses)


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
