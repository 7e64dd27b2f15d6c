"""Loops that are compiled, or fetched compiled, when they are first called: numba is not imported before."""

from collections.abc import Callable
from functools import cached_property, partial, update_wrapper
from typing import TYPE_CHECKING, Any


class Loop:
    """A function that numba compiles; inside other loops it is the compiled one."""

    def __init__(self, function: Callable[..., Any], options: dict[str, Any]):
        self.options = options
        update_wrapper(self, function)

    @cached_property
    def compiled(self) -> Any:
        from numba import njit

        return njit(**self.options)(self.__wrapped__)  # type: ignore[attr-defined]

    @property
    def _numba_type_(self) -> Any:
        return self.compiled._numba_type_

    def __call__(self, *given: Any) -> Any:
        return self.compiled(*given)


if TYPE_CHECKING:
    from numba import njit as njit
else:

    def njit(function=None, **options):
        """Used as numba's own."""
        return partial(njit, **options) if function is None else Loop(function, options)
