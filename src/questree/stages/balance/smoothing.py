"""Answers of open questions made less predictable: how many questions of each answer stay (Algorithm 1)."""

import math

import numpy as np

from questree.columns.joins import Ints
from questree.stages.balance.options import Smoothing


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
    top = math.ceil(how.top_answers * len(counts))
    return bool(counts[:top].sum() <= how.top_questions * counts.sum())


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
