"""Questions of a run that were taken apart, each alone: as the tables of their benchmark score them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from questree.benchmarks import COVR, Benchmark
from questree.benchmarks.agqa.held_out import FLAGS, NOVEL
from questree.benchmarks.covr.splits import PATTERNS
from questree.formats.agqa_import import records_of
from questree.metrics.answered import Missing
from questree.metrics.answers import AnswerCounts, fit_rows, most_likely, score_agqa
from questree.metrics.scores import Resampling, Score, Scored
from questree.metrics.sets import score_covr
from questree.scoring.image_sets import COLUMNS as COVR_COLUMNS
from questree.scoring.image_sets import baselines, with_image
from questree.scoring.split_rows import is_split, tested
from questree.stages.decompose.answer_words import AnswerWords
from questree.stages.decompose.hierarchies import corpus, shards
from questree.stages.decompose.set_hierarchies import set_shards
from questree.stages.questions import Bank, numbered
from questree.stages.split import steps
from questree.stages.split.image_sets import selected
from questree.stages.split.videos import TWINS
from questree.tables.hierarchies import NOTHING
from questree.tables.nodes import ASKED_TOPS, NODES, TOPS
from questree.tables.predictions import Stored
from questree.tables.questions import QUESTIONS
from questree.tables.run import Run
from questree.tables.scored import ASKED, QuestionRecords
from questree.tables.table import rows_in

Words = NDArray[np.int32]
NEEDED = ("video", "number", "template", "answer", "steps", "flags")
COLUMNS = QUESTIONS.only(*NEEDED)


@dataclass(frozen=True)
class ScoredShard:
    """The questions of one shard that are scored."""

    shard: str
    nodes: int
    tops: NDArray[np.uint32]  # [question of the shard] its node
    kept: NDArray[np.int64]  # rows among these


@dataclass(frozen=True)
class RunQuestions:
    """Questions of a run as the tables of their benchmark score them, each alone."""

    asked: pl.DataFrame
    ids: pl.Series  # of those that are decomposed, in the order of `shards`
    shards: list[ScoredShard]
    score: Callable[[pl.DataFrame, str, Missing, Resampling | None], tuple[Scored, list[Score]]]  # of a model
    baseline: Callable[[Resampling | None], list[Score]]  # what needs no predictions

    def said(self, stored: Stored) -> pl.DataFrame:
        """id, prediction of every question that was answered."""
        found = [np.zeros(0, np.int32)]
        for own in self.shards:
            nodes = stored.shard(own.shard, own.nodes)
            found.append(stored.asked(own.shard, nodes[own.tops])[own.kept])
        return answered_ids(self.ids, stored.words, np.concatenate(found))


def video_questions(run: Run, split: str | None) -> RunQuestions:
    """Of the videos of a split, or of all; beside the models AGQA's Most-Likely."""
    bank = Bank(run)
    most = steps.of_run(bank)
    found = [asked_shard(run, folder.name, split, most) for folder in shards(run)]
    table = pl.concat([ASKED.empty(), *(each.records.table for each in found)])
    asked = records_of(table)

    def score(given: pl.DataFrame, model: str, missing: Missing, how: Resampling | None) -> tuple[Scored, list[Score]]:
        scored = score_agqa(asked, given, missing)
        return scored, [*scored.rows(model, how), *fit_rows(scored.tallies, model, how)]

    parts, counts = [each.own for each in found], AnswerCounts.of(table)
    return RunQuestions(table, table["id"], parts, score, lambda _: most_likely(counts))


class AskedShard(NamedTuple):
    """The questions of a shard that were taken apart and are scored."""

    records: QuestionRecords
    own: ScoredShard

    def said(self, words: Sequence[str], tops: Words) -> pl.DataFrame:
        """id, prediction of those that were answered; `tops`: [question of the shard] the number of the word."""
        return answered_ids(self.records.table["id"], words, tops[self.own.kept])


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
    return AskedShard(records_of(found), ScoredShard(name, nodes, tops["node"].to_numpy(), kept))


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
    parts, ids = list[ScoredShard](), [asked["id"].head(0)]
    for folder in set_shards(run) if COVR.has(run, "decomposed") else ():
        tops, nodes = ASKED_TOPS.only("id", "node").read(folder), rows_in(folder / f"{NODES.name}.parquet")
        kept = tops["id"].is_in(asked["id"].implode()).arg_true()
        ids.append(tops["id"].gather(kept))
        parts.append(ScoredShard(folder.name, nodes, tops["node"].to_numpy(), kept.to_numpy().astype(np.int64)))

    def score(given: pl.DataFrame, model: str, missing: Missing, how: Resampling | None) -> tuple[Scored, list[Score]]:
        scored = score_covr(asked, given, list(PATTERNS), missing == "skip")
        return scored, scored.rows(model, how)

    def guessed(how: Resampling | None) -> list[Score]:
        return [row for name, scored in baselines(asked, learnt).items() for row in scored.rows(name, how)]

    return RunQuestions(asked, pl.concat(ids), parts, score, guessed)


def scored_questions(run: Run, benchmark: Benchmark, split: str | None) -> RunQuestions:
    """Of a split, or all."""
    found: RunQuestions = benchmark.part("scored questions")(run, split)
    return found
