"""Everything the pages are made from, read once when serving begins."""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from questree.benchmarks import chosen
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

VIEWS: tuple[type[View], ...] = (VideoView, ImageView)


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

    @classmethod
    def read(cls, run: Run, media: Path | None = None, first: str = "", how: Scoring = EXACT) -> "Site":
        if not run.folder.is_dir():
            raise BadInput.at(run.folder, "no such run folder; make one with `questree ingest`")
        if media is not None:
            media_folder(media)
        shown = chosen(run, first) if first else None
        views = sorted((view for view in VIEWS if view.there(run)), key=lambda view: view.benchmark is not shown)
        if not views:
            run.vocabulary()
            raise BadInput.at(run.folder, "no questions to look at; `questree generate` writes them")
        return cls(run, {view: Collection.read(view(run), how) for view in views}, media)

    def picture(self, image: str) -> str:
        """The address of an image, empty if there is no file of it."""
        there = self.media is not None and image_file(self.media, image) is not None
        return address(f"/pictures/{image}", {}) if there else ""

    def film(self, video: str) -> str:
        """The address of a video, empty if there is no file of it."""
        there = self.media is not None and film_file(self.media, video) is not None
        return address(f"/films/{video}", {}) if there else ""

    @property
    def first(self) -> Collection:
        return next(iter(self.collections.values()))
