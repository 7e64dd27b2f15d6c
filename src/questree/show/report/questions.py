"""The questions of a run as AGQA's and COVR's tables score them, and what a stored model answers to them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import polars as pl
from numpy.typing import NDArray

from questree.benchmarks.agqa.held_out import FLAGS, NOVEL
from questree.benchmarks.covr.splits import PATTERNS
from questree.metrics.answered import Missing
from questree.metrics.answers import fit_rows, most_likely, score_agqa
from questree.metrics.scores import Resampling, Score
from questree.metrics.sets import majority, score_covr
from questree.show.video_view import answer_numbers
from questree.show.views import View
from questree.stages.decompose.answer_words import AnswerWords
from questree.stages.decompose.hierarchies import shards
from questree.stages.decompose.image_sets import read_sets
from questree.stages.questions import Bank, numbered
from questree.stages.split import steps
from questree.stages.split.image_sets import selected
from questree.stages.split.videos import TWINS
from questree.tables.facts import SPLIT_UNSAID, VIDEOS
from questree.tables.hierarchies import NOTHING
from questree.tables.images import IMAGES
from questree.tables.nodes import NODES, TOPS
from questree.tables.predictions import IMAGE_SETS, Stored
from questree.tables.questions import QUESTIONS
from questree.tables.run import Run
from questree.tables.scored import ASKED, QuestionRecords
from questree.tables.table import Table

NEEDED = ("video", "number", "template", "answer", "steps", "flags")
COLUMNS = Table(QUESTIONS.name, {name: QUESTIONS.columns[name] for name in NEEDED})


@dataclass(frozen=True)
class ScoredShard:
    """The questions of one shard that are scored."""

    shard: str
    nodes: int
    tops: NDArray[np.uint32]  # [question of the shard] its node
    kept: NDArray[np.int64]  # rows among these


@dataclass(frozen=True)
class RunQuestions:
    asked: QuestionRecords
    parts: list[ScoredShard]  # one after the other in `asked`
    unit: ClassVar[str] = "videos"  # what is resampled

    def rows(
        self, model: str, stored: Stored, words: Sequence[str], missing: Missing, how: Resampling | None
    ) -> list[Score]:
        """The tables of AGQA for a model; `words`: how the stored ones are understood."""
        scored = score_agqa(self.asked, self.said(stored, words), missing)
        return [*scored.rows(model, how), *fit_rows(scored.tallies, model, how)]

    def baseline(self, how: Resampling | None) -> list[Score]:
        """AGQA's Most-Likely; it needs no predictions, and has no intervals."""
        return most_likely(self.asked)

    def said(self, stored: Stored, words: Sequence[str]) -> pl.DataFrame:
        """id, prediction of every question that was answered."""
        found = []
        for part in self.parts:
            nodes = stored.shard(part.shard, part.nodes)
            found.append(stored.asked(part.shard, nodes[part.tops])[part.kept])
        word = pl.Series(np.concatenate([np.zeros(0, np.int32), *found]))
        there = word != NOTHING
        given = pl.Series(words, dtype=pl.String).gather(word.filter(there))
        return pl.DataFrame({"id": self.asked.table["id"].filter(there), "prediction": given})


def run_questions(run: Run, split: str | None) -> RunQuestions:
    """Of the videos of a split, or of all."""
    bank = Bank(run)
    side = run.table("facts", VIDEOS)["split"].replace("", SPLIT_UNSAID)
    tables, parts = [], []
    for folder in shards(run):
        tops = TOPS.read(folder)
        here = np.ones(len(tops), bool) if split is None else (side.gather(tops["video"]) == split).to_numpy()
        kept = np.flatnonzero(here)
        nodes = pl.scan_parquet(folder / f"{NODES.name}.parquet").select(pl.len()).collect().item()
        parts.append(ScoredShard(folder.name, nodes, tops["node"].to_numpy(), kept))
        questions = COLUMNS.read(run.questions / folder.name)
        tables.append(tops[kept].join(questions, on=["video", "number"], how="left", maintain_order="left"))
    table = pl.concat(tables) if tables else pl.DataFrame(schema=dict(COLUMNS.columns))
    videos = table["video"].unique().sort()
    place = np.searchsorted(videos.to_numpy(), table["video"].to_numpy()).astype(np.int64)
    return RunQuestions(QuestionRecords(records(bank, table), [bank.ids[at] for at in videos], place), parts)


