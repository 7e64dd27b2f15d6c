"""Questions by shape: rows of one shape have the same program but for their words, and each word is a column."""

from dataclasses import dataclass, field
from functools import cache

import numpy as np
import polars as pl

from questree.benchmarks.agqa.templates import ACTION_REFERENCES, DIRECT, REFERENCES, TEMPLATES, TIMES, WHOLE
from questree.columns.joins import Ints
from questree.program import ACTION, OBJECT, RELATION, Slot, Term, slots
from questree.stages.generate.spans import INDIRECT, NOTHING
from questree.stages.questions import Shard
from questree.stages.split.rows import Argument, Piece, Rows, Truth

COLUMN = {"object": "x", "first": "x", "a": "x", "second": "y", "b": "y"}  # slot -> column of its direct class
SIDE = {"object": "first", "first": "first", "a": "first", "second": "second", "b": "second"}  # -> of its wording
WORDED = ("first", "second", "time.a", "time.b")  # what may be worded as a reference
# how it is worded, 3 bits each: the kind of reference; an action with an indirect object adds the kind of that
BITS, INSIDE = 3, 3
IS_ACTION = {  # [template] does the wording of this side stand for an action?
    side: np.array([any(s.kind == ACTION and SIDE.get(n) == side for n, s in slots(t.node).items()) for t in TEMPLATES])
    for side in ("first", "second")
}


@dataclass(frozen=True)
class VideoRows(Rows):
    ids: list[str] = field(repr=False)  # of all videos
    called = "videos"

    def pieces(self, code: int) -> tuple[Piece, ...]:
        return inside(shape(code))

    def places(self, at: Truth) -> set[int]:
        return set(np.unique(self.questions["video"].to_numpy()[at]).tolist())

    def named(self, at: list[int]) -> list[str]:
        rows = self.questions[at].select("video", "number").rows()
        return [f"{self.ids[video]}-{number}" for video, number in rows]


@cache
def inside(piece: Piece) -> tuple[Piece, ...]:
    """The piece and all pieces in it."""
    return (piece, *(deep for argument in piece.args if argument.piece for deep in inside(argument.piece)))


def rows_of(shard: Shard) -> VideoRows:
    questions = shard.questions
    video = questions["video"].to_numpy().astype(np.int64) - shard.first
    template = questions["template"].to_numpy().astype(np.int64)
    time = questions["time"].to_numpy().astype(np.int64)
    words = {name: questions[name].to_numpy() for name in ("relation", "x", "y")}
    words |= {"time.a": (time >> 8 & 255) - 1, "time.b": (time >> 16) - 1}
    code = template << BITS | time & 255
    numbers = _numbers(shard, video)
    for name in WORDED:
        actions = IS_ACTION[name][template] if name in IS_ACTION else np.ones(len(video), bool)
        worded, inside = _wording(shard, video, numbers[name], actions)
        code = code << BITS | worded
        words |= {f"{name}.{part}": column for part, column in inside.items()}
    return VideoRows(questions, code, words, shard.ids)


def _numbers(shard: Shard, video: Ints) -> dict[str, Ints]:
    """[question] the number each side has among its video's references or action references."""
    phrase = shard.start["phrases"][video] + shard.questions["phrase"].to_numpy()
    found = {name: shard.questions[name].to_numpy().astype(np.int64) for name in ("first", "second")}
    return found | {f"time.{s}": shard.sides["phrases"][s].to_numpy().astype(np.int64)[phrase] for s in "ab"}


def _wording(shard: Shard, video: Ints, number: Ints, actions: Ints) -> tuple[Ints, dict[str, Ints]]:
    """How each is worded, and the words inside a reference: the relation, and the verb and object of an action."""
    refs = {n: np.append(c.to_numpy().astype(np.int64), 0) for n, c in _columns(shard, "references").items()}
    acts = {n: np.append(c.to_numpy().astype(np.int64), 0) for n, c in _columns(shard, "action_references").items()}
    there = number != NOTHING
    act = np.where(there & actions, shard.start["action_references"][video] + number, -1)
    indirect = (act >= 0) & (acts["kind"][act] == INDIRECT)
    own = np.where(indirect, acts["reference"][act], number)
    ref = np.where(there & ~actions | indirect, shard.start["references"][video] + own, -1)
    worded = np.where(act >= 0, np.where(indirect, INSIDE + refs["kind"][ref], acts["kind"][act]), refs["kind"][ref])
    inside = {
        "relation": refs["relation"][ref],
        "object": refs["object"][ref],
        "verb": shard.vocabulary.verb_of[acts["action"][act]],
    }
    return np.where(there, worded, 0), inside


def _columns(shard: Shard, side: str) -> dict[str, pl.Series]:
    return {column.name: column for column in shard.sides[side]}


@cache
def shape(code: int) -> Piece:
    """The program of a shape, as pieces."""
    worded = {}
    for name in reversed(WORDED):
        code, worded[name] = code >> BITS, code & (1 << BITS) - 1
    template, kind = TEMPLATES[code >> BITS], TIMES[code & (1 << BITS) - 1]
    filled = {"relation": Argument(RELATION.name, "relation"), "time": _time(kind, worded)}
    for name, slot in slots(template.node).items():
        if name in COLUMN:
            fill = _object if slot.kind == OBJECT else _action
            filled[name] = fill(worded[SIDE[name]], COLUMN[name], SIDE[name])
    found = _piece(template.node, filled).piece
    assert found
    return found


def _piece(term: Term, filled: dict[str, Argument]) -> Argument:
    """Over the whole video a localised event is the event itself, as in stages.questions.canonical."""
    if isinstance(term, Slot):
        return filled[term.name]
    args = tuple(_piece(arg, filled) for arg in term.args)  # type: ignore[union-attr]
    if term.op.name == "within" and args[1].piece == WHOLE_VIDEO:  # type: ignore[union-attr]
        return args[0]
    return Argument(term.kind.name, "", Piece(term.op.name, args))  # type: ignore[union-attr]


WHOLE_VIDEO = Piece("whole", ())


def _object(worded: int, column: str, side: str) -> Argument:
    kind = REFERENCES[worded]
    if kind == DIRECT:
        return Argument(OBJECT.name, column)
    by = (Argument(RELATION.name, f"{side}.relation"), Argument("window", "", WHOLE_VIDEO))
    if kind == WHOLE:
        return Argument(OBJECT.name, column, Piece("only", (Argument("objects", "", Piece("objects", by)),)))
    return Argument(OBJECT.name, column, Piece(kind, by))


def _action(worded: int, column: str, side: str) -> Argument:
    if worded >= INDIRECT:
        thing = _object(worded - INSIDE, f"{side}.object", side)
        piece = Piece("to_action", (Argument(RELATION.name, f"{side}.verb"), thing))
    elif worded:
        piece = Piece(ACTION_REFERENCES[worded], ())
    else:
        return Argument(ACTION.name, column)
    return Argument(ACTION.name, column, piece)


def _time(kind: str, worded: dict[str, int]) -> Argument:
    sides = {"all": "", "between": "ab"}.get(kind, "a")
    args = tuple(_action(worded[f"time.{side}"], f"time.{side}", f"time.{side}") for side in sides)
    return Argument("window", "", Piece("whole" if kind == "all" else kind, args))
