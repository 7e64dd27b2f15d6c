"""The frames behind what is said in a question about a video: its slots, its references and its time phrases."""

import numpy as np
import polars as pl

from questree.benchmarks.agqa.templates import REFERENCES, TIMES, WHOLE
from questree.columns.joins import Ints
from questree.domains.video import VIDEO, Videos
from questree.domains.video.bits import Bits
from questree.program import OBJECT, RELATION, Array, Node, Slot, walk
from questree.readings.evidence import evidence
from questree.stages.generate.spans import DIRECT

OP = VIDEO.ops
RELATED = Slot("r", RELATION)
COLUMN = {"object": "x", "first": "x", "a": "x", "second": "y", "b": "y"}  # slot -> column of its direct class


def slot_frames(node: Node, grounds: dict[Node, Bits], rows: dict[str, Array], answer: Ints) -> dict[str, Bits]:
    """[row, word] per object or relation slot: the frames on which what fills it bears on the answer.

    A slot has the frames of the operator it is given to, or (equals) of what it is compared with. An object that
    is offered as an answer has frames only if it is the answer. `grounds` is the evidence of the node.
    """
    found: dict[str, Bits] = {}
    for inner in dict.fromkeys(walk(node)):
        if not isinstance(inner, Node):
            continue
        target = dict(inner.named()).get(inner.op.target)
        own = grounds.get(inner, grounds.get(target) if isinstance(target, Node) else None)
        for arg in inner.args:
            if isinstance(arg, Slot) and arg.kind in (OBJECT, RELATION) and own is not None:
                option = inner.kind == OBJECT == arg.kind
                kept = np.where((answer == rows[arg.name])[:, None], own, np.uint64(0)) if option else own
                found[arg.name] = found.get(arg.name, np.uint64(0)) | kept
    return found


def reference_frames(world: Videos, table: pl.DataFrame, video: Ints) -> Bits:
    """[reference, word] the deciding frame of a first or last reference; every frame of a relation with one object."""
    kind, frames = table["kind"].to_numpy(), np.zeros((len(table), world.words), np.uint64)
    for number, name in enumerate(REFERENCES):
        if number == DIRECT:
            continue
        at = np.flatnonzero(kind == number)
        target = OP["objects" if name == WHOLE else name](RELATED, OP["whole"]())
        relation = table["relation"].to_numpy()[at].astype(np.int64)
        frames[at] = evidence(target, world.ask(video[at]), {"r": relation})[target]
    return frames


def windows(world: Videos, phrases: pl.DataFrame, acts: Ints, video: Ints, base: Ints) -> Ints:
    """[phrase, 2] what a time phrase opens; acts: [action reference] action, base: [phrase] first one of its video."""
    kind, found = phrases["kind"].to_numpy(), np.zeros((len(phrases), 2), np.int64)
    for number, name in enumerate(TIMES):
        op = OP["whole" if name == TIMES[0] else name]
        at = np.flatnonzero(kind == number)
        named = [acts[base[at] + phrases[side].to_numpy()[at]] for side in "ab"[: len(op.params)]]
        found[at] = op.run(world.ask(video[at]), *named)
    return found


def cores(columns: dict[str, Ints], video: Ints) -> tuple[Ints, Ints]:
    """(first question of each core, [question] its core): a core is video, direct arguments and time."""
    key = video.astype(np.uint64)
    for name, bits in (("relation", 8), ("x", 8), ("y", 8), ("time", 24)):
        key = (key << np.uint64(bits)) | columns[name].astype(np.uint64)
    _, first, core = np.unique(key, return_index=True, return_inverse=True)
    return first, core
