"""The oracle: executes the programs of imported questions, in batches of one shape, and says where it differs."""

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
import polars as pl

from questree.columns.joins import Ints
from questree.domains.video import VIDEO, Videos
from questree.notation.grammar import names, numbers
from questree.notation.own import show
from questree.notation.own_shapes import program_shapes
from questree.readings.answer import answer, spell
from questree.terms import UNKNOWN, Array, Node, Word, fill, slots

AGREES, DIFFERENT, UNDEFINED, NO_VIDEO, UNREAD = OUTCOMES = "agrees", "different", "undefined", "no facts", "not read"


@dataclass
class OracleTally:
    """Questions per outcome, per shape, and those the oracle answers otherwise."""

    outcomes: dict[str, int] = field(default_factory=dict)
    shapes: dict[str, dict[str, int]] = field(default_factory=dict)
    unread: dict[str, int] = field(default_factory=dict)  # why -> how many questions were not asked
    disagreements: list[dict[str, str | None]] = field(default_factory=list)

    def add(self, found: pl.DataFrame) -> None:
        for shape, outcome, count in found.group_by("shape", "outcome").len().sort("shape", "outcome").iter_rows():
            self.outcomes[outcome] = self.outcomes.get(outcome, 0) + count
            if shape is not None:
                own = self.shapes.setdefault(shape, {})
                own[outcome] = own.get(outcome, 0) + count
        for why, count in found.filter(outcome=UNREAD).group_by("why").len().sort("why").iter_rows():
            self.unread[why] = self.unread.get(why, 0) + count
        odd = found.filter(pl.col("outcome").is_in([DIFFERENT, UNDEFINED, NO_VIDEO]))
        self.disagreements += odd.select("id", "question", "stored", "computed", "why", "shape").to_dicts()


def reanswer(questions: pl.DataFrame, world: Videos) -> pl.DataFrame:
    """Imported questions (of `imports.table`) -> outcome, computed answer and why it is undefined, in order."""
    known = (world.length > 0) | (np.diff(world.instance_start) > 0)
    at = {name: row for row, name in enumerate(world.ids) if known[row]}
    video = np.array([at.get(name, -1) for name in questions["video_id"]], np.int64)
    outcome = np.full(len(questions), UNREAD, object)
    computed, why = np.full(len(questions), None, object), np.array(questions["fault"].to_list(), object)
    shape = questions["form"]
    outcome[shape.is_not_null().to_numpy() & (video < 0)] = NO_VIDEO
    why[outcome == NO_VIDEO] = "the facts do not have its video"
    asked = np.flatnonzero(shape.is_not_null().to_numpy() & (video >= 0))
    stored = program_shapes(questions[asked], VIDEO)
    for node, own in stored.by_shape:
        row, words = asked[own], stored.columns(node, own, lambda said, kind: numbers(said, kind, world.vocabulary))
        spelled, reason = run(node, words, world.ask(video[row]))
        answers = questions["answer"].gather(row)
        same = np.array([a is not None and a.lower() == b.lower() for a, b in zip(spelled, answers, strict=True)])
        outcome[row] = np.where(same, AGREES, np.where([a is None for a in spelled], UNDEFINED, DIFFERENT))
        computed[row], why[row] = spelled, reason
    found = {"outcome": outcome.tolist(), "computed": computed.tolist(), "why": why.tolist()}
    columns = questions.select("id", "question", shape=pl.col("form").cast(pl.String), stored="answer")
    return columns.with_columns(pl.Series(key, values, pl.String) for key, values in found.items())


def run(node: Node, rows: dict[str, Ints], world: Videos) -> tuple[Array, Array]:
    """[row] the answers of the questions of one shape as they are printed, and why one is undefined."""
    values = answer(node, world, rows)
    kinds = np.array([spell(node.kind, value, world.vocabulary) for value in np.unique(values).tolist()], object)
    spelled = kinds[np.searchsorted(np.unique(values), values)]
    reason = np.full(len(values), None, object)
    unknown = np.flatnonzero(values == UNKNOWN)
    if len(unknown):
        few = {name: column[unknown] for name, column in rows.items()}
        reason[unknown] = list(reasons(node, world.ask(world.row[unknown]), few))
    return spelled, reason


def reasons(node: Node, world: Videos, rows: dict[str, Array]) -> Iterator[str]:
    """Per row: the innermost part of the program that has no value."""
    inner = list(dict.fromkeys(inside(node)))  # innermost first
    values = [answer(part, world, rows) if part.kind.yes is None and part.kind.askable else None for part in inner]
    called = {slot.kind: names(slot.kind, world.vocabulary) for slot in slots(node).values()}
    for at in range(len(world)):
        part = next(p for p, value in zip(inner, values, strict=True) if value is not None and value[at] == UNKNOWN)
        words = {name: Word(called[slot.kind][int(rows[name][at])], slot.kind) for name, slot in slots(node).items()}
        yield f"{show(fill(part, words))} has no single value"


def inside(node: Node) -> Iterator[Node]:
    """The program's parts, innermost first."""
    for arg in node.args:
        if isinstance(arg, Node):
            yield from inside(arg)
    yield node
