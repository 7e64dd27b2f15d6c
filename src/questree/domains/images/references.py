"""The reference a program stands for: from operators back to a graph, so that any set of things has its English."""

from dataclasses import dataclass, replace
from functools import lru_cache

from questree.domains.images import english, things
from questree.domains.images.graph import Graph, Preposition, Relation
from questree.program import Node, Term, Word

REMEMBERED = 1 << 16  # programs whose references are kept at hand
TERNARY = ":_"  # in the name of a preposition: "pouring:_into"


@dataclass(frozen=True)
class Reference:
    graph: Graph
    inverse: bool = False  # are the things meant what the root is related to?

    @property
    def root(self) -> Graph:
        """What is spoken of."""
        return self.graph.relations[0].target if self.inverse else self.graph

    @property
    def forms(self) -> english.Forms:
        return english.inverse(self.graph) if self.inverse else english.reference(self.graph)


@lru_cache(REMEMBERED)
def reference_of(found: Node) -> Reference | None:
    """None if no reference describes these things."""
    if found.op is not things.with_relation_object:
        graph = graph_of(found)
        return Reference(graph) if graph else None
    subject, target, link = graph_of(found.args[0]), graph_of(found.args[1]), found.args[2]
    if subject is None or target is None or subject.relations or target.relations or not isinstance(link, Word):
        return None
    return Reference(replace(subject, relations=(Relation(link.name, target),)), inverse=True)


@lru_cache(REMEMBERED)
def graph_of(term: Term) -> Graph | None:
    """find, then perhaps filter, then any number of with_relation."""
    if not isinstance(term, Node):
        return None
    if term.op is things.find:
        return Graph(_word(term.args[0]))
    inner = graph_of(term.args[0]) if term.args else None
    if inner is None:
        return None
    if term.op is things.only and inner.attribute is None and not inner.relations:
        return replace(inner, attribute=_word(term.args[1]))
    if term.op is things.with_relation and isinstance(term.args[2], Word):
        target = graph_of(term.args[1])
        return target and replace(inner, relations=_related(inner.relations, _word(term.args[2]), target))
    return None


def _related(before: tuple[Relation, ...], name: str, target: Graph) -> tuple[Relation, ...]:
    """A preposition belongs to the relation before it."""
    if TERNARY in name and before and name.startswith(before[-1].name + TERNARY):
        last = replace(before[-1], prepositions=(*before[-1].prepositions, Preposition(name, target)))
        return (*before[:-1], last)
    return (*before, Relation(name, target))


def with_attribute(found: Node, attribute: Term) -> Node | None:
    """Those of the things that have the attribute, said where attributes are said; None if one is said already."""
    if found.op is things.find:
        return things.only(found, attribute)
    if found.op not in (things.with_relation, things.with_relation_object):
        return None
    at = 0 if found.op is things.with_relation else 1
    inner = found.args[at]
    made = with_attribute(inner, attribute) if isinstance(inner, Node) else None
    return made and found.op(*found.args[:at], made, *found.args[at + 1 :])


def _word(term: Term) -> str:
    assert isinstance(term, Word), "a reference is made of words"
    return term.name
