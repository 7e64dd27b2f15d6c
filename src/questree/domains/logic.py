"""Operators every domain shares: they combine yes/no answers."""

from typing import Any

from questree.program import Bool, Categories, Language

LOGIC = Language("logic")


@LOGIC.operator(
    ask="{a:ask} and {b:clause}",
    steps=1,
    categories=Categories(structural="logic"),
    type="And",
    label="And",
    parts=lambda vocabulary, a, b: [("And", a), ("And", b)],
)
def both(world: Any, a: Bool, b: Bool) -> Bool:
    """Both are true, not necessarily at the same moment."""
    return a & b


@LOGIC.operator(
    ask="{a:ask} but not {b:clause}",
    steps=1,
    categories=Categories(structural="logic"),
    type="Xor",
    label="Xor",
    parts=lambda vocabulary, a, b: [("Xor", a), ("Xor", b)],
)
def but_not(world: Any, a: Bool, b: Bool) -> Bool:
    """The first is true and the second is not (AGQA writes XOR)."""
    return a & ~b


@LOGIC.operator(
    ask="{a:ask} or {b:clause}",
    steps=1,
    categories=Categories(structural="logic"),
    type="Or",
    label="Or",
    parts=lambda vocabulary, a, b: [("Or", a), ("Or", b)],
)
def either(world: Any, a: Bool, b: Bool) -> Bool:
    """One is true, or both are."""
    return a | b
