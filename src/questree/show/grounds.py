"""The frames that a program rests on, part by part."""

from questree.domains.video import Videos
from questree.domains.video.facts import frames_of
from questree.notation import own
from questree.program import Node
from questree.readings.evidence import evidence


def grounds_of(program: Node, world: Videos) -> dict[Node, list[int]]:
    """Sub-program -> positions of the frames it rests on; the world asks about one video."""
    found = evidence(program, world, {})
    # what is localised rests on the frames of its event, which are there already
    return {node: frames_of(bits[0]) for node, bits in found.items() if node.op.focus is None}


def grounds(program: Node, world: Videos) -> dict[str, list[int]]:
    """The same, by how sub-programs are written."""
    return {own.show(node): frames for node, frames in grounds_of(program, world).items()}
