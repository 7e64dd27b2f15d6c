"""What people look at: the film or the frames of a video, or images; as media files have them, or else drawn."""

from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

from questree.benchmarks import COVR
from questree.show.frames import ShownFrame, film_file, frame_of, image_file, media_file, media_folder
from questree.show.image_view import ImageView
from questree.show.page.filters import address
from questree.show.timeline import Mentioned
from questree.tables.facts import Facts
from questree.tables.run import Run

NOTHING = Mentioned(frozenset(), frozenset(), frozenset())  # nothing is pointed at: people are to look themselves


@dataclass(frozen=True)
class SeenImage:
    id: str
    svg: str


@dataclass(frozen=True)
class Scene:
    """The scope of an item."""

    video: str = ""
    film: str = ""  # its address
    seconds: tuple[float, ...] = ()  # of every frame
    images: tuple[SeenImage, ...] = ()


class Scenes:
    """Of a run; facts are read when the first is looked at."""

    def __init__(self, run: Run, media: Path | None = None):
        self.run = run
        self.media = None if media is None else media_folder(media)
        self.of_video = lru_cache(64)(self._of_video)

    @cached_property
    def facts(self) -> Facts:
        return self.run.load("facts")

    @cached_property
    def video_at(self) -> dict[str, int]:
        return {name: at for at, name in enumerate(self.facts.videos["id"])}

    @cached_property
    def words(self) -> Any:
        return self.run.vocabulary()

    @cached_property
    def view(self) -> ImageView:
        return ImageView(self.run)

    @cached_property
    def image_at(self) -> dict[str, int]:
        return {name: at for at, name in enumerate(self.view.facts.images["id"])}

    @property
    def nouns(self) -> list[str]:
        """Names of things in images."""
        return self.view.things["name"].unique(maintain_order=True).to_list()

    def _of_video(self, video: str) -> Facts:
        at = self.video_at[video]
        return self.facts.between(at, at + 1)

    def of(self, scope: list[str], benchmark: str, home: str) -> Scene:
        """`home`: where addresses begin."""
        if benchmark == COVR.name:
            return Scene(images=tuple(self.image(id, home) for id in scope))
        (video,) = scope
        film = address(f"{home}films/{video}", {}) if self.film(video) else ""
        return Scene(video, film, tuple(self.of_video(video).frames["seconds"].to_list()))

    def image(self, id: str, home: str) -> SeenImage:
        """A picture without boxes, or the boxes alone."""
        drawn = self.view.picture(self.image_at[id])
        if self.picture(id) is None:
            return SeenImage(id, drawn.svg())
        return SeenImage(id, replace(drawn, boxes=[]).svg(address(f"{home}pictures/{id}", {})))

    def frame(self, video: str, position: int, home: str) -> ShownFrame | None:
        """A picture without boxes, or the boxes and relations alone."""
        facts = self.of_video(video) if video in self.video_at else None
        if facts is None or not 0 <= position < len(facts.frames):
            return None
        number = int(facts.frames["number"][position])
        if self.media is None or media_file(self.media, video, number) is None:
            return frame_of(facts, position, self.words, NOTHING)
        found = frame_of(facts, position, self.words, NOTHING, address(f"{home}media/{video}/{number}", {}))
        return replace(found, boxes=[], unboxed=[], relations=[])

    def film(self, video: str) -> Path | None:
        there = self.media is not None and video in self.video_at
        return film_file(self.media, video) if there and self.media else None

    def still(self, video: str, number: int) -> Path | None:
        return media_file(self.media, video, number) if self.media and video in self.video_at else None

    def picture(self, image: str) -> Path | None:
        return image_file(self.media, image) if self.media and image in self.image_at else None
