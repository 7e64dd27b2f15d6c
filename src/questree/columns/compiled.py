"""Loops that are compiled, or fetched compiled, when they are first called: numba is not imported before."""

import sys
from collections.abc import Callable
from functools import cache, cached_property, partial, update_wrapper
from pathlib import Path
from typing import TYPE_CHECKING, Any


@cache
def numba_alone() -> Any:
    """numba, without what it imports where that is installed and what takes a third of its own time: coverage, which
    those who measure it have imported before, and a YAML parser for settings that hardly anybody has."""
    unused = [name for name in ("coverage", "yaml") if name not in sys.modules]
    if Path(".numba_config.yaml").exists() and "yaml" in unused:
        unused.remove("yaml")
    sys.modules.update(dict.fromkeys(unused))  # type: ignore[arg-type]
    try:
        import numba
    finally:
        for name in unused:
            del sys.modules[name]
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
