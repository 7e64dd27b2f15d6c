"""Which action, judged by annotated seconds alone: nothing here knows of frames.

A video is what somebody wrote down: (action, start, end). A time lies between two moments; the whole video between
minus and plus infinity, "after A" from A's end, "before A" up to A's start. None: no answer, or no single one.
"""

from math import inf

Done = tuple[str, float, float]


class Unseen(str):
    """An action that no frame shows: it is done beside the others, but nobody would know it for an answer."""


def only_one(video: list[Done], since: float = -inf, until: float = inf) -> str | None:
    """What is done in this time, if it is one thing done once."""
    found = [a for a, start, end in video if end > since and start < until]
    return found[0] if len(found) == 1 else None


def only_finished(video: list[Done], since: float = -inf, until: float = inf) -> str | None:
    """The same, if it also ends in this time."""
    ends = [a for a, start, end in video if since < end <= until]
    return only_one(video, since, until) if ends else None


def starts_first(video: list[Done], since: float = -inf, until: float = inf) -> str | None:
    """Nothing else within five seconds of the beginning, nothing that started less than a second too early."""
    begin = max(since, min((start for _, start, _ in video), default=inf))
    around = {a for a, start, end in video if end > since and start < until and start <= begin + 5 and end >= begin}
    early = [a for a, start, end in video if since - 1 < start < since < end]
    starts = [(start, a) for a, start, _ in video if since <= start < until]
    earliest = [a for start, a in starts if start == min(starts)[0]]
    return earliest[0] if len(earliest) == 1 and len(around) <= 1 and not early else None


def ends_last(video: list[Done], since: float = -inf, until: float = inf) -> str | None:
    """Nothing else within five seconds of the end; an action that starts there is something else."""
    finish = min(until, max((end for _, _, end in video), default=-inf))
    around = {a for a, start, end in video if end > since and start <= finish and end >= finish - 5}
    ends = [(end, a) for a, _, end in video if since < end <= until]
    latest = [a for end, a in ends if end == max(ends)[0]]
    return latest[0] if len(latest) == 1 and len(around) <= 1 else None


def in_order(video: list[Done], a: str, b: str) -> str | None:
    """Before or after: both are done once, and one has ended when the other starts."""
    times = {action: [(start, end) for other, start, end in video if other == action] for action in (a, b)}
    if a == b or len(times[a]) != 1 or len(times[b]) != 1:
        return None
    (a_start, a_end), (b_start, b_end) = times[a][0], times[b][0]
    return "before" if a_end <= b_start else "after" if b_end <= a_start else None


def longest(video: list[Done]) -> str | None:
    """Of two actions or more, the one with the longest instance, by more than seven seconds."""
    lengths = sorted(((end - start, a) for a, start, end in video), reverse=True)
    if len({a for _, a in lengths}) < 2 or lengths[0][0] - lengths[1][0] <= 7:
        return None
    return lengths[0][1]
