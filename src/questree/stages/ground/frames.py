"""The frames behind what is said in a question about a video: its slots, its references and its time phrases."""

import numpy as np

from questree.benchmarks.agqa.templates import TIMES, Template
from questree.columns.joins import Ints
from questree.domains.video import VIDEO, Videos
from questree.domains.video.bits import Bits
from questree.program import OBJECT, RELATION, Array, Node, Slot, slots, walk
from questree.readings.evidence import evidence
from questree.stages.question_forms import reference
from questree.stages.questions import Named, Shard
from questree.tables.questions import STANDS

OP = VIDEO.ops


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


def reference_frames(world: Videos, named: Named) -> Bits:
    """[reference, word] the deciding frame of a first or last reference; every frame of a relation with one object."""
    shapes, video = named.shapes["references"][:-1], named.video("references")
    frames = np.zeros((len(video), world.words), np.uint64)
    for shape in np.unique(shapes).tolist():
        at = np.flatnonzero(shapes == shape)
        target = reference("r", shape, {})
        if isinstance(target, Node) and target.op.name == "only":
            target = target.args[0]
        if isinstance(target, Node):
            words = {name: named.words[name.removeprefix("r.")][at] for name in slots(target)}
            frames[at] = evidence(target, world.ask(video[at]), words)[target]
    return frames


def windows(world: Videos, named: Named) -> Ints:
    """[phrase, 2] what a time phrase opens."""
    kind, video = named.column("phrases", "kind"), named.video("phrases")
    found, acts = np.zeros((len(kind), 2), np.int64), named.column("action_references", "action")
    for number, name in enumerate(TIMES):
        op = OP["whole" if name == TIMES[0] else name]
        at = np.flatnonzero(kind == number)
        actions = [acts[named.actions_of(side)[at]] for side in "ab"[: len(op.params)]]
        found[at] = op.run(world.ask(video[at]), *actions)
    return found


def arguments(asked: Shard, template: Template, window: Ints) -> dict[str, Array]:
    """What the slots of a template stand for in these questions; window: [phrase, 2]."""
    rows = {name: asked.column(STANDS.get(name, name)) for name in slots(template.node) if name != "time"}
    return rows | {"time": window[asked.row("time")]}


def cores(asked: Shard) -> tuple[Ints, Ints]:
    """(first question of each core, [question] its core): a core is video, direct arguments and time."""
    key = asked.video.astype(np.uint64)
    for name, bits in (("relation", 8), ("x", 8), ("y", 8), ("time", 24)):
        key = (key << np.uint64(bits)) | asked.column(name).astype(np.uint64)
    _, first, core = np.unique(key, return_index=True, return_inverse=True)
    return first, core
