"""Features of pictures by a backbone: frames and clips of videos, and boxes of frames or images, cut out."""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from questree.ask.media import Sight
from questree.ask.pictures import Shot, opened_picture, pillow
from questree.faults import refuse
from questree.features.backbones import Backbone, backbone_in
from questree.features.codes import Floats, Ints
from questree.features.image_facts import ImageFacts
from questree.features.making import FactsOfImages, FactsOfVideos, FeatureSource, image_facts, video_facts
from questree.features.rows import APPEARANCE, MOTION, PlaceFeatures, StreamRows
from questree.features.seen import noisy
from questree.features.video_facts import VideoFacts

ALL = 1 << 30  # frames


@dataclass(frozen=True)
class Media(FeatureSource):
    """Pictures in a folder, and who looks at them."""

    media: Path = Path()
    backbone: Path = Path()
    motion: Path | None = None  # looks at clips; without one motion is how appearance changes

    @property
    def called(self) -> str:
        return self.backbone.resolve().name

    def files(self) -> list[list[tuple[str, int, int]]]:
        """Names, sizes and times of what is looked at and of who looks."""
        folders = [self.media, self.backbone, *([self.motion] if self.motion else [])]
        return [
            sorted((each.name, each.stat().st_size, each.stat().st_mtime_ns) for each in f.iterdir()) for f in folders
        ]

    @property
    @abstractmethod
    def sight(self) -> Sight:
        """Who finds the frames or images, and looks at them."""

    def check(self) -> None:
        """All that is not there is told before anything is made."""
        refuse(self.sight.faults(self.ids()))
        backbone_in(self.backbone)


class MediaOfImages(Media, FactsOfImages):
    def state(self) -> Any:
        return [FactsOfImages.state(self), self.files()]

    @cached_property
    def sight(self) -> Sight:
        return Sight(self.media, "images")

    def made(self, first: int, end: int) -> PlaceFeatures:
        look = backbone_in(self.backbone)
        return PicturedImages(image_facts(self.run), first, end, self.options, self.sight, look).made()


@dataclass(frozen=True)
class PicturedImages(ImageFacts):
    """Things look as their boxes do."""

    sight: Sight
    backbone: Backbone

    def things(self, image: Ints, thing: Ints, number: Ints, corner: Ints) -> Floats:
        whole = {at: opened_picture(self.sight.shots([self.ids[at]])[0], 0) for at in np.unique(image).tolist()}
        crops = [cut(whole[at], box) for at, box in zip(image.tolist(), corner, strict=True)]
        return looked(self.backbone, crops)


class MediaOfVideos(Media, FactsOfVideos):
    def state(self) -> Any:
        return [FactsOfVideos.state(self), self.files()]

    @cached_property
    def sight(self) -> Sight:
        facts, _ = video_facts(self.run)
        ids = facts.videos["id"].gather(facts.frames["video"]).to_list()
        rows = zip(ids, facts.frames["number"].to_list(), facts.frames["seconds"].to_list(), strict=True)
        return Sight(self.media, "video", ALL, seconds={(id, number): seconds for id, number, seconds in rows})

    def made(self, first: int, end: int) -> PlaceFeatures:
        facts, vocabulary = video_facts(self.run)
        looks = backbone_in(self.backbone), backbone_in(self.motion) if self.motion else None
        return PicturedVideos(facts.between(first, end), vocabulary, self.options, self.sight, *looks).made()


@dataclass(frozen=True)
class PicturedVideos(VideoFacts):
    """Frames, clips and boxes look as they do."""

    sight: Sight
    backbone: Backbone
    watcher: Backbone | None
    _opened: dict[tuple[int, int], Any] = field(default_factory=dict)

    @cached_property
    def shots(self) -> list[Mapping[int, Shot]]:
        """[video] number of a frame -> its picture."""
        return [{shot.number: shot for shot in self.sight.shots(id)} for id in self.ids]

    @cached_property
    def numbers(self) -> list[list[int]]:
        """[video] numbers of its annotated frames."""
        start = np.append(0, np.cumsum(self.frames))
        every = self.facts.frames["number"].to_list()
        return [every[a:b] for a, b in pairwise(start.tolist())]

    def picture(self, video: int, frame: int) -> Any:
        """Of an annotated frame, or of the nearest one that there is a picture of."""
        wanted, there = self.numbers[video][frame], self.shots[video]
        number = wanted if wanted in there else min(there, key=lambda each: (abs(each - wanted), each))
        if (video, number) not in self._opened:
            self._opened[video, number] = opened_picture(there[number], 0)
        return self._opened[video, number]

    @cached_property
    def _seen(self) -> tuple[Floats, Ints]:
        """[frame, width] of the sampled frames of all videos, and [video + 1] where a video's begin."""
        video, frame, start = self.sampled(self.options.frames)
        return looked(
            self.backbone, [self.picture(*each) for each in zip(video.tolist(), frame.tolist(), strict=True)]
        ), start

    def appearance(self) -> StreamRows:
        return noisy(self.options, APPEARANCE, self.ids, *self._seen)

    def motion(self) -> StreamRows:
        """What the watcher of clips makes of each; without one, how much frames of a clip change on average."""
        clips, there = self.options.clips, self.frames > 0
        start = np.append(0, np.cumsum(np.where(there, clips, 0)))
        if self.watcher is None:
            values, begin = self._seen
            parts = [changes(values[a:b], clips) for a, b in pairwise(begin.tolist()) if b > a]
            moved = np.concatenate([values[:0], *parts])
        else:
            video, frame, _ = self.sampled(clips * self.watcher.pictures)
            moved = looked(
                self.watcher, [self.picture(*each) for each in zip(video.tolist(), frame.tolist(), strict=True)]
            )
        return noisy(self.options, MOTION, self.ids, moved, start)

    def things(self, kept: Ints) -> Floats:
        video, frame, _ = (own[kept].tolist() for own in self.placed)
        crops = [cut(self.picture(*at), box) for *at, box in zip(video, frame, self.where(kept)[:, :4], strict=True)]
        return looked(self.backbone, crops)


def cut(image: Any, box: Ints) -> Any:
    """A box of a picture, as shares of its sides; at least a pixel."""
    x1, y1, x2, y2 = np.clip(box, 0, 1) * np.tile([image.width, image.height], 2)
    left, top = min(int(x1), image.width - 1), min(int(y1), image.height - 1)
    return image.crop((left, top, max(round(x2), left + 1), max(round(y2), top + 1)))


def looked(backbone: Backbone, images: Sequence[Any]) -> Floats:
    """[image, width], or [clip, width]; where there are none, none of that width."""
    if images:
        return backbone.seen(images)
    return backbone.seen([pillow().new("RGB", (8, 8))] * backbone.pictures)[:0]


def changes(values: Floats, clips: int) -> Floats:
    """[clip, width] how much frames of a clip differ from the ones before them, on average."""
    moved = np.abs(np.diff(values, axis=0, prepend=values[:1]))
    return np.stack([part.mean(axis=0) if len(part) else moved[0] * 0 for part in np.array_split(moved, clips)])
