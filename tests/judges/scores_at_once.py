"""Scores of everything in memory, read and counted in one go: what shards put together must be the same."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import polars as pl

from questree.api.score_sets import guessed_rows, scores
from questree.api.scores import Scores
from questree.benchmarks import AGQA, Benchmark
from questree.benchmarks.covr.splits import PATTERNS
from questree.formats.agqa_import import read_questions
from questree.metrics.answered import Answered, answered
from questree.metrics.answers import AnswerCounts, fit_rows, most_likely, score_agqa
from questree.metrics.catalogue import METRICS, cells
from questree.metrics.dags import DagMetric, count_answered, dag_cells, dag_counts
from questree.metrics.errors import error_cells, error_kinds
from questree.metrics.scores import Score, Scored
from questree.metrics.sets import score_covr
from questree.models import stored
from questree.models.predictions import FieldNames, read_predictions
from questree.scoring import agqa_questions as agqa
from questree.scoring import image_sets
from questree.scoring.answer_kinds import kinds_of_records
from questree.scoring.as_read import read_by_key, unread
from questree.scoring.compared import (
    OneModel,
    PredictionReader,
    Scoring,
    Tell,
    choices,
    for_run,
    given_names,
    looked_up,
    options_in,
    run_reader,
    silent,
)
from questree.scoring.run_answers import answers_to
from questree.scoring.run_questions import answered_ids, scored_questions
from questree.scoring.run_scores import How
from questree.sources.covr import QUESTIONS, read_records
from questree.stages.decompose.hierarchies import RunHierarchies
from questree.stages.split.image_sets import read_split, selected
from questree.tables.predictions import Stored
from questree.tables.run import Run


@dataclass(frozen=True)
class AtOnce:
    reader: PredictionReader
    how: Scoring
    scored: Callable[[Any], Scored]
    stored: Callable[[str], Iterable[tuple[str, Any, list[Score]]]]
    fitted: Callable[[str, Scored], list[Score]] = lambda *_: []
    guessed: Sequence[Score] = ()
    guesses: Any = None

    def of_files(self, files: Sequence[Path], models: Sequence[str] = ()) -> Scores:
        return scores(self.every(files, models), self.how, (), self.fitted, self.guessed, self.guesses)

    def every(self, files: Sequence[Path], models: Sequence[str]) -> Iterator[OneModel]:
        for model in models:
            for name, answers, about in self.stored(model):
                yield name, self.scored(answers), about
        fields = FieldNames(self.how.id_column, self.how.answer_column)
        for file, model in zip(files, given_names(files), strict=True):
            for name, answers, about in self.reader.readings(file, read_predictions(file, model, fields)):
                yield name, self.scored(answers), about


def dags(
    run: Path, *, split: str | None = None, how: Scoring, say: Tell = silent, benchmark: str = "", errors: bool = False
) -> AtOnce:
    asked, reader = run_reader(Run(run), split, benchmark, how)
    reader = PredictionReader(
        reader.needed, reader.known, reader.answers, reader.how, say, reader.texts, kinds=reader.kinds
    )
    more = [partial(error_kinds, choices=choices(options_in(asked), reader.how))] if errors else []

    def scored(said: Any) -> Scored:
        return scored_dags(answered(asked.hierarchies, said, how.missing), more)

    return AtOnce(reader, how, scored, partial(stored_answers, asked, reader))


def scored_dags(model: Answered, more: Sequence[DagMetric]) -> Scored:
    tallies = count_answered(model, more)
    errors, plugged = error_cells(tallies) if more else [], cells(tallies.columns, METRICS.values())
    return Scored(tallies, [*dag_cells(tallies, model.listing), *errors, *plugged])


def stored_answers(
    asked: RunHierarchies, reader: PredictionReader, model: str
) -> Iterator[tuple[str, Any, list[Score]]]:
    there = Stored.of(asked.run, model)
    given = stored.said(asked, there)
    found = stored.covered(asked, given)
    reader.tell(there.folder, model, found, "")
    for policy in reader.how.policies:
        read = read_by_key(asked, given, reader, policy)
        name, rows = reader.about(model, policy, found, *unread(asked, read, reader))
        yield name, read, rows


def agqa_questions(
    run: Path | None,
    questions: Path | None = None,
    *,
    split: str = "",
    every: bool = False,
    how: Scoring,
    say: Tell = silent,
) -> AtOnce:
    place = None if run is None else Run(run)
    asked = agqa.of_run(place, split or "test", every) if place else read_questions(questions or Path())
    how_read, kinds = for_run(place, how) if place else how, partial(kinds_of_records, asked.table)
    reader = PredictionReader.of(asked.table, how_read, say, looked_up(asked.texts), kinds)

    def known(model: str) -> list[tuple[str, pl.DataFrame, list[Score]]]:
        assert place is not None
        given = stored.video_predictions(place, model, asked.table["id"])
        return reader.readings(place.predictions / model, given)

    def fitted(name: str, one: Scored) -> list[Score]:
        return fit_rows(one.tallies, name, how.resampling)

    guessed = most_likely(AnswerCounts.of(asked.table))
    return AtOnce(reader, how, partial(score_agqa, asked, missing=how.missing), known, fitted, guessed)


def covr_questions(
    run: Path | None,
    questions: Path | None = None,
    train: Path | None = None,
    *,
    split: str = "",
    held_out: str = "",
    every: bool = False,
    how: Scoring,
    say: Tell = silent,
) -> AtOnce:
    place = None if run is None else Run(run)
    if place is not None:
        asked, learnt = set_questions(place, split or "test", held_out, every)
    else:
        assert questions is not None
        asked = image_sets.of_records(read_records(questions))
        learnt = image_sets.of_records(read_records(train)) if train else QUESTIONS.empty()
    reader = PredictionReader.of(asked, how, say, image_sets.texts_of(asked))

    def known(model: str) -> list[tuple[str, pl.DataFrame, list[Score]]]:
        assert place is not None
        given = stored.image_predictions(place, model, asked["id"])
        return reader.readings(place.predictions / model, given)

    scored = partial(score_covr, asked, templates=list(PATTERNS), skip_missing=how.missing == "skip")
    guesses = image_sets.baselines(asked, learnt)
    return AtOnce(reader, how, scored, known, guessed=guessed_rows(guesses, how), guesses=guesses)


def set_questions(run: Run, side: str, held_out: str = "", every: bool = False) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Evaluated and training questions of one side of a run, or of what a split holds out of it."""
    image_sets.known_side(side)
    table = image_sets.with_image(run, selected(run, every))
    asked, learnt = (table.filter(split=name).select(image_sets.COLUMNS) for name in (side, "train"))
    if held_out:
        parts = read_split(run, held_out)
        asked = asked.filter(pl.col("id").is_in(parts[image_sets.HELD_OUT[side]].implode()))
        learnt = learnt.filter(pl.col("id").is_in(parts["train"].implode()))
    if asked.is_empty():
        raise image_sets.nothing_asked(run, side, held_out)
    return asked, learnt


