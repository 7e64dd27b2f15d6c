"""Backbones of transformers and torchvision in a local folder: pictures, or clips of them, become vectors."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from questree.faults import UNREADABLE, BadInput
from questree.features.codes import Floats

CONFIG, PROCESSOR = "config.json", "preprocessor_config.json"
MEAN, SPREAD, SIDE = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225), 224  # of ImageNet, where a folder says nothing
WEIGHTS = (".pth", ".pt")
LAST = ("fc", "classifier", "head", "heads")  # layers of torchvision's models that name classes
BATCH = 32  # pictures at a time


class Processor(msgspec.Struct, frozen=True):
    """What a folder says about its pictures."""

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


@dataclass(frozen=True)
class Backbone:
    """Looks at pictures, or at several of them as a clip."""

    name: str
    look: Callable[[Any], Any]  # tensor [picture, channel, y, x], or [clip, picture, ...] -> [picture or clip, width]
    processor: Processor
    pictures: int  # of a clip; 1 where it looks at single pictures

    def seen(self, images: Sequence[Any]) -> Floats:
        """[image, width] of pictures of Pillow; [clip, width] if it looks at clips, which come one after the other."""
        import torch

        found = []
        with torch.inference_mode():
            for begin in range(0, len(images), BATCH * self.pictures):
                some = np.stack([self._prepared(image) for image in images[begin : begin + BATCH * self.pictures]])
                batch = torch.from_numpy(some)
                shape = (-1, self.pictures, *batch.shape[1:])
                found.append(self.look(batch.reshape(shape) if self.pictures > 1 else batch).float().numpy())
        return np.concatenate(found).astype(np.float32)

    def _prepared(self, image: Any) -> Floats:
        """[channel, y, x]: as large as it wants, and as it was trained."""
        height, width = self.processor.side
        values = np.asarray(image.convert("RGB").resize((width, height)), np.float32) / 255
        mean, spread = (np.array(each, np.float32) for each in (self.processor.image_mean, self.processor.image_std))
        return np.ascontiguousarray(((values - mean) / spread).transpose(2, 0, 1))


@lru_cache(maxsize=2)
def backbone_in(folder: Path) -> Backbone:
    """A folder of transformers (config.json) or with weights of torchvision (resnet50-....pth)."""
    try:
        import torch
    except ImportError:
        wanted = "expected the package torch, got none installed; run `pip install 'questree[models]'`"
        raise BadInput.at("--backbone", wanted) from None
    torch.set_num_threads(1)
    if (folder / CONFIG).is_file():
        return _of_transformers(folder)
    weights = sorted(path for path in folder.glob("*") if path.suffix in WEIGHTS) if folder.is_dir() else []
    if len(weights) != 1:
        wanted = f"expected a folder with {CONFIG} (transformers) or one file of weights like resnet50-11ad3fa6.pth"
        raise BadInput.at("--backbone", f"{wanted} (torchvision), got {folder}")
    return _of_torchvision(weights[0])


def _of_transformers(folder: Path) -> Backbone:
    try:
        from transformers import AutoModel
    except ImportError:
        wanted = "expected the package transformers, got none installed; run `pip install 'questree[hf]'`"
        raise BadInput.at("--backbone", wanted) from None
    try:
        whole = AutoModel.from_pretrained(str(folder), local_files_only=True).eval()
    except (OSError, ValueError, KeyError, ImportError, RuntimeError) as error:
        said = " ".join(str(error).split())[:200]
        raise BadInput.at(folder, f"expected a model that transformers can load; {said}") from error
    model = getattr(whole, "vision_model", whole)  # of models that also read
    return Backbone(folder.name, lambda batch: _pooled(model(pixel_values=batch)), _processor(folder), _clip(model))


def _clip(model: Any) -> int:
    return int(getattr(model.config, "num_frames", 1))


def _pooled(out: Any) -> Any:
    """[row, width] of what a model gives: its own summary, or the mean of all places."""
    pooled = getattr(out, "pooler_output", None)
    if pooled is not None:
        return pooled.flatten(1)
    hidden = out.last_hidden_state
    return hidden.mean(1) if hidden.ndim == 3 else hidden.flatten(2).mean(2)


def _processor(folder: Path) -> Processor:
    file = folder / PROCESSOR
    if not file.is_file():
        return Processor()
    try:
        return msgspec.json.decode(file.read_bytes(), type=Processor)
    except (OSError, *UNREADABLE) as error:
        raise BadInput.at(file, f"expected how pictures are prepared; {error}") from error


def _of_torchvision(weights: Path) -> Backbone:
    try:
        import torch
        from torchvision.models import get_model
    except ImportError:
        wanted = "expected the package torchvision, got none installed; run `pip install torchvision`"
        raise BadInput.at("--backbone", wanted) from None
    name = weights.stem.partition("-")[0]
    try:
        model = get_model(name)
        model.load_state_dict(torch.load(weights, weights_only=True, map_location="cpu"))
    except (ValueError, RuntimeError, OSError) as error:
        said = " ".join(str(error).split())[:200]
        raise BadInput.at(weights, f"expected weights of a model of torchvision named {name!r}; {said}") from error
    for last in LAST:
        if hasattr(model, last):
            setattr(model, last, torch.nn.Identity())
    model.eval()
    return Backbone(name, lambda batch: model(batch).flatten(1), _processor(weights.parent), 1)
