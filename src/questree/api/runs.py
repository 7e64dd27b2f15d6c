"""A run as an object: its questions, facts, DAGs and predictions as tables, one question by its id."""

from collections.abc import Iterator, Sequence
from functools import cached_property
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from questree.benchmarks import Benchmark, chosen, held
from questree.faults import BadInput
from questree.tables import run as tables
from questree.tables.predictions import models
from questree.vocabulary import Vocabulary, default

if TYPE_CHECKING:
    from questree.api.epochs import Epoch
    from questree.api.notations import Notation
    from questree.api.programs import Program
    from questree.api.questions import Question
    from questree.api.rewards import Rewards
    from questree.domains.images import Corpus
    from questree.domains.video import Videos
    from questree.show.views import View

StrPath = str | PathLike[str]


def open(run: "StrPath | Run", *, benchmark: str = "") -> "Run":
    """Open a run folder.

    Parameters
    ----------
    run
        The folder, as `questree build` or `questree import` wrote it.
    benchmark
        The benchmark to look at, if the run holds several: agqa (videos) or covr (sets of images).

    >>> questree.open("run")
    <Run run: 12 videos, 39,168 questions, 198 balanced, 1,335 nodes>
    """
    folder = Path(fspath(run))
    if not folder.is_dir():
        raise BadInput.at(folder, "no such run folder; make one with `questree build`")
    place = tables.Run(folder)
    if not held(place):
        raise BadInput.at(folder, "not a run folder: it has neither vocabulary.toml nor images; see `questree build`")
    return Run(place, chosen(place, benchmark, "questions"))


