"""Making features shard by shard: finished shards are kept, and no number depends on who made it."""

from abc import ABC, abstractmethod
from concurrent.futures import Executor
from dataclasses import asdict, dataclass
from functools import partial
from hashlib import blake2b
from itertools import pairwise
from pathlib import Path
from typing import Any, ClassVar

import msgspec
import numpy as np
import polars as pl

from questree.columns.joins import starts
from questree.features.files import FeatureFormat, read_shard, write_shard
from questree.features.image_facts import ImageFacts
from questree.features.options import FeatureOptions
from questree.features.read import NOTE, PLACES, StreamShape, features_folder
from questree.features.rows import DETECTIONS, OBJECTS, PlaceFeatures, StreamRows
from questree.features.video_facts import VideoFacts
from questree.stages.ground.boxes import VIEW
from questree.tables.digests import write_note
from questree.tables.facts import FRAMES, VIDEOS, Facts
from questree.tables.image_questions import question_folders, scanned
from questree.tables.images import IMAGES, Images
from questree.tables.run import Run, kept_while
from questree.tables.shard_folders import NOTES, ShardFolders
from questree.tables.store import new_file
from questree.tables.table import readable
from questree.vocabulary.words import Vocabulary
from questree.workers import processes, results

BOXED = PLACES.only("id", "boxes")  # of a shard, while it is one
DETECTED = "detections.json"
IMAGES_OF_A_SET = 5  # as COVR's sets have them, in a run without questions


@dataclass(frozen=True)
class FeatureSource(ABC):
    """Who makes features of the places first <= i < end of a run; it is sent to workers."""

    run: Path
    options: FeatureOptions

    medium: ClassVar[str]

    @property
    def called(self) -> str:
        """What they are made from."""
        return "facts"

    @property
    def images_of_scope(self) -> int:
        """Most places of a question."""
        return 1

    def check(self) -> None:
        """What they cannot be made without is told before anything is made."""
        return

    @abstractmethod
    def ids(self) -> list[str]: ...

    @abstractmethod
    def views(self) -> list[list[str]]:
        """[place] what a detector looks at one by one: an image, or the frames of a video."""

    @abstractmethod
    def state(self) -> Any:
        """Differs if what they are made from does."""

    @abstractmethod
    def made(self, first: int, end: int) -> PlaceFeatures: ...


class FactsOfVideos(FeatureSource):
    medium = "video"

    def ids(self) -> list[str]:
        return Run(self.run).table("facts", VIDEOS)["id"].to_list()

    def views(self) -> list[list[str]]:
        ids, frames = self.ids(), Run(self.run).table("facts", FRAMES)
        own = pl.Series(ids, dtype=pl.String).gather(frames["video"])
        names = frames.select(place=own, frame="number").select(VIEW).to_series().to_list()
        start = starts(frames["video"].to_numpy(), len(ids)).tolist()
        return [names[a:b] for a, b in pairwise(start)]

    def state(self) -> Any:
        return Run(self.run).facts_digest()

    def made(self, first: int, end: int) -> PlaceFeatures:
        facts, vocabulary = video_facts(self.run)
        return VideoFacts(facts.between(first, end), vocabulary, self.options).made()


@kept_while("vocabulary.toml", "facts", "ledger.json")
def video_facts(run: Path) -> tuple[Facts, Vocabulary]:
    return Run(run).load("facts"), Run(run).vocabulary()


class FactsOfImages(FeatureSource):
    medium = "images"

    @property
    def images_of_scope(self) -> int:
        run = Run(self.run)
        if not question_folders(run):
            return IMAGES_OF_A_SET
        with readable(run.covr / "questions"):
            return int(scanned(run).select(pl.col("images").list.len().max()).collect().item() or 1)

    def ids(self) -> list[str]:
        return IMAGES.read(Run(self.run).images)["id"].to_list()

    def views(self) -> list[list[str]]:
        return [[id] for id in self.ids()]

    def state(self) -> Any:
        digest = blake2b(digest_size=16)
        for path in sorted(Run(self.run).images.glob("*.parquet")):
            digest.update(path.read_bytes())
        return digest.hexdigest()

    def made(self, first: int, end: int) -> PlaceFeatures:
        return ImageFacts(image_facts(self.run), first, end, self.options).made()


@kept_while("images")
def image_facts(run: Path) -> Images:
    return Images.load(run / "images")


@dataclass(frozen=True)
class FeatureTask:
    source: FeatureSource
    out: Path  # the shard
    first: int
    end: int