def records(bank: Bank, table: pl.DataFrame) -> pl.DataFrame:
    """Questions as columns of ASKED."""
    template = table["template"]
    labels = [known.categories for known in bank.edition.by_code]
    names = pl.Series(bank.ids, dtype=pl.String).gather(table["video"])
    most, words = pl.Series(thresholds(bank), dtype=pl.Int64).gather(template), AnswerWords(bank.vocabulary)
    columns: dict[str, pl.Series] = {
        "id": numbered(names, table["number"]),
        "video": names,
        "answer": pl.Series(list(words.number)).gather(answer_numbers(words, bank, table)),
        "reasoning": pl.Series([list(own.reasoning) for own in labels], dtype=pl.List(pl.String)).gather(template),
        "semantic": pl.Series([own.semantic for own in labels]).gather(template),
        "structural": pl.Series([own.structural for own in labels]).gather(template),
        "binary": pl.Series([known.answer_type != "open" for known in bank.edition.by_code]).gather(template),
        "steps": table["steps"],
        "direct": numbered(names, direct(bank.run, table)),
        "novel_comp": (table["flags"] & NOVEL) > 0,
        "more_steps": table["steps"] > most,
        **{name: (table["flags"] & (1 << bit)) > 0 for bit, name in enumerate(FLAGS)},
    }
    return ASKED.frame(columns)


def direct(run: Run, table: pl.DataFrame) -> pl.Series:
    """[question] number of its direct twin, as the splits name it; null without one or without splits."""
    folder = run.folder / "splits" / "indirect"
    twins = TWINS.read(folder) if (folder / f"{TWINS.name}.parquet").is_file() else TWINS.empty()
    found = table.select("video", "number").join(twins, on=["video", "number"], how="left", maintain_order="left")
    return found["twin"]


def thresholds(bank: Bank) -> tuple[int, ...]:
    """[template] the most steps in training: as the run was split, or as it would be."""
    note = bank.run.folder / "splits" / "report.json"
    if note.is_file():
        return steps.told(note, bank.edition)
    return steps.thresholds(bank, (bank.run.table("facts", VIDEOS)["split"] == "train").to_numpy(), {})


COVR_TEMPLATES = list(PATTERNS)


@dataclass(frozen=True)
class ImageQuestions:
    asked: pl.DataFrame  # id, answer, image, template: those that are scored
    learnt: pl.DataFrame  # the same of train
    node: NDArray[np.int64]  # [question] its node, NOTHING if it is not decomposed
    nodes: int
    unit: ClassVar[str] = "images"  # what is resampled

    def rows(
        self, model: str, stored: Stored, words: Sequence[str], missing: Missing, how: Resampling | None
    ) -> list[Score]:
        """Accuracy by template; `words`: how the stored ones are understood."""
        word = np.append(stored.shard(IMAGE_SETS, self.nodes), NOTHING)[self.node]
        there = pl.Series(word != NOTHING)
        given = pl.Series(words, dtype=pl.String).gather(pl.Series(word).filter(there))
        said = pl.DataFrame({"id": self.asked["id"].filter(there), "prediction": given})
        return score_covr(self.asked, said, COVR_TEMPLATES, missing == "skip").rows(model, how)

    def baseline(self, how: Resampling | None) -> list[Score]:
        """MAJ and MAJTEMPL, if there is something to learn from."""
        found = majority(self.learnt, self.asked) if len(self.learnt) else {}
        return [
            row for name, said in found.items() for row in score_covr(self.asked, said, COVR_TEMPLATES).rows(name, how)
        ]


def image_questions(run: Run, split: str | None) -> ImageQuestions:
    """The balanced selection, if there is one; of a split, or all."""
    table = selected(run)
    names = IMAGES.read(run.images)["id"]
    table = table.with_columns(image=names.gather(table["images"].list.first().fill_null(0)))
    columns = ["id", "answer", "image", "template"]
    asked = (table if split is None else table.filter(pl.col("split") == split)).select(columns)
    learnt = table.filter(pl.col("split") == "train").select(columns)
    folder, node, nodes = run.covr / "decomposed", np.full(len(asked), NOTHING, np.int64), 0
    if folder.is_dir():
        tables = read_sets(folder)
        place = asked.select("id").join(tables["tops"], on="id", how="left", maintain_order="left")["node"]
        node = place.cast(pl.Int64).fill_null(NOTHING).to_numpy()
        nodes = len(tables["nodes"])
    return ImageQuestions(asked, learnt, node, nodes)


def questions_of(view: View, split: str | None) -> RunQuestions | ImageQuestions:
    return image_questions(view.run, split) if view.images else run_questions(view.run, split)
