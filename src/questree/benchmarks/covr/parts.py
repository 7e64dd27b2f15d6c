"""The sub-questions of a question about image sets: which there are, and their types."""

from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple

from questree.domains.images import answers, english, things
from questree.domains.images.references import reference_of, with_attribute
from questree.program import Node, Term, Word

COMPARISONS = {
    answers.eq: "Equal",
    answers.gt: "More",
    answers.lt: "Less",
    answers.geq: "At Least",
    answers.leq: "At Most",
}
QUANTIFIED = {answers.some: "Some", answers.none: "No"}
KEPT = {
    things.keep_if_values_count_eq: "exactly",
    things.keep_if_values_count_geq: "at least",
    things.keep_if_values_count_leq: "at most",
}
REMEMBERED = 1 << 16  # programs whose sub-questions are kept at hand
NARROWING = (things.with_relation, things.with_relation_object)


class Part(NamedTuple):
    label: str  # the composition
    node: Node
    option: str | None = None  # of a choice, that this sub-question confirms


class NotOurs(Exception):
    """A program that no template makes."""


@lru_cache(REMEMBERED)
def parts(node: Node) -> tuple[Part, ...]:
    """Immediate sub-questions, in the order the composition lists them; none below a question of no known form."""
    made = PARTS.get(node.op)
    try:
        return tuple(part for part in made(node) if reference_of(spoken_of(part.node))) if made else ()
    except NotOurs:
        return ()


def inner(term: Term) -> Node:
    if not isinstance(term, Node):
        raise NotOurs
    return term


def spoken_of(node: Node) -> Node:
    """The things a sub-question is about."""
    argument = inner(node.args[0])
    if node.op is answers.count_images:
        return inner(argument.args[0]) if argument.op is things.unique_images else grouped(argument)[0]
    return argument if node.op in (answers.exists, answers.count) else the_thing(argument)


def countable(found: Node) -> bool:
    """May one ask how many of these things there are?"""
    reference = reference_of(found)
    return reference is not None and english.countable(reference.root)


def wider(found: Node) -> list[Node]:
    """Sets of things that must not be empty if this one is not, the one it is chosen from first."""
    if found.op is things.only:
        return [inner(found.args[0])]
    if found.op in NARROWING:
        sets = [inner(found.args[0]), inner(found.args[1])]
        return sets if found.op is things.with_relation else sets[::-1]
    return []


def of_exists(node: Node) -> list[Part]:
    (found,) = map(inner, node.args)
    return [Part("Modifier", answers.exists(each)) for each in wider(found) if reference_of(each)]


def of_count(node: Node) -> list[Part]:
    (found,) = map(inner, node.args)
    return [
        Part("Positive", answers.exists(found)),
        *[Part("Subset", answers.count(each)) for each in wider(found)[:1]],
    ]


def of_count_images(node: Node) -> list[Part]:
    (images,) = map(inner, node.args)
    if images.op is things.unique_images:
        (found,) = map(inner, images.args)
        fewer = [Part("Subset", answers.count(found))] if countable(found) else []
        return [Part("Positive", answers.exists(found)), *fewer]
    found = grouped(images)[0]
    return [Part("Subset", answers.count_images(things.unique_images(found)))]


def grouped(images: Node) -> tuple[Node, str, Word]:
    """keys(keep(group_by_images(R), K)) -> R, "at least", K."""
    (kept,) = map(inner, images.args)
    if kept.op not in KEPT or not isinstance(kept.args[1], Word):
        raise NotOurs
    return inner(inner(kept.args[0]).args[0]), KEPT[kept.op], kept.args[1]


def of_comparison(node: Node) -> list[Part]:
    return [Part(COMPARISONS[node.op], arg) for arg in node.args if isinstance(arg, Node)]


def of_quantifier(node: Node) -> list[Part]:
    found, condition = map(inner, node.args)
    both = narrowed(found, condition)
    if both is None:
        return []
    if node.op is not answers.every:
        return [Part(QUANTIFIED[node.op], answers.exists(both))]
    return [Part("All", answers.count(found)), Part("All", answers.count(both))] if countable(found) else []


def narrowed(found: Node, condition: Node) -> Node | None:
    """The things that fulfil the condition, which starts from all things: the same with these in their place."""
    if condition.op is things.scene:
        return found
    rest = narrowed(found, inner(condition.args[0]))
    if rest is None or condition.op is not things.only:
        return rest and condition.op(rest, *condition.args[1:])
    return with_attribute(rest, condition.args[1])


