"""What the order of taking, holding and putting one thing must fulfil, pair by pair (2.2, rule 8)."""

from itertools import combinations

Stamps = tuple[str, float, float]  # role, start, end
ROLES = ["take", "hold", "put"]


def wrongly_ordered(annotated: list[Stamps], trimmed: list[Stamps]) -> list[tuple[Stamps, Stamps]]:
    """The pairs of actions that were annotated at the same time and still overlap, or ended in the wrong order."""
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
