"""All frames of a made-up world on disk: DIR/<video>/<frame>.png, where the page looks for them, and <video>.mp4."""

import os
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from questree.draw.canvas import Pixels, Sheet
from questree.draw.film import write_film
from questree.draw.frame import draw_frame
from questree.draw.videos import scenes
from questree.progress import report
from questree.synth.video import SynthVideo, make_video
from questree.tables.store import new_folder
from questree.workers import in_parallel, processes

CHUNK = 4  # videos drawn at a time
ALONE = 8  # up to so many videos, starting other processes takes longer than the work
Size = tuple[int, int]


def write_frames(
    out: Path, videos: int, seed: int, most: Size | None = None, workers: int | None = None
) -> Counter[str]:
    """Draw the truth of the world of this seed; frames are as large as the videos, or as fits into `most`."""
    workers = workers or os.cpu_count() or 1
    counts = Counter[str]()
    with new_folder(out) as folder:
        tasks = [(folder, seed, first, min(first + CHUNK, videos), most) for first in range(0, videos, CHUNK)]
        report("drawing videos", 0, videos)
        for done, found in enumerate(_drawn(tasks, workers if videos > ALONE else 1), 1):
            counts.update(found)
            report("drawing videos", min(done * CHUNK, videos), videos)
    return counts


Task = tuple[Path, int, int, int, Size | None]


def _drawn(tasks: list[Task], workers: int) -> Iterator[Counter[str]]:
    if not in_parallel(workers):
        yield from map(_draw, tasks)
        return
    with processes(workers) as pool:
        yield from pool.map(_draw, tasks)


def _draw(task: Task) -> Counter[str]:
    folder, seed, first, last, most = task
    counts = Counter[str]()
    for index in range(first, last):
        video = make_video(seed, index)
        if len(video.numbers):
            (folder / video.id).mkdir(exist_ok=True)  # a worker may have died at it
            write_film(folder / f"{video.id}.mp4", _shots(folder, video, most), video.length)
            counts.update({"frames": len(video.numbers), "films": 1})
    return counts


def _shots(folder: Path, video: SynthVideo, most: Size | None) -> Iterator[tuple[float, Pixels]]:
    scale = min(most[0] / video.size[0], most[1] / video.size[1]) if most else 1.0
    for number, second, scene in zip(video.numbers.tolist(), video.seconds.tolist(), scenes(video), strict=True):
        sheet = Sheet(video.size, scale)
        draw_frame(sheet.canvas, scene)
        (folder / video.id / f"{number:06}.png").write_bytes(sheet.png())
        yield second, sheet.pixels