def the_thing(one: Term) -> Node:
    """unique(R) -> R."""
    if inner(one).op is not things.unique:
        raise NotOurs
    return inner(inner(one).args[0])


def only_one(found: Node) -> list[Part]:
    return [Part("Unique", answers.count(found))] if countable(found) else []


def of_verify_attr(node: Node) -> list[Part]:
    found = the_thing(node.args[0])
    both = with_attribute(found, node.args[1])
    return [*([Part("Verify", answers.exists(both))] if both else []), *only_one(found)]


def of_choose_attr(node: Node) -> list[Part]:
    one, *options = node.args
    return [*chosen(node, [answers.verify_attr(one, option) for option in options]), *only_one(the_thing(one))]


def chosen(node: Node, confirming: list[Node]) -> list[Part]:
    """The options of a choice are its last arguments."""
    options = [option.name for option in node.args[1:] if isinstance(option, Word)]
    return [Part("Choose", part, option) for part, option in zip(confirming, options, strict=True)]


def of_choose_name(node: Node) -> list[Part]:
    subject, link = asked(node.args[0])
    related = [answers.exists(things.with_relation(subject, things.find(x), link)) for x in node.args[1:]]
    return [*chosen(node, related), *only_one(subject)]


def of_query_name(node: Node) -> list[Part]:
    return only_one(asked(node.args[0])[0])


def asked(target: Term) -> tuple[Node, Term]:
    """unique(with_relation_object(assert_unique(R), scene(), relation)) -> R, relation."""
    found = the_thing(target)
    if found.op is not things.with_relation_object or inner(found.args[0]).op is not things.assert_unique:
        raise NotOurs
    return inner(inner(found.args[0]).args[0]), found.args[2]


def of_choose_relation(node: Node) -> list[Part]:
    between = inner(inner(inner(node.args[0]).args[0]).args[0])  # query_link(unique_link(relation_between_nouns))
    subject, others = the_thing(between.args[0]), inner(between.args[1])
    related = [answers.exists(things.with_relation(subject, others, link)) for link in node.args[1:]]
    return [*chosen(node, related), *only_one(subject)]


PARTS: dict[object, Callable[[Node], list[Part]]] = {
    answers.exists: of_exists,
    answers.count: of_count,
    answers.count_images: of_count_images,
    **dict.fromkeys(COMPARISONS, of_comparison),
    answers.logic_and: lambda node: [Part("And", inner(arg)) for arg in node.args],
    answers.logic_or: lambda node: [Part("Or", inner(arg)) for arg in node.args],
    **dict.fromkeys((answers.every, *QUANTIFIED), of_quantifier),
    answers.all_same: lambda node: [Part("All Same", answers.exists(inner(node.args[0])))],
    answers.same_attr: lambda node: [Part("Same Attribute", inner(arg)) for arg in node.args],
    answers.verify_attr: of_verify_attr,
    answers.choose_attr: of_choose_attr,
    answers.choose_name: of_choose_name,
    answers.choose_relation: of_choose_relation,
    answers.query_attr: lambda node: only_one(the_thing(node.args[0])),
    answers.query_name: of_query_name,
}
TYPES: dict[object, str] = {
    answers.exists: "Exists",
    answers.count: "Count",
    answers.logic_and: "Logic",
    answers.logic_or: "Logic",
    **dict.fromkeys((answers.every, *QUANTIFIED), "Quantifier"),
    answers.all_same: "All Same",
    answers.same_attr: "Same Attribute",
    answers.verify_attr: "Verify Attribute",
    answers.choose_attr: "Choose Attribute",
    answers.choose_name: "Choose Object",
    answers.choose_relation: "Choose Relation",
    answers.query_attr: "Query Attribute",
    answers.query_name: "Query Object",
}


def node_type(node: Node) -> str | None:
    """The type of a node of a decomposition; None for a question that no template asks."""
    if node.op in COMPARISONS:
        return "Compare Count" if all(isinstance(arg, Node) for arg in node.args) else "Verify Count"
    if node.op is answers.count_images:
        return "Count Images" if inner(node.args[0]).op is things.unique_images else "Count Groups"
    return TYPES.get(node.op)


def number_in(node: Node) -> str | None:
    """The number a question compares with."""
    return next((arg.name for arg in node.args if isinstance(arg, Word)), None) if node.op in COMPARISONS else None
