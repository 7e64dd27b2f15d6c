"""How long work tells whoever watches how far it is; silent unless somebody installs a reporter."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from contextvars import ContextVar
from typing import Any, TypeVar

Item = TypeVar("Item")
Reporter = Callable[[str, float, int], None]  # label, done, total
LOOK = 0.5  # seconds between two looks at what workers have done


def _silent(label: str, done: float, total: int) -> None:
    pass


reporter: ContextVar[Reporter] = ContextVar("reporter", default=_silent)


def report(label: str, done: float, total: int) -> None:
    reporter.get()(label, done, total)


notes = dict[str, str]()  # label -> what else there is to say of that work


def note(label: str, text: str) -> None:
    """What a bar shows beside how far it is."""
    notes[label] = text


def watch(items: Iterable[Item], label: str, total: int) -> Iterator[Item]:
    """Pass the items on, reporting after each."""
    report(label, 0, total)
    for done, item in enumerate(items, 1):
        yield item
        report(label, done, total)


class Inside:
    """How much of their tasks worker processes have done, in a number they share with their parent."""

    shared: Any = None  # multiprocessing.Value, of the pool that was made last; none in threads
    told = 0.0  # share of the task of this process


def inside(share: float) -> None:
    """In a worker: so much of the task is done; 1 ends it."""
    if Inside.shared is not None:
        with Inside.shared.get_lock():
            Inside.shared.value += share - Inside.told
        Inside.told = share % 1


def finished(futures: Sequence["Future[Item]"], label: str) -> Iterator["Future[Item]"]:
    """Futures as they are done, reporting also what is done inside of the others."""
    left, done = set(futures), 0
    report(label, 0, len(futures))
    while left:
        ready, left = wait(left, LOOK, FIRST_COMPLETED)
        for future in ready:
            done += 1
            yield future
        moved = Inside.shared.value if Inside.shared is not None else 0.0
        report(label, min(max(done, moved), len(futures)), len(futures))
