"""The sub-questions of a question, and the DAG they form."""

from functools import lru_cache
from typing import Any, NamedTuple

from questree.terms import Node, ProgramError, Slot, Word, slots


class PartEdge(NamedTuple):
    parent: Node
    label: str  # the composition
    part: Node


def parts(node: Node, vocabulary: Any = None) -> list[PartEdge]:
    """Immediate sub-questions, in the order the composition lists them."""
    if node.op.parts is None:
        return []
    found = [PartEdge(node, label, part) for label, part in node.op.parts(vocabulary, *node.args)]
    for edge in found:
        if not isinstance(edge.part, Node):
            raise ProgramError(f"{node.op.name}: {edge.part.name!r} is a word, no sub-question")
    return found


def decompose(node: Node, vocabulary: Any = None) -> list[PartEdge]:
    """All edges below a question; a sub-question reached twice is one node."""
    edges: dict[Node, list[PartEdge]] = {}
    waiting = [node]
    while waiting:
        parent = waiting.pop()
        if parent not in edges:
            edges[parent] = parts(parent, vocabulary)
            waiting += [edge.part for edge in edges[parent]]
    return [edge for found in edges.values() for edge in found]


def nodes(node: Node, vocabulary: Any = None) -> list[Node]:
    """The question and all its sub-questions, each once."""
    return list(dict.fromkeys([node, *(edge.part for edge in decompose(node, vocabulary))]))


def node_type(node: Node, vocabulary: Any = None) -> str:
    """The type of a node of a decomposition: "Interaction", "Exists Before", ..."""
    kind = node.op.type
    return kind if isinstance(kind, str) else kind(vocabulary, *node.args)


def options(node: Node, edges: list[PartEdge]) -> list[Slot | Word | None]:
    """[part] the option of a choice that the part confirms."""
    kids = dict(node.named())
    left = [arg for name in node.op.options if not isinstance(arg := kids[name], Node)]
    return [left.pop(0) if left and edge.label == node.op.label else None for edge in edges]


def given(node: Node) -> Slot | Word | None:
    """The plain word a rule compares with: of "are there at least 3 cups" the number, of "does a bag exist" the bag."""
    kids = dict(node.named())
    return next((arg for name in node.op.given if not isinstance(arg := kids[name], Node)), None)


@lru_cache(1 << 13)  # shards and chunks have most forms in common
def compared(node: Node) -> Slot | None:
    """The slot of the word a form is about: the option it confirms, or what a rule compares its answer with."""
    word = next((slot for slot in slots(node).values() if slot.option), None) or given(node)
    return word if isinstance(word, Slot) else None
