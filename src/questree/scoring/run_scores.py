"""Models and bots scored on the questions and DAGs of a run, as the papers' tables do: read once for all of them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from questree.benchmarks import COVR, Benchmark
from questree.benchmarks.agqa.held_out import FLAGS, NOVEL
from questree.benchmarks.covr.splits import PATTERNS
from questree.faults import Fault
from questree.metrics.answered import Missing, answered
from questree.metrics.answers import fit_rows, most_likely, score_agqa
from questree.metrics.cells import Floats
from questree.metrics.dags import dag_scores, score_answered
from questree.metrics.scores import Coverage, Resampling, Score, Scored
from questree.metrics.sets import score_covr
from questree.models.bots import BOTS, BotCorpus, BotOptions
from questree.models.stored import covered, said
from questree.scoring.as_read import as_read, unread
from questree.scoring.compared import ComparedQuestions, OnePolicy, lacking, of_run
from questree.scoring.image_sets import COLUMNS as COVR_COLUMNS
from questree.scoring.image_sets import baselines, with_image
from questree.stages.decompose.answer_words import AnswerWords
from questree.stages.decompose.hierarchies import shards
from questree.stages.decompose.image_sets import read_sets
from questree.stages.questions import Bank, numbered
from questree.stages.split import steps
from questree.stages.split.image_sets import selected
from questree.stages.split.videos import TWINS
from questree.tables.facts import SPLIT_UNSAID, VIDEOS
from questree.tables.hierarchies import NOTHING
from questree.tables.nodes import NODES, TOPS
from questree.tables.predictions import IMAGE_SETS, Stored, models
from questree.tables.questions import QUESTIONS
from questree.tables.run import Run
from questree.tables.scored import ASKED, QuestionRecords
from questree.tables.table import rows_in

Words = NDArray[np.int32]
NEEDED = ("video", "number", "template", "answer", "steps", "flags")
COLUMNS = QUESTIONS.only(*NEEDED)


@dataclass(frozen=True)
class Computed(Stored):
    """A bot's answers in memory, to be read like stored ones."""

    answers: dict[str, Words] = field(default_factory=dict)  # shard -> [node]

    def shard(self, name: str, nodes: int) -> Words:
        return self.answers[name]

    def asked(self, name: str, predicted: Words) -> Words:
        return predicted


def answers_to(run: Run, benchmark: Benchmark, name: str) -> Stored:
    """What is stored under this name goes before a bot of that name."""
    if has_answered(run, benchmark, name) or name not in BOTS:
        return Stored.of(run, name)
    asked = BotCorpus(run, BotOptions(name), benchmark.of_images)
    return Computed(Path(), list(asked.number), dict(asked.answers()))


def scored_bot(corpus: ComparedQuestions, benchmark: Benchmark, name: str) -> Scored:
    """A bot that answers now, on the DAGs of a run."""
    assert corpus.asked is not None
    return corpus.scorer(said(corpus.asked, answers_to(corpus.asked.run, benchmark, name)))


def has_answered(run: Run, benchmark: Benchmark, name: str) -> bool:
    return name in models(run, benchmark.of_images)


@dataclass(frozen=True)
class How(OnePolicy):
    """The choices behind the numbers; the seed is also that of the choice of failures and texts."""

    split: str | None = "test"  # of which videos or images; None for all


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
        word = pl.Series(np.concatenate(found))
        there = word != NOTHING
        given = pl.Series(stored.words, dtype=pl.String).gather(word.filter(there))
        return pl.DataFrame({"id": self.ids.filter(there), "prediction": given})


def video_questions(run: Run, split: str | None) -> RunQuestions:
    """Of the videos of a split, or of all; beside the models AGQA's Most-Likely."""
    bank = Bank(run)
    side = run.table("facts", VIDEOS)["split"].replace("", SPLIT_UNSAID)
    tables, parts = [pl.DataFrame(schema=dict(TOPS.columns) | dict(COLUMNS.types(bank.vocabulary.wide)))], []
    for folder in shards(run):
        tops = TOPS.read(folder)
        here = np.ones(len(tops), bool) if split is None else (side.gather(tops["video"]) == split).to_numpy()
        kept = np.flatnonzero(here)
        nodes = rows_in(folder / f"{NODES.name}.parquet")
        parts.append(ScoredShard(folder.name, nodes, tops["node"].to_numpy(), kept))
        questions = COLUMNS.read(run.questions / folder.name)
        tables.append(tops[kept].join(questions, on=["video", "number"], how="left", maintain_order="left"))
    table = pl.concat(tables)
    videos = table["video"].unique().sort()
    place = np.searchsorted(videos.to_numpy(), table["video"].to_numpy()).astype(np.int64)
    asked = QuestionRecords(records(bank, table), [bank.ids[at] for at in videos], place)

    def score(given: pl.DataFrame, model: str, missing: Missing, how: Resampling | None) -> tuple[Scored, list[Score]]:
        scored = score_agqa(asked, given, missing)
        return scored, [*scored.rows(model, how), *fit_rows(scored.tallies, model, how)]

    return RunQuestions(asked.table, asked.table["id"], parts, score, lambda _: most_likely(asked))


