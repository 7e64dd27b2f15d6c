"""Work for processes of a pool, which find this package by the path tests are run with."""

import time

from questree.progress import inside


def slow(seconds: float) -> str:
    inside(0.5)
    time.sleep(seconds)
    inside(1)
    return "done"
