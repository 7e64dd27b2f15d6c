"""What models are scored on: questions or DAGs, from files or from a run, with files of predictions or stored ones."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import numpy as np
import polars as pl

from questree.faults import BadInput
from questree.metrics.answered import ModelAnswers, needed
from questree.metrics.dags import score_decomp
from questree.metrics.scores import Coverage, Score, Scored, coverage
from questree.models.predictions import Policy, Predictions, ReadPredictions, model_name, read_answers, read_predictions
from questree.tables.hierarchies import Hierarchies
from questree.tables.run import Run
from questree.tables.scored import QuestionRecords
from questree.vocabulary.load import default, load

if TYPE_CHECKING:
    from questree.stages.decompose.hierarchies import RunHierarchies

Missing = Literal["error", "wrong", "skip"]
Tell = Callable[[str], None]  # who hears about coverage and policies
IDS = ("id", "prediction")


def silent(_: str) -> None:
    pass


@dataclass(frozen=True)
class PredictionReader:
    """Reads predictions for questions with these ids and answers, under the policies asked for."""

    needed: pl.Series
    known: pl.Series
    answers: Sequence[str]
    policies: tuple[Policy, ...]
    missing: Missing
    vocabulary: Path | None = None
    say: Tell = silent

    def read(self, file: Path, model: str) -> list[tuple[str, ReadPredictions, list[Score]]]:
        """(model, its answers, rows about coverage) per policy; coverage is said, and refused if it must be whole."""
        return self.readings(file, read_predictions(file, model))

    def readings(self, place: object, given: Predictions) -> list[tuple[str, ReadPredictions, list[Score]]]:
        """The same of predictions that were read."""
        found = coverage(self.needed, self.known, given.table)
        repeated = f", {given.duplicates:,} repeated ids (the last counts)" if given.duplicates else ""
        self.tell(place, given.model, found, repeated)
        return [self._reading(given, policy, found) for policy in self.policies]

    def tell(self, place: object, model: str, found: Coverage, more: str) -> None:
        self.say(f"{model}: predictions for {found}{more}; missing: {self.missing}")
        if self.missing == "error" and found.missing:
            raise BadInput.at(
                place,
                f"no prediction for {found.missing:,} of {found.needed:,} questions, for example "
                f"{', '.join(found.examples)}; give them, or choose --missing wrong or --missing skip",
            )

    def _reading(self, given: Predictions, policy: Policy, found: Coverage) -> tuple[str, ReadPredictions, list[Score]]:
        asked = given.table.filter(pl.col("id").is_in(self.known.implode()))  # others say nothing about the model
        reading = self.understood(asked, policy)
        model, rows = self.about(given.model, policy, found, reading.unparsed, len(reading.table))
        return model, reading, rows

    def understood(self, table: pl.DataFrame, policy: Policy) -> ReadPredictions:
        words = (load(self.vocabulary) if self.vocabulary else default()) if policy == "lenient" else None
        return read_answers(table, self.answers, policy, words)

    def about(self, model: str, policy: Policy, found: Coverage, unparsed: int, count: int) -> tuple[str, list[Score]]:
        """The model's name under a policy, and rows about coverage and unparsed answers."""
        name = model if len(self.policies) == 1 else f"{model} ({policy})"
        self.say(f"{name}: policy {policy}, {unparsed:,} of {count:,} predictions are no answer of this data")
        share = unparsed / count if count else None
        return name, [found.row(policy, name), Score("unparsed", "policy", policy, share, count, None, None, name)]


