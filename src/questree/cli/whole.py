"""Whole numbers on the command line, as they were given: 1.5 is refused, not rounded."""

from collections.abc import Sequence
from typing import Annotated, Any

from cyclopts import Parameter, Token


def whole(_: Any, tokens: Sequence[Token]) -> int:
    """The number; the command line reports a ValueError with the name of the option."""
    try:
        return int(tokens[0].value)
    except ValueError:
        raise ValueError(f"wanted a whole number, got {tokens[0].value!r}") from None


Whole = Annotated[int, Parameter(converter=whole)]
