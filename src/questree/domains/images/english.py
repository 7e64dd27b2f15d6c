"""A reference in English: "red cup that is on a table", with its articles, its plural and its verb."""

from collections.abc import Mapping
from functools import lru_cache

from questree.domains.images.graph import Graph, Relation
from questree.domains.images.nouns import (
    ENGLISH,
    MASS,
    PLURAL,
    SINGULAR,
    article,
    brings_article,
    is_person,
    number,
    plural,
    relation,
    with_attribute,
)

KEPT = 1 << 16  # references whose English is remembered
Forms = Mapping[str, str]  # form -> text; what a frame says of a slot: {R:the}


@lru_cache(KEPT)
def reference(graph: Graph) -> Forms:
    """The ways to speak of what a graph describes; `many` and `head` are plurals if it can be counted."""
    one, are = _head(graph), _are(graph.name)
    clause, several = _clause(graph, are), with_attribute(graph.attribute, plural(graph.name))
    number_of_many = are if number(graph.name) == MASS else "are"
    return {
        "": one + clause,
        "a": _indefinite(graph) + clause,
        "the": f"the {one}{clause}",
        "many": several + _clause(graph, number_of_many),
        "head": several,
        "there": predicate(graph) or "there",
        "this": _this(graph.name),
        "is": are,
        "Is": are.capitalize(),
    }


def inverse(graph: Graph) -> Forms:
    """The target of the root's only relation, described by the root: "a horse that a man is riding"."""
    (edge,) = graph.relations
    subject = Graph(graph.name, graph.attribute)
    target = Graph(edge.target.name, edge.target.attribute)
    clause = f"that {_indefinite(subject)} {_are(subject.name)} {relation(edge.name)}"
    are = _are(target.name)
    return {
        "": f"{_head(target)} {clause}",
        "a": f"{_indefinite(target)} {clause}",
        "the": f"the {_head(target)} {clause}",
        "many": f"{with_attribute(target.attribute, plural(target.name))} {clause}",
        "head": with_attribute(target.attribute, plural(target.name)),
        "there": f"there {clause}",
        "this": _this(target.name),
        "is": are,
        "Is": are.capitalize(),
    }


def noun(name: str, form: str) -> str:
    """A name as a word of a question: plain, or with its article."""
    return _indefinite(Graph(name)) if form == "a" else name


def _this(name: str) -> str:
    return f"{'these' if number(name) == PLURAL else 'this'} {name}"


def countable(graph: Graph) -> bool:
    """May one ask how many there are?"""
    return number(graph.name) == SINGULAR


def predicate(graph: Graph, nested: bool = False) -> str:
    """What follows "is": "on a table and near a chair"; inside another reference "both" keeps the two together."""
    both = "both " if nested else ""
    if len(graph.relations) != 2:
        return "".join(_relation(edge, graph.name) for edge in graph.relations)
    first, second = graph.relations
    if first.name == second.name and not (first.prepositions or second.prepositions):
        targets = [target(edge.name, edge.target, graph.name) for edge in graph.relations]
        return f"{relation(first.name)} {both}{targets[0]} and {targets[1]}"
    return f"{both}{_relation(first, graph.name)} and {_relation(second, graph.name)}"


def pronoun(name: str) -> str:
    return "them" if number(name) == PLURAL else "it"


def _relation(edge: Relation, subject: str) -> str:
    said = f"{relation(edge.name)} {target(edge.name, edge.target, subject)}"
    return " ".join([said, *(f"{relation(p.name)} {target(p.name, p.target)}" for p in edge.prepositions)])


def target(link: str, graph: Graph, subject: str = "") -> str:
    """The object of a relation, with its article; a cup is near another cup."""
    clause = _clause(graph, _are(graph.name), nested=True)
    if brings_article(link):
        return _head(graph) + clause
    if graph.attribute is None and graph.name in ENGLISH.number.the:
        return f"the {graph.name}{clause}"
    if graph.attribute is None and graph.name == subject and number(subject) == SINGULAR:
        return f"another {subject}{clause}"
    return _indefinite(graph) + clause


def _head(graph: Graph) -> str:
    return with_attribute(graph.attribute, graph.name)


def _indefinite(graph: Graph) -> str:
    head = _head(graph)
    return f"{article(head)} {head}" if number(graph.name) == SINGULAR else head


def _are(name: str) -> str:
    return "are" if number(name) == PLURAL else "is"


def _clause(graph: Graph, are: str, nested: bool = False) -> str:
    if not graph.relations:
        return ""
    return f" {'who' if is_person(graph.name) else 'that'} {are} {predicate(graph, nested)}"
