"""How far answers are levelled, the paper's numbers as defaults: how many questions of each answer and effect stay."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from questree.columns.compiled import njit
from questree.columns.joins import Ints
from questree.faults import BadInput

QUERY = "query"  # the structure that loses nothing in the second round
SHARES = {QUERY: 0.50, "compare": 0.15, "choose": 0.15, "verify": 0.15, "logic": 0.05}
SPLITS = ("train", "test")


@dataclass(frozen=True)
class Smoothing:
    """How far the answers of open questions are levelled (Algorithm 1)."""

    tail: float = 0.05  # rarest answers that together hold at most this share are left alone
    ratio: float = 3.0  # of a head answer's mean count to a tail answer's, at first
    factor: float = 0.75  # the ratio is multiplied by it after each failed pass, and not below 1
    few: int = 10  # an answer with fewer questions ends a pass
    top_answers: float = 0.20  # done when this share of the answers ...
    top_questions: float = 0.30  # ... holds at most this share of the questions
    least: float = 0.10  # of the questions that must stay

    def top(self, answers: int) -> int:
        """How many of so many answers are the most frequent ones."""
        return math.ceil(self.top_answers * answers)


@dataclass(frozen=True)
class BalanceOptions:
    seed: int = 1
    smoothing: Smoothing = Smoothing()
    shares: dict[str, float] = field(default_factory=lambda: dict(SHARES))
    share_tolerance: float | None = None  # by which a structure's share may miss; None: query loses nothing
    untimed_keys: bool = False  # content keys of binary questions do not have the time
    as_released: bool = False  # do no more than AGQA's release does


def read_shares(text: str) -> dict[str, float]:
    """ "query=50,compare=15,..." in per cent; every structure once."""
    given: dict[str, float] = {}
    for part in filter(None, text.split(",")):
        name, _, number = part.partition("=")
        try:
            given[name.strip()] = float(number) / 100
        except ValueError:
            raise BadInput.at("--shares", f"expected NAME=PER CENT as in query=50, got {part!r}") from None
    wrong = sorted(set(given) ^ set(SHARES))
    if wrong:
        raise BadInput.at("--shares", f"expected each of {', '.join(SHARES)} once, got {text}: see {', '.join(wrong)}")
    if abs(sum(given.values()) - 1) > 1e-9 or min(given.values()) < 0:
        raise BadInput.at("--shares", f"expected shares that add up to 100, got {text}")
    return given


def remaining(counts: Sequence[int], k: int) -> tuple[int, int, int, int]:
    """Counts per temporal effect after k deletions."""
    same, different, no_direct, no_temporal = counts
    a, b, c, d = cut_effects(same, different, no_direct, no_temporal, k)
    return int(a), int(b), int(c), int(d)


@njit(cache=True, nogil=True)
def cut_effects(same, different, no_direct, no_temporal, k):  # type: ignore[no-untyped-def]
    """Counts per temporal effect (9.1) after k deletions (9.2); an odd one of a half or a third is taken from `same`.

    Same and different are made equal; these two equal to no_direct; these three to no_temporal; then a quarter each.
    """
    if k >= same + different + no_direct + no_temporal:
        return 0, 0, 0, 0
    cut = min(k, abs(same - different))
    if same > different:
        same -= cut
    else:
        different -= cut
    k -= cut
    if no_direct > same:
        cut = min(k, no_direct - same)
        no_direct -= cut
    else:
        cut = min(k, 2 * (same - no_direct))
        same, different = same - (cut + 1) // 2, different - cut // 2
    k -= cut
    if no_temporal > same:
        cut = min(k, no_temporal - same)
        no_temporal -= cut
    else:
        cut = min(k, 3 * (same - no_temporal))
        same, different, no_direct = same - (cut + 2) // 3, different - (cut + 1) // 3, no_direct - cut // 3
    k -= cut
    quarter, left = k // 4, k % 4
    first = min(left, no_temporal - quarter)
    left -= first
    return (
        same - quarter - (left + 1) // 2,
        different - quarter - left // 2,
        no_direct - quarter,
        no_temporal - quarter - first,
    )


def answers_kept(counts: Ints, how: Smoothing) -> Ints:
    """[answer] how many questions of each answer stay, out of `counts`."""
    order = np.argsort(-counts, kind="stable")
    ordered = counts[order].astype(np.int64)
    kept = np.empty_like(ordered)
    kept[order] = smoothed(ordered, how)
    return kept


def smoothed(counts: Ints, how: Smoothing) -> Ints:
    """counts: most frequent answer first. One answer says nothing, two are made equal, more are smoothed."""
    head = len(counts) - tail(counts, how.tail)
    head = head if head > 2 else len(counts)
    if head == 1:
        return np.zeros_like(counts)
    if head == 2:
        return np.full_like(counts, counts[1])
    return np.append(smooth(counts[:head], how), counts[head:])


def tail(counts: Ints, share: float) -> int:
    """How many of the rarest answers together hold at most this share of the questions."""
    return int(np.searchsorted(np.cumsum(counts[::-1]), share * counts.sum(), side="right"))


def smooth(counts: Ints, how: Smoothing) -> Ints:
    """Pass after pass with a smaller ratio, until the top answers no longer dominate or too little would stay."""
    ratio, now = how.ratio, counts
    while ratio >= 1:
        after = one_pass(now, ratio, how.few)
        if after.sum() < how.least * counts.sum():
            return now
        now, ratio = after, ratio * how.factor
        if even(now, how):
            break
    return now


def even(counts: Ints, how: Smoothing) -> bool:
    """counts: most frequent answer first."""
    return bool(counts[: how.top(len(counts))].sum() <= how.top_questions * counts.sum())


def lowered(counts: Ints, before: int, how: Smoothing) -> Ints:
    """No answer above `even_level`; unchanged where too few of `before` questions would stay."""
    left = np.minimum(counts, even_level(counts, how))
    return left if left.sum() >= max(how.least * before, 1) else counts


def even_level(counts: Ints, how: Smoothing) -> int:
    """The highest level at which the top answers no longer dominate. So few answers that they always do are made equal:
    of two, the top one has a half."""
    ordered = np.sort(counts)[::-1]
    low, high = 0, int(ordered[0])
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if even(np.minimum(ordered, middle), how) else (low, middle - 1)
    return low or int(ordered[-1])


def one_pass(counts: Ints, ratio: float, few: int) -> Ints:
    """For every cut into head and tail: lower the head until its mean is at most `ratio` times the tail's mean.

    Deleting one question at a time, how many go at a cut does not depend on which: it ends when the ratio is reached or
    all of the head is down to the first answer of the tail. So it is a number, and `lower` shares it out.
    """
    now = counts.copy()
    for cut in range(1, len(now)):
        if now[cut - 1] < few:
            break
        rest = int(now[cut:].sum())
        most = math.floor(ratio * cut * rest / (len(now) - cut))
        if now[:cut].sum() > most:
            now[:cut] = lower(now[:cut], most, int(now[cut]))
    return now


def shrunk(counts: Ints, total: int) -> Ints:
    """All counts in proportion, adding up to `total`."""
    order, found = np.argsort(-counts, kind="stable"), np.empty_like(counts)
    found[order] = lower(counts[order], total, 0)
    return found


def lower(head: Ints, total: int, floor: int) -> Ints:
    """The head's counts shrunk in proportion, none below `floor`, adding up to `total` (or all at the floor).

    A question to delete is drawn from large answers more often: on average counts shrink in proportion.
    """
    if total <= floor * len(head):
        return np.full_like(head, floor)
    for free in range(len(head), 0, -1):  # answers that stay above the floor: the most frequent ones
        left = total - floor * (len(head) - free)
        if head[free - 1] * left >= floor * head[:free].sum():
            break
    shrunk, rest = np.divmod(head[:free] * left, head[:free].sum())
    odd = np.argsort(-rest, kind="stable")[: left - shrunk.sum()]  # the largest remainders are rounded up
    shrunk[odd] += 1
    return np.append(shrunk, np.full(len(head) - free, floor))
