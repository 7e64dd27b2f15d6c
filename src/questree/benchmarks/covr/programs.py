"""A reference as a program, in two parts: a pattern in our notation with a hole for every word, and the words."""

from dataclasses import dataclass
from functools import cache, lru_cache

from questree.domains.images import IMAGES
from questree.domains.images.graph import Graph
from questree.notation import own
from questree.notation.own import SPECIAL
from questree.program import Node

HOLE = "{}"
KEPT = 1 << 16  # references whose programs are remembered


@dataclass(frozen=True)
class Program:
    pattern: str  # "filter(find({}), {})"; programs of one shape have one pattern
    words: tuple[str, ...]  # one per hole

    @property
    def text(self) -> str:
        return self.pattern.format(*self.words)


@lru_cache(KEPT)
def things(graph: Graph) -> Program:
    """What a graph describes."""
    return _related(f"find({HOLE})", (graph.name,), graph)


@lru_cache(KEPT)
def those(graph: Graph) -> Program:
    """Everything that has the root's attribute and relations, whatever its name: the condition of a quantifier."""
    return _related("scene()", (), graph)


@lru_cache(KEPT)
def inverse(graph: Graph) -> Program:
    """The target of the root's only relation, described by the root."""
    (edge,) = graph.relations
    subject, target = things(Graph(graph.name, graph.attribute)), things(Graph(edge.target.name, edge.target.attribute))
    pattern = f"with_relation_object({subject.pattern}, {target.pattern}, {HOLE})"
    return Program(pattern, (*subject.words, *target.words, edge.name))


def _related(pattern: str, words: tuple[str, ...], graph: Graph) -> Program:
    if graph.attribute is not None:
        pattern, words = f"filter({pattern}, {HOLE})", (*words, graph.attribute)
    for edge in graph.relations:
        links: list[tuple[str, Graph]] = [(edge.name, edge.target), *((p.name, p.target) for p in edge.prepositions)]
        for name, target in links:
            other = things(target)
            pattern = f"with_relation({pattern}, {other.pattern}, {HOLE})"
            words = (*words, *other.words, name)
    return Program(pattern, words)


@cache
def shape(pattern: str) -> Node:
    """The program of a pattern; its holes are the slots 0, 1, ..."""
    return own.parse(pattern.format(*(f"${at}" for at in range(pattern.count(HOLE)))), IMAGES)


def can_be_written(graph: Graph) -> bool:
    """No word has a character that means something in our notation."""
    return not any(set(word) & set(SPECIAL) or word.startswith("$") or not word.strip() for word in graph.words)
