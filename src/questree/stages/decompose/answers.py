"""Answers of nodes by execution on facts, what of them is published, and the one label that depends on them."""

from collections.abc import Sequence

import numpy as np

from questree.domains.video import Videos
from questree.domains.video.time import between, within
from questree.program import UNKNOWN, Array, Node
from questree.readings.answer import answer
from questree.rules import NO, VIDEO_DAGS, YES
from questree.stages.decompose.expand import Block
from questree.stages.decompose.forms import NodeForms
from questree.stages.decompose.negatives import Negatives, about_existence
from questree.tables.nodes import KNOWN

ROWS = 1 << 16  # asked at once; some operators look at every action of a row's video
EXECUTED, NOT_SAID, UNDEFINED, ASKED, ENTAILED, NOT_FOUND, LABELLED, NO_SUCH_ACTION = range(len(KNOWN))
AFTER, BEFORE, BETWEEN = (VIDEO_DAGS.compositions.index(label) for label in ("After", "Before", "Between"))


def executed(blocks: list[Block], world: Videos) -> Array:
    """[node] the answer, UNKNOWN where there is none."""
    total = sum(map(len, blocks))
    found = np.full(total, UNKNOWN, np.int16)
    for block in blocks:
        for begin in range(0, len(block), ROWS):
            rows = slice(begin, min(begin + ROWS, len(block)))
            values = {name: column[rows] for name, column in block.values.items()}
            own = answer(block.form.node, world.ask(block.video[rows]), values)
            found[block.first + rows.start : block.first + rows.stop] = own
    return found


def known(blocks: list[Block], answers: Array, closed: bool, absent: Negatives, forms: NodeForms) -> Array:
    """[node] how its answer is known. In an open world an object nobody annotated may be there all the same, unless
    somebody says that it is not, or it is asked for around an action that does not occur."""
    found = np.where(answers == UNKNOWN, UNDEFINED, EXECUTED).astype(np.uint8)
    for block in blocks if not closed else ():
        if about_existence(block.form.node):
            own = slice(block.first, block.first + len(block))
            said = np.where(absent.nowhere(block), NO_SUCH_ACTION, NOT_SAID)
            said = np.where(absent.believed.labelled(block, forms), LABELLED, said)
            found[own] = np.where(answers[own] == NO, said, found[own])
    return found


def labels(block: Block, answers: Array, compositions: Sequence[str] = VIDEO_DAGS.compositions) -> tuple[Array, int]:
    """[node, part] compositions, and how many nodes are no longer Between: no, although both sides are yes."""
    usual = np.array([compositions.index(label) for label in block.form.labels], np.uint8)
    found = np.repeat(usual[None], len(block), axis=0)
    if not in_between(block.form.node):
        return found, 0
    sides = np.flatnonzero(usual == BETWEEN)
    assert len(sides) == 2
    own = answers[block.first : block.first + len(block)]
    other = (own == NO) & (answers[block.children[:, sides]] == YES).all(1)
    found[np.ix_(other, sides)] = (AFTER, BEFORE)
    return found, int(other.sum())


def in_between(node: Node) -> bool:
    window = node.args[-1] if node.op is within else None
    return isinstance(window, Node) and window.op is between
