"""Operators every domain shares: they combine yes/no answers."""

from collections.abc import Callable
from typing import Any

from questree.terms import Array, Bool, Categories, Language, Op

LOGIC = Language("logic")


def connective(name: str, said: str, label: str, holds: Callable[[Array, Array], Array], doc: str) -> Op:
    """A family of operators that differ in a word and a sign."""

    def combined(world: Any, a: Bool, b: Bool) -> Bool:
        return holds(a, b)

    combined.__doc__ = doc
    return LOGIC.operator(
        name,
        ask=f"{{a:ask}} {said} {{b:clause}}",
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
