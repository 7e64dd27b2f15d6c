"""A whole made-up world on disk: Charades tables and Action Genome pickles, with noise, and the truth beside them."""

import os
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from questree.faults import Fault, refuse
from questree.progress import report
from questree.synth.files import COLUMNS, END, class_files, csv_line, memo, object_entries, person_entries
from questree.synth.habits import Array
from questree.synth.survey import closeness, features, richness
from questree.synth.video import Rates, make_video, observe
from questree.tables.owners import remove
from questree.tables.store import new_file, new_folder
from questree.workers import in_parallel, processes

CHUNK = 25  # videos made at a time
ALONE = 400  # up to so many videos, starting other processes takes longer than the work
FOLDERS = ("", "truth")
OBJECTS, PERSONS = "object_bbox_and_relationship.pkl", "person_bbox.pkl"
TABLES = {split: f"Charades_v1_{split}.csv" for split in ("train", "test")}
FRAME_RATES, NOISE, PARTS = "frame_rates.csv", "noise.json", "parts"


@dataclass
class WorldChunk:
    """What some videos add to each file, and what is counted about them."""

    files: dict[str, list[bytes]]  # by path below the world's folder
    noise: Counter[str]
    shown: Counter[str]
    richness: Counter[str]
    lengths: list[float]
    rows: list[tuple[float, float, float, float]]  # video, action, start, end: of the truth


def write_world(out: Path, videos: int, seed: int, rates: Rates, workers: int | None = None) -> dict[str, Any]:
    """Write the world; what was made, in numbers. The files do not depend on the number of workers."""
    refuse(_faults(out, videos, seed, rates, workers))
    total = WorldChunk({}, Counter(), Counter(), Counter(), [], [])
    with new_folder(out) as folder, ExitStack() as stack:
        (folder / "truth").mkdir()
        files = {name: stack.enter_context(open(folder / name, "wb")) for name in _opened(folder)}
        for name, file in files.items():
            table = b"video,fps\n" if name.endswith(FRAME_RATES) else (",".join(COLUMNS) + "\n").encode()
            file.write(memo().head + b"}" if name.endswith(".pkl") else table)
        report("videos", 0, videos)
        for chunk in _chunks(folder / PARTS, videos, seed, rates, workers or os.cpu_count() or 1):
            for name, data in chunk.files.items():
                files[name].writelines(data)
            for counted in ("noise", "shown", "richness"):
                getattr(total, counted).update(getattr(chunk, counted))
            total.lengths += chunk.lengths
            total.rows += chunk.rows
            report("videos", len(total.lengths), videos)
        for name, file in files.items():
            if name.endswith(".pkl"):
                file.write(END)
        summary = _summary(total, videos, seed, rates)
        noise = msgspec.json.format(msgspec.json.encode(summary["noise"]), indent=2)
        (folder / NOISE).write_bytes(noise + b"\n")
    return summary


def _faults(out: Path, videos: int, seed: int, rates: Rates, workers: int | None) -> list[Fault]:
    foreign = out.is_dir() and any(out.iterdir()) and not (out / NOISE).is_file()
    found = [Fault(str(out), "not empty and not a synthetic world; choose a new folder")] if foreign else []
    found += [] if 1 <= videos <= 36**5 else [Fault("--videos", f"expected 1 to {36**5:,}, got {videos}")]
    found += [] if seed >= 0 else [Fault("--seed", f"expected 0 or more, got {seed}")]
    found += [] if workers is None or workers >= 1 else [Fault("--workers", f"expected 1 or more, got {workers}")]
    for name, rate in asdict(rates).items():
        if not 0 <= rate <= 1:
            found.append(Fault(f"--{name.replace('_', '-')}", f"expected a share from 0 to 1, got {rate}"))
    return found


def _opened(folder: Path) -> list[str]:
    for name, content in class_files().items():
        for place in FOLDERS:
            (folder / place / name).write_text(content)
    names = (*TABLES.values(), FRAME_RATES, OBJECTS, PERSONS)
    return [os.path.join(place, name) for place in FOLDERS for name in names]


def _chunks(parts: Path, videos: int, seed: int, rates: Rates, workers: int) -> Iterator[WorldChunk]:
    tasks = [(seed, first, min(first + CHUNK, videos), rates) for first in range(0, videos, CHUNK)]
    if not in_parallel(workers if videos > ALONE else 1):
        yield from map(_chunk, tasks)
        return
    parts.mkdir()
    with processes(workers) as pool:
        places = [parts / f"{first:08d}" for _, first, *_ in tasks]
        for place, chunk in zip(places, pool.map(_left, tasks, places), strict=True):
            yield replace(chunk, files=msgspec.msgpack.decode(place.read_bytes(), type=dict[str, list[bytes]]))
            place.unlink()
    remove(parts)


def _left(task: tuple[int, int, int, Rates], place: Path) -> WorldChunk:
    """In a worker: what is to be written is left in a file, the rest is counts."""
    chunk = _chunk(task)
    with new_file(place) as work:
        work.write_bytes(msgspec.msgpack.encode(chunk.files))
    return replace(chunk, files={})


def _chunk(task: tuple[int, int, int, Rates]) -> WorldChunk:
    seed, first, last, rates = task
    chunk = WorldChunk({}, Counter(), Counter(), Counter(), [], [])
    for index in range(first, last):
        truth = make_video(seed, index)
        seen, faults = observe(truth, rates, seed, index)
        chunk.noise += faults
        chunk.shown.update(features(truth))
        chunk.richness += richness(truth)
        chunk.lengths.append(truth.length)
        chunk.rows += [(index, s.action, s.start, s.end) for s in truth.spans]
        for place, video in zip(FOLDERS, (seen, truth), strict=True):
            for name, data in (
                (TABLES[video.split], csv_line(video).encode()),
                (FRAME_RATES, f"{video.id},{video.rate}\n".encode()),
                (OBJECTS, object_entries(video)),
                (PERSONS, person_entries(video)),
            ):
                chunk.files.setdefault(os.path.join(place, name), []).append(data)
    return chunk


def _summary(total: WorldChunk, videos: int, seed: int, rates: Rates) -> dict[str, Any]:
    kinds = [*(field.name.replace("_", " ") for field in fields(rates)), "missed persons"]
    rows: Array = np.array(total.rows, float).reshape(-1, 4)
    return {
        "videos": videos,
        "frames": total.richness["frames"],
        "entries": total.richness["entries"],
        "per video": {name: count / videos for name, count in total.richness.items()},
        "features": {name: shown / videos for name, shown in total.shown.items()},
        "closeness": closeness(np.array(total.lengths), rows) if len(rows) else {},
        "noise": {
            "seed": seed,
            "videos": videos,
            "rates": asdict(rates),
            "counts": {kind: {"changed": total.noise[kind], "of": total.noise[f"{kind} of"]} for kind in kinds},
        },
    }
