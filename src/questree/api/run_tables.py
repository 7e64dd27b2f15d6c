"""What is in a run, as tables in words: questions, facts, nodes and edges of DAGs, predictions."""

from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from questree.benchmarks import Benchmark, held
from questree.tables import run as tables
from questree.tables.predictions import models
from questree.vocabulary import Vocabulary, default

if TYPE_CHECKING:
    from questree.stages.decompose.hierarchies import RunHierarchies


class RunTables:
    """The tables of a run; `Run` is one with more."""

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
        return models(self._place, self._own.of_images)

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
            Only those of train, dev or test, or of a split that `questree split` made: "indirect test", ...;
            `run.splits` lists them.
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
        │ 07QFE-200 ┆ 07QFE ┆ Before laughing at a picture, … ┆ no     │
        └───────────┴───────┴─────────────────────────────────┴────────┘
        """
        from questree.api.question_tables import question_table

        return question_table(self._place, self._own, split, balanced, columns, raw)

    def iter_questions(
        self,
        *,
        split: str | None = None,
        balanced: bool = True,
        columns: Sequence[str] | None = None,
        size: int = 100_000,
    ) -> Iterator[pl.DataFrame]:
        """The same questions, at most `size` at a time: of any number of questions only so many are in memory.

        >>> sum(len(table) for table in run.iter_questions(balanced=False, columns=["id", "answer"], size=5000))
        39203
        """
        from questree.api.question_tables import question_batches

        return question_batches(self._place, self._own, split, balanced, columns, size)

    @property
    def splits(self) -> list[str]:
        """What `questions(split=)` takes: sides of the videos or images, and the parts of the splits that were made."""
        from questree.api.splits import choices, sides

        return choices(self._place, self._own, sides(self._place, self._own))

    def facts(self, table: str, *, stage: str = "facts", raw: bool = False) -> pl.DataFrame:
        """What is known about its videos or images, in words.

        Parameters
        ----------
        table
            Videos: videos, frames, objects, persons, relations, actions. Images: images, things, attributes,
            relations, prepositions.
        stage
            Of videos: facts (cleaned), raw (as read), truth (of made-up worlds).
        raw
            The codes as they are stored.

        >>> run.facts("actions").select("video", "action", "start", "end").head(2)
        shape: (2, 4)
        ┌───────┬───────────────────────┬───────┬───────┐
        │ video ┆ action                ┆ start ┆ end   │
        │ ---   ┆ ---                   ┆ ---   ┆ ---   │
        │ str   ┆ str                   ┆ f64   ┆ f64   │
        ╞═══════╪═══════════════════════╪═══════╪═══════╡
        │ 07QFE ┆ sitting in a chair    ┆ 0.0   ┆ 21.27 │
        │ 07QFE ┆ laughing at a picture ┆ 2.42  ┆ 21.32 │
        └───────┴───────────────────────┴───────┴───────┘
        """
        from questree.api.fact_tables import fact_table

        return fact_table(self._place, self._own, table, stage, raw)

    def nodes(self, *, split: str | None = None, raw: bool = False) -> pl.DataFrame:
        """Every question and sub-question once, with the id that predictions have; `asked` marks the questions.

        A question that is also a sub-question of another one has a row under either id.

        >>> run.nodes().select("id", "question", "answer", "asked").head(2)
        shape: (2, 4)
        ┌───────────┬─────────────────────────────────┬────────┬───────┐
        │ id        ┆ question                        ┆ answer ┆ asked │
        │ ---       ┆ ---                             ┆ ---    ┆ ---   │
        │ str       ┆ str                             ┆ str    ┆ bool  │
        ╞═══════════╪═════════════════════════════════╪════════╪═══════╡
        │ 834CO-s24 ┆ Is the person holding some foo… ┆ yes    ┆ false │
        │ 834CO-s25 ┆ Is the person touching a table… ┆ yes    ┆ false │
        └───────────┴─────────────────────────────────┴────────┴───────┘
        """
        from questree.api.dag_tables import node_table, raw_table

        return raw_table(self._place, self._own, "nodes") if raw else node_table(self._dags(split))

    def edges(self, *, split: str | None = None, raw: bool = False) -> pl.DataFrame:
        """Which question has which sub-questions: parent, composition, position, child, by id.

        >>> run.edges().head(2)
        shape: (2, 4)
        ┌─────────┬─────────────┬──────────┬───────────┐
        │ parent  ┆ composition ┆ position ┆ child     │
        │ ---     ┆ ---         ┆ ---      ┆ ---       │
        │ str     ┆ str         ┆ u32      ┆ str       │
        ╞═════════╪═════════════╪══════════╪═══════════╡
        │ 07QFE-0 ┆ Interaction ┆ 0        ┆ 07QFE-s33 │
        │ 07QFE-0 ┆ Interaction ┆ 1        ┆ 07QFE-s32 │
        └─────────┴─────────────┴──────────┴───────────┘
        """
        from questree.api.dag_tables import edge_table, raw_table

        return raw_table(self._place, self._own, "edges") if raw else edge_table(self._dags(split))

    def predictions(self, model: str, *, split: str | None = None, raw: bool = False) -> pl.DataFrame:
        """What a stored model answers to questions and sub-questions: id, prediction, answer (the right one).

        >>> run.predictions("perception-noise").head(2)
        shape: (2, 3)
        ┌───────────┬────────────┬────────┐
        │ id        ┆ prediction ┆ answer │
        │ ---       ┆ ---        ┆ ---    │
        │ str       ┆ str        ┆ str    │
        ╞═══════════╪════════════╪════════╡
        │ 834CO-s24 ┆ no         ┆ yes    │
        │ 834CO-s25 ┆ yes        ┆ yes    │
        └───────────┴────────────┴────────┘
        """
        from questree.api.dag_tables import prediction_table, raw_table

        if raw:
            return raw_table(self._place, self._own, "predictions", model)
        return prediction_table(self._dags(split), model)

    def _dags(self, split: str | None = None) -> "RunHierarchies":
        from questree.stages.decompose.hierarchies import hierarchies_in

        return hierarchies_in(self._place, split, self._own.name)

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
    def counts(self) -> dict[str, int]:
        """How many scopes, questions, selected ones and nodes it has, as far as they are made.

        A node is a different program about a scope. `nodes()` has a row for every id: what is asked and is also a
        sub-question of something else is one node with two ids.
        """
        from questree.api.cards import counts

        return counts(self._place, self._own)
