"""A program as an indented tree, and the frames each of its parts rests on."""

from collections.abc import Iterator

import numpy as np

from questree.cli.timeline import LABEL, MARK, NOTHING, line
from questree.domains.video import Videos
from questree.notation import own
from questree.program import Node, Term
from questree.show.grounds import grounds


def tree(term: Term, depth: int = 0) -> Iterator[str]:
    indent = "  " * depth
    if not isinstance(term, Node):
        yield f"{indent}{own.show(term)} ({term.kind.name})"
        return
    yield f"{indent}{term.op.name} -> {term.kind.name}"
    for arg in term.args:
        yield from tree(arg, depth + 1)


def grounded(program: Node, world: Videos, width: int = 120) -> Iterator[str]:
    """One line per sub-program, a mark per frame it rests on."""
    begin, count = int(world.frame_start[world.row[0]]), int(world.frames[0])
    seconds = world.seconds[begin : begin + count]
    room = max(width - LABEL, 20)
    column = np.minimum((seconds / max(seconds[-1], 1.0) * room).astype(int), room - 1)
    for text, frames in grounds(program, world).items():
        marks = np.full(room, " ")
        marks[column] = NOTHING
        marks[column[frames]] = MARK
        yield line(text, "".join(marks))
