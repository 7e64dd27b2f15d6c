"""Work that waits for others: run to its end from anywhere, several workers at once."""

import asyncio
import threading
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

Result = TypeVar("Result")


async def at_once(workers: int, work: Callable[[], Coroutine[Any, Any, None]]) -> None:
    """The same work by several; the first error ends all of them and is raised as it is."""
    try:
        async with asyncio.TaskGroup() as group:
            for _ in range(workers):
                group.create_task(work())
    except BaseExceptionGroup as several:
        raise several.exceptions[0] from None


def run_alone(work: Coroutine[Any, Any, Result]) -> Result:
    """Where a loop is running already, as in notebooks, in a thread of its own."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(work)
    found, errors = list[Result](), list[BaseException]()

    def inside() -> None:
        try:
            found.append(asyncio.run(work))
        except BaseException as error:
            errors.append(error)

    thread = threading.Thread(target=inside)
    thread.start()
    thread.join()
    if errors:
        raise errors[0]
    return found[0]
