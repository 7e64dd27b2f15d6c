"""The sub-questions of a question, and the DAG they form."""

from typing import NamedTuple

from questree.program import Node, ProgramError
from questree.vocabulary.words import Vocabulary


class Edge(NamedTuple):
    parent: Node
    label: str  # the composition
    part: Node


def parts(node: Node, vocabulary: Vocabulary) -> list[Edge]:
    """Immediate sub-questions, in the order the composition lists them."""
    if node.op.parts is None:
        return []
    found = [Edge(node, label, part) for label, part in node.op.parts(vocabulary, *node.args)]
    for edge in found:
        if not isinstance(edge.part, Node):
            raise ProgramError(f"{node.op.name}: {edge.part.name!r} is a word, no sub-question")
    return found


def decompose(node: Node, vocabulary: Vocabulary) -> list[Edge]:
    """All edges below a question; a sub-question reached twice is one node."""
    edges: dict[Node, list[Edge]] = {}
    waiting = [node]
    while waiting:
        parent = waiting.pop()
        if parent not in edges:
            edges[parent] = parts(parent, vocabulary)
            waiting += [edge.part for edge in edges[parent]]
    return [edge for found in edges.values() for edge in found]


def nodes(node: Node, vocabulary: Vocabulary) -> list[Node]:
    """The question and all its sub-questions, each once."""
    return list(dict.fromkeys([node, *(edge.part for edge in decompose(node, vocabulary))]))


def node_type(node: Node, vocabulary: Vocabulary) -> str:
    """The type of a node of a decomposition: "Interaction", "Exists Before", ..."""
    kind = node.op.type
    return kind if isinstance(kind, str) else kind(vocabulary, *node.args)
