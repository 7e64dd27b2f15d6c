"""What people look at: the film or the frames of a video, or images; as media files have them, or else drawn.

Nothing that was annotated is told but where things are: whoever is asked whether a phone was held must not be told.
A made-up world is drawn from its truth, with all that goes on.
"""

from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from threading import Lock

from questree.benchmarks import COVR
from questree.show.frames import film_file, image_file, media_file, media_folder
from questree.show.page.filters import address
from questree.tables.facts import Facts
from questree.tables.images import Images
from questree.tables.run import Run
from questree.vocabulary.words import Vocabulary

FRAME, IMAGE, SMALL = 960, 560, 160  # pixels of the longer side: drawn frames and images, and frames on the timeline
KEPT = 512  # pictures that are not drawn anew


@dataclass(frozen=True)
class SeenFrame:
    seconds: float
    address: str


@dataclass(frozen=True)
class Scene:
    """The scope of an item."""

    video: str = ""
    film: str = ""  # its address
    length: float = 0.0  # seconds
    frames: tuple[SeenFrame, ...] = ()
    images: tuple[str, ...] = ()  # their addresses
    bare: bool = False  # drawn from where things were annotated alone
    marks: tuple[str, ...] = ()  # words that marks in drawn pictures stand for


class Scenes:
    """Of a run; facts are read when the first is looked at."""

    def __init__(self, run: Run, media: Path | None = None):
        self.run = run
        self.media = None if media is None else media_folder(media)
        self.telling = run.truth.is_dir()
        self.of_video = lru_cache(64)(self._of_video)
        self.drawn_frame = lru_cache(KEPT)(self._drawn_frame)
        self.drawn_image = lru_cache(KEPT)(self._drawn_image)
        self.pencil = Lock()  # what draws is not made for several at once

    @cached_property
    def facts(self) -> Facts:
        stage = next((name for name in ("truth", "facts") if getattr(self.run, name).is_dir()), "")
        return self.run.load(stage) if stage else Facts.none()

    @cached_property
    def video_at(self) -> dict[str, int]:
        return {name: at for at, name in enumerate(self.facts.videos["id"])}

    @cached_property
    def words(self) -> Vocabulary:
        return self.run.vocabulary()

    @cached_property
    def images(self) -> Images:
        return Images.load(self.run.images)

    @cached_property
    def image_at(self) -> dict[str, int]:
        there = self.run.images.is_dir()
        return {name: at for at, name in enumerate(self.images.images["id"])} if there else {}

    def _of_video(self, video: str) -> Facts:
        at = self.video_at[video]
        return self.facts.between(at, at + 1)

    def of(self, scope: list[str], benchmark: str, home: str) -> Scene:
        """`home`: where addresses begin."""
        if benchmark == COVR.name:
            marks = () if all(map(self.picture, scope)) else self.marks(benchmark)
            return Scene(images=tuple(address(f"{home}pictures/{id}", {}) for id in scope), marks=marks)
        (video,) = scope
        film = address(f"{home}films/{video}", {}) if self.film(video) else ""
        if video not in self.video_at:
            return Scene(video, film)
        facts = self.of_video(video)
        rows = facts.frames.select("seconds", "number").rows()
        files = {number for _, number in rows if self.still(video, number)}
        frames = tuple(
            SeenFrame(seconds, address(f"{home}media/{video}/{number}", {}))
            for seconds, number in rows
            if not film or number in files
        )
        length = max([facts.videos["length"][0] or 0.0, *(seconds for seconds, _ in rows)])
        drawn = not film and len(files) < len(rows)
        marks = self.marks(benchmark) if drawn and self.telling else ()
        return Scene(video, film, length, frames, bare=drawn and not self.telling, marks=marks)

    def marks(self, benchmark: str) -> tuple[str, ...]:
        from questree.draw.legend import frame_marks, image_marks

        return tuple(image_marks() if benchmark == COVR.name else frame_marks())

    def film(self, video: str) -> Path | None:
        return film_file(self.media, video) if self.media else None

    def still(self, video: str, number: int) -> Path | None:
        return media_file(self.media, video, number) if self.media and video in self.video_at else None

    def picture(self, image: str) -> Path | None:
        return image_file(self.media, image) if self.media and image in self.image_at else None

    def _drawn_frame(self, video: str, number: int, longest: int) -> bytes | None:
        from questree.draw.runs import frame_png, frame_scene

        facts = self.of_video(video) if video in self.video_at else Facts.none()
        numbers = facts.frames["number"].to_list()
        if number not in numbers:
            return None
        with self.pencil:
            return frame_png(frame_scene(facts, numbers.index(number), self.words, self.telling), longest)

    def mark(self, name: str) -> bytes | None:
        from questree.draw.legend import mark_png

        with self.pencil:
            return mark_png(name)

    def _drawn_image(self, image: str) -> bytes | None:
        from questree.draw.runs import image_png

        if image not in self.image_at:
            return None
        with self.pencil:
            return image_png(self.images, self.image_at[image], IMAGE)
