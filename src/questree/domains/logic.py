"""Operators every domain shares: they combine yes/no answers."""

from collections.abc import Callable
from typing import Any

from questree.terms import Array, Bool, Categories, Language, Node, Op, Term

LOGIC = Language("logic")


UNTIMED = "ask untimed"  # the form of a question that leaves its time to the clause behind it


def time_once(said: str, a: Term, b: Term) -> tuple[str, ...]:
    """Two clauses in one time name it behind the second, as AGQA-Decomp does."""
    if not (isinstance(a, Node) and isinstance(b, Node)) or callable(a.op.phrase) or UNTIMED not in a.op.phrase:
        return (f"{{a:ask}} {said} {{b:clause}}",)
    once = a.op is b.op and a.args[-1] == b.args[-1]
    return (f"{{a:{UNTIMED if once else 'ask'}}} {said} {{b:clause}}",)


def connective(name: str, said: str, label: str, holds: Callable[[Array, Array], Array], doc: str) -> Op:
    """A family of operators that differ in a word and a sign."""

    def combined(world: Any, a: Bool, b: Bool) -> Bool:
        return holds(a, b)

    combined.__doc__ = doc
    return LOGIC.operator(
        name,
        ask=lambda a, b: time_once(said, a, b),
        steps=1,
        categories=Categories(structural="logic"),
        type=label,
        label=label,
        parts=lambda vocabulary, a, b: [(label, a), (label, b)],
    )(combined)


both = connective("both", "and", "And", lambda a, b: a & b, "Both are true, not necessarily at the same moment.")
but_not = connective(
    "but_not", "but not", "Xor", lambda a, b: a & ~b, "The first is true and the second is not (AGQA writes XOR)."
)
either = connective("either", "or", "Or", lambda a, b: a | b, "One is true, or both are.")
