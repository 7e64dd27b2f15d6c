"""How many votes and items a wanted half-width needs, and what they cost in time."""

import math
from typing import Any

from questree.metrics.comparison import NORMAL

VOTES = (1, 3, 5, 7)


def majority_right(error: float, votes: int) -> float:
    """The chance that most of so many people are right who err independently: a binomial tail."""
    least = votes // 2 + 1
    return math.fsum(
        math.comb(votes, right) * (1 - error) ** right * error ** (votes - right) for right in range(least, votes + 1)
    )


def found_right(accuracy: float, error: float, votes: int) -> float:
    """The share of items the majority finds right, if so many are and people err as often on the others."""
    right = majority_right(error, votes)
    return accuracy * right + (1 - accuracy) * (1 - right)


def items_needed(share: float, half_width: float) -> int:
    """Of a share, for a half-width of its 95 % interval: n = 1.96^2 p (1 - p) / h^2."""
    return max(2, math.ceil(NORMAL**2 * share * (1 - share) / half_width**2))


def plan(accuracy: float, error: float, half_width: float, seconds: float, groups: int = 1) -> list[dict[str, Any]]:
    """A row per number of votes; `groups` are types or categories of which each is to have this half-width."""
    rows = []
    for votes in VOTES:
        share = found_right(accuracy, error, votes)
        items = items_needed(share, half_width)
        answers = items * votes * groups
        rows.append(
            {
                "votes": votes,
                "majority right": majority_right(error, votes),
                "found right": share,
                "off by": share - accuracy,
                "items per group": items,
                "answers": answers,
                "hours": answers * seconds / 3600,
            }
        )
    return rows
