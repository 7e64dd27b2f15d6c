"""Questions as small integers, and the side tables that say how their slots are worded."""

import polars as pl

from questree.tables.table import Table

NOTHING8, NOTHING16 = 255, 65535  # a slot the template does not have

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
        "time": pl.UInt32,  # kind + 256 * (first action + 1) + 65536 * (second action + 1)
        "answer": pl.UInt8,  # 0/1 for no/yes and before/after, else a position in the vocabulary
        "steps": pl.UInt8,
        "flags": pl.UInt8,  # bits of benchmarks.agqa.held_out.FLAGS
        "effect": pl.UInt8,  # what the time phrase does to the answer
    },
)
REFERENCES = Table("references", {"video": pl.UInt32, "kind": pl.UInt8, "object": pl.UInt8, "relation": pl.UInt8})
ACTION_REFERENCES = Table(
    "action_references", {"video": pl.UInt32, "kind": pl.UInt8, "action": pl.UInt8, "reference": pl.UInt16}
)
PHRASES = Table(  # time kind, its actions as rows of the video's action references
    "phrases", {"video": pl.UInt32, "kind": pl.UInt8, "a": pl.UInt16, "b": pl.UInt16}
)
TEXT = Table("text", {"question": pl.String})  # row by row as in questions
SIDES = (REFERENCES, ACTION_REFERENCES, PHRASES)
TABLES = {  # per edition; what only the first one has comes last
    "2.0": {table.name: table for table in (QUESTIONS, *SIDES)},
}
TABLES["1.0"] = TABLES["2.0"] | {
    "questions": Table("questions", {**QUESTIONS.columns, "done_to": pl.UInt8}),  # the object that names the relation
    "references": Table("references", {**REFERENCES.columns, "time": pl.UInt32}),  # of its own; packed as in questions
}
