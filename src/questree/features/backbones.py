"""Backbones: pictures, or clips of them, become vectors."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

import msgspec
import numpy as np

from questree.ask.pictures import pillow
from questree.features.codes import Floats

MEAN, SPREAD, SIDE = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225), 224  # of ImageNet, where nobody says anything
BATCH = 32  # pictures at a time


class Processor(msgspec.Struct, frozen=True):
    """How pictures are prepared, in the words of preprocessor_config.json."""

    size: dict[str, int] | int = SIDE
    crop_size: dict[str, int] | int | None = None
    image_mean: tuple[float, ...] = MEAN
    image_std: tuple[float, ...] = SPREAD

    @property
    def side(self) -> tuple[int, int]:
        """Height, width."""
        size = self.crop_size or self.size
        if isinstance(size, int):
            return size, size
        both = size.get("shortest_edge", SIDE)
        return size.get("height", both), size.get("width", both)

    def prepared(self, image: Any) -> Floats:
        """[channel, y, x] of a picture of Pillow: as large as the backbone wants it, and as it was trained."""
        height, width = self.side
        values = np.asarray(image.convert("RGB").resize((width, height)), np.float32) / 255
        mean, spread = (np.array(each, np.float32) for each in (self.image_mean, self.image_std))
        return np.ascontiguousarray(((values - mean) / spread).transpose(2, 0, 1))


@dataclass(frozen=True)
class Backbone:
    """Looks at pictures, or at several of them as a clip."""

    name: str
    look: Callable[[Any], Any]  # tensor [picture, channel, y, x], or [clip, picture, ...] -> [picture or clip, width]
    processor: Processor
    pictures: int  # of a clip; 1 where it looks at single pictures
    device: str  # where its weights are

    def seen(self, images: Iterable[Any]) -> Floats:
        """[image, width] of pictures of Pillow; [clip, width] if it looks at clips, which come one after the other.

        A few are taken at a time. Where there are none, none of that width.
        """
        rest, found = iter(images), list[Floats]()
        while some := list(islice(rest, max(BATCH // self.pictures, 1) * self.pictures)):
            found.append(self._looked(some))
        return np.concatenate(found) if found else self._looked([pillow().new("RGB", (8, 8))] * self.pictures)[:0]

    def _looked(self, images: Sequence[Any]) -> Floats:
        import torch

        batch = torch.from_numpy(np.stack([self.processor.prepared(image) for image in images]))
        clips = batch.reshape(-1, self.pictures, *batch.shape[1:]) if self.pictures > 1 else batch
        with torch.inference_mode():
            return np.asarray(self.look(clips.to(self.device)).float().cpu().numpy(), np.float32)
