"""The 27 templates of AGQA 2.0 as programs with slots: one shape per choice of time phrase and references.

Written from the tables of the description (templates 3.1, time phrases 4, references 5), for tests of every reading.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

from questree.domains.video import VIDEO
from questree.notation.own import parse
from questree.terms import Node, Term, fold


@dataclass(frozen=True)
class Template:
    program: str  # {time}, {a}, {b}: objects, {x}, {y}: actions
    steps: int
    reasoning: tuple[str, ...]
    structural: str
    semantic: str
    times: str = "whole before after while between"
    objects: str = "direct"


ANY = "direct first last only"
NOT_BEFORE, NOT_AFTER = "whole after while between", "whole before while between"
EXISTS, OBJ_REL = ("exists", "obj-rel"), ("obj-rel",)
BEST, LENGTH = ("superlative", "obj-rel"), ("duration-comparison",)
BY_LENGTH = ("superlative", "duration-comparison")
WHICH, EXTREME = ("sequencing", "activity-recognition"), ("superlative", "activity-recognition")
PAIR = "within(interaction($relation, {a}), {time}), within(interaction($relation, {b}), {time})"

TEMPLATES: dict[str, Template] = {
    "objExists": Template("within(interacting({a}), {time})", 1, ("exists",), "verify", "object"),
    "objRelExists": Template(
        "within(interaction($relation, {a}), {time})", 1, EXISTS, "verify", "relation", objects=ANY
    ),
    "relExists": Template("within(doing($relation), {time})", 1, ("exists",), "verify", "relation"),
    "andObjRelExists": Template(f"both({PAIR})", 3, EXISTS, "logic", "relation", objects=ANY),
    "xorObjRelExists": Template(f"but_not({PAIR})", 3, EXISTS, "logic", "relation", objects=ANY),
    "objWhatGeneral": Template("only(annotated({time}))", 1, (), "query", "object"),
    "objWhat": Template("only(objects($relation, {time}))", 2, OBJ_REL, "query", "object"),
    "objWhatChoose": Template(
        "choose($relation, {time}, {a}, {b})", 3, OBJ_REL, "choose", "object", objects="direct last"
    ),
    "actWhatAfterAll": Template("action_after({time})", 1, WHICH, "query", "action", "after whole"),
    "actWhatBefore": Template("action_before({time})", 1, WHICH, "query", "action", "before"),
    "objFirst": Template("first($relation, {time})", 2, BEST, "query", "object", NOT_BEFORE),
    "objFirstChoose": Template(
        "choose_first($relation, {time}, {a}, {b})", 3, BEST, "choose", "object", NOT_BEFORE, "direct last"
    ),
    "objFirstVerify": Template(
        "equals({a}, first($relation, {time}))", 3, BEST, "verify", "object", NOT_BEFORE, "direct last"
    ),
    "actFirst": Template("first_action({time})", 1, EXTREME, "query", "action", "after whole"),
    "objLast": Template("last($relation, {time})", 2, BEST, "query", "object", NOT_AFTER),
    "objLastChoose": Template(
        "choose_last($relation, {time}, {a}, {b})", 3, BEST, "choose", "object", NOT_AFTER, "direct first"
    ),
    "objLastVerify": Template(
        "equals({a}, last($relation, {time}))", 3, BEST, "verify", "object", NOT_AFTER, "direct first"
    ),
    "actLast": Template("last_action({time})", 1, EXTREME, "query", "action", "before whole"),
    "actLengthLongerChoose": Template("longer({d}, {e})", 5, LENGTH, "compare", "action"),
    "actLengthShorterChoose": Template("shorter({d}, {e})", 5, LENGTH, "compare", "action"),
    "actLengthLongerVerify": Template("same_action({d}, longer({d}, {e}))", 5, LENGTH, "compare", "action"),
    "actLengthShorterVerify": Template("same_action({d}, shorter({d}, {e}))", 5, LENGTH, "compare", "action"),
    "actLongest": Template("longest()", 2, BY_LENGTH, "query", "action"),
    "actShortest": Template("shortest()", 2, BY_LENGTH, "query", "action"),
    "actTime": Template("action_order({x}, {y})", 5, ("sequencing",), "compare", "action"),
    "relTime": Template("relation_order($relation, {y})", 5, ("rel-act", "sequencing"), "compare", "relation"),
    "objTime": Template("object_order({a}, {y})", 5, ("obj-act", "sequencing"), "compare", "object", objects=ANY),
}

# how a slot is filled: program and steps, by kind; ${} is the slot's own name
OBJECT_WAYS = {
    "direct": ("${}", 0),
    "first": ("first($of_{}, whole())", 1),
    "last": ("last($of_{}, whole())", 1),
    "only": ("only(objects($of_{}, whole()))", 1),
}
PLAIN_ACTIONS = {"direct": ("${}", 0), "alone": ("${}_alone!", 0)}
ACTION_WAYS = PLAIN_ACTIONS | {
    "longest": ("longest()", 1),
    "shortest": ("shortest()", 1),
    "indirect": ("to_action($verb_{0}, only(objects($of_{0}, whole())))", 1),
}
TIME_WAYS = {
    "whole": ("whole()", 0),
    "before": ("before({p})", 2),
    "after": ("after({p})", 2),
    "while": ("while({p})", 2),
    "between": ("between({p}, {q})", 3),
}


@dataclass(frozen=True)
class Shape:
    template: str
    node: Node
    steps: int  # base of the template, its time phrase and its references


def shapes(*names: str) -> Iterator[Shape]:
    """These templates (or all) with every time phrase and reference they may have."""
    for name in names or TEMPLATES:
        template = TEMPLATES[name]
        times = template.times.split() if "{time}" in template.program else [""]
        for time in times:
            program, extra = TIME_WAYS.get(time, ("", 0))
            text = template.program.replace("{time}", program)
            for words, more in fillings(text, template.objects.split()):
                yield Shape(name, unlocalised(parse(text.format(**words), VIDEO)), template.steps + extra + more)


def fillings(text: str, objects: list[str]) -> Iterator[tuple[dict[str, str], int]]:
    """Every way to fill the holes of a program, with the steps that adds."""
    ways: dict[str, dict[str, tuple[str, int]]] = {}
    for hole in "abdepqxy":
        if "{" + hole + "}" in text:
            ways[hole] = {way: OBJECT_WAYS[way] for way in objects} if hole in "ab" else ACTION_WAYS
            if hole in "de":  # lengths are asked of plain actions only
                ways[hole] = PLAIN_ACTIONS
    for chosen in product(*(options.values() for options in ways.values())):
        words = {hole: program.format(hole) for hole, (program, _) in zip(ways, chosen, strict=True)}
        yield words, sum(steps for _, steps in chosen)


def unlocalised(program: Node) -> Node:
    """Something within the whole video is that thing."""

    def combine(node: Node, kids: dict[str, Term]) -> Term:
        if node.op.name == "within" and kids["window"] == VIDEO.ops["whole"]():
            return kids["event"]
        return Node(node.op, tuple(kids.values()))

    found = fold(program, lambda leaf: leaf, combine)
    assert isinstance(found, Node)
    return found