class Run:
    """A run folder with everything that was made in it. `questree.open` gives one.

    >>> run = questree.open("run")
    >>> run.benchmark, run.medium, run.models
    ('agqa', 'video', ['perception-noise'])
    """

    def __init__(self, place: tables.Run, benchmark: Benchmark):
        self._place, self._own = place, benchmark

    @property
    def folder(self) -> Path:
        """Where it lies."""
        return self._place.folder

    @property
    def benchmark(self) -> str:
        """The benchmark that is looked at: agqa or covr."""
        return self._own.name

    @property
    def benchmarks(self) -> list[str]:
        """Every benchmark the run holds; `questree.open(run, benchmark=...)` picks one."""
        return [one.name for one in held(self._place)]

    @property
    def medium(self) -> str:
        """What questions are about: video or images."""
        return self._own.domain

    @property
    def models(self) -> list[str]:
        """Models whose answers are stored here."""
        return models(self._place, self.medium == "images")

    @cached_property
    def vocabulary(self) -> Vocabulary:
        """The words of its questions; of image sets, whose words are any text, the default ones."""
        return self._place.vocabulary() if self._place.vocabulary_file.is_file() else default()

    def questions(
        self,
        *,
        split: str | None = None,
        balanced: bool = True,
        columns: Sequence[str] | None = None,
        raw: bool = False,
    ) -> pl.DataFrame:
        """The questions as a table in words.

        Parameters
        ----------
        split
            Only those of train, dev or test.
        balanced
            The balanced selection, if there is one; False for every question.
        columns
            Only these columns; texts and programs are not made if nobody asks for them.
        raw
            The codes as they are stored.

        >>> run.questions(columns=["id", "scope", "question", "answer"]).head(2)
        shape: (2, 4)
        ┌───────────┬───────┬─────────────────────────────────┬────────┐
        │ id        ┆ scope ┆ question                        ┆ answer │
        │ ---       ┆ ---   ┆ ---                             ┆ ---    │
        │ str       ┆ str   ┆ str                             ┆ str    │
        ╞═══════════╪═══════╪═════════════════════════════════╪════════╡
        │ 07QFE-0   ┆ 07QFE ┆ In the video, were they intera… ┆ no     │
        │ 07QFE-200 ┆ 07QFE ┆ While smiling in a mirror, wer… ┆ no     │
        └───────────┴───────┴─────────────────────────────────┴────────┘
        """
        from questree.api.question_tables import question_table

        return question_table(self._place, self._own, split, balanced, columns, raw)

    def program(self, text: str, *, notation: "Notation" = "own") -> "Program":
        """Read a program in the words of this run, as `questree.program` does.

        >>> run.program("exists(bed)").answers(run)["answer"].to_list().count("yes")
        6
        """
        from questree.api.programs import program

        return program(text, notation=notation, vocabulary=self)

    def __getitem__(self, id: str) -> "Question":
        """A question by its id, as the column `id` has it.

        >>> run["07QFE-200"]
        <Question 07QFE-200: While smiling in a mirror, were they interacting with some … no>
        """
        from questree.api.questions import Question

        return Question.of(self, id)

    def epoch(self, *, split: str | None = None, seed: int | None = None, **how: Any) -> "Epoch":
        """The decomposed questions with their steps, for a training loop; `questree.Epoch` says more.

        >>> [row["id"] for row in run.epoch(seed=1)][:3]
        ['834CO-2121', 'ZB8RM-3532', 'ZB8RM-3110']
        """
        from questree.api.epochs import Epoch

        return Epoch(self, split, seed, benchmark=self.benchmark, **how)

    def traces(self, *, style: str = "chat", **how: Any) -> Iterator[dict[str, Any]]:
        """Reasoning step by step, a record per question of `run.epoch(**how)`; `questree.trace` has the styles.

        >>> print(next(run.traces(style="prose", evidence=False))["completion"])
        Does a person exist? yes. Is the person interacting with something? yes. In the video, were they interacting
        with a bag? no. So the answer is no.
        """
        from questree.api.traces import traces

        return traces(self.epoch(**how), style)

    def rewards(self, *, split: str | None = None, **how: Any) -> "Rewards":
        """What says what answers are worth, to be called with batches of them; `questree.Rewards` says more.

        >>> run.rewards(split="test")
        <Rewards of 68 questions, policy exact>
        """
        from questree.api.rewards import Rewards

        return Rewards(self, split, benchmark=self.benchmark, **how)

    @cached_property
    def scopes(self) -> list[Any]:
        """The ids of its videos; or every set of images that is asked about, as ids of images."""
        from questree.api.question_tables import question_table
        from questree.tables.facts import VIDEOS

        if self.medium == "video":
            return self._place.table("facts", VIDEOS)["id"].to_list()
        asked = question_table(self._place, self._own, None, False, ["scope"])["scope"]
        return asked.unique(maintain_order=True).to_list()

    @cached_property
    def _view(self) -> "View":
        """How its questions are read one by one and drawn."""
        from questree.show.image_view import ImageView
        from questree.show.video_view import VideoView

        return (ImageView if self.medium == "images" else VideoView)(self._place)

    @cached_property
    def _world(self) -> "Videos":
        from questree.domains.video import videos

        return videos(self._place.load("facts"), self.vocabulary)

    @cached_property
    def _corpus(self) -> "Corpus":
        from questree.domains.images import corpus
        from questree.search.word_tables import default_words
        from questree.tables.images import Images

        return corpus(Images.load(self._place.images), default_words().attribute_group)

    def _some_id(self) -> str:
        """The id of some question, to say what ids are like."""
        if self.medium == "video":
            return f"{self.scopes[0]}-0" if self.scopes else ""
        found = self.questions(columns=["id"])["id"]
        return str(found[0]) if len(found) else ""

    @cached_property
    def counts(self) -> dict[str, int]:
        """How many scopes, questions, selected ones and nodes it has, as far as they are made."""
        from questree.api.cards import counts

        return counts(self._place, self._own)

    def __fspath__(self) -> str:
        return str(self.folder)

    def __repr__(self) -> str:
        told = ", ".join(f"{count:,} {name}" for name, count in self.counts.items())
        return f"<Run {self.folder}: {told}>"

    def _repr_html_(self) -> str:
        from questree.api.cards import card

        return card(self)
