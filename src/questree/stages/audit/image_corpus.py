"""What COVR's questions are: its Table 3 (kinds of questions, anonymised programs) and its Figures 4 to 6 (answers,
images, operators), from counts that add up."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from questree.benchmarks.covr.splits import ANSWERING
from questree.columns.hashing import seeds_of
from questree.sources.covr import CHOOSING
from questree.stages.split.rows import ProgramShape, QuestionRows, Truth

OPERATORS = ("find", "filter", "with_relation")  # of Figure 6
TRUE_FALSE = "True/False questions"
KINDS = {'"X or Y" questions': CHOOSING, '"how many" questions': ("count",), "open questions": ANSWERING}  # by last row
EVALUATED = "dev + test"  # the second column of Table 3
Parts = Mapping[str, Sequence[str]]  # of Table 3 -> the splits or files of each


class CountedShape(NamedTuple):
    """What is counted of questions whose programs have one shape."""

    kind: str
    text: str  # without nouns, relations, attributes and numbers
    times: tuple[int, ...]  # [operator of Figure 6] how often it occurs, also inside quantifiers

    @classmethod
    def of(cls, shape: ProgramShape) -> "CountedShape":
        last = next((piece.op for piece in shape.pieces if piece.last), "")
        kind = next((name for name, ops in KINDS.items() if last in ops), TRUE_FALSE)
        return cls(kind, shape.text, tuple(sum(piece.op == op for piece in shape.pieces) for op in OPERATORS))


@dataclass(frozen=True)
class SideCounts:
    """How many questions of a split or file have what."""

    templates: Counter[str]
    answers: Counter[str]
    shapes: Counter[CountedShape]
    words: Counter[int]  # what spaces part
    paraphrased: Counter[int]  # words of paraphrases, which released files may have
    images: Counter[int]  # how many

    @classmethod
    def of(cls, rows: QuestionRows, inside: Truth) -> "SideCounts":
        own, shapes = rows.questions.filter(pl.Series(inside)), Counter[CountedShape]()
        for code, times in zip(*np.unique(rows.code[inside], return_counts=True), strict=True):
            shapes[CountedShape.of(rows.shape(int(code)))] += int(times)
        said = own["paraphrase"].drop_nulls() if "paraphrase" in own.columns else pl.Series(dtype=pl.String)
        numbers = (word_counts(own["question"]), word_counts(said), own["images"].list.len())
        return cls(counted(own["template"]), counted(own["answer"]), shapes, *map(counted, numbers))

    @classmethod
    def together(cls, found: Iterable["SideCounts"]) -> "SideCounts":
        every = list(found)
        return cls(*(sum((getattr(own, each.name) for own in every), Counter()) for each in fields(cls)))

    @property
    def total(self) -> int:
        return self.templates.total()


class DistinctCounts(NamedTuple):
    """What does not add up over splits: a text may be asked, an image seen in several."""

    texts: int
    two_answers: int  # questions whose text has two: it is asked of different images
    images: int


@dataclass(frozen=True)
class CorpusCounts:
    sides: Mapping[str, SideCounts]  # by split or file, as they are met
    distinct: Mapping[str, DistinctCounts]  # by part of Table 3

    @classmethod
    def of(cls, rows: QuestionRows, column: str) -> "CorpusCounts":
        """All questions at once; the column names the split or file of each."""
        sides = sides_of(rows, column)
        texts, images = texts_in(rows.questions, column), images_in(rows.questions, column)
        return cls(sides, distinct(texts.lazy(), images.lazy(), parts_of(sides)))

    @property
    def parts(self) -> dict[str, SideCounts]:
        every = parts_of(self.sides)
        return {name: SideCounts.together(self.sides[side] for side in own) for name, own in every.items()}


def parts_of(sides: Iterable[str]) -> Parts:
    """Every split or file, and dev and test together if there are both."""
    found: dict[str, Sequence[str]] = {name: (name,) for name in sides}
    return found | ({EVALUATED: ("dev", "test")} if {"dev", "test"} <= {*found} else {})


def sides_of(rows: QuestionRows, column: str) -> dict[str, SideCounts]:
    own = rows.questions[column]
    return {name: SideCounts.of(rows, (own == name).to_numpy()) for name in own.unique(maintain_order=True)}


def texts_in(questions: pl.DataFrame, column: str) -> pl.DataFrame:
    """key, side, answer, n: how many questions have a text, of which the key is a hash, and an answer."""
    texts = questions["question"].unique()
    keys = pl.DataFrame({"question": texts, "key": seeds_of(0, texts)})
    asked = questions.group_by("question", "answer", side=column).agg(n=pl.len())
    return asked.join(keys, on="question").select("key", "side", "answer", "n")


def images_in(questions: pl.DataFrame, column: str) -> pl.DataFrame:
    """side, image: each once."""
    return questions.select(side=column, image="images").explode("image").drop_nulls().unique()


def distinct(texts: pl.LazyFrame, images: pl.LazyFrame, parts: Parts) -> dict[str, DistinctCounts]:
    """Of what `texts_in` and `images_in` found, also in several places."""
    counts = dict[str, DistinctCounts]()
    for name, sides in parts.items():
        inside = pl.col("side").is_in(sides)
        several = pl.col("answer").min() != pl.col("answer").max()
        asked = texts.filter(inside).group_by("key").agg(pl.col("n").sum(), several=several)
        different, disputed = (
            asked.select(pl.len(), pl.col("n").filter("several").sum()).collect(engine="streaming").row(0)
        )
        shown = images.filter(inside).select(pl.col("image").n_unique()).collect(engine="streaming").item()
        counts[name] = DistinctCounts(different, disputed, shown)
    return counts


def table_3(corpus: CorpusCounts) -> list[dict[str, Any]]:
    """A line per measurement, a column per part.

    Unique anonymised programs: different shapes, in which every noun, relation, attribute and number is left out, as
    the program split writes them.
    """
    columns, parts = dict[str, dict[str, Any]](), corpus.parts
    paraphrased = any(own.paraphrased for own in parts.values())
    for name, own in parts.items():
        apart, kinds = corpus.distinct[name], Counter[str]()
        for shape, times in own.shapes.items():
            kinds[shape.kind] += times
        columns[name] = {
            "questions": own.total,
            "unique questions": apart.texts,
            "questions whose text has two answers": apart.two_answers,
            "unique answers": len(own.answers),
            "unique images": apart.images,
            "unique anonymised programs": len({shape.text for shape in own.shapes}),
            **{each: kinds[each] for each in (TRUE_FALSE, *KINDS)},
            "words per question": mean(own.words),
            **({"words per paraphrase": mean(own.paraphrased)} if paraphrased else {}),
            "images per question": mean(own.images),
        }
    measured = next(iter(columns.values()), {})
    return [{"measurement": each} | {name: column[each] for name, column in columns.items()} for each in measured]


def word_counts(texts: pl.Series) -> pl.Series:
    return texts.str.count_matches(" ") + 1


def counted(values: pl.Series) -> Counter[Any]:
    return Counter(dict(values.value_counts().rows()))


def mean(numbers: Counter[int]) -> float | None:
    """To a tenth, as the table has it; None of nothing."""
    total = numbers.total()
    return round(sum(number * times for number, times in numbers.items()) / total, 1) if total else None


COMMON = 30  # answers of Figure 4


def figure_4(asked: SideCounts) -> dict[str, int]:
    """The most common answers but yes and no -> how many questions."""
    open_ones = [(word, times) for word, times in asked.answers.items() if word not in ("yes", "no")]
    return dict(sorted(open_ones, key=lambda own: (-own[1], own[0]))[:COMMON])


def figure_5(asked: SideCounts) -> dict[int, int]:
    """Number of images of a question -> how many questions."""
    return dict(sorted(asked.images.items()))


def figure_6(asked: SideCounts) -> dict[str, Counter[int]]:
    """Operator -> how often a program has it, those inside quantifiers included -> how many questions."""
    found = {op: Counter[int]() for op in OPERATORS}
    for shape, times in asked.shapes.items():
        for op, often in zip(OPERATORS, shape.times, strict=True):
            found[op][often] += times
    return found


def occurrence_lines(counts: Mapping[str, Counter[int]]) -> list[dict[str, int]]:
    """A line per number of occurrences, a column of questions per operator."""
    most = max((number for own in counts.values() for number in own), default=-1)
    return [{"occurrences": at} | {op: own[at] for op, own in counts.items()} for at in range(most + 1)]


def figures_of(asked: SideCounts) -> dict[str, Any]:
    """Figures 4 to 6 of one part, as tables."""
    lines = occurrence_lines(figure_6(asked))
    return {"figure 4": figure_4(asked), "figure 5": figure_5(asked), "figure 6": lines}