def of_report(run: Run, benchmark: Benchmark, how: How, names: Sequence[str]) -> Iterator[tuple[Any, ...]]:
    """Of every model and bot: rows of DAGs, rows of questions alone, DAGs by accuracy and consistency, coverage, and
    the share of what it said that is no answer."""
    dags, reader = run_reader(run, how.split, benchmark.name, how)
    questions = scored_questions(run, benchmark, how.split)
    errors = [partial(error_kinds, choices=choices(options_in(dags), reader.how))] if benchmark is AGQA else []
    for model in names:
        read = read_by_key(dags, stored.said(dags, answers_to(run, benchmark, model)), reader, how.policy)
        answered_dags = answered(dags.hierarchies, read, how.missing)
        scored = scored_dags(answered_dags, errors)
        parts = [pl.DataFrame(schema={"id": pl.String, "prediction": pl.String})]
        for named, rows in stored.of_shards(dags.named):
            word = read.by_key[rows][named.asked["key"].to_numpy()]
            parts.append(answered_ids(named.asked["id"], read.words, word))
        alone = pl.concat(parts).filter(pl.col("id").is_in(questions.asked["id"].implode()))
        each = questions.score(alone, how.missing)
        line = fit_rows(each.tallies, model, how.resampling) if benchmark is AGQA else []
        lost, count = unread(dags, read, reader)
        about = stored.covered(dags, read), lost / count if count else None
        of_alone = [*each.rows(model, how.resampling), *line]
        yield scored.rows(model, how.resampling), of_alone, dag_counts(answered_dags), *about
