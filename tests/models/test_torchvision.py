"""Backbones of torchvision, with random weights, under the names by which they are released."""

import importlib.util
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import questree
from questree.faults import BadInput
from questree.features.local_models import backbone_in
from questree.features.read import open_features
from questree.tables.images import Images
from worlds.image_run import image_run

torch = pytest.importorskip("torch", reason="PyTorch is not installed; `make test-models` installs it")
pillow = pytest.importorskip("PIL.Image", reason="Pillow is not installed; `pip install 'questree[ask]'`")
BESIDE = Path(sys.prefix) / "torchvision"  # where `make test-models` puts it
OPERATORS = ("nms", "qnms")  # that its import asks for


@pytest.fixture(scope="module")
def importable() -> Iterator[None]:
    if importlib.util.find_spec("torchvision") is None and not BESIDE.is_dir():
        pytest.skip("torchvision is not installed; `make test-models` installs it")
    sys.path.append(str(BESIDE))
    yield
    sys.path.remove(str(BESIDE))


@pytest.fixture(scope="module")
def models(importable: None) -> Iterator[Any]:
    """Its wheel on PyPI is compiled for CUDA. A torch without CUDA cannot load that part, operators of detectors that
    no backbone calls; here they are declared, so that all that is written in Python runs."""
    library = torch.library.Library("torchvision", "FRAGMENT")
    try:
        importlib.import_module("torchvision")
    except RuntimeError:
        for name in OPERATORS:
            library.define(f"{name}(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
    yield importlib.import_module("torchvision.models")
    library._destroy()


def saved(models: Any, name: str, folder: Path, called: str = "") -> Any:
    """A folder with its weights, and the model."""
    torch.manual_seed(1)
    model = models.get_model(name).eval()
    torch.save(model.state_dict(), folder / (called or f"{name}-0badcafe.pth"))
    return model


def noise(side: int) -> Any:
    return pillow.fromarray(np.random.default_rng(1).integers(0, 255, (side, side, 3), np.uint8))


def test_a_build_for_another_torch_is_one_line(importable: None, tmp_path: Path) -> None:
    try:
        importlib.import_module("torchvision")
    except RuntimeError:
        (tmp_path / "resnet18-0badcafe.pth").write_bytes(b"")
        with pytest.raises(BadInput, match="backbone: expected a build of torchvision for torch "):
            backbone_in(tmp_path)
    else:
        pytest.skip("torchvision fits torch")


def test_a_picture_is_what_the_layer_before_the_classes_makes_of_it(models: Any, tmp_path: Path) -> None:
    """Prepared as torchvision prepares it: 224 x 224 pixels, mean and spread of ImageNet."""
    model, picture = saved(models, "resnet18", tmp_path), noise(224)
    found = backbone_in(tmp_path)
    assert (found.name, found.pictures, found.processor.side) == ("resnet18", 1, (224, 224))
    pixels = (np.asarray(picture, np.float32) / 255 - [0.485, 0.456, 0.406]) / [0.229, 0.224, 0.225]
    with torch.inference_mode():
        wanted = model(torch.from_numpy(pixels.astype(np.float32).transpose(2, 0, 1)[None].copy()))
        own = model.fc(torch.from_numpy(found.seen([picture])))
    assert own.shape == (1, 1000)
    np.testing.assert_allclose(own, wanted, atol=1e-4)


@pytest.mark.parametrize(
    ("name", "called", "width"),
    [
        ("mobilenet_v3_small", "mobilenet_v3_small-047dcff4.pth", 1024),  # the first of two linear layers stays
        ("squeezenet1_1", "squeezenet1_1-mine.pth", 512),  # classes are named by a convolution
        ("shufflenet_v2_x0_5", "shufflenetv2_x0.5-f707e7126e.pth", 1024),  # released under another name
    ],
)
def test_models_are_told_by_their_files(models: Any, tmp_path: Path, name: str, called: str, width: int) -> None:
    saved(models, name, tmp_path, called)
    found = backbone_in(tmp_path)
    assert found.name == name
    assert found.seen([noise(9)] * 2).shape == (2, width)


def test_a_model_of_videos_watches_clips(models: Any, tmp_path: Path) -> None:
    saved(models, "mc3_18", tmp_path)
    found = backbone_in(tmp_path, "--motion")
    assert (found.pictures, found.processor.side) == (16, (112, 112))
    assert found.seen([noise(20)] * 16).shape == (1, 512)


def test_a_run_is_looked_at(models: Any, tmp_path: Path) -> None:
    run = image_run(tmp_path / "run")
    media, folder = tmp_path / "media", tmp_path / "squeezed"
    media.mkdir()
    folder.mkdir()
    saved(models, "squeezenet1_1", folder)
    (folder / "preprocessor_config.json").write_text('{"size": 32}')
    for id in Images.load(run.images).images["id"].to_list():
        noise(40).save(media / f"{id}.png")
    questree.make_features(run.folder, media=media, backbone=folder, workers=1)
    found = open_features(run.folder, "squeezed")
    assert (found.streams["objects"].width, found.note["made"]["source"]) == (512 + 6, "squeezed")


@pytest.mark.parametrize(
    ("called", "content", "said"),
    [
        ("resnet18-0badcafe.pth", b"no weights", "expected weights of a model of torchvision under the name they are"),
        ("nobody-0badcafe.pth", b"", "got nobody-0badcafe.pth, choose from alexnet, "),
    ],
)
def test_other_files_are_one_line(models: Any, tmp_path: Path, called: str, content: bytes, said: str) -> None:
    (tmp_path / called).write_bytes(content)
    with pytest.raises(BadInput, match=said) as told:
        backbone_in(tmp_path)
    assert len(str(told.value).splitlines()) == 1
