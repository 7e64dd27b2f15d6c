"""How long work tells whoever watches how far it is; silent unless somebody installs a reporter."""

from collections.abc import Callable, Iterable, Iterator
from contextvars import ContextVar
from typing import TypeVar

Item = TypeVar("Item")
Reporter = Callable[[str, int, int], None]  # label, done, total


def _silent(label: str, done: int, total: int) -> None:
    pass


reporter: ContextVar[Reporter] = ContextVar("reporter", default=_silent)


def report(label: str, done: int, total: int) -> None:
    reporter.get()(label, done, total)


def watch(items: Iterable[Item], label: str, total: int) -> Iterator[Item]:
    """Pass the items on, reporting after each."""
    report(label, 0, total)
    for done, item in enumerate(items, 1):
        yield item
        report(label, done, total)
