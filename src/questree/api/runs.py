"""A run as an object: its tables, one question by its id, scores of predictions."""

from collections.abc import Iterator
from functools import cached_property
from os import PathLike
from typing import TYPE_CHECKING, Any, Unpack

import polars as pl

from questree.api.run_tables import RunTables
from questree.benchmarks import chosen, held
from questree.faults import BadInput
from questree.tables import run as tables

if TYPE_CHECKING:
    from questree.api.asking import Model
    from questree.api.choices import ScoringOptions
    from questree.api.epochs import Epoch
    from questree.api.notations import Notation
    from questree.api.programs import Program
    from questree.api.questions import Question
    from questree.api.rewards import Rewards
    from questree.api.scored import On
    from questree.api.scores import Scores
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
    <Run run: 12 videos, 39,203 questions, 198 balanced, 1,441 nodes>
    """
    place = tables.Run.at(run)
    if not held(place):
        known = "it has neither vocabulary.toml nor images; see `questree build`"
        raise BadInput.at(place.folder, f"not a run folder: {known}")
    return Run(place, chosen(place, benchmark, "questions"))


class Run(RunTables):
    """A run folder with everything that was made in it. `questree.open` gives one.

    >>> run = questree.open("run")
    >>> run.benchmark, run.medium, run.models
    ('agqa', 'video', ['perception-noise'])
    """

    def score(
        self,
        predictions: Any,
        *,
        on: "On | None" = None,
        split: str | None = None,
        every: bool = False,
        model: str = "",
        batch: int | None = None,
        **how: "Unpack[ScoringOptions]",
    ) -> "Scores":
        """Score predictions, as `questree score` does.

        Parameters
        ----------
        predictions
            {id: answer}, a table with the columns id and prediction, a file, the name of a stored model, or a
            callable that is asked (see `ask`).
        on
            dags (accuracy, CA, RWR, Delta, IC) or questions (the tables of AGQA or COVR); dags, if there are any.
        split
            train, dev or test; without it dags of all splits, or the questions of test.
        every
            Questions: all of them, not only the balanced selection.
        model
            Name of the model in tables.
        batch
            Of a callable: number of questions it is asked at a time.
        how
            missing, policy, resamples, seed, vocabulary, synonyms, id_column, answer_column.

        >>> run.score(lambda question: "yes", model="always yes", resamples=0)
        <Scores of always yes: question accuracy 71.2, accuracy (mean over answers) 8.3, CA 86.3, RWR 12.7, Delta -73.6>
        """
        from questree.api.scored import score_run

        return score_run(self, predictions, on, split, every, model, batch, **how)

    def ask(
        self,
        model: "Model",
        *,
        split: str | None = None,
        parts: bool = True,
        batch: int | None = None,
        name: str = "",
    ) -> pl.DataFrame:
        """Ask a model about the questions, one by one or in batches: id, prediction.

        Parameters
        ----------
        model
            A callable of a question (`id`, `text`, `scope`), or with `batch` of a list of them; None is no answer.
        split
            Only questions of train, dev or test.
        parts
            Also ask the sub-questions, if the run is decomposed.
        batch
            Number of questions at a time.
        name
            Store the answers in the run under this name, as `questree answer --predictions` does.

        >>> run.ask(lambda question: "no", split="test").head(2)
        shape: (2, 2)
        ┌───────────┬────────────┐
        │ id        ┆ prediction │
        │ ---       ┆ ---        │
        │ str       ┆ str        │
        ╞═══════════╪════════════╡
        │ M5FE1-s8  ┆ no         │
        │ M5FE1-s10 ┆ no         │
        └───────────┴────────────┘
        """
        from questree.api.asking import ask_run

        return ask_run(self, model, split, parts, batch, name)

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
        <Question 07QFE-200: Before laughing at a picture, were they interacting with so… no>
        """
        from questree.api.questions import Question

        return Question._of(self, id)

    def __contains__(self, id: object) -> bool:
        """Is there a question with this id?

        >>> "07QFE-200" in run
        True
        """
        try:
            return bool(self[id])  # type: ignore[index]
        except BadInput:
            return False

    def epoch(self, *, split: str | None = None, seed: int | None = None, **how: Any) -> "Epoch":
        """The decomposed questions with their steps, for a training loop; `questree.Epoch` says more.

        >>> [row["id"] for row in run.epoch(seed=1)][:3]
        ['ZB8RM-3478', '8ZM0G-512', 'CH257-4126']
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
        <Rewards of 66 questions, policy exact>
        """
        from questree.api.rewards import Rewards

        return Rewards(self, split, benchmark=self.benchmark, **how)

    @cached_property
    def _view(self) -> "View":
        """How its questions are read one by one and drawn."""
        found: View = self._own.part("view")(self._place)
        return found

    @cached_property
    def _world(self) -> "Videos":
        from questree.stages.questions import edition_at

        return edition_at(self._place).read(self._place.load("facts"), self.vocabulary)

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

    def __fspath__(self) -> str:
        return str(self.folder)

    def __repr__(self) -> str:
        told = ", ".join(f"{count:,} {name}" for name, count in self.counts.items())
        return f"<Run {self.folder}: {told}>"

    def _repr_html_(self) -> str:
        from questree.api.cards import card

        return card(self)
