"""What COVR's questions are: its Table 3 (kinds of questions, anonymised programs) and its Figures 4 to 6 (answers,
images, operators). Chunks write tables of counts, texts and images, which one worker queries."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import polars as pl

from questree.benchmarks.covr.splits import ANSWERING
from questree.columns.hashing import seeds_of
from questree.faults import BadInput
from questree.sources.covr import CHOOSING
from questree.stages.shard_tables import ShardTables
from questree.stages.split.rows import ProgramShape, QuestionRows, image_rows
from questree.tables.image_questions import EMPTY, QuestionChunk, chunks
from questree.tables.questions import PROGRAM
from questree.tables.run import Run
from questree.tables.shard_folders import where_workers_see
from questree.workers import each, shared_out

OPERATORS = ("find", "filter", "with_relation")  # of Figure 6, also inside quantifiers
COUNTED = ("template", "answer", "kind", "program", "words", "paraphrase", "images", *OPERATORS)
TRUE_FALSE = "True/False questions"
KINDS = {'"X or Y" questions': CHOOSING, '"how many" questions': ("count",), "open questions": ANSWERING}  # by last row
EVALUATED = "dev + test"  # the second column of Table 3
COMMON = 30  # answers of Figure 4
COLUMNS = ("id", "split", "template", "question", "answer", *PROGRAM, "images")
FEW = 64  # shards, of 0.05 s each; starting processes for fewer does not pay
TABLES = ("counts", "texts", "images")
SIDES = ("train", "dev", "test")  # in this order, whichever a shard has first
Parts = Mapping[str, Sequence[str]]  # of Table 3 -> the splits or files of each


class DistinctCounts(NamedTuple):
    """What does not add up over splits: a text may be asked, an image seen in several."""

    texts: int
    two_answers: int  # questions whose text has two: it is asked of different images
    images: int


@dataclass(frozen=True)
class CorpusCounts:
    counts: pl.DataFrame  # side, what, value, n: questions of a split or file that have a value of what is COUNTED
    distinct: Mapping[str, DistinctCounts]  # by part of Table 3

    @classmethod
    def of_rows(cls, rows: QuestionRows, column: str) -> "CorpusCounts":
        """All questions at once; the column names the split or file of each."""
        return cls.of_tables(*(table.lazy() for table in corpus_tables(rows, column)))

    @classmethod
    def of_tables(cls, counts: pl.LazyFrame, texts: pl.LazyFrame, images: pl.LazyFrame) -> "CorpusCounts":
        """Of what `corpus_tables` gave in one or several places."""
        sums = counts.group_by("side", "what", "value", maintain_order=True).agg(pl.col("n").sum()).collect()
        parts = parts_of(sums["side"].unique(maintain_order=True))
        return cls(sums, {name: count_distinct(texts, images, sides) for name, sides in parts.items()})

    @property
    def sides(self) -> list[str]:
        """Splits or files, as they are met."""
        return self.counts["side"].unique(maintain_order=True).to_list()

    @property
    def parts(self) -> Parts:
        return parts_of(self.sides)

    def values(self, what: str, sides: Sequence[str]) -> dict[str, int]:
        """Value -> questions of these sides that have it."""
        inside = self.counts.filter(pl.col("what") == what, pl.col("side").is_in(sides))
        return dict(inside.group_by("value", maintain_order=True).agg(pl.col("n").sum()).rows())

    def numbers(self, what: str, sides: Sequence[str]) -> dict[int, int]:
        """The same of numbers, ascending."""
        return dict(sorted((int(value), n) for value, n in self.values(what, sides).items()))

    def mean(self, what: str, sides: Sequence[str]) -> float | None:
        """To a tenth, as the table has it; None of nothing."""
        numbers = self.numbers(what, sides)
        return round(sum(number * n for number, n in numbers.items()) / sum(numbers.values()), 1) if numbers else None


def parts_of(sides: Iterable[str]) -> Parts:
    """Every split or file, and dev and test together if there are both."""
    parts: dict[str, Sequence[str]] = {name: (name,) for name in sides}
    return parts | ({EVALUATED: ("dev", "test")} if {"dev", "test"} <= {*parts} else {})


def corpus_tables(rows: QuestionRows, column: str) -> tuple[pl.DataFrame, pl.DataFrame, pl.DataFrame]:
    """What is counted; texts by a hash with their answers; images of every side. The column names a question's side."""
    questions, words = rows.questions, pl.col("question", "paraphrase").str.count_matches(" ") + 1
    if "paraphrase" not in questions.columns:  # which released files may have
        questions = questions.with_columns(paraphrase=pl.lit(None, pl.String))
    shapes = pl.DataFrame(
        [(code, *shape_values(rows.shape(code))) for code, _ in rows.by_shape],
        {"code": pl.Int64, "kind": pl.String, "program": pl.String, **dict.fromkeys(OPERATORS, pl.Int64)},
        orient="row",
    )
    sides = pl.col(column).alias("side")
    table = questions.select(
        *(sides, "template", "answer", words), pl.col("images").list.len(), code=pl.Series(rows.code, dtype=pl.Int64)
    ).join(shapes, on="code", maintain_order="left")
    table = table.rename({"question": "words"})
    counts = [
        table.group_by("side", what=pl.lit(name), value=pl.col(name).cast(pl.String), maintain_order=True).agg(
            n=pl.len()
        )
        for name in COUNTED
    ]
    texts = questions["question"].unique()
    keys = pl.DataFrame({"question": texts, "key": seeds_of(0, texts)})
    counted = questions.group_by(sides, "question", "answer").agg(n=pl.len()).join(keys, on="question")
    images = questions.select(sides, image="images").explode("image").drop_nulls().unique()
    return pl.concat(counts).drop_nulls("value"), counted.drop("question"), images


