"""Balancing's condition by plain loops: who has which answer, and how many questions the most frequent answers have."""

import math
from collections import Counter
from collections.abc import Hashable, Iterable


def top_share(answers: Iterable[Hashable], top: float = 0.2) -> tuple[int, float]:
    """How many answers there are, and the share of the questions that the most frequent ones have."""
    counts = Counter(answers)
    few = math.ceil(top * len(counts))
    return len(counts), sum(number for _, number in counts.most_common(few)) / counts.total()


def lowered(counts: list[int], before: int, most: float, least: float) -> list[int]:
    """One level after the other is tried, from the highest on; of so few answers that there is none, all are equal."""
    few = math.ceil(0.2 * len(counts))
    for level in range(max(counts), 0, -1):
        left = [min(count, level) for count in counts]
        if sum(sorted(left)[-few:]) <= most * sum(left) or len(set(left)) == 1:
            return left if sum(left) >= least * before else counts
    return counts


def can_be_had(total: float, there: dict[str, int], shares: dict[str, float], tolerance: float) -> bool:
    """Are there so many questions in all of which no structure's share misses by more?"""
    most = {name: min(there[name], (share + tolerance) * total) for name, share in shares.items()}
    enough = all(most[name] >= (share - tolerance) * total - 1e-6 for name, share in shares.items())
    return enough and sum(most.values()) >= total - 1e-6
