"""What all scoring commands share: their options, reading predictions, coverage, and the rows they write."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import polars as pl
from cyclopts import Parameter

from questree.cli.terminal import print_table, say
from questree.faults import BadInput, Fault, refuse
from questree.metrics.bootstrap import Resampling
from questree.metrics.coverage import coverage
from questree.metrics.scores import Score, Scored, find
from questree.models.policies import POLICIES, Policy, Reading, read_answers
from questree.models.predictions import Predictions, model_name, read_predictions
from questree.tables.asked import Asked
from questree.vocabulary.load import default, load

Missing = Literal["error", "wrong", "skip"]
Files = Annotated[list[Path], Parameter(name="--predictions", help="Predictions of one model; may be given again.")]
MissingOption = Annotated[Missing, Parameter(name="--missing", help="What a question without a prediction is.")]
PolicyOption = Annotated[
    Literal["exact", "vqa", "lenient", "all"], Parameter(name="--policy", help="How free-form answers are read.")
]
OnePolicy = Annotated[Policy, Parameter(name="--policy", help="How free-form answers are read.")]
HierarchiesOption = Annotated[
    Path | None, Parameter(name="--hierarchies", help="AGQA-Decomp hierarchies: a folder, one <video>.json per video.")
]
QuestionsOption = Annotated[
    Path | None, Parameter(name="--questions", help="AGQA questions: a JSON file {id: record}.")
]
Resamples = Annotated[int, Parameter(name="--resamples", help="Bootstrap resamples behind low and high; 0 for none.")]
Seed = Annotated[int, Parameter(name="--seed", help="Of the resampling.")]
VocabularyFile = Annotated[Path | None, Parameter(name="--vocabulary", help="Synonyms for `lenient`; ours without it.")]


@dataclass(frozen=True)
class Reader:
    """Reads predictions for questions with these ids and answers, under the policies asked for."""

    needed: pl.Series
    known: pl.Series
    answers: Sequence[str]
    policies: tuple[Policy, ...]
    missing: Missing
    vocabulary: Path | None = None

    def read(self, file: Path, model: str, quiet: bool) -> list[tuple[str, Reading, list[Score]]]:
        """(model, its answers, rows about coverage) per policy; coverage is said, and refused if it must be whole."""
        given = read_predictions(file, model)
        found = coverage(self.needed, self.known, given.table)
        repeated = f", {given.duplicates:,} repeated ids (the last counts)" if given.duplicates else ""
        say(f"{model}: predictions for {found}{repeated}; missing: {self.missing}", quiet)
        if self.missing == "error" and found.missing:
            raise BadInput.at(
                file,
                f"no prediction for {found.missing:,} of {found.needed:,} questions, for example "
                f"{', '.join(found.examples)}; give them, or choose --missing wrong or --missing skip",
            )
        return [self._reading(given, policy, found.row, quiet) for policy in self.policies]

    def _reading(
        self, given: Predictions, policy: Policy, covered: Callable[[str, str], Score], quiet: bool
    ) -> tuple[str, Reading, list[Score]]:
        words = (load(self.vocabulary) if self.vocabulary else default()) if policy == "lenient" else None
        reading = read_answers(given.table, self.answers, policy, words)
        model = given.model if len(self.policies) == 1 else f"{given.model} ({policy})"
        count = len(reading.table)
        say(
            f"{model}: policy {policy}, {reading.unparsed:,} of {count:,} predictions are no answer of this data", quiet
        )
        share = reading.unparsed / count if count else None
        unparsed = Score("unparsed", "policy", policy, share, count, None, None, model)
        return model, reading, [covered(policy, model), unparsed]


@dataclass(frozen=True)
class Corpus:
    """The questions two models are compared on, or one is judged by."""

    reader: Reader
    scorer: Callable[[pl.DataFrame], Scored]

    @classmethod
    def of(
        cls, hierarchies: Path | None, questions: Path | None, missing: Missing, policy: Policy, words: Path | None
    ) -> "Corpus":
        if (hierarchies is None) == (questions is None):
            raise BadInput.at("", "wanted either --hierarchies DIR (AGQA-Decomp) or --questions FILE (AGQA)")
        if hierarchies is not None:
            return cls.of_hierarchies(hierarchies, missing, (policy,), words)
        from questree.sources.agqa_questions import read_questions

        assert questions is not None
        return cls.of_asked(read_questions(questions), missing, (policy,), words)

    @classmethod
    def of_hierarchies(
        cls, folder: Path, missing: Missing, policies: tuple[Policy, ...], words: Path | None
    ) -> "Corpus":
        from questree.metrics.decomp.answered import needed
        from questree.metrics.decomp.report import score_decomp
        from questree.sources.hierarchies import read_hierarchies

        read = read_hierarchies(folder)
        reader = Reader(needed(read), read.keys, read.words, policies, missing, words)
        return cls(reader, lambda table: score_decomp(read, table, missing))

    @classmethod
    def of_asked(cls, asked: Asked, missing: Missing, policies: tuple[Policy, ...], words: Path | None) -> "Corpus":
        from questree.metrics.agqa.report import score_agqa

        ids, answers = asked.table["id"], asked.table["answer"].unique(maintain_order=True).to_list()
        reader = Reader(ids, ids, answers, policies, missing, words)
        return cls(reader, lambda table: score_agqa(asked, table, missing))

    def score(self, file: Path, model: str, quiet: bool) -> Scored:
        ((_, reading, _),) = self.reader.read(file, model, quiet)
        return self.scorer(reading.table)

    def scored(self, files: Sequence[Path], quiet: bool) -> Iterator[tuple[str, Scored, list[Score]]]:
        """(model, its scores, rows about coverage) of every file under every policy."""
        for file, name in zip(files, names(files), strict=True):
            for model, reading, about in self.reader.read(file, name, quiet):
                yield model, self.scorer(reading.table), about


def there(*files: Path) -> None:
    """All files of predictions that do not exist are said at once, before anything is read."""
    refuse([Fault(str(file), "no such file of predictions") for file in files if not file.is_file()])


def policies(policy: str) -> tuple[Policy, ...]:
    return POLICIES if policy == "all" else tuple(p for p in POLICIES if p == policy)


def names(files: Iterable[Path]) -> list[str]:
    """A name per file: its stem, with its folder where two are the same."""
    paths = list(files)
    stems = [model_name(path) for path in paths]
    return [
        stem if stems.count(stem) == 1 else f"{path.parent.name or '.'}/{stem}"
        for path, stem in zip(paths, stems, strict=True)
    ]


def resampling(resamples: int, seed: int) -> Resampling | None:
    refuse([] if resamples >= 0 else [Fault("--resamples", f"wanted a number from 0 on, came {resamples}")])
    return Resampling(resamples, seed) if resamples else None


def percent(value: float | None) -> str:
    return "N/A" if value is None else f"{100 * value:.2f}"


def shown(row: Score | None, interval: bool) -> str:
    if row is None:
        return ""
    if interval and row.low is not None and row.high is not None:
        return f"{percent(row.value)} [{percent(row.low)}, {percent(row.high)}]"
    return percent(row.value)


def print_grid(
    title: str, corner: str, rows: Iterable[Score], by: str, metrics: Sequence[str], quiet: bool, count: bool = False
) -> None:
    """Groups down, metrics and models across, as the papers print their tables; intervals where one model has room."""
    here = [row for row in rows if row.by == by and row.metric in metrics]
    models = list(dict.fromkeys(row.model for row in here))
    groups = list(dict.fromkeys(row.group for row in here))
    at = {(row.metric, row.group, row.model): row for row in here}
    interval = len(models) == 1 and len(metrics) <= 5

    def line(group: str) -> dict[str, str]:
        cells = {corner: group}
        for metric in metrics:
            for model in models:
                row = at.get((metric, group, model))
                cells[metric if len(models) == 1 else f"{metric} {model}"] = shown(row, interval)
                if count and row is not None:
                    cells["n" if len(models) == 1 else f"n {model}"] = "" if row.n is None else f"{row.n:,}"
        return cells

    print_table(title, [line(group) for group in groups], quiet)


def print_policies(rows: list[Score], headline: list[tuple[str, str]], quiet: bool) -> None:
    """How much the way answers are read matters, where more than one way was asked for."""
    asked = {row.model: row.group for row in rows if row.metric == "unparsed"}
    if len(set(asked.values())) < 2:
        return
    table = []
    for model, policy in asked.items():
        mine = [row for row in rows if row.model == model]
        values = {metric: percent(find(mine, metric, by, "Overall").value) for metric, by in headline}
        unparsed = percent(find(mine, "unparsed", "policy", policy).value)
        table.append({"model": model, "policy": policy, **values, "unparsed": unparsed})
    print_table("What the policy changes (Overall)", table, quiet)