def records(
    bank: Bank, table: pl.DataFrame, twin: pl.Series | None = None, most_steps: Sequence[int] | None = None
) -> pl.DataFrame:
    """Questions as columns of ASKED; `twin`: numbers of their direct twins, if not as the splits name them;
    `most_steps`: [template] in train, if known: all shards are looked at for it."""
    template = table["template"]
    labels = [known.categories for known in bank.edition.by_code]
    names = bank.names.gather(table["video"])
    most, words = pl.Series(most_steps or steps.of_run(bank), dtype=pl.Int64), AnswerWords(bank.vocabulary)
    columns: dict[str, pl.Series] = {
        "id": numbered(names, table["number"]),
        "video": names,
        "answer": pl.Series(list(words.number)).gather(answer_numbers(words, bank, table)),
        "reasoning": pl.Series([list(own.reasoning) for own in labels], dtype=pl.List(pl.String)).gather(template),
        "semantic": pl.Series([own.semantic for own in labels]).gather(template),
        "structural": pl.Series([own.structural for own in labels]).gather(template),
        "binary": pl.Series([known.answer_type != "open" for known in bank.edition.by_code]).gather(template),
        "steps": table["steps"],
        "direct": numbered(names, direct(twins_of(bank.run), table) if twin is None else twin),
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


def twins_of(run: Run) -> pl.DataFrame:
    """The direct twins that the splits name, if there are splits."""
    folder = run.folder / "splits" / "indirect"
    return TWINS.read(folder) if (folder / f"{TWINS.name}.parquet").is_file() else TWINS.empty()


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
    parts, ids = [], asked["id"].head(0)
    if COVR.has(run, "decomposed"):
        tables = read_sets(COVR.place(run, "decomposed"))
        tops = tables["tops"].select("id", "node").with_row_index("top")
        known = asked.select("id").join(tops, on="id", how="inner", maintain_order="left")
        kept, ids = known["top"].to_numpy().astype(np.int64), known["id"]
        parts = [ScoredShard(IMAGE_SETS, len(tables["nodes"]), tops["node"].to_numpy(), kept)]

    def score(given: pl.DataFrame, model: str, missing: Missing, how: Resampling | None) -> tuple[Scored, list[Score]]:
        scored = score_covr(asked, given, list(PATTERNS), missing == "skip")
        return scored, scored.rows(model, how)

    def guessed(how: Resampling | None) -> list[Score]:
        return [row for name, scored in baselines(asked, learnt).items() for row in scored.rows(name, how)]

    return RunQuestions(asked, ids, parts, score, guessed)


def scored_questions(run: Run, benchmark: Benchmark, split: str | None) -> RunQuestions:
    """Of a split, or all."""
    found: RunQuestions = benchmark.part("scored questions")(run, split)
    return found


@dataclass(frozen=True)
class ModelScores:
    model: str
    scored: Scored  # of the DAGs
    dags: list[Score]
    scored_alone: Scored  # of every question alone
    alone: list[Score]
    per_dag: tuple[Floats, Floats]  # [dag] accuracy, [dag] consistency
    coverage: Coverage
    unread: float | None  # share of the predictions that are no answer in the policy's reading
    sample: bool = False  # was it asked some questions only?


@dataclass(frozen=True)
class RunScores:
    """What models and bots of a run are scored on."""

    run: Run
    benchmark: Benchmark
    how: How
    corpus: ComparedQuestions
    questions: RunQuestions

    @classmethod
    def of(cls, run: Run, benchmark: Benchmark, how: How) -> "RunScores":
        corpus = of_run(run, how.split, benchmark.name, how, errors=not benchmark.of_images)
        return cls(run, benchmark, how, corpus, scored_questions(run, benchmark, how.split))

    def read(self, model: str) -> Stored:
        """A model's answers as the policy reads them."""
        assert self.corpus.asked is not None
        stored = answers_to(self.run, self.benchmark, model)
        return as_read(self.corpus.asked, stored, self.corpus.reader, self.how.policy)

    def score(self, model: str) -> ModelScores:
        how, stored, dags = self.how, self.read(model), self.corpus.asked
        assert dags is not None
        given, sample = said(dags, stored), model in self.corpus.reader.samples
        missing: Missing = "skip" if sample else how.missing
        beside = answered(dags.hierarchies, given, missing)
        scored = score_answered(beside, self.corpus.more)
        scored_alone, alone = self.questions.score(self.questions.said(stored), model, missing, how.resampling)
        rows = scored.rows(model, how.resampling)
        lost, count = unread(dags, given, self.corpus.reader)
        share = lost / count if count else None
        about = dag_scores(beside), covered(dags, given), share, sample
        return ModelScores(model, scored, rows, scored_alone, alone, *about)


def gaps(found: Sequence[ModelScores], missing: Missing) -> list[Fault]:
    """All models that lack predictions, unless a missing one is wrong or left out, or they were asked a sample."""
    whole = [one for one in found if missing == "error" and not one.sample]
    short = [(one.model, one.coverage) for one in whole if one.coverage.missing]
    return [Fault(f"model {model}", lacking(coverage)) for model, coverage in short]
