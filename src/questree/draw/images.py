"""All images of a made-up world on disk: DIR/<image>.png, where the page looks for them."""

import os
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from questree.draw.canvas import Sheet
from questree.draw.image import draw_image
from questree.progress import report
from questree.synth.images import FIRST_IMAGE, make_image, world
from questree.tables.store import new_folder
from questree.workers import in_parallel, processes

CHUNK, ALONE = 25, 100  # images drawn at a time; up to so many, one process is faster
Task = tuple[Path, int, int, int]


def write_pixels(out: Path, images: int, seed: int, workers: int | None = None) -> int:
    """Draw the images of this seed; how many there are."""
    workers = workers or os.cpu_count() or 1
    with new_folder(out) as folder:
        tasks = [(folder, seed, first, min(first + CHUNK, images)) for first in range(0, images, CHUNK)]
        report("drawing images", 0, images)
        if not in_parallel(workers if images > ALONE else 1):
            return _counted(map(_draw, tasks), images)
        with processes(workers) as pool:
            return _counted(pool.map(_draw, tasks), images)


def _counted(done: Iterable[int], images: int) -> int:
    total = 0
    for count in done:
        total += count
        report("drawing images", total, images)
    return total


def _draw(task: Task) -> int:
    folder, seed, first, last = task
    for at in range(first, last):
        scene = make_image(at, seed)
        sheet = Sheet((scene["width"], scene["height"]))
        draw_image(sheet.canvas, scene, dyed())
        (folder / f"{FIRST_IMAGE + at}.png").write_bytes(sheet.png())
    return last - first


@cache
def dyed() -> frozenset[str]:
    """Names of things that may have a colour."""
    known = world()
    kinds = [*known.ground.items(), *known.things.items(), *known.worn_values.items(), *known.part_values.items()]
    return frozenset(name for name, kind in kinds if kind.color)