@dataclass(frozen=True)
class ComparedQuestions:
    """The questions two models are compared on, or one is judged by."""

    reader: PredictionReader
    scorer: Callable[[pl.DataFrame | ModelAnswers], Scored]
    asked: "RunHierarchies | None" = None

    @classmethod
    def of(
        cls,
        hierarchies: Path | None,
        questions: Path | None,
        missing: Missing,
        policies: tuple[Policy, ...],
        words: Path | None,
        run: Path | None = None,
        split: str | None = None,
        benchmark: str = "",
        say: Tell = silent,
    ) -> "ComparedQuestions":
        """Of the one source that is given."""
        if sum(place is not None for place in (hierarchies, questions, run)) != 1:
            raise BadInput.at("", "expected one of a run, --hierarchies DIR (AGQA-Decomp) and --questions FILE (AGQA)")
        if run is not None:
            return cls.of_run(Run(run), split, missing, policies, words, benchmark, say)
        if split is not None:
            raise BadInput.at("--split", "expected a run, got files, which are of one split")
        if hierarchies is not None:
            from questree.sources.hierarchies import read_hierarchies

            return cls._of_dags(read_hierarchies(hierarchies), missing, policies, words, say=say)
        from questree.formats.agqa_scored import read_questions

        assert questions is not None
        return cls.of_asked(read_questions(questions), missing, policies, words, say)

    @classmethod
    def of_run(
        cls,
        run: Run,
        split: str | None,
        missing: Missing,
        policies: tuple[Policy, ...],
        words: Path | None,
        benchmark: str = "",
        say: Tell = silent,
    ) -> "ComparedQuestions":
        from questree.stages.decompose.image_hierarchies import hierarchies_in

        asked = hierarchies_in(run, split, benchmark)
        own = run.vocabulary_file if run.vocabulary_file.is_file() else None  # image sets have none
        return cls._of_dags(asked.hierarchies, missing, policies, words or own, asked, say)

    @classmethod
    def _of_dags(
        cls,
        read: Hierarchies,
        missing: Missing,
        policies: tuple[Policy, ...],
        words: Path | None,
        asked: "RunHierarchies | None" = None,
        say: Tell = silent,
    ) -> "ComparedQuestions":
        scored, known = (read.keys.gather(needed(read, scored)) for scored in (True, False))
        reader = PredictionReader(scored, known, answers_of(read), policies, missing, words, say)
        return cls(reader, lambda said: score_decomp(read, said, missing), asked)

    @classmethod
    def of_asked(
        cls,
        asked: QuestionRecords,
        missing: Missing,
        policies: tuple[Policy, ...],
        words: Path | None,
        say: Tell = silent,
    ) -> "ComparedQuestions":
        from questree.metrics.answers import score_agqa

        ids, answers = asked.table["id"], asked.table["answer"].unique(maintain_order=True).to_list()
        reader = PredictionReader(ids, ids, answers, policies, missing, words, say)

        def scorer(said: pl.DataFrame | ModelAnswers) -> Scored:
            assert isinstance(said, pl.DataFrame)
            return score_agqa(asked, said, missing)

        return cls(reader, scorer)

    def scored(self, files: Sequence[Path], models: Sequence[str] = ()) -> Iterator[tuple[str, Scored, list[Score]]]:
        """(model, its scores, rows about coverage) of every stored model and every file, under every policy."""
        for name in models:
            for model, said, about in self._read_stored(name):
                yield model, self.scorer(said), about
        for file, name in zip(files, names(files), strict=True):
            for model, reading, about in self.reader.read(file, name):
                yield model, self.scorer(reading.table), about

    def _read_stored(self, name: str) -> Iterator[tuple[str, ModelAnswers, list[Score]]]:
        from questree.models.stored import covered, said
        from questree.tables.predictions import Stored

        assert self.asked is not None
        read, stored = self.asked.hierarchies, Stored.of(self.asked.run, name)
        given = said(self.asked, stored)
        found, every = covered(self.asked, given), needed(read, scored=False)
        self.reader.tell(stored.folder, name, found, "")
        times = np.bincount(given.by_key[every] + 1, minlength=len(given.words) + 1)[1:]
        table = pl.DataFrame({"id": given.words, "prediction": given.words}, schema=dict.fromkeys(IDS, pl.String))
        for policy in self.reader.policies:
            meant = self.reader.understood(table, policy).table["prediction"]
            unparsed = int(times[~meant.is_in(list(self.reader.answers)).to_numpy()].sum())
            model, rows = self.reader.about(name, policy, found, unparsed, int(times.sum()))
            yield model, ModelAnswers(meant.to_list(), given.by_key), rows


def answers_of(read: Hierarchies) -> list[str]:
    """Words that are an answer, or an object asked about."""
    used = np.zeros(len(read.words) + 1, bool)  # NOTHING is the last
    for column in (read.nodes["answer"], read.nodes["object"], read.isolated["answer"]):
        used[column.to_numpy()] = True
    return [word for word, here in zip(read.words, used[:-1].tolist(), strict=True) if here]


def names(files: Iterable[Path]) -> list[str]:
    """A name per file: its stem, with its folder where two are the same."""
    paths = list(files)
    stems = [model_name(path) for path in paths]
    return [
        stem if stems.count(stem) == 1 else f"{path.parent.name or '.'}/{stem}"
        for path, stem in zip(paths, stems, strict=True)
    ]
