"""Questions of a run that were taken apart, each alone: as the tables of their benchmark score them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from questree.benchmarks import Benchmark
from questree.benchmarks.agqa.held_out import FLAGS, NOVEL
from questree.benchmarks.covr.splits import PATTERNS
from questree.formats.agqa_import import records_of
from questree.metrics.answered import Missing
from questree.metrics.answers import AnswerCounts, most_likely, score_agqa
from questree.metrics.scores import Resampling, Score, Scored
from questree.metrics.sets import score_covr
from questree.scoring.image_sets import COLUMNS as COVR_COLUMNS
from questree.scoring.image_sets import baselines, with_image
from questree.scoring.split_rows import is_split, tested
from questree.stages.decompose.answer_words import AnswerWords
from questree.stages.decompose.hierarchies import corpus, shards
from questree.stages.questions import Bank, numbered
from questree.stages.split import steps
from questree.stages.split.image_sets import selected
from questree.stages.split.videos import TWINS
from questree.tables.hierarchies import NOTHING
from questree.tables.nodes import NODES, TOPS
from questree.tables.questions import QUESTIONS
from questree.tables.run import Run
from questree.tables.scored import ASKED, QuestionRecords
from questree.tables.table import rows_in

Words = NDArray[np.int32]
NEEDED = ("video", "number", "template", "answer", "steps", "flags")
COLUMNS = QUESTIONS.only(*NEEDED)


@dataclass(frozen=True)
class RunQuestions:
    """Questions of a run as the tables of their benchmark score them, each alone."""

    asked: pl.DataFrame
    score: Callable[[pl.DataFrame, Missing], Scored]  # of a model
    baseline: Callable[[Resampling | None], list[Score]]  # what needs no predictions


def video_questions(run: Run, split: str | None) -> RunQuestions:
    """Of the videos of a split, or of all; beside the models AGQA's Most-Likely."""
    bank = Bank(run)
    most = steps.of_run(bank)
    parts = [asked_shard(run, folder.name, split, most).records.table for folder in shards(run)]
    table = pl.concat([ASKED.empty(), *parts])
    counts = AnswerCounts.of(table)
    return RunQuestions(table, partial(score_agqa, records_of(table)), lambda _: most_likely(counts))


class AskedShard(NamedTuple):
    """The questions of a shard that were taken apart and are scored."""

    records: QuestionRecords
    nodes: int  # of the shard
    rows: NDArray[np.int64]  # among the questions of the shard


def asked_shard(run: Run, name: str, split: str | None, most_steps: Sequence[int]) -> AskedShard:
    """Videos in their order; `most_steps`: [template] in train."""
    bank, side, *_ = corpus(run.folder)
    folder = run.decomposed / name
    tops = TOPS.read(folder)
    video = tops["video"].to_numpy()
    kept = np.flatnonzero(np.ones(len(tops), bool) if split is None else side[video] == split)
    kept = kept[np.argsort(video[kept], kind="stable")]
    questions = COLUMNS.read(run.questions / name)
    table = tops[kept].join(questions, on=["video", "number"], how="left", maintain_order="left")
    found = records(bank, table, direct(twins_of(run, table["video"]), table), most_steps)
    found = tested(bank, found) if is_split(run) else found
    nodes = rows_in(folder / f"{NODES.name}.parquet")
    return AskedShard(records_of(found), nodes, kept)


def answered_ids(ids: pl.Series, words: Sequence[str], word: Words) -> pl.DataFrame:
    """id, prediction; `word`: [id] the number of the word, NOTHING without one."""
    there = pl.Series(word != NOTHING)
    given = pl.Series(words, dtype=pl.String).gather(word[word != NOTHING])
    return pl.DataFrame({"id": ids.filter(there), "prediction": given})


def records(bank: Bank, table: pl.DataFrame, twin: pl.Series, most_steps: Sequence[int]) -> pl.DataFrame:
    """Questions as columns of ASKED; `twin`: numbers of their direct twins; `most_steps`: [template] in train."""
    template = table["template"]
    labels = [known.categories for known in bank.edition.by_code]
    names = bank.names.gather(table["video"])
    most, words = pl.Series(most_steps, dtype=pl.Int64), AnswerWords(bank.vocabulary)
    columns: dict[str, pl.Series] = {
        "id": numbered(names, table["number"]),
        "video": names,
        "answer": pl.Series(list(words.number)).gather(answer_numbers(words, bank, table)),
        "reasoning": pl.Series([list(own.reasoning) for own in labels], dtype=pl.List(pl.String)).gather(template),
        "semantic": pl.Series([own.semantic for own in labels]).gather(template),
        "structural": pl.Series([own.structural for own in labels]).gather(template),
        "binary": pl.Series([known.answer_type != "open" for known in bank.edition.by_code]).gather(template),
        "steps": table["steps"],
        "direct": numbered(names, twin),
        "novel_comp": (table["flags"] & NOVEL) > 0,
        "more_steps": table["steps"] > most.gather(template),
        **{name: (table["flags"] & (1 << bit)) > 0 for bit, name in enumerate(FLAGS)},
    }
    return ASKED.frame(columns)


def answer_numbers(words: AnswerWords, bank: Bank, asked: pl.DataFrame) -> NDArray[np.int16]:
    """[question] the number of its answer among all words; `asked` has the columns template and answer."""
    template, value, found = asked["template"].to_numpy(), asked["answer"].to_numpy(), np.zeros(len(asked), np.int16)
    for code, known in enumerate(bank.edition.by_code):
        here = template == code
        found[here] = words.of(known.node.kind)[value[here]]
    return found


def twins_of(run: Run, videos: pl.Series) -> pl.DataFrame:
    """The direct twins that the splits name for questions about these videos, if there are splits."""
    folder = run.folder / "splits" / "indirect"
    near = pl.col("video").is_between(pl.lit(videos.min()), pl.lit(videos.max()))
    return TWINS.read(folder, near) if (folder / f"{TWINS.name}.parquet").is_file() else TWINS.empty()


def direct(twins: pl.DataFrame, table: pl.DataFrame) -> pl.Series:
    """[question] number of its direct twin; null without one."""
    found = table.select("video", "number").join(twins, on=["video", "number"], how="left", maintain_order="left")
    return found["twin"]


def image_questions(run: Run, split: str | None) -> RunQuestions:
    """The balanced selection, if there is one; of a split, or all. Beside the models MAJ and MAJTEMPL, if there is
    something to learn from."""
    table, own = with_image(run, selected(run)), True if split is None else pl.col("split") == split
    columns = [*COVR_COLUMNS, pl.col("images").list.len()]
    asked, learnt = (table.filter(which).select(columns) for which in (own, pl.col("split") == "train"))

    def score(given: pl.DataFrame, missing: Missing) -> Scored:
        return score_covr(asked, given, list(PATTERNS), missing == "skip")

    def guessed(how: Resampling | None) -> list[Score]:
        return [row for name, scored in baselines(asked, learnt).items() for row in scored.rows(name, how)]

    return RunQuestions(asked, score, guessed)


def scored_questions(run: Run, benchmark: Benchmark, split: str | None) -> RunQuestions:
    """Of a split, or all."""
    found: RunQuestions = benchmark.part("scored questions")(run, split)
    return found
