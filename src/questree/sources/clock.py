"""Frames for videos that have none: where their actions begin and end, and every whole second."""

from collections.abc import Sequence

MOST = 20_000  # seconds up to which every one has a frame; a longer video has frames further apart
FINE = 100.0  # frames are numbered by hundredths of a second where nobody says the frame rate


def clock_frames(
    spans: Sequence[tuple[float, float]], length: float | None = None, rate: float | None = None
) -> list[tuple[int, float]]:
    """(number, seconds) of the frames, in order; none without actions, none after the video's end.

    Every action has the frames of its start and its end, so that what comes first in seconds comes first in frames. The
    number is that of the frame shown then; where two moments fall into one frame, the later one takes the next number.
    """
    if not spans:
        return []
    end = max(end for _, end in spans) if length is None else length
    moments = {float(second) for second in range(0, int(end) + 1, 1 + int(end) // MOST)}
    moments |= {min(each, end) for span in spans for each in span}
    found, free = list[tuple[int, float]](), 0
    for seconds in sorted(moments):
        number = max(round(seconds * (rate or FINE)), free)
        found.append((number, seconds))
        free = number + 1
    return found
