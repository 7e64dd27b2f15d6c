"""Programs read off the localised relations instead of the frames: each a sub-program and the column that equals it.

The tests hold every law against the operators themselves. The laws of the choices hold for what passes their rules; an
edition without those rules has no such law.
"""

from collections.abc import Callable, Iterator
from typing import Protocol

import numpy as np

from questree.benchmarks.agqa.templates import BOTH, NOT_BOTH, UNDECIDED, Template
from questree.columns.joins import Ints, bit
from questree.domains.video import VIDEO
from questree.notation.own import parse
from questree.program import Node, Term, walk
from questree.vocabulary.words import Vocabulary


class Local(Protocol):
    """Localised columns of the rows, and their direct objects."""

    @property
    def objects(self) -> Ints: ...
    @property
    def first(self) -> Ints: ...
    @property
    def last(self) -> Ints: ...
    @property
    def closing(self) -> Ints: ...
    @property
    def x(self) -> Ints: ...
    @property
    def y(self) -> Ints: ...


def _frames(yes: Ints) -> Ints:
    """A yes/no column as the kind frames: [row, 1]."""
    return yes.astype(np.uint64)[:, None]


def _choice(local: Local) -> Ints:
    """The one of two objects that holds and stops holding inside the window."""
    x, y = bit(local.objects, local.x), bit(local.objects, local.y)
    chosen = np.where(x, local.x, local.y)
    return np.where((x != y) & bit(local.closing, chosen), chosen, -1)


LAWS: dict[str, Callable[[Local], Ints]] = {
    "objects($relation, $time)": lambda local: local.objects,
    "annotated($time)": lambda local: local.objects,
    "first($relation, $time)": lambda local: local.first,
    "last($relation, $time)": lambda local: local.last,
    "within(doing($relation), $time)": lambda local: _frames(local.objects != 0),
    "within(interacting($object), $time)": lambda local: _frames(bit(local.objects, local.x)),
    "within(interaction($relation, $object), $time)": lambda local: _frames(bit(local.objects, local.x)),
    "within(interaction($relation, $first), $time)": lambda local: _frames(bit(local.objects, local.x)),
    "within(interaction($relation, $second), $time)": lambda local: _frames(bit(local.objects, local.y)),
    "choose($relation, $time, $first, $second)": _choice,
    "choose_first($relation, $time, $first, $second)": lambda local: local.first,
    "choose_last($relation, $time, $first, $second)": lambda local: local.last,
}
PROGRAMS: dict[Term, Callable[[Local], Ints]] = {parse(text, VIDEO): law for text, law in LAWS.items()}
CONDITIONS = {  # operator -> the rules without which its law does not hold
    "choose": {BOTH},
    "choose_first": {NOT_BOTH, UNDECIDED},
    "choose_last": {NOT_BOTH, UNDECIDED},
}


def lawful(term: Node, template: Template) -> bool:
    """Does the law of a sub-program hold, under the template's rules and for what fills its slots?"""
    anything = template.every_object and bool(template.relations)  # a class that was merged into another has no track
    return CONDITIONS.get(term.op.name, set()) <= set(template.rules) and not anything


def relation_read(term: Node, vocabulary: Vocabulary) -> int | None:
    """The relation in whose localised columns a law looks: None is the relation asked about."""
    names = {inner.op.name for inner in walk(term) if isinstance(inner, Node)}
    if "interacting" in names:
        return vocabulary.relation_at[vocabulary.interacting]
    return vocabulary.relation_at[vocabulary.annotated] if "annotated" in names else None


def lawful_parts(template: Template) -> list[Node]:
    """The largest sub-programs of a template that laws give."""
    return list(dict.fromkeys(_parts(template.node, template)))


def _parts(term: Term, template: Template) -> Iterator[Node]:
    if not isinstance(term, Node):
        return
    if term in PROGRAMS and lawful(term, template):
        yield term
        return
    for arg in term.args:
        yield from _parts(arg, template)
