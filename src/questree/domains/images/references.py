"""The reference a program stands for: from operators back to a graph, so that any set of things has its English."""

from dataclasses import dataclass, replace
from functools import lru_cache

from questree.domains.images import english
from questree.domains.images.graph import Graph, Preposition, Relation
from questree.domains.images.kinds import IMAGES
from questree.domains.images.nouns import after_is, relation
from questree.program import Node, Slot, Term, Word

OP = IMAGES.ops
REMEMBERED = 1 << 16  # programs whose references are kept at hand
TERNARY = ":_"  # in the name of a preposition: "pouring:_into"
WHATEVER = "thing"  # what stands for the things of all images


@dataclass(frozen=True)
class Reference:
    graph: Graph
    inverse: bool = False  # are the things meant what the root is related to?

    @property
    def forms(self) -> english.Forms:
        return english.inverse(self.graph) if self.inverse else english.reference(self.graph)


@lru_cache(REMEMBERED)
def reference_of(found: Node) -> Reference | None:
    """None if no reference describes these things; with slots for words it tells only that."""
    if found.op is not OP["with_relation_object"]:
        graph = graph_of(found)
        return Reference(graph) if graph else None
    subject, target, link = graph_of(found.args[0]), graph_of(found.args[1]), found.args[2]
    if subject is None or target is None or subject.relations or target.relations or isinstance(link, Node):
        return None
    return Reference(replace(subject, relations=(Relation(link.name, target),)), inverse=True)


@lru_cache(REMEMBERED)
def graph_of(term: Term, base: str = "find") -> Graph | None:
    """find (or another operator the things come from), then perhaps filter, then any number of with_relation."""
    if not isinstance(term, Node):
        return None
    if term.op is OP[base]:
        return Graph(_word(term.args[0]) if term.args else WHATEVER)
    inner = graph_of(term.args[0], base) if term.args else None
    if inner is None:
        return None
    if term.op is OP["filter"] and inner.attribute is None and not inner.relations:
        return replace(inner, attribute=_word(term.args[1]))
    if term.op is OP["with_relation"] and not isinstance(term.args[2], Node):
        target = graph_of(term.args[1])
        return target and replace(inner, relations=_related(inner.relations, _word(term.args[2]), target))
    return None


def _related(before: tuple[Relation, ...], name: str, target: Graph) -> tuple[Relation, ...]:
    """A preposition belongs to the relation before it."""
    if TERNARY in name and before and name.startswith(before[-1].name + TERNARY):
        last = replace(before[-1], prepositions=(*before[-1].prepositions, Preposition(name, target)))
        return (*before[:-1], last)
    return (*before, Relation(name, target))


def _word(term: Term) -> str:
    assert not isinstance(term, Node), "a reference is made of words"
    return term.name


def root(found: Term) -> Slot | Word | None:
    """The name of what a reference speaks of."""
    while isinstance(found, Node) and found.op is not OP["find"]:
        if not found.args:
            return None
        found = found.args[1 if found.op is OP["with_relation_object"] else 0]
    name = found.args[0] if isinstance(found, Node) else None
    return name if isinstance(name, Slot | Word) else None


def countable(found: Node) -> bool:
    """May one ask how many of these things there are? A slot says so itself."""
    name = root(found) if reference_of(found) else None
    return name is not None and (not name.alone if isinstance(name, Slot) else english.countable(Graph(name.name)))


def said(found: Node, form: str) -> str:
    """Things in English: a form of their reference, what is said of them (`predicate`), or asked of them (`asked`)."""
    if form == "predicate":
        graph = graph_of(found, "scene")
        if graph is not None and (graph.attribute or graph.relations):
            pieces = [after_is(graph.attribute)] if graph.attribute else []
            return " and ".join(pieces + [english.predicate(graph)] * bool(graph.relations))
    if form in ("asked", "Asked"):
        return _asked(found, "Is" if form == "Asked" else "is")
    reference = reference_of(found)
    if reference is None or form not in reference.forms:
        raise TypeError(f"no English for the things of {found.op.name} as {form!r}")
    return reference.forms[form]


def _asked(found: Node, verb: str) -> str:
    """ "is the man riding", of whatever he rides; of other things "is the cup"."""
    subject, others, link = (*found.args, None, None, None)[:3]
    if found.op is OP["with_relation_object"] and others == OP["scene"]() and isinstance(link, Word):
        assert isinstance(subject, Node)
        subject = subject.args[0] if subject.op is OP["assert_unique"] else subject
        assert isinstance(subject, Node)
        return f"{said(subject, verb)} {said(subject, 'the')} {relation(link.name)}"
    return f"{said(found, verb)} {said(found, 'the')}"


def with_attribute(found: Node, attribute: Term) -> Node | None:
    """Those of the things that have the attribute, said where attributes are said; None if one is said already."""
    if found.op is OP["find"]:
        return OP["filter"](found, attribute)
    if found.op not in (OP["with_relation"], OP["with_relation_object"]):
        return None
    at = 0 if found.op is OP["with_relation"] else 1
    inner = found.args[at]
    made = with_attribute(inner, attribute) if isinstance(inner, Node) else None
    return made and found.op(*found.args[:at], made, *found.args[at + 1 :])
