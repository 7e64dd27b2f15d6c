"""Everything the pages are made from, read once when serving begins."""

import os
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from questree.benchmarks import chosen, held
from questree.faults import BadInput
from questree.scoring.compared import Scoring
from questree.show.frames import film_file, image_file, media_folder
from questree.show.image_view import ImageView
from questree.show.page.compare import ComparedModels
from questree.show.page.filters import Filters, address
from questree.show.page.questions import EXACT, Questions
from questree.show.video_view import VideoView
from questree.show.views import View
from questree.tables.run import Run

Stamp = tuple[tuple[str, int, int], ...]  # path, number and time of every file and folder
OTHERS = ("people.sqlite", "asked", "checkpoints")  # what pages show nothing of

VIEWS: tuple[type[View], ...] = (VideoView, ImageView)


def stamp_of(run: Run) -> Stamp:
    """What tells that a run was changed: folders and files are renamed into their places."""
    found = list[tuple[str, int, int]]()
    with suppress(OSError):
        places = [run.folder, *(path for path in run.folder.iterdir() if path.is_dir())]
        for entry in (entry for place in places for entry in os.scandir(place) if not entry.name.startswith(".")):
            if not entry.name.startswith(OTHERS):
                found.append((entry.path, entry.stat().st_ino, entry.stat().st_mtime_ns))
    return tuple(sorted(found))


@dataclass
class Collection:
    """The questions of a run that belong to one view."""

    view: View
    questions: Questions
    how: Scoring = EXACT

    @classmethod
    def read(cls, view: View, how: Scoring = EXACT) -> "Collection":
        return cls(view, Questions.read(view, how), how)

    @cached_property
    def filters(self) -> Filters:
        return Filters(self.questions)

    @cached_property
    def comparing(self) -> ComparedModels:
        return ComparedModels(self.view, self.how)

    @property
    def models(self) -> list[str]:
        return list(self.questions.models)


@dataclass
class Site:
    """A run, with questions about videos, about sets of images, or both."""

    run: Run
    collections: dict[type[View], Collection]
    media: Path | None = None
    how: tuple[str, Scoring] = ("", EXACT)  # the benchmark that comes first, and how answers are judged
    stamp: Stamp = ()  # of the run when it was read

    @classmethod
    def read(cls, run: Run, media: Path | None = None, first: str = "", how: Scoring = EXACT) -> "Site":
        if media is not None:
            media_folder(media)
        shown = chosen(run, first) if first else None
        views = sorted((view for view in VIEWS if view.there(run)), key=lambda view: view.benchmark is not shown)
        if not views:
            if not held(run):  # it is no run at all
                run.vocabulary()
            raise BadInput.at(run.folder, "no questions to look at; `questree generate` writes them")
        stamp = stamp_of(run)  # before anything is read: what changes meanwhile is read again
        return cls(run, {view: Collection.read(view(run), how) for view in views}, media, (first, how), stamp)

    def again(self) -> "Site":
        """The same of the run as it is now."""
        return Site.read(self.run, self.media, *self.how)

    def picture(self, image: str) -> str:
        """The address of an image, empty if there is no file of it."""
        there = self.media is not None and image_file(self.media, image) is not None
        return address(f"/pictures/{image}", {}) if there else ""

    def film(self, video: str) -> str:
        """The address of a video, empty if there is no file of it."""
        there = self.media is not None and film_file(self.media, video) is not None
        return address(f"/films/{video}", {}) if there else ""

    @cached_property
    def name(self) -> str:
        return self.run.folder.resolve().name

    @property
    def first(self) -> Collection:
        return next(iter(self.collections.values()))
