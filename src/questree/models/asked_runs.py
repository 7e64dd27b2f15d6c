"""The nodes of a run and what is known of all of them, for bots that answer some at a time, anywhere."""

import os
from collections.abc import Iterable
from concurrent.futures import Executor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from questree.models.image_shards import ImageShards
from questree.models.lessons import FILE, AskedShards, Known, Lesson
from questree.models.video_shards import VideoShards
from questree.tables.run import Run, kept_while
from questree.tables.store import new_folder
from questree.workers import each


@dataclass(frozen=True)
class AskedRun:
    """Small enough to send anywhere that sees the run and the place."""

    run: Path
    place: Path  # where lies what is known of all shards
    images: bool = False

    @property
    def shards(self) -> AskedShards:
        return _opened(self.run, self).shards

    def known(self, lesson: Lesson[Known]) -> Known:
        """What was learnt; read once per process."""
        found = _opened(self.run, self).known
        if lesson.name not in found:
            found[lesson.name] = lesson.read(self.place / lesson.name)
        return found[lesson.name]  # type: ignore[no-any-return]

    @property
    def guessing(self) -> bool:
        """Without facts nobody knows some answers."""
        return not self.images and not Run(self.run).has_facts()


@dataclass(frozen=True)
class OpenedRun:
    shards: AskedShards
    known: dict[str, Any] = field(default_factory=dict)


@kept_while("vocabulary.toml", "facts", "decomposed", "covr")
def _opened(run: Path, asked: AskedRun) -> OpenedRun:
    """Kept in a worker from one shard to the next, whatever bots are asked in turn."""
    return OpenedRun(ImageShards(Run(run), asked.place) if asked.images else VideoShards(Run(run)))


@dataclass(frozen=True)
class LessonTask:
    asked: AskedRun
    lesson: Lesson[Any]
    parts: tuple[Any, ...]  # that were looked at

    def part(self, name: object) -> Path:
        return self.asked.place / f"{self.lesson.name}-{name}"


def learn(asked: AskedRun, lessons: Iterable[Lesson[Any]], pool: Executor | None) -> None:
    """Whatever is to be known of all shards, each lesson once."""
    wanted, shards = list(lessons), asked.shards
    reading = shards.reading_first if any(lesson.reads for lesson in wanted) else ()
    for lesson in {own.name: own for own in [*reading, *wanted]}.values():
        parts = tuple(shards.names)
        each(pool, f"looking at {lesson.name}", "shard", parts, look, LessonTask(asked, lesson, ()))
        each(pool, f"learning {lesson.name}", "all", [lesson.name], put_together, LessonTask(asked, lesson, parts))


def look(task: LessonTask, name: Any) -> None:
    """In a worker: what a shard tells."""
    with new_folder(task.part(name)) as folder:
        task.lesson.look(task.asked.shards, name).write_ipc(folder / FILE)


def put_together(task: LessonTask, name: str) -> None:
    """In a worker: what all shards tell."""
    with new_folder(task.asked.place / name) as folder:
        task.lesson.learn([os.fspath(task.part(part) / FILE) for part in task.parts], folder)
