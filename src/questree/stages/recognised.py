"""Programs given to us as questions of templates: which template a program is of, and how its slots are worded."""

from dataclasses import dataclass

from questree.benchmarks.agqa.editions import Edition
from questree.benchmarks.agqa.templates import ACTION_REFERENCES, DIRECT, INDIRECT, REFERENCES, TIMES, WHOLE
from questree.stages.question_forms import canonical
from questree.tables.questions import WORDED
from questree.terms import Node, Slot, Term


@dataclass(frozen=True)
class NamedObject:
    """An object, by its name or by a reference."""

    term: Term
    kind: int  # position in REFERENCES
    word: str  # slot of the program: the object itself, or the relation it is named by


@dataclass(frozen=True)
class NamedAction:
    """An action, by its name, its length, or its verb and an object."""

    term: Term
    kind: int  # position in ACTION_REFERENCES
    word: str = ""  # slot of the program: the action itself, or its verb
    object: NamedObject | None = None


@dataclass(frozen=True)
class Recognised:
    template: int  # as the tables number it
    relation: str  # slot of the program, "" without one
    named: dict[str, NamedObject | NamedAction]  # what fills first and second, and a and b of the time
    time: int  # position in TIMES


class Unrecognised(Exception):
    """No template has such a program, or none of its slots is filled like this."""


def recognised(program: Node, edition: Edition) -> Recognised | None:
    """None if no template has such a program."""
    for code, template in enumerate(edition.by_code):
        for pattern in (template.node, canonical(template.whole_video)):
            found: dict[str, Term] = {}
            if bound(pattern, program, found):
                try:
                    return read(code, found)
                except Unrecognised:
                    continue
    return None


def bound(pattern: Term, term: Term, found: dict[str, Term]) -> bool:
    """Is the term the pattern with its slots filled? `found` says with what."""
    if isinstance(pattern, Slot):
        return pattern.kind == term.kind and found.setdefault(pattern.name, term) == term
    if not (isinstance(pattern, Node) and isinstance(term, Node) and pattern.op is term.op):
        return False
    return all(bound(own, other, found) for own, other in zip(pattern.args, term.args, strict=True))


def read(code: int, filled: dict[str, Term]) -> Recognised:
    named: dict[str, NamedObject | NamedAction] = {}
    relation, kind = "", 0
    for name, term in filled.items():
        if name == "relation":
            relation = word(term)
        elif name == "time":
            kind, sides = time(term)
            named |= sides
        else:
            named[WORDED[name]] = thing(term) if term.kind.words == "objects" else action(term)
    return Recognised(code, relation, named, kind)


def word(term: Term) -> str:
    if not isinstance(term, Slot):
        raise Unrecognised
    return term.name


def thing(term: Term) -> NamedObject:
    if isinstance(term, Slot):
        return NamedObject(term, REFERENCES.index(DIRECT), term.name)
    assert isinstance(term, Node)
    by, kind = term, term.op.name
    if kind == "only" and isinstance(term.args[0], Node):
        by, kind = term.args[0], WHOLE
    if kind not in REFERENCES or len(by.args) != 2 or time(by.args[1])[0]:
        raise Unrecognised
    return NamedObject(term, REFERENCES.index(kind), word(by.args[0]))


def action(term: Term) -> NamedAction:
    if isinstance(term, Slot):
        return NamedAction(term, ACTION_REFERENCES.index(DIRECT), term.name)
    assert isinstance(term, Node)
    if term.op.name == "to_action":
        return NamedAction(term, ACTION_REFERENCES.index(INDIRECT), word(term.args[0]), thing(term.args[1]))
    if term.op.name not in ACTION_REFERENCES:
        raise Unrecognised
    return NamedAction(term, ACTION_REFERENCES.index(term.op.name))


def time(term: Term) -> tuple[int, dict[str, NamedObject | NamedAction]]:
    """The kind of a time, and how its actions are named."""
    if not isinstance(term, Node):
        raise Unrecognised
    kind = "all" if term.op.name == "whole" else term.op.name
    if kind not in TIMES:
        raise Unrecognised
    return TIMES.index(kind), {side: action(own) for side, own in zip("ab", term.args, strict=False)}
