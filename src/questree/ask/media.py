"""Which files show a video or a set of images: frames evenly, or some of them; images in order."""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

from questree.ask.films import film_of
from questree.ask.pictures import Shot
from questree.faults import Fault
from questree.show.frames import SUFFIXES, image_file, media_folder
from questree.show.tags import Box

MANY = 1 << 14  # videos whose files are remembered
NUMBER = re.compile(r"(\d+)(?!.*\d)")


@dataclass(frozen=True)
class Hiding:
    """Of each frame or image of one question: boxes to hide and to keep, by the number of the frame or image."""

    hidden: Mapping[int, tuple[Box, ...]] = field(default_factory=dict)
    kept: Mapping[int, tuple[Box, ...]] = field(default_factory=dict)


@dataclass
class Sight:
    """What a model sees of scopes."""

    folder: Path
    medium: str  # video, images
    frames: int = 8  # of a video
    film: bool = False  # the video file itself
    seconds: Mapping[tuple[str, int], float] = field(default_factory=dict)  # of a video's frame
    sizes: Mapping[str, tuple[int, int]] = field(default_factory=dict)  # of a video or an image, in annotations

    def __post_init__(self) -> None:
        self.frames_of = lru_cache(MANY)(self._frames_of)
        self.annotated = dict[str, list[int]]()  # video -> numbers of frames
        for video, number in self.seconds:
            self.annotated.setdefault(video, []).append(number)

    def _frames_of(self, video: str) -> tuple[tuple[int, Path], ...]:
        """Pictures; where there are none, the annotated frames of the film."""
        if (found := frames_of(self.folder, video)) or (film := film_of(self.folder, video)) is None:
            return found
        return tuple((number, film) for number in sorted(self.annotated.get(video, ())))

    def faults(self, scopes: Sequence[Any]) -> list[Fault]:
        """Scopes that nothing shows."""
        media_folder(self.folder)
        names = {name for scope in scopes for name in ([scope] if isinstance(scope, str) else scope)}
        return [fault for name in sorted(names) if (fault := self._missing(name))]

    def _missing(self, name: str) -> Fault | None:
        if self.medium == "images":
            there, wanted = image_file(self.folder, name) is not None, f"{name}.png or .jpg"
        elif self.film:
            there, wanted = film_of(self.folder, name) is not None, f"{name}.mp4"
        else:
            there, wanted = bool(self.frames_of(name)), f"pictures in {name}/ or {name}.mp4"
        return (
            None if there else Fault(f"--media {self.folder}", f"expected {wanted}, got none; --no-media asks without")
        )

    def shots(self, scope: Any, only: Collection[int] | None = None, hiding: Hiding | None = None) -> tuple[Shot, ...]:
        """Of a video: of `only` these frames, or of all; of images all."""
        if self.medium == "images":
            found = [(at, image_file(self.folder, name), name) for at, name in enumerate(scope, 1)]
            return tuple(self._shot(path, at, name, None, hiding) for at, path, name in found if path is not None)
        if self.film:
            path = film_of(self.folder, scope)
            return () if path is None else (Shot(path),)
        there = [each for each in self.frames_of(scope) if only is None or each[0] in only]
        return tuple(
            self._shot(path, number, scope, self.seconds.get((scope, number)), hiding)
            for number, path in evenly(there, self.frames)
        )

    def _shot(self, path: Path, number: int, name: str, seconds: float | None, hiding: Hiding | None) -> Shot:
        if hiding is None:
            return Shot(path, number, seconds)
        boxes = hiding.hidden.get(number, ()), hiding.kept.get(number, ())
        return Shot(path, number, seconds, *boxes, self.sizes.get(name))


def evenly(every: Sequence[Any], count: int) -> list[Any]:
    """The middles of so many equal stretches."""
    if len(every) <= count:
        return list(every)
    return [every[int((at + 0.5) * len(every) / count)] for at in range(count)]


def frames_of(folder: Path, video: str) -> tuple[tuple[int, Path], ...]:
    """The pictures of a video by number, which is the last number of their names; nothing outside of the folder."""
    place = folder / video
    if not place.is_dir() or not place.resolve().is_relative_to(folder.resolve()):
        return ()
    found = [path for path in place.iterdir() if path.suffix.lower() in SUFFIXES and NUMBER.search(path.stem)]
    return tuple(sorted((int(NUMBER.search(path.stem)[1]), path) for path in found))  # type: ignore[index]
