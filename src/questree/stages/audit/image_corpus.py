"""What COVR's questions are, counted: its Table 3 (kinds of questions, anonymised programs) and its Figures 4 to 6
(answers, images, operators)."""

from collections import Counter
from collections.abc import Mapping
from typing import Any

import numpy as np
import polars as pl

from questree.benchmarks.covr.splits import ANSWERING
from questree.sources.covr import CHOOSING
from questree.stages.split.rows import ProgramShape, QuestionRows, Truth

OPERATORS = ("find", "filter", "with_relation")  # of Figure 6
TRUE_FALSE = "True/False questions"
KINDS = {'"X or Y" questions': CHOOSING, '"how many" questions': ("count",), "open questions": ANSWERING}  # by last row
EVALUATED = "dev + test"  # the second column of Table 3


def parts_of(rows: QuestionRows, column: str) -> dict[str, Truth]:
    """The questions of every split or file, and of dev and test together if there are both."""
    found = {
        str(name): (rows.questions[column] == name).to_numpy()
        for name in rows.questions[column].unique(maintain_order=True)
    }
    return found | ({EVALUATED: found["dev"] | found["test"]} if {"dev", "test"} <= {*found} else {})


def table_3(rows: QuestionRows, parts: Mapping[str, Truth]) -> list[dict[str, Any]]:
    """A line per measurement, a column per part.

    Unique anonymised programs: different shapes, in which every noun, relation, attribute and number is left out, as
    the program split writes them. Words are what spaces part. A text with two answers is asked of different images.
    """
    kind, texts = kinds(rows), shape_numbers(rows)
    columns: dict[str, dict[str, Any]] = {}
    for name, inside in parts.items():
        own = rows.questions.filter(pl.Series(inside))
        images, counted = own["images"], Counter(kind[inside].tolist())
        two = own.select((pl.col("answer").n_unique().over("question") > 1).sum()).item()
        columns[name] = {
            "questions": len(own),
            "unique questions": own["question"].n_unique(),
            "questions whose text has two answers": int(two),
            "unique answers": own["answer"].n_unique(),
            "unique images": images.explode().drop_nulls().n_unique(),
            "unique anonymised programs": len(np.unique(texts[inside])),
            **{each: counted[each] for each in (TRUE_FALSE, *KINDS)},
            "words per question": mean(own["question"].str.count_matches(" ") + 1),
            **paraphrased(own),
            "images per question": mean(images.list.len()),
        }
    measured = next(iter(columns.values()), {})
    return [{"measurement": each} | {name: column[each] for name, column in columns.items()} for each in measured]


def paraphrased(own: pl.DataFrame) -> dict[str, float | None]:
    """Of questions that somebody paraphrased, as in released files, the words of the paraphrase."""
    if "paraphrase" not in own.columns:
        return {}
    return {"words per paraphrase": mean(own["paraphrase"].drop_nulls().str.count_matches(" ") + 1)}


def mean(numbers: pl.Series) -> float | None:
    """To a tenth, as the table has it; None of nothing."""
    return round(float(numbers.mean()), 1) if len(numbers) else None  # type: ignore[arg-type]


def kinds(rows: QuestionRows) -> Any:
    """[question] what kind of question its last row makes it."""
    found = np.full(len(rows), TRUE_FALSE, object)
    for code, at in rows.by_shape:
        last = next((piece.op for piece in rows.shape(code).pieces if piece.last), "")
        found[at] = next((name for name, ops in KINDS.items() if last in ops), TRUE_FALSE)
    return found


def shape_numbers(rows: QuestionRows) -> Any:
    """[question] equal for questions whose anonymised programs are."""
    numbers: dict[str, int] = {}
    found = np.zeros(len(rows), np.int64)
    for code, at in rows.by_shape:
        found[at] = numbers.setdefault(rows.shape(code).text, len(numbers))
    return found


COMMON = 30  # answers of Figure 4


def figure_4(asked: pl.DataFrame) -> dict[str, int]:
    """The most common answers but yes and no -> how many questions."""
    counts = asked.filter(~pl.col("answer").is_in(["yes", "no"]))["answer"].value_counts()
    return dict(counts.sort(["count", "answer"], descending=[True, False]).head(COMMON).rows())


def figure_5(asked: pl.DataFrame) -> dict[int, int]:
    """Number of images of a question -> how many questions."""
    return dict(sorted(asked["images"].list.len().value_counts().rows()))


def figure_6(rows: QuestionRows, inside: Truth) -> dict[str, pl.Series]:
    """Operator -> [question] how often its program has it, those inside quantifiers included."""
    return {op: pl.Series(op, occurrences(rows, op)[inside]) for op in OPERATORS}


def occurrences(rows: QuestionRows, op: str) -> Any:
    def times(shape: ProgramShape) -> int:
        return sum(piece.op == op for piece in shape.pieces)

    found = np.zeros(len(rows), np.int64)
    for code, at in rows.by_shape:
        found[at] = times(rows.shape(code))
    return found


def occurrence_lines(counted: Mapping[str, pl.Series]) -> list[dict[str, int]]:
    """A line per number of occurrences, a column of questions per operator."""
    counts = {op: Counter(numbers.to_list()) for op, numbers in counted.items()}
    most = max((number for own in counts.values() for number in own), default=-1)
    return [{"occurrences": at} | {op: own[at] for op, own in counts.items()} for at in range(most + 1)]


def figures_of(rows: QuestionRows, inside: Truth | None) -> dict[str, Any]:
    """Figures 4 to 6 of one part, as tables."""
    chosen = np.zeros(len(rows), bool) if inside is None else inside
    own = rows.questions.filter(pl.Series(chosen))
    lines = occurrence_lines(figure_6(rows, chosen))
    return {"figure 4": figure_4(own), "figure 5": figure_5(own), "figure 6": lines}
