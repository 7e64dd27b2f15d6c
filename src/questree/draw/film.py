"""A video file of drawn frames: each is seen from its own second until the next."""

from collections.abc import Iterable, Iterator
from fractions import Fraction
from os import fspath
from pathlib import Path

import av

from questree.draw.canvas import Pixels

TICK = Fraction(1, 1000)
CODER = {"preset": "ultrafast", "crf": "22", "g": "1"}  # every frame can be jumped to


def write_film(path: Path, frames: Iterable[tuple[float, Pixels]], length: float) -> None:
    """An MP4 (H.264) that begins with the first frame and lasts as long as the video."""
    shots = _from_the_beginning(frames, length)
    first = next(shots)
    height, width = (side // 2 * 2 for side in first[1].shape[:2])  # the colours of two by two pixels are stored as one
    with av.open(fspath(path), "w", format="mp4") as file:
        stream = file.add_stream("libx264", rate=30, options=CODER)
        stream.width, stream.height, stream.pix_fmt = width, height, "yuv420p"
        stream.codec_context.time_base, stream.codec_context.thread_count = TICK, 1
        for second, pixels in (first, *shots):
            frame = av.VideoFrame.from_ndarray(pixels[:height, :width], format="rgba")
            frame.pts, frame.time_base = round(second / TICK), TICK
            file.mux(stream.encode(frame))
        file.mux(stream.encode(None))


def _from_the_beginning(frames: Iterable[tuple[float, Pixels]], length: float) -> Iterator[tuple[float, Pixels]]:
    """Every tick once, the first at 0, and the last frame once more at the end."""
    second, last, before = 0.0, None, -1
    for at, pixels in frames:
        second, last = (at, pixels) if last is not None else (0.0, pixels)
        if round(second / TICK) > before:
            before = round(second / TICK)
            yield second, pixels
    if last is not None and round(length / TICK) > before:
        yield length, last
