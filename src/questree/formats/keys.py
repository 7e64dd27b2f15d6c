"""What a released record says about a question besides its content: balancing key, flags, direct equivalent."""

from string import Formatter

import numpy as np
import polars as pl

from questree.benchmarks.agqa.held_out import FLAGS, INDIRECT, NOVEL
from questree.benchmarks.agqa.templates import TEMPLATES, TIMES
from questree.columns.joins import Ints
from questree.program import OBJECT, slots
from questree.stages.ground.frames import COLUMN
from questree.vocabulary.words import Vocabulary

ANSWERS = {"bool": "yes-no", "frames": "yes-no", "order": "before-after"}  # kind of a program -> answers of its key


def ids(template: int, columns: dict[str, Ints], vocabulary: Vocabulary) -> dict[str, pl.Series]:
    """The ids of the direct arguments, per slot; of a time the ids of its actions."""
    objects, relations, actions = (
        pl.Series([word.id for word in words], dtype=pl.String)
        for words in (vocabulary.objects, vocabulary.relations, vocabulary.actions)
    )
    found = {}
    for name, slot in slots(TEMPLATES[template].node).items():
        if name == "relation":
            found[name] = relations.gather(columns["relation"])
        elif name != "time":
            found[name] = (objects if slot.kind == OBJECT else actions).gather(columns[COLUMN[name]])
    return found | {"time": time_ids(columns["time"], actions)}


def time_ids(time: Ints, actions: pl.Series) -> pl.Series:
    """ "c076", "c076-c023", or "" for the whole video."""
    distinct, row = np.unique(time, return_inverse=True)
    names = []
    for packed in distinct.tolist():
        named = [(packed >> 8) % 256 - 1, (packed >> 16) - 1]
        names.append("-".join(actions[at] for at in named if at >= 0))
    return pl.Series(names, dtype=pl.String).gather(row)


def local_keys(template: int, columns: dict[str, Ints], vocabulary: Vocabulary) -> pl.Series:
    """Open questions keep the raw key; binary ones get their answers before it and their time behind it."""
    known, rows = TEMPLATES[template], len(columns["time"])
    found = ids(template, columns, vocabulary)
    raw = _raw(known.local, found, rows)
    if known.answer_type == "open":
        return raw
    kinds = pl.Series(TIMES, dtype=pl.String).gather(columns["time"] % 256)
    answers = ANSWERS.get(known.node.kind.name)
    middle: pl.Series | pl.Expr = raw
    if known.group == "length" and answers is None:  # a choice between two actions
        middle = pl.lit(known.local.split("-")[0])
    head = raw if answers is None else pl.lit(answers)
    dash = pl.lit("-")
    return pl.select(pl.concat_str(head, dash, middle, dash, kinds, dash, found["time"])).to_series()


def _raw(pattern: str, words: dict[str, pl.Series], rows: int) -> pl.Series:
    parts: list[pl.Series | pl.Expr] = []
    for literal, name, *_ in Formatter().parse(pattern):
        parts += [pl.lit(literal)] if literal else []
        parts += [words[name]] if name else []
    if not any(isinstance(part, pl.Series) for part in parts):
        return pl.repeat(pattern, rows, dtype=pl.String, eager=True)
    return pl.select(pl.concat_str(parts)).to_series()


def flags(column: Ints) -> dict[str, Ints]:
    """The released flags of a column of bits."""
    found = {name: (column >> bit) & 1 for bit, name in enumerate(FLAGS)}
    return found | {"indirect": ((column & INDIRECT) > 0) * 1, "novel_comp": ((column & NOVEL) > 0) * 1}


# the raw key of these templates has the time in it, so a time phrase makes another group
TIMED = np.array(["{time}" in template.local for template in TEMPLATES])


def direct_equivalents(questions: pl.DataFrame) -> pl.Series:
    """[question] number of the first question of its video that asks the same directly; null if there is none.

    `questions` are all questions of their videos. The same: template, direct arguments, raw key.
    """
    timed = pl.Series(TIMED).gather(questions["template"])
    keyed = questions.select(
        "video", "template", "relation", "x", "y", "number", "flags", time=pl.when(timed).then("time").otherwise(0)
    )
    group = ["video", "template", "relation", "x", "y", "time"]
    direct = (pl.col("flags") & INDIRECT) == 0
    firsts = keyed.filter(direct).group_by(group).agg(equivalent=pl.col("number").min())
    return keyed.join(firsts, on=group, how="left", maintain_order="left")["equivalent"]
