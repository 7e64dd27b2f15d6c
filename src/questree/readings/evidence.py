"""The frames an answer rests on: every sub-program's frames, inside the windows around it."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from questree.program import ACTION, OBJECT, RELATION, Array, Node, Term
from questree.readings.answer import values


def evidence(node: Node, world: Any, rows: Mapping[str, Array]) -> dict[Node, Array]:
    """[row, word] per sub-program that names frames: when it holds, the window it opens, or the frame that decides."""
    found, defined = values(node, world, rows)
    everything = np.where(defined[:, None], ~np.uint64(0), np.uint64(0)) * np.ones((1, world.words), np.uint64)
    grounds: dict[Node, Array] = {}

    def visit(term: Term, focus: Array) -> None:
        if not isinstance(term, Node):
            return
        kids = {name: found[arg] for name, arg in term.named()}
        own = frames(term, world, found[term], kids)
        if own is not None:
            grounds[term] = grounds.get(term, np.uint64(0)) | (own & focus)
        inner = term.op.focus(world, found[term], **kids) if term.op.focus else everything
        for arg in term.args:
            # a reference looks at the whole video
            outer = everything if arg.kind in (OBJECT, RELATION, ACTION) else focus
            visit(arg, everything if arg.kind.name == "window" else outer & inner & everything)

    visit(node, everything)
    return grounds


def frames(node: Node, world: Any, value: Array, kids: dict[str, Array]) -> Array | None:
    """[row, word] the frames a node names by itself; None if it names none (logic)."""
    if node.op.rests:
        return node.op.rests(world, value, **kids)
    if node.kind.name == "frames":
        return value
    if node.kind.name == "window":
        return np.asarray(world.span(value))
    return None
