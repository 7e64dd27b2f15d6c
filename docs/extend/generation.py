"""A rule of generation, and a template that is asked under it: no questions about less than 3 frames."""

from typing import Any

import numpy as np

from questree.plugins import generation, template


@generation("time is short", needs="time")
def short(core: Any) -> Any:
    """[candidate] is it left out? `window` is [candidate, 2]: the first frame, and the one after the last."""
    return np.asarray(core.window[:, 1] - core.window[:, 0] < 3)


template(
    "relExistsLong",
    program="within(doing($relation), $time)",
    wordings=[
        "Did they spend some time {relation} {relation:something}{time}?",
        "{Time}, did they spend some time {relation} {relation:something}?",
    ],
    relations=["contact", "verb"],
    times=["before", "after", "while"],
    rules=["relation is never asked", "relation of the time's action", "time is short", "more than 8 steps"],
    group="exists",
    key="{relation}",
)
