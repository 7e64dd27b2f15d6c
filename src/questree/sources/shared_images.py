"""Raw files of images read in parts, anywhere: each part becomes tables in a folder, which are then numbered together.

Words are numbered as they come, in the order of the parts; what comes together is ids, words and counts of rows.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import polars as pl

from questree.faults import BadInput, Fault, refuse, with_nul
from questree.sources.catalogue import SOURCES
from questree.sources.repeated_ids import Met, with_repeated
from questree.sources.runs import COUNTED_IMAGES
from questree.sources.scenes import DEV, VAL, SceneReading, used_twice
from questree.sources.shared_videos import Sharing
from questree.tables.images import NAMED, TABLES, WORDS, Images
from questree.tables.run import Run
from questree.tables.store import new_folder


class ImagePart(Protocol):
    """Some of the raw files."""

    @property
    def name(self) -> str: ...

    def take(self) -> SceneReading: ...


@dataclass(frozen=True)
class ImagesRead:
    """What is told about a part whose tables, if nothing is wrong, lie in a folder."""

    met: Met = field(default_factory=Met)
    faults: list[Fault] = field(default_factory=list)
    skipped: Mapping[str, int] = field(default_factory=dict)
    rows: Mapping[str, int] = field(default_factory=dict)  # of each table
    ids: Sequence[str] = ()  # of the images
    words: Sequence[str] = ()
    splits: frozenset[str] = frozenset()
    odd_things: Sequence[str] = ()  # ids of things that no table can hold
    unread: list[Fault] = field(default_factory=list)  # why nothing could be read


@dataclass(frozen=True)
class ImagePieces:
    """Tables of images as pieces in folders, one after the other, and all words."""

    folders: Sequence[Path]
    words: pl.DataFrame
    counts: Mapping[str, int]
    skipped: Mapping[str, int]

    def save(self, folder: Path) -> None:
        for table in TABLES.values():
            if table is WORDS:
                table.write(self.words, folder)
            else:
                table.join(self.folders, folder)


def read_image_parts(
    sharing: Sharing, folder: Path, tasks: Mapping[str, tuple[Any, ...]], run: Path | None = None
) -> ImagePieces:
    """Parts of a source, each by one worker; of `run` the images that are there come first."""
    where = [sharing.place / f"part-{at:05d}" for at in range(len(tasks))]
    given = {name: (*task, out) for (name, task), out in zip(tasks.items(), where, strict=True)}
    read = sharing.each("reading", take_images, given)
    for own in read:
        refuse(own.unread)
    refuse(list(with_repeated([(own.met, own.faults) for own in read], "image", used_twice)))
    refuse(_with_nul(read))
    if not any(own.ids for own in read):
        raise BadInput.at(folder, "no image found in these files")
    whole = {"train", VAL, "test"} <= frozenset[str]().union(*(own.splits for own in read))
    skipped, renamed = Counter[str](), [whole] * len(read)
    for own in read:
        skipped.update(own.skipped)
    if run is not None:
        before = sharing.place / "before"
        (there,) = sharing.each("images that are there", take_stored, {"images": (Run(run).images, before)})
        known = set(there.ids)
        twice = [name for own in read for name in own.ids if name in known]
        refuse([Fault(f"{folder}, image {name}", used_twice(name, str(run))) for name in twice])
        where, read, renamed = [before, *where], [there, *read], [False, *renamed]
    return _numbered(sharing, where, read, renamed, skipped)


def _with_nul(read: Sequence[ImagesRead]) -> list[Fault]:
    words = dict.fromkeys(word for own in read for word in own.words)
    images, things = ([name for own in read for name in getattr(own, of)] for of in ("ids", "odd_things"))
    named = {"image id": images, "thing id": things, "name": [*words]}
    return [fault for what, texts in named.items() for fault in with_nul("", what, texts)]


def take_images(kind: str, part: ImagePart | None, source: Path, more: Mapping[str, Any], out: Path) -> ImagesRead:
    """In a worker: read a part of a source, or all of it, and write its tables."""
    try:
        if part is None:
            found = SOURCES[kind].read(source, **more)
            images, skipped = found if isinstance(found, tuple) else (found, {})
            return _written(images, out, skipped=dict(skipped))
        reading = part.take()
    except BadInput as bad:
        return ImagesRead(unread=bad.faults)
    if reading.faults:
        return ImagesRead(reading.met, reading.faults)
    return _written(reading.gathering.done(), out, met=reading.met, skipped=dict(reading.skipped))


def take_stored(folder: Path, out: Path) -> ImagesRead:
    """In a worker: images of a run as a piece."""
    return _written(Images.load(folder), out)


def _written(images: Images, out: Path, **told: Any) -> ImagesRead:
    with new_folder(out) as folder:
        for name, table in TABLES.items():
            table.write_piece(getattr(images, name), folder)
    return ImagesRead(
        **told,
        rows={name: len(getattr(images, name)) for name in TABLES},
        ids=images.images["id"].to_list(),
        words=images.words["word"].to_list(),
        splits=frozenset(images.images["split"].unique()),
        odd_things=images.things["id"].filter(images.things["id"].str.contains("\0", literal=True)).to_list(),
    )


@dataclass(frozen=True)
class MoveTask:
    """A piece, and what its numbers become among all pieces."""

    piece: Path
    shift: Mapping[str, int]  # column -> what is added
    words: Sequence[int]  # [word of the piece] its number among all
    renamed: bool  # is val the source's own dev?
    out: Path


def _numbered(
    sharing: Sharing,
    where: Sequence[Path],
    read: Sequence[ImagesRead],
    renamed: Sequence[bool],
    skipped: Mapping[str, int],
) -> ImagePieces:
    number, total, tasks = dict[str, int](), dict.fromkeys(TABLES, 0), list[MoveTask]()
    for at, (piece, own) in enumerate(zip(where, read, strict=True)):
        things, edges = total["things"], total["relations"]
        shift = {"image": total["images"], "edge": edges} | dict.fromkeys(("thing", "subject", "object"), things)
        words = [number.setdefault(word, len(number)) for word in own.words]
        tasks.append(MoveTask(piece, shift, words, renamed[at], sharing.place / f"moved-{at:05d}"))
        total = {name: total[name] + own.rows[name] for name in TABLES}
    if len(tasks) > 1 or any(renamed):
        sharing.each("numbering images", move, {f"part {at}": (task,) for at, task in enumerate(tasks)})
        where = [task.out for task in tasks]
    counts = {name: total[name] for name in COUNTED_IMAGES} | {"words": len(number)}
    return ImagePieces(where, pl.DataFrame({"word": list(number)}, schema=dict(WORDS.columns)), counts, skipped)


def move(task: MoveTask) -> None:
    """In a worker: write a piece with the numbers it has among all."""
    at = pl.Series(task.words, dtype=pl.UInt32)
    with new_folder(task.out) as folder:
        for table in (table for table in TABLES.values() if table is not WORDS):
            rows = table.read_piece(task.piece)
            shifted = [pl.col(name) + by for name, by in task.shift.items() if name in rows.columns]
            named = [at.gather(rows[name]).alias(name) for name in NAMED if name in rows.columns]
            rows = rows.with_columns(*shifted, *named)
            if task.renamed and "split" in rows.columns:
                rows = rows.with_columns(pl.col("split").replace(VAL, DEV))
            table.write_piece(rows, folder)
