"""Loops that are compiled, or fetched compiled, when they are first called: numba is not imported before."""

import sys
from collections.abc import Callable
from functools import cache, cached_property, partial, update_wrapper
from typing import TYPE_CHECKING, Any


@cache
def numba_alone() -> Any:
    """numba. Wherever coverage is installed numba imports it, which takes a quarter of its own time: only those who
    measure coverage need that, and they have imported it before."""
    unused = "coverage" not in sys.modules
    if unused:
        sys.modules["coverage"] = None  # type: ignore[assignment]
    try:
        import numba
    finally:
        if unused:
            del sys.modules["coverage"]
    return numba


@cache
def kept_loops() -> Any:
    """numba's cache of a function, from which a loop is fetched without all that compiling needs: that takes longer."""
    from numba.core import caching
    from numba.core.runtime import nrt

    class KeptLoops(caching.FunctionCache):
        def load_overload(self, sig: Any, target_context: Any) -> Any:
            nrt.rtsys.initialize(target_context)
            with self._guard_against_spurious_io_errors():
                found = self._load_overload(sig, target_context)  # type: ignore[no-untyped-call]
            if found is None:
                target_context.refresh()
            return found

    return KeptLoops


class Loop:
    """A function that numba compiles; inside other loops it is the compiled one."""

    def __init__(self, function: Callable[..., Any], options: dict[str, Any]):
        self.options = options
        update_wrapper(self, function)

    @cached_property
    def compiled(self) -> Any:
        found = numba_alone().njit(**self.options)(self.__wrapped__)  # type: ignore[attr-defined]
        if self.options.get("cache"):
            found._cache = kept_loops()(found.py_func)
        return found

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