def write_features(
    source: FeatureSource,
    options: FeatureOptions,
    run: Run,
    name: str,
    format: FeatureFormat,
    shard: int,
    workers: int,
    pool: Executor | None = None,
) -> dict[str, Any]:
    """Write RUN/features/NAME; an interrupted run goes on where it stopped. What is told about them."""
    folder, ids = features_folder(run.folder) / name, source.ids()
    most = source.images_of_scope  # before anything is made: questions may be damaged
    plan = {"source": source.called, "format": format, "shard": shard, "state": source.state(), **asdict(options)}
    place = ShardFolders(folder, msgspec.json.format(msgspec.json.encode(plan)))
    work = place.work
    begins = range(0, len(ids), shard)
    tasks = [
        FeatureTask(source, work / f"{at:05d}.{format}", begin, min(begin + shard, len(ids)))
        for at, begin in enumerate(begins)
    ]
    names = [task.out.name for task in tasks]
    remedy = partial(place.kept, names, "a smaller --shard")
    with place.begun(names):
        left = {f"shard {task.out.stem}": task for task in tasks if not task.out.is_file()}
        with processes(workers, pool, remedy, len(left)) as executor:
            results({called: executor.submit(made_shard, task) for called, task in left.items()}, "features", remedy)
    note = _gathered(source, options, tasks, plan, most, work)
    place.finish(planned=False)  # the note says it
    return note


def made_shard(task: FeatureTask) -> None:
    """Its list of places first: the shard itself says that it is done."""
    found = task.source.made(task.first, task.end)
    with new_file(_places_of(task.out)) as path:
        BOXED.frame({"id": found.places, "boxes": found.boxes}).write_parquet(path)
    write_shard(task.out, found.streams)


def _places_of(shard: Path) -> Path:
    """Among the notes about unfinished work, which go when all shards are there."""
    return shard.parent / NOTES / f"{shard.stem}.places"


def _gathered(
    source: FeatureSource,
    options: FeatureOptions,
    tasks: list[FeatureTask],
    plan: dict[str, Any],
    most: int,
    work: Path,
) -> dict[str, Any]:
    """Lists and shapes over all shards."""
    parts = [pl.read_parquet(_places_of(task.out), glob=False) for task in tasks]
    shards = [read_shard(task.out, len(part)) for task, part in zip(tasks, parts, strict=True)]
    names = [name for name in (shards[0] if shards else {}) if name != DETECTIONS]
    shapes = {name: _shape([own[name] for own in shards], most if name == OBJECTS else 1) for name in names}
    places = pl.concat([BOXED.empty(), *parts]).with_columns(
        shard=pl.Series(np.repeat(np.arange(len(parts)), [*map(len, parts)]), dtype=pl.UInt32),
        row=pl.Series(np.concatenate([np.zeros(0, int), *(np.arange(len(part)) for part in parts)]), dtype=pl.UInt32),
    )
    if options.detections:
        _write_detections(work / DETECTED, shards, source.views())
    PLACES.write(PLACES.frame(places), work)
    note = {
        "medium": source.medium,
        "streams": {name: asdict(shape) for name, shape in shapes.items()},
        "shards": [task.out.name for task in tasks],
        "digest": _digest([*(task.out for task in tasks), work / "places.parquet"]),
        "made": plan,
    }
    write_note(work / NOTE, note, (path for path in work.iterdir() if path.is_file() and path.name != NOTE))
    return note | {"places": len(places)}


def _shape(rows: list[StreamRows], times: int) -> StreamShape:
    return StreamShape(max(own.most for own in rows) * times, rows[0].values.shape[1])


def _write_detections(path: Path, shards: list[dict[str, StreamRows]], views: list[list[str]]) -> None:
    """As `questree score fpvg --detections` reads them, in GQA's format; views: of each place."""
    every = [own[DETECTIONS] for own in shards]
    rows = [rows.of(np.array([at])) for rows in every for at in range(len(rows.start) - 1)]
    found = {
        name: {"bboxes": (boxes := own.values[own.number == at].tolist()), "objectsNum": len(boxes)}
        for own, names in zip(rows, views, strict=True)
        for at, name in enumerate(names)
    }
    path.write_bytes(msgspec.json.encode(found))


def _digest(files: list[Path]) -> str:
    digest = blake2b(digest_size=16)
    for path in files:
        digest.update(path.read_bytes())
    return digest.hexdigest()
