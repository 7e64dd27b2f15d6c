"""Loops that are compiled, or fetched compiled, when they are first called: numba is not imported before."""

from collections.abc import Callable
from functools import cache, cached_property, partial, update_wrapper
from typing import TYPE_CHECKING, Any


@cache
def _kept_loops() -> type:
    """numba's cache, but a loop that is in it is fetched without all that compiling would need, which takes longer."""
    from numba.core.caching import FunctionCache
    from numba.core.runtime import rtsys

    class KeptLoops(FunctionCache):  # type: ignore[misc]
        def load_overload(self, sig: Any, target_context: Any) -> Any:
            rtsys.initialize(target_context)
            with self._guard_against_spurious_io_errors():
                found = self._load_overload(sig, target_context)
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
        from numba import njit

        found = njit(**self.options)(self.__wrapped__)  # type: ignore[attr-defined]
        found._cache.__class__ = _kept_loops()
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
