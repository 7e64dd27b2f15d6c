"""Questions as small integers, and the side tables that say how their slots are worded; the packing of a time, and of
the programs of questions that have no templates of ours."""

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from questree.columns.keys import distinct
from questree.columns.quoting import QUOTE, QUOTED, quoted, unquoted
from questree.faults import BadInput
from questree.tables.table import NUMBERED, Table

NOTHING16 = 65535  # a slot the template does not have; of words it is NO_WORD
STANDS = {"object": "x", "first": "x", "a": "x", "second": "y", "b": "y"}  # slot -> column of its direct class
WORDED = {"object": "first", "first": "first", "a": "first", "second": "second", "b": "second"}  # -> of its wording

QUESTIONS = Table(
    "questions",
    {
        "video": pl.UInt32,  # row in `videos`
        "number": pl.UInt32,  # of the question within its video
        "template": pl.UInt8,
        "relation": pl.UInt8,
        "x": pl.UInt8,  # direct class of the first object or action slot
        "y": pl.UInt8,
        "first": pl.UInt16,  # how it is worded: row of the video's references or action references
        "second": pl.UInt16,
        "phrase": pl.UInt16,  # row of the video's phrases; 0 is the whole video
        "time": pl.UInt32,  # kind and actions, as `packed_time` has them
        "answer": pl.UInt8,  # 0/1 for no/yes and before/after, else a position in the vocabulary
        "steps": pl.UInt8,
        "flags": pl.UInt8,  # bits of benchmarks.agqa.held_out.FLAGS
        "effect": pl.UInt8,  # what the time phrase does to the answer
    },
    wide={**dict.fromkeys(("relation", "x", "y", "answer"), pl.UInt16), "phrase": pl.UInt32, "time": pl.UInt64},
    skipping=False,  # most readers want all rows, and bounds take a third of the time of writing
)
REFERENCES = Table(
    "references",
    {"video": pl.UInt32, "kind": pl.UInt8, "object": pl.UInt8, "relation": pl.UInt8},
    wide={"object": pl.UInt16, "relation": pl.UInt16},
)
ACTION_REFERENCES = Table(
    "action_references",
    {"video": pl.UInt32, "kind": pl.UInt8, "action": pl.UInt8, "reference": pl.UInt16},
    wide={"action": pl.UInt16},
)
PHRASES = Table(  # time kind, its actions as rows of the video's action references
    "phrases", {"video": pl.UInt32, "kind": pl.UInt8, "a": pl.UInt16, "b": pl.UInt16}
)
TEXT = Table("text", {"question": pl.String})  # row by row as in questions
SIDES = (REFERENCES, ACTION_REFERENCES, PHRASES)


def packed_time(kind: Any, a: Any, b: Any) -> Any:
    """A time as one number; a, b: its actions, -1 for none. The whole video is 0.

    From the lowest byte: the kind, the low bytes of both actions, their high bytes, which few words do not have.
    """
    a, b = a + 1, b + 1
    return kind | (a & 255) << 8 | (b & 255) << 16 | (a >> 8) << 24 | (b >> 8) << 32


def time_kind(time: Any) -> Any:
    return time & 255


def time_actions(time: Any) -> tuple[Any, Any]:
    """The first and second action, -1 for none; of signed numbers."""
    return (time >> 8 & 255 | (time >> 24 & 255) << 8) - 1, (time >> 16 & 255 | (time >> 32) << 8) - 1


def time_without_kind(time: Any) -> Any:
    """The actions alone, as a number of 16 bits; of 32, if there are many words."""
    return time >> 8


PROGRAM = {  # of a question that is given, with its text: image sets, and what is imported
    "form": NUMBERED,  # its program in our notation with slots in place of words: count(find($0))
    "words": pl.List(NUMBERED),  # by the numbers of the slots
}
WRITTEN = rf'( *)({QUOTED}|[^(), "][^(),]*)([,)])'  # a word: what is not followed by a bracket that opens
SLOT = re.compile(r"\$(\d+)")


def with_forms(questions: pl.DataFrame) -> pl.DataFrame:
    """Questions whose `program` is a text, with its form and words instead."""
    texts = questions["program"]
    outline = texts.str.replace_all(WRITTEN, "${1}$$${3}")
    different = outline.unique(maintain_order=True)
    forms = [text.replace("$", "${}").format(*range(text.count("$"))) for text in different]
    said = texts.str.extract_all(WRITTEN).list.eval(pl.element().str.head(-1).str.strip_chars())
    if texts.str.contains(QUOTE, literal=True).any():
        said = pl.Series([[unquoted(word) for word in words] for words in said], dtype=said.dtype)
    return questions.drop("program").with_columns(form=outline.replace_strict(different, forms), words=said)


def with_programs(questions: pl.DataFrame) -> pl.DataFrame:
    """Questions with their programs as texts, too."""
    texts = [program_text(form, words) for form, words in questions.select(*PROGRAM).iter_rows()]
    return questions.with_columns(program=pl.Series(texts, dtype=pl.String))


def program_text(form: str, words: Sequence[str]) -> str:
    """A program as it is written."""
    return "".join(quoted(words[int(p)]) if at % 2 else p for at, p in enumerate(SLOT.split(form)))


TABLES = {  # per edition; what only the first one has comes last
    "2.0": {table.name: table for table in (QUESTIONS, *SIDES)},
}
FIRST_QUESTIONS = replace(  # the object that names the relation
    QUESTIONS,
    columns={**QUESTIONS.columns, "done_to": pl.UInt8},
    wide={**QUESTIONS.wide, "done_to": pl.UInt16},
)
FIRST_REFERENCES = replace(  # of its own; packed as in questions
    REFERENCES, columns={**REFERENCES.columns, "time": pl.UInt32}, wide={**REFERENCES.wide, "time": pl.UInt64}
)
TABLES["1.0"] = TABLES["2.0"] | {table.name: table for table in (FIRST_QUESTIONS, FIRST_REFERENCES)}


BALANCED = Table("balanced", {"video": pl.UInt32, "number": pl.UInt32})  # as in questions


def read_balanced(folder: Path, first: int = 0, last: int | None = None) -> pl.DataFrame:
    """Every selected question of all videos, or of some, once and in order; the files may have more columns."""
    files = sorted(folder.glob("*.parquet"))
    if not files:
        raise BadInput.at(folder, "no selection here: expected Parquet files with the columns video, number")
    inside = None if last is None else pl.col("video").is_between(first, last)
    found = [Table(file.stem, BALANCED.columns).read(folder, inside) for file in files]
    table = pl.concat(found)
    if ascending(table):
        return table
    key = distinct(keys_of(table))
    return pl.DataFrame({"video": key >> 32, "number": key & 0xFFFFFFFF}, schema=dict(BALANCED.columns))


def keys_of(questions: pl.DataFrame) -> NDArray[Any]:
    """[question] its video and number as one number."""
    video, number = (questions[name].to_numpy().astype(np.int64) for name in ("video", "number"))
    return np.asarray(video << 32 | number)


def ascending(questions: pl.DataFrame) -> bool:
    """Are questions in the order of their videos and numbers, each once?"""
    return bool((np.diff(keys_of(questions)) > 0).all())
