"""What an answer rests on, frames or things: every sub-program's own, inside the windows around it, and what for."""

from collections.abc import Mapping
from typing import Any, Literal, get_args

import numpy as np

from questree.readings.answer import evaluate
from questree.terms import ACTION, OBJECT, RELATION, Array, Kind, Node, Term

# what evidence is needed for: the answer; the time that is asked about; to know what is referred to ("the thing they
# held first", the table a dog is on); the time in which that is looked for. The first that fits counts.
Role = Literal["decides", "time", "reference", "searched"]
ROLES: tuple[Role, ...] = get_args(Role)
DECIDES, TIME, REFERENCE, SEARCHED = ROLES
REFERRED = (OBJECT, RELATION, ACTION)  # what stands for one of these words is a reference


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
            outer = everything if arg.kind in REFERRED else focus
            visit(arg, everything if arg.kind.opens else outer & inner & everything)

    visit(node, everything)
    return grounds


def named(node: Node, world: Any, value: Array, kids: dict[str, Array]) -> Array | None:
    """[row, word] what a node names by itself; None if it names nothing (logic)."""
    if node.op.rests:
        return node.op.rests(world, value, **kids)
    return node.kind.evidence(world, value) if node.kind.evidence else None


def roles(program: Node) -> dict[Node, Role]:
    """Per sub-program what its evidence is needed for."""
    found: dict[Node, Role] = {}

    def visit(term: Term, referred: bool, around: tuple[Kind, ...]) -> None:
        if not isinstance(term, Node):
            return
        referred = referred or (term.kind.narrows and term.kind in around)
        own: Role = (SEARCHED if referred else TIME) if term.kind.opens else REFERENCE if referred else DECIDES
        found[term] = min(own, found.get(term, own), key=ROLES.index)
        for name, arg in term.named():
            named = term.kind.opens or (arg.kind in REFERRED and name != term.op.target)
            visit(arg, referred or named, (*around, term.kind))

    visit(program, False, ())
    return found
