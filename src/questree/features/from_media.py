"""Features of pictures by a backbone: frames and clips of videos, and boxes of frames or images, cut out."""

from abc import abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from questree.ask.media import Sight
from questree.ask.pictures import Shot, opened_picture
from questree.faults import Fault, refuse
from questree.features.backbones import Backbone
from questree.features.codes import Floats, Ints
from questree.features.image_facts import ImageFacts
from questree.features.local_models import backbone_in
from questree.features.making import FactsOfImages, FactsOfVideos, FeatureSource, image_facts, video_facts
from questree.features.rows import APPEARANCE, MOTION, PlaceFeatures, StreamRows
from questree.features.seen import noisy
from questree.features.video_facts import VideoFacts
from questree.stages.ground.boxes import FRAME

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

    @abstractmethod
    def sight(self, first: int, end: int) -> Sight:
        """Who finds the frames or images of these places; not kept, as it cannot be sent to workers."""

    def check(self) -> None:
        """All that is not there is told before anything is made."""
        ids = self.ids()
        refuse(self.sight(0, len(ids)).faults(ids))
        self.looks()

    def looks(self) -> tuple[Backbone, Backbone | None]:
        """Who looks at pictures, and who looks at clips."""
        one, several = backbone_in(self.backbone), backbone_in(self.motion, "--motion") if self.motion else None
        wrong = [Fault("--backbone", f"expected a model of single pictures, got one of clips: {one.name}")]
        found = wrong if one.pictures > 1 else []
        if several is not None and several.pictures == 1:
            found.append(Fault("--motion", f"expected a model of clips, got one of single pictures: {several.name}"))
        refuse(found)
        return one, several


class MediaOfImages(Media, FactsOfImages):
    def state(self) -> Any:
        return [FactsOfImages.state(self), self.files()]

    def sight(self, first: int, end: int) -> Sight:
        return Sight(self.media, "images")

    def made(self, first: int, end: int) -> PlaceFeatures:
        look, _ = self.looks()
        sight = self.sight(first, end)
        return PicturedImages(image_facts(self.run), first, end, self.options, sight, look).made()


@dataclass(frozen=True)
class PicturedImages(ImageFacts):
    """Things look as their boxes do."""

    sight: Sight
    backbone: Backbone

    def things(self, image: Ints, thing: Ints, number: Ints, corner: Ints) -> Floats:
        opened = lru_cache(1)(lambda at: opened_picture(self.sight.shots([self.ids[at]])[0], 0))
        return self.backbone.seen(cut(opened(at), box) for at, box in zip(image.tolist(), corner, strict=True))


class MediaOfVideos(Media, FactsOfVideos):
    def state(self) -> Any:
        return [FactsOfVideos.state(self), self.files()]

    def sight(self, first: int, end: int) -> Sight:
        facts = video_facts(self.run)[0].between(first, end)
        ids = facts.videos["id"].gather(facts.frames["video"]).to_list()
        rows = zip(ids, facts.frames["number"].to_list(), facts.frames["seconds"].to_list(), strict=True)
        return Sight(self.media, "video", ALL, seconds={(id, number): seconds for id, number, seconds in rows})

    def made(self, first: int, end: int) -> PlaceFeatures:
        facts, vocabulary = video_facts(self.run)
        looks, sight = self.looks(), self.sight(first, end)
        return PicturedVideos(facts.between(first, end), vocabulary, self.options, sight, *looks).made()


@dataclass(frozen=True)
class PicturedVideos(VideoFacts):
    """Frames, clips and boxes look as they do."""

    sight: Sight
    backbone: Backbone
    watcher: Backbone | None

    @cached_property
    def shots(self) -> list[Mapping[int, Shot]]:
        """[video] number of a frame -> its picture."""
        return [{shot.number: shot for shot in self.sight.shots(id)} for id in self.ids]

    def pictures(self, video: Ints, frame: Ints) -> Iterator[Any]:
        """Of annotated frames, or of the nearest ones that there are pictures of; one is open at a time."""
        opened = lru_cache(1)(opened_picture)
        numbers = self.facts.frames["number"].to_numpy()[(np.cumsum(self.frames) - self.frames)[video] + frame]
        for at, wanted in zip(video.tolist(), numbers.tolist(), strict=True):
            there = self.shots[at]
            nearest = wanted if wanted in there else min(there, key=lambda each: (abs(each - wanted), each))
            yield opened(there[nearest], 0)

    @cached_property
    def _seen(self) -> tuple[Floats, Ints]:
        """[frame, width] of the sampled frames of all videos, and [video + 1] where a video's begin."""
        video, frame, start = self.sampled(self.options.frames)
        each, at = np.unique(video << FRAME | frame, return_inverse=True)  # short videos show one several times
        return self.backbone.seen(self.pictures(each >> FRAME, each & ((1 << FRAME) - 1)))[at], start

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
            moved = self.watcher.seen(self.pictures(video, frame))
        return noisy(self.options, MOTION, self.ids, moved, start)

    def things(self, kept: Ints) -> Floats:
        video, frame, _ = (own[kept] for own in self.placed)
        boxes = zip(self.pictures(video, frame), self.where(kept)[:, :4], strict=True)
        return self.backbone.seen(cut(picture, box) for picture, box in boxes)


def cut(image: Any, box: Ints) -> Any:
    """A box of a picture, as shares of its sides; at least a pixel."""
    x1, y1, x2, y2 = np.clip(box, 0, 1) * np.tile([image.width, image.height], 2)
    left, top = min(int(x1), image.width - 1), min(int(y1), image.height - 1)
    return image.crop((left, top, max(round(x2), left + 1), max(round(y2), top + 1)))


def changes(values: Floats, clips: int) -> Floats:
    """[clip, width] how much frames of a clip differ from the ones before them, on average."""
    moved = np.abs(np.diff(values, axis=0, prepend=values[:1]))
    return np.stack([part.mean(axis=0) if len(part) else moved[0] * 0 for part in np.array_split(moved, clips)])
