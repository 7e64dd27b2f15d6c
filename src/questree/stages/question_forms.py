"""Forms of generated questions: a template and how its slots are worded, as one number and as a program."""

from dataclasses import dataclass, field
from functools import cache

from questree.benchmarks.agqa.templates import ACTION_REFERENCES, DIRECT, REFERENCES, TIMES, WHOLE, Template
from questree.domains.video import VIDEO
from questree.tables.questions import WORDED
from questree.terms import ACTION, OBJECT, RELATION, Node, Slot, Term, fill, slots

OP = VIDEO.ops
BY_OBJECT = len(ACTION_REFERENCES) - 1  # an action by its verb and a reference; the kind of reference is added
REFERENCE_BITS, ACTION_BITS = 2, 3  # an object reference has the kind of its own time above these
IN_ALL = {"longer_in": "longer", "shorter_in": "shorter"}  # what these are over the whole video
BITS = {"relation": 1, "first": 5, "second": 5, "time": 3 + 2 * ACTION_BITS}  # of a form's number, below its template


@dataclass(frozen=True)
class QuestionForm:
    """A program whose slots are named after the columns of their words: "first", "first.relation", "time.a.verb"."""

    template: Template
    node: Node
    stands: dict[Term, str] = field(hash=False)  # a reference -> the column of what it stands for


@cache
def form(template: Template, number: int) -> QuestionForm:
    """The form of a template whose slots are worded as the lower bits of a number say."""
    worded, stands, filled = dict[str, int](), dict[Term, str](), dict[str, Term]()
    for side, bits in reversed(BITS.items()):
        number, worded[side] = number >> bits, number & (1 << bits) - 1
    for name, slot in slots(template.node).items():
        if slot.kind == RELATION:
            filled[name] = relation(worded["relation"], stands)
        elif name == "time":
            filled[name] = time(name, worded["time"], stands)
        else:
            make = reference if slot.kind == OBJECT else action
            filled[name] = make(WORDED[name], worded[WORDED[name]], stands)
    program = fill(template.node, filled)
    assert isinstance(program, Node)
    return QuestionForm(template, canonical(program), stands)


def plain_form(template: Template, kind: str) -> QuestionForm:
    """The form of a template whose slots are words and whose time is of a kind."""
    return form(template, TIMES.index(kind) << 2 * ACTION_BITS)


def canonical(node: Node) -> Node:
    """Over the whole video a localised event is the event itself, and so are lengths compared."""
    args = tuple(canonical(arg) if isinstance(arg, Node) else arg for arg in node.args)
    if not (args and isinstance(args[-1], Node) and args[-1].op.name == "whole"):
        return Node(node.op, args)
    if node.op.name == "within":
        assert isinstance(args[0], Node)
        return args[0]
    return Node(OP[IN_ALL[node.op.name]], args[:-1]) if node.op.name in IN_ALL else Node(node.op, args)


def relation(shape: int, stands: dict[Term, str]) -> Term:
    if not shape:
        return Slot("relation", RELATION)
    named = OP["first_done_to"](Slot("relation.object", OBJECT))
    stands[named] = "relation"
    return named


def reference(column: str, shape: int, stands: dict[Term, str]) -> Term:
    kind, own_time = REFERENCES[shape & (1 << REFERENCE_BITS) - 1], shape >> REFERENCE_BITS
    if kind == DIRECT:
        return Slot(column, OBJECT)
    by = Slot(f"{column}.relation", RELATION), time(f"{column}.time", own_time << 2 * ACTION_BITS, stands)
    named = OP["only"](OP["objects"](*by)) if kind == WHOLE else OP[kind](*by)
    stands[named] = column
    return named


def action(column: str, shape: int, stands: dict[Term, str]) -> Term:
    if ACTION_REFERENCES[min(shape, BY_OBJECT)] == DIRECT:
        return Slot(column, ACTION)
    if shape < BY_OBJECT:
        named = OP[ACTION_REFERENCES[shape]]()
    else:
        object = reference(f"{column}.object", shape - BY_OBJECT, stands)
        named = OP["to_action"](Slot(f"{column}.verb", RELATION), object)
    stands[named] = column
    return named


def time(column: str, shape: int, stands: dict[Term, str]) -> Term:
    kind, mask = TIMES[shape >> 2 * ACTION_BITS], (1 << ACTION_BITS) - 1
    op = OP["whole" if kind == "all" else kind]
    sides = zip("ab"[: len(op.params)], (shape >> ACTION_BITS & mask, shape & mask), strict=False)
    return op(*(action(f"{column}.{side}", own, stands) for side, own in sides))