def shape_values(shape: ProgramShape) -> tuple[Any, ...]:
    """The kind of question, the program without nouns, relations, attributes and numbers, and how often it has each
    operator."""
    last = next((piece.op for piece in shape.pieces if piece.last), "")
    kind = next((name for name, ops in KINDS.items() if last in ops), TRUE_FALSE)
    return kind, shape.text, *(sum(piece.op == op for piece in shape.pieces) for op in OPERATORS)


def count_distinct(texts: pl.LazyFrame, images: pl.LazyFrame, sides: Sequence[str]) -> DistinctCounts:
    inside, several = pl.col("side").is_in(sides), pl.col("answer").min() != pl.col("answer").max()
    by_text = texts.filter(inside).group_by("key").agg(pl.col("n").sum(), several=several)
    different = by_text.select(pl.len(), pl.col("n").filter("several").sum()).collect(engine="streaming").row(0)
    shown = images.filter(inside).select(pl.col("image").n_unique()).collect(engine="streaming").item()
    return DistinctCounts(different[0], different[1], shown)


@dataclass(frozen=True)
class CountTask:
    """What every chunk is counted with; small enough to send anywhere that sees the run."""

    tables: ShardTables
    every: bool  # also what is not in the balanced selection?


def run_corpus(run: Run, every: bool = False, workers: int = 1) -> CorpusCounts:
    """The image questions of a run: the balanced selection, if there is one."""
    parts = chunks(run)
    several = workers if len(parts) > FEW else 1
    with where_workers_see(run.predictions) as scratch, shared_out(several, len(parts)) as pool:
        task = CountTask(ShardTables(scratch), every)
        each(pool, "counting questions", "questions", parts, write_counts, task)
        (corpus,) = each(pool, "counting texts", "part", [TABLES], read_counts, task)
    if not corpus.sides:
        raise BadInput.at(run.covr, EMPTY)
    order = pl.col("side").replace_strict([*SIDES], range(len(SIDES)), default=len(SIDES))
    return replace(corpus, counts=corpus.counts.sort(order, maintain_order=True))


def write_counts(task: CountTask, chunk: QuestionChunk) -> None:
    rows = image_rows(chunk.selected(task.every, *COLUMNS))
    for kind, counted in zip(TABLES, corpus_tables(rows, "split"), strict=True):
        task.tables.write(kind, chunk.name, counted)


def read_counts(task: CountTask, kinds: Sequence[str]) -> CorpusCounts:
    return CorpusCounts.of_tables(*map(task.tables.scan, kinds))


def table_3(corpus: CorpusCounts) -> list[dict[str, Any]]:
    """A line per measurement, a column per part.

    Unique anonymised programs: different shapes, in which every noun, relation, attribute and number is left out, as
    the program split writes them.
    """
    columns, paraphrased = dict[str, dict[str, Any]](), bool(corpus.values("paraphrase", corpus.sides))
    for name, sides in corpus.parts.items():
        apart, kinds = corpus.distinct[name], corpus.values("kind", sides)
        columns[name] = {
            "questions": sum(kinds.values()),
            "unique questions": apart.texts,
            "questions whose text has two answers": apart.two_answers,
            "unique answers": len(corpus.values("answer", sides)),
            "unique images": apart.images,
            "unique anonymised programs": len(corpus.values("program", sides)),
            **{kind: kinds.get(kind, 0) for kind in (TRUE_FALSE, *KINDS)},
            "words per question": corpus.mean("words", sides),
            **({"words per paraphrase": corpus.mean("paraphrase", sides)} if paraphrased else {}),
            "images per question": corpus.mean("images", sides),
        }
    measured = next(iter(columns.values()), {})
    return [{"measurement": each} | {name: column[each] for name, column in columns.items()} for each in measured]


def figure_4(corpus: CorpusCounts, sides: Sequence[str]) -> dict[str, int]:
    """The most common answers but yes and no -> how many questions."""
    open_ones = [(word, n) for word, n in corpus.values("answer", sides).items() if word not in ("yes", "no")]
    return dict(sorted(open_ones, key=lambda row: (-row[1], row[0]))[:COMMON])


def figure_6(corpus: CorpusCounts, sides: Sequence[str]) -> dict[str, dict[int, int]]:
    """Operator -> how often a program has it, those inside quantifiers included -> how many questions."""
    return {op: corpus.numbers(op, sides) for op in OPERATORS}


def figures_of(corpus: CorpusCounts, sides: Sequence[str]) -> dict[str, Any]:
    """Figures 4 to 6 of some sides, as tables; of operators a line per number of occurrences."""
    counts = figure_6(corpus, sides)
    most = max((number for times in counts.values() for number in times), default=-1)
    lines = [{"occurrences": at} | {op: times.get(at, 0) for op, times in counts.items()} for at in range(most + 1)]
    return {"figure 4": figure_4(corpus, sides), "figure 5": corpus.numbers("images", sides), "figure 6": lines}
