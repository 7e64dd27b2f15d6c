"""What the order of taking, holding and putting one thing must fulfil, pair by pair (2.2, rule 8)."""

from collections.abc import Iterator
from itertools import combinations

Stamps = tuple[str, float, float]  # role, start, end
ROLES = ["take", "hold", "put"]


def wrongly_ordered(annotated: list[Stamps], trimmed: list[Stamps]) -> list[tuple[Stamps, Stamps]]:
    """In released graphs: pairs annotated at the same time that still overlap, or ended in the wrong order."""
    wrong = []
    for (a, a_now), (b, b_now) in combinations(zip(annotated, trimmed, strict=True), 2):
        if a[0] == b[0] or max(a[1], b[1]) > min(a[2], b[2]):
            continue
        a_first, b_first = a_now[2] < b_now[1], b_now[2] < a_now[1]
        if b_first if must_precede(a, b, annotated) else a_first if must_precede(b, a, annotated) else False:
            wrong.append((a, b))
        if not a_first and not b_first:
            wrong.append((a, b))
    return wrong


def must_precede(a: Stamps, b: Stamps, all_of_them: list[Stamps]) -> bool:
    """It starts and has its middle earlier; of two alone that disagree, it has the earlier role."""
    starts, middles = a[1] - b[1], (a[1] + a[2]) - (b[1] + b[2])
    if starts and middles and (starts < 0) == (middles < 0):
        return starts < 0
    return len(all_of_them) == 2 and ROLES.index(a[0]) < ROLES.index(b[0])


def must_end_first(a: Stamps, b: Stamps) -> bool:
    """They overlap, and it starts and ends earlier; where one of the two is equal, it also has the earlier role."""
    if a[0] == b[0] or min(a[2], b[2]) <= max(a[1], b[1]) or a[1] > b[1] or a[2] > b[2]:
        return False
    return (a[1] < b[1] and a[2] < b[2]) or ROLES.index(a[0]) < ROLES.index(b[0])


def unsettled(annotated: list[Stamps], trimmed: list[Stamps]) -> list[tuple[Stamps, Stamps]]:
    """The pairs that have an order and still overlap, or ended in the other one."""
    both = list(zip(annotated, trimmed, strict=True))
    return [(a, b) for a, a_now in both for b, b_now in both if must_end_first(a, b) and a_now[2] > b_now[1]]


def alone(annotated: list[Stamps], trimmed: list[Stamps], step: float) -> Iterator[tuple[Stamps, float]]:
    """Moments at which an action was annotated beside nothing else of its family, and is no longer."""
    for was, now in zip(annotated, trimmed, strict=True):
        others = [other for other in annotated if other is not was]
        for count in range(round((was[2] - was[1]) / step)):
            moment = was[1] + (count + 0.5) * step
            if not now[1] <= moment < now[2] and not any(other[1] <= moment < other[2] for other in others):
                yield was, moment
