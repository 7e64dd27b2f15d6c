"""What an answer rests on, frames or things: every sub-program's own, inside the windows around it."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from questree.readings.answer import evaluate
from questree.terms import ACTION, OBJECT, RELATION, Array, Node, Term


def evidence(node: Node, world: Any, rows: Mapping[str, Array] | None = None) -> dict[Node, Array]:
    """[row, word] per sub-program that names some: frames when it holds, the window it opens, the frame that decides;
    or things it finds. None where the answer is undefined."""
    outcome = evaluate(node, world, rows)
    values, everything = outcome.values, np.where(outcome.defined[:, None], world.everything, world.everything * 0)
    grounds: dict[Node, Array] = {}

    def visit(term: Term, focus: Array) -> None:
        if not isinstance(term, Node):
            return
        kids = {name: values[arg] for name, arg in term.named()}
        own = named(term, world, values[term], kids)
        if own is not None:
            grounds[term] = grounds.get(term, own & 0) | (own & focus)
        inner = term.op.focus(world, values[term], **kids) if term.op.focus else everything
        for arg in term.args:
            # a reference looks at the whole video
            outer = everything if arg.kind in (OBJECT, RELATION, ACTION) else focus
            visit(arg, everything if arg.kind.name == "window" else outer & inner & everything)

    visit(node, everything)
    return grounds


def named(node: Node, world: Any, value: Array, kids: dict[str, Array]) -> Array | None:
    """[row, word] what a node names by itself; None if it names nothing (logic)."""
    if node.op.rests:
        return node.op.rests(world, value, **kids)
    return node.kind.evidence(world, value) if node.kind.evidence else None
