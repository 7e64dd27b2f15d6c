"""Backbones of transformers and torchvision, loaded from a local folder."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import Any

import msgspec

from questree.faults import UNREADABLE, BadInput
from questree.features.backbones import Backbone, Processor
from questree.places import fetched

CONFIG, PROCESSOR = "config.json", "preprocessor_config.json"
WEIGHTS = (".pth", ".pt")
LAST = ("fc", "classifier", "head", "heads")  # parts of torchvision's models whose last layer names classes
CLIP = 16  # pictures that its models of videos were trained with


@lru_cache(maxsize=2)
def backbone_in(folder: Path, option: str = "--backbone") -> Backbone:
    """A folder of transformers (config.json) or with weights of torchvision (resnet50-....pth)."""
    try:
        import torch
    except ImportError:
        wanted = "expected the package torch, got none installed; run `pip install 'questree[models]'`"
        raise BadInput.at(option, wanted) from None
    torch.set_num_threads(1)
    if (folder / CONFIG).is_file():
        return _of_transformers(fetched(folder), option)
    weights = sorted(path for path in folder.glob("*") if path.suffix in WEIGHTS) if folder.is_dir() else []
    if len(weights) != 1:
        wanted = f"expected a folder with {CONFIG} (transformers) or one file of weights like resnet50-11ad3fa6.pth"
        raise BadInput.at(option, f"{wanted} (torchvision), got {folder}")
    return _of_torchvision(fetched(folder) / weights[0].name, option)


def _device() -> str:
    import torch

    return "cuda" if torch.cuda.is_available() else "cpu"


@contextmanager
def _loading(place: Path, wanted: str) -> Iterator[None]:
    """What libraries say of files that are not what they seem, in one line: they raise exceptions of many kinds."""
    try:
        yield
    except Exception as error:
        said = " ".join(str(error).split())[:200]
        raise BadInput.at(place, f"expected {wanted}; {said or type(error).__name__}") from error


def _of_transformers(folder: Path, option: str) -> Backbone:
    try:
        from transformers import AutoModel
        from transformers.utils import logging
    except ImportError:
        wanted = "expected the package transformers, got none installed; run `pip install 'questree[hf]'`"
        raise BadInput.at(option, wanted) from None
    logging.disable_progress_bar()  # of reading weights, in every process
    with _loading(folder, "a model that transformers can load"):
        whole = AutoModel.from_pretrained(str(folder), local_files_only=True).float().eval()
    model = getattr(whole, "vision_model", whole)  # of models that also read
    pictures = int(getattr(model.config, "num_frames", 1))
    look = model.to(device := _device())
    processor = _said(folder) or Processor()
    return Backbone(folder.name, lambda batch: _pooled(look(pixel_values=batch)), processor, pictures, device)


def _pooled(out: Any) -> Any:
    """[row, width] of what a model gives: its own summary, or the mean of all places."""
    pooled = getattr(out, "pooler_output", None)
    if pooled is not None:
        return pooled.flatten(1)
    hidden = out.last_hidden_state
    return hidden.mean(1) if hidden.ndim == 3 else hidden.flatten(2).mean(2)


def _said(folder: Path) -> Processor | None:
    """What a folder says about its pictures."""
    file = folder / PROCESSOR
    if not file.is_file():
        return None
    try:
        return msgspec.json.decode(file.read_bytes(), type=Processor)
    except (OSError, *UNREADABLE) as error:
        raise BadInput.at(file, f"expected how pictures are prepared; {error}") from error


def _of_torchvision(weights: Path, option: str) -> Backbone:
    import torch

    try:
        from torchvision import models
    except ImportError:
        wanted = "expected the package torchvision, got none installed; run `pip install torchvision`"
        raise BadInput.at(option, wanted) from None
    except RuntimeError as error:  # its compiled part was made for another torch
        wanted = f"expected a build of torchvision for torch {torch.__version__}, got another one ({error})"
        raise BadInput.at(option, wanted) from error
    films = models.list_models(module=models.video)
    with _loading(weights, "weights of a model of torchvision under the name they are released by"):
        name, released = _released(weights, [*models.list_models(module=models), *films])
        model = models.get_model(name)
        model.load_state_dict(torch.load(weights, weights_only=True, map_location="cpu"))
    _without_classes(model)
    look, how = model.eval().to(device := _device()), _trained(weights, released)
    if name in films:
        return Backbone(name, lambda batch: look(batch.transpose(1, 2)).flatten(1), how, CLIP, device)
    return Backbone(name, lambda batch: look(batch).flatten(1), how, 1, device)


def _released(weights: Path, names: list[str]) -> tuple[str, Any]:
    """The model of a file, and what torchvision knows about its weights; `resnet50-mine.pth` is a resnet50 too."""
    from torchvision.models import get_model_weights

    for name in names:
        for each in get_model_weights(name):
            if each.url.rpartition("/")[2] == weights.name:
                return name, each
    name = weights.stem.partition("-")[0]
    if name not in names:
        raise ValueError(f"got {weights.name}, choose from {', '.join(names)}")
    return name, get_model_weights(name).DEFAULT


def _trained(weights: Path, released: Any) -> Processor:
    """What the folder says about pictures, or how torchvision prepares them for these weights."""
    how = released.transforms()
    height, width = (how.crop_size * 2)[:2]
    return _said(weights.parent) or Processor({"height": height, "width": width}, None, tuple(how.mean), tuple(how.std))


def _without_classes(model: Any) -> None:
    """The last layer, which names classes, lets everything through."""
    from torch import nn

    for part in LAST:
        for path, layer in reversed(list(getattr(model, part, nn.Identity()).named_modules(prefix=part))):
            if isinstance(layer, nn.Linear | nn.Conv2d | nn.Conv3d):
                parent, _, own = path.rpartition(".")
                setattr(model.get_submodule(parent), own, nn.Identity())
                break
