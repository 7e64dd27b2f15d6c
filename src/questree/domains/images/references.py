"""From programs back to references, so that any set of things has its English; and the sub-questions of questions."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache, wraps
from typing import Any

from questree.domains.images import english, links
from questree.domains.images.english import after_is
from questree.domains.images.graph import Graph, GraphRelation, Preposition
from questree.domains.images.kinds import IMAGES
from questree.domains.images.links import TERNARY, relation, verb_of
from questree.terms import Node, Slot, Term, Word

OP = IMAGES.ops
REMEMBERED = 1 << 16  # programs whose references are kept at hand
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
    return Reference(replace(subject, relations=(GraphRelation(link.name, target),)), inverse=True)


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


def _related(before: tuple[GraphRelation, ...], name: str, target: Graph) -> tuple[GraphRelation, ...]:
    """A preposition belongs to the relation before it."""
    if TERNARY in name and before and name.startswith(before[-1].name + TERNARY):
        last = replace(before[-1], prepositions=(*before[-1].prepositions, Preposition(name, target)))
        return (*before[:-1], last)
    return (*before, GraphRelation(name, target))


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
    """Things in English: a form of their reference, what is said of them (`predicate`, or with its verb `is ...` and
    `are ...`), or asked of or for them (`Asked`, `What`)."""
    graph = graph_of(found, "scene") if form in PREDICATES else None
    if graph is not None and (graph.attribute or graph.relations):
        return said_of_things(graph, PREDICATES[form])
    if form == "What":
        link = found.args[2] if found.op is OP["with_relation_object"] else None
        return f"{links.asks_for(link.name) if isinstance(link, Word) else form} {_asked(found, 'is')}"
    if form == "Asked":
        return _asked(found, "Is")
    reference = reference_of(found)
    if reference is None or form not in reference.forms:
        raise TypeError(f"no English for the things of {found.op.name} as {form!r}")
    return reference.forms[form]


PREDICATES = {"predicate": "", "is ...": "is", "are ...": "are"}  # form -> what a subject has


def said_of_things(graph: Graph, are: str) -> str:
    """The attribute and the relations of a graph, whatever its name."""
    if graph.attribute is None:
        return english.predicate(graph, are)
    attribute = f"{are} {after_is(graph.attribute)}".lstrip()
    related = english.predicate(graph, are if english.has_verb(graph) else "")
    return f"{attribute} and {related}" if related else attribute


def _asked(found: Node, verb: str) -> str:
    """ "is the man riding", of whatever he rides, "does the man wear"; of other things "is the cup"."""
    subject, others, link = (*found.args, None, None, None)[:3]
    if found.op is OP["with_relation_object"] and others == OP["scene"]() and isinstance(link, Word):
        assert isinstance(subject, Node)
        subject = subject.args[0] if subject.op is OP["assert_unique"] else subject
        assert isinstance(subject, Node)
        whole, graph, phrase = link.name.partition(TERNARY)[0], graph_of(subject), relation(link.name)
        last = graph.relations[-1] if graph and graph.relations and whole != link.name else None
        if last is not None and last.name == whole:  # "is the man pouring water into"
            end = english.pronoun(last.target.name) if last.prepositions else english.target(whole, last.target)
            phrase, subject = (
                f"{relation(whole)} {end} {phrase}",
                subject if last.prepositions else inner(subject.args[0]),
            )
        verb = verb if verb_of(whole) is None else {"is": "do", "Is": "Do"}[verb]
        return f"{said(subject, verb)} {said(subject, 'the')} {phrase}"
    return f"{said(found, verb)} {said(found, 'the')}"


def is_finite(link: Term) -> bool:
    """Is the relation a verb of its own?"""
    return isinstance(link, Word) and verb_of(link.name) is not None


def asked_together(x: Term, y: Term) -> bool:
    """May one question ask for either relation?"""
    return not (isinstance(x, Word) and isinstance(y, Word)) or links.asked_together(x.name, y.name)


def are_of(found: Term) -> str:
    """ "is" or "are", of what is between two things: that of the first."""
    while isinstance(found, Node) and found.op is not OP["find"]:
        found = found.args[0]
    name = found.args[0] if isinstance(found, Node) else None
    return english.are_of(name.name) if isinstance(name, Word) else "is"


def asked_with(condition: Term, are: str) -> str:
    """What asks whether things are so: "is" or "are", "does" or "do", "" if they must be told."""
    graph = graph_of(condition, "scene")
    if graph is None or not english.has_verb(graph):
        return are
    return "" if graph.attribute or english.is_mixed(graph) else {"is": "does", "are": "do"}[are]


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


Parts = list[tuple[str, Any]]  # (composition, sub-question)
KEPT = ("keep_if_values_count_eq", "keep_if_values_count_geq", "keep_if_values_count_leq")


class NotOurs(Exception):
    """A program that no template makes."""


def sayable(made: Callable[..., Parts]) -> Callable[..., Parts]:
    """Only sub-questions that can be said; none below a question of no known form."""

    @wraps(made)
    def parts(vocabulary: Any, *args: Term) -> Parts:
        try:
            return [part for part in made(*args) if reference_of(_spoken_of(part[1]))]
        except NotOurs:
            return []

    return parts


def inner(term: Term) -> Node:
    if not isinstance(term, Node):
        raise NotOurs
    return term


def _spoken_of(part: Node) -> Node:
    """The things a sub-question is about."""
    argument = inner(part.args[0])
    if part.op is OP["count_images"]:
        return inner(argument.args[0]) if argument.op is OP["unique_images"] else _grouped(argument)
    return argument if part.op in (OP["exists"], OP["count"]) else the_thing(argument)


def _grouped(images: Node) -> Node:
    """keys(keep(group_by_images(R), K)) -> R."""
    (kept,) = map(inner, images.args)
    if kept.op.name not in KEPT or isinstance(kept.args[1], Node):
        raise NotOurs
    return inner(inner(kept.args[0]).args[0])


def the_thing(one: Term) -> Node:
    """unique(R) -> R."""
    if inner(one).op is not OP["unique"]:
        raise NotOurs
    return inner(inner(one).args[0])


def wider(found: Node) -> list[Node]:
    """Sets of things that must not be empty if this one is not, the one it is chosen from first."""
    if found.op is OP["filter"]:
        return [inner(found.args[0])]
    if found.op in (OP["with_relation"], OP["with_relation_object"]):
        sets = [inner(found.args[0]), inner(found.args[1])]
        return sets if found.op is OP["with_relation"] else sets[::-1]
    return []


@sayable
def of_exists(things: Term) -> Parts:
    return [("Modifier", OP["exists"](each)) for each in wider(inner(things)) if reference_of(each)]


@sayable
def of_count(things: Term) -> Parts:
    fewer = [("Subset", OP["count"](each)) for each in wider(inner(things))[:1]]
    return [("Positive", OP["exists"](things)), *fewer]


@sayable
def of_images(images: Term) -> Parts:
    if inner(images).op is OP["unique_images"]:
        (found,) = map(inner, inner(images).args)
        fewer = [("Subset", OP["count"](found))] if countable(found) else []
        return [("Positive", OP["exists"](found)), *fewer]
    return [("Subset", OP["count_images"](OP["unique_images"](_grouped(inner(images)))))]


def images_type(vocabulary: Any, images: Term) -> str:
    return "Count Images" if isinstance(images, Node) and images.op is OP["unique_images"] else "Count Groups"


def each(label: str) -> Callable[..., Parts]:
    """Every argument that is a question."""
    return sayable(lambda *args: [(label, arg) for arg in args if isinstance(arg, Node)])


def comparison_type(vocabulary: Any, a: Term, b: Term) -> str:
    return "Compare Count" if isinstance(a, Node) and isinstance(b, Node) else "Verify Count"


@sayable
def of_all(things: Term, condition: Term) -> Parts:
    both = narrowed(inner(things), inner(condition))
    counts = [("All", OP["count"](things)), ("All", OP["count"](both))] if both is not None else []
    return counts if countable(inner(things)) else []


def of_quantifier(label: str) -> Callable[..., Parts]:
    def made(things: Term, condition: Term) -> Parts:
        both = narrowed(inner(things), inner(condition))
        return [(label, OP["exists"](both))] if both is not None else []

    return sayable(made)


def narrowed(found: Node, condition: Node) -> Node | None:
    """The things that fulfil the condition, which starts from all things: the same with these in their place."""
    if condition.op is OP["scene"]:
        return found
    rest = narrowed(found, inner(condition.args[0]))
    if rest is None or condition.op is not OP["filter"]:
        return rest and condition.op(rest, *condition.args[1:])
    return with_attribute(rest, condition.args[1])


def only_one(found: Node) -> Parts:
    return [("Unique", OP["count"](found))] if countable(found) else []


@sayable
def of_verify(thing: Term, attribute: Term) -> Parts:
    both = with_attribute(the_thing(thing), attribute)
    return [*([("Verify", OP["exists"](both))] if both else []), *only_one(the_thing(thing))]


@sayable
def of_choose_attribute(thing: Term, *options: Term) -> Parts:
    found = the_thing(thing)
    return [*(("Choose", OP["verify_attr"](thing, option)) for option in options), *only_one(found)]


@sayable
def of_query_attribute(thing: Term, group: Term) -> Parts:
    return only_one(the_thing(thing))


def _subject_and_link(target: Term) -> tuple[Node, Term]:
    """unique(with_relation_object(assert_unique(R), scene(), relation)) -> R, relation."""
    found = the_thing(target)
    if found.op is not OP["with_relation_object"] or inner(found.args[0]).op is not OP["assert_unique"]:
        raise NotOurs
    return inner(inner(found.args[0]).args[0]), found.args[2]


@sayable
def of_query_name(thing: Term) -> Parts:
    return only_one(_subject_and_link(thing)[0])


@sayable
def of_choose_name(thing: Term, *options: Term) -> Parts:
    subject, link = _subject_and_link(thing)
    related = OP["with_relation"]
    confirming = [("Choose", OP["exists"](related(subject, OP["find"](x), link))) for x in options]
    return [*confirming, *only_one(subject)]


@sayable
def of_choose_relation(name: Term, *options: Term) -> Parts:
    between = inner(inner(inner(name).args[0]).args[0])  # query_link(unique_link(relation_between_nouns))
    subject, others = the_thing(between.args[0]), inner(between.args[1])
    related = OP["with_relation"]
    confirming = [("Choose", OP["exists"](related(subject, others, link))) for link in options]
    return [*confirming, *only_one(subject)]
