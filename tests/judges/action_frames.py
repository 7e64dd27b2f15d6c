"""Which frames show an action, judged one by one: at or after its start and before its end."""

REACH = 0.5  # seconds
MOMENT = 1e-6  # what has no length lasts a moment

Stamps = tuple[float, float]


def going_on(span: Stamps, second: float) -> bool:
    return span[0] <= second < max(span[1], span[0] + MOMENT)


def overlap(one: Stamps, other: Stamps) -> bool:
    return max(one[0], other[0]) < min(max(span[1], span[0] + MOMENT) for span in (one, other))


def away(span: Stamps, second: float) -> float:
    return span[0] - second if second < span[0] else max(second - span[1], 0.0)


def own(span: Stamps, seconds: list[float]) -> list[int]:
    return [frame for frame, second in enumerate(seconds) if going_on(span, second)]


def shown(spans: list[Stamps], seconds: list[float]) -> list[list[int]]:
    """The frames of every action of a video; of one between two frames the nearest, if all else that has frames is
    going on there exactly if it is going on beside it, and nothing else without a frame is nearer."""
    found = [own(span, seconds) if span[1] > span[0] else [] for span in spans]
    seen = [span for span, frames in zip(spans, found, strict=True) if frames]
    wishes = list[tuple[float, Stamps, int, int]]()  # how far, the stamps, which action, which frame
    for at, span in enumerate(spans):
        if found[at] or not seconds:
            continue
        frame = min(range(len(seconds)), key=lambda each: (away(span, seconds[each]), seconds[each] < span[0]))
        same = all(going_on(other, seconds[frame]) == overlap(other, span) for other in seen)
        if away(span, seconds[frame]) <= REACH and same:
            wishes.append((away(span, seconds[frame]), span, at, frame))
    for _, span, at, frame in sorted(wishes):
        first = next(each for each in sorted(wishes) if each[3] == frame)
        if first[1] == span:
            found[at] = [frame]
    return found
