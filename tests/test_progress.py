"""Progress that is told: task by task, and inside of a task that another process does."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from questree.progress import finished, reporter
from questree.workers import processes
from worlds.tasks import slow


@pytest.mark.processes
def test_progress_moves_inside_of_a_task() -> None:
    told = list[tuple[str, float, int]]()
    token = reporter.set(lambda *each: told.append(each))
    try:
        with processes(1) as pool:
            futures = [pool.submit(slow, 1.5), pool.submit(slow, 0.0)]
            assert [future.result() for future in finished(futures, "work")] == ["done", "done"]
    finally:
        reporter.reset(token)
    values = [done for _, done, _ in told]
    assert values[0] == 0 and values[-1] == 2 and 0.5 in values and values == sorted(values)
    assert {(label, total) for label, _, total in told} == {("work", 2)}


def test_in_threads_progress_is_told_task_by_task() -> None:
    told = list[float]()
    token = reporter.set(lambda _, done, __: told.append(done))
    try:
        with processes(1, ThreadPoolExecutor(1)) as pool:
            list(finished([pool.submit(slow, 0.0)], "work"))
    finally:
        reporter.reset(token)
    assert told[0] == 0 and told[-1] == 1 and set(told) <= {0, 1}
