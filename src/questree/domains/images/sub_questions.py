"""The sub-questions of questions about image sets, one function per form of question; operators name theirs."""

from collections.abc import Callable
from functools import wraps
from typing import Any

from questree.domains.images.kinds import IMAGES
from questree.domains.images.references import countable, reference_of, with_attribute
from questree.program import Node, Term

OP = IMAGES.ops
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


def _asked(target: Term) -> tuple[Node, Term]:
    """unique(with_relation_object(assert_unique(R), scene(), relation)) -> R, relation."""
    found = the_thing(target)
    if found.op is not OP["with_relation_object"] or inner(found.args[0]).op is not OP["assert_unique"]:
        raise NotOurs
    return inner(inner(found.args[0]).args[0]), found.args[2]


@sayable
def of_query_name(thing: Term) -> Parts:
    return only_one(_asked(thing)[0])


@sayable
def of_choose_name(thing: Term, *options: Term) -> Parts:
    subject, link = _asked(thing)
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
