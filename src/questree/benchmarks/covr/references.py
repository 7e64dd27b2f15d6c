"""The references of a question, read off its program as graphs; what is asked for stands in them as the answer."""

from collections.abc import Iterator, Sequence
from functools import lru_cache

from questree.domains.images import answers, things
from questree.domains.images.graph import Graph
from questree.domains.images.kinds import LINK_NAME, NOUN, THINGS
from questree.domains.images.references import graph_of, with_attribute
from questree.terms import Node, Term, Word

QUANTIFIERS = (answers.every, answers.some, answers.none)
ASIDE = (things.unique, things.assert_unique)  # they say how many there are, not what


def references(program: Node, answer: str) -> list[Graph]:
    """Every reference of a program, in the order they stand; things that no graph describes are left out."""
    return [graph for found in _described(program, answer) if (graph := graph_of(found)) is not None]


def _described(node: Term, answer: str) -> Iterator[Node]:
    """Programs of plain references."""
    if not isinstance(node, Node):
        return
    if node.op in QUANTIFIERS:
        yield _asserted(_node(node.args[0]), _node(node.args[1]))
    elif node.op is things.relation_between_nouns:
        yield things.with_relation(_node(node.args[0]), node.args[1], Word(answer, LINK_NAME))
    elif node.op is things.with_relation_object:
        yield _forward(node, things.find(Word(answer, NOUN)))
    elif node.kind == THINGS and node.op not in ASIDE:
        yield node
    else:
        for arg in node.args:
            yield from _described(arg, answer)


def _node(term: Term) -> Node:
    """The things, whether or not there is only one."""
    assert isinstance(term, Node)
    return _node(term.args[0]) if term.op in ASIDE else term


def _asserted(spoken_of: Node, condition: Node) -> Node:
    """The things of a quantifier with what is said about them."""
    if spoken_of.op is things.with_relation_object:
        subject, target, link = spoken_of.args
        return things.with_relation(subject, _asserted(_node(target), condition), link)
    if condition.op is things.only:
        inner = _asserted(spoken_of, _node(condition.args[0]))
        return with_attribute(inner, condition.args[1]) or inner
    if condition.op is things.with_relation:
        return things.with_relation(_asserted(spoken_of, _node(condition.args[0])), *condition.args[1:])
    return spoken_of


def _forward(node: Node, asked: Node) -> Node:
    """The targets of something, told from where the chain begins; without a name they are what is asked for."""
    start, target, link = _node(node.args[0]), _node(node.args[1]), node.args[2]
    target = asked if target.op is things.scene else target
    if start.op is things.with_relation_object:
        return things.with_relation(start.args[0], things.with_relation(start.args[1], target, link), start.args[2])
    return things.with_relation(start, target, link)


def size(graphs: Sequence[Graph]) -> dict[str, int]:
    """length and depth of the largest, attributes of all."""
    lengths, depths, attributes = zip(*map(_size, graphs), strict=True) if graphs else ((0,), (0,), ())
    return {"length": max(lengths), "depth": max(depths), "attributes": sum(attributes)}


@lru_cache(1 << 16)
def _size(graph: Graph) -> tuple[int, int, int]:
    return graph.length, graph.depth, sum(node.attribute is not None for node in graph.nodes)
