"""Features of pictures by backbones with random weights, which transformers loads."""

import json
import shutil
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import questree
from conftest import copy
from questree.faults import BadInput
from questree.features.files import packed
from questree.features.from_media import MediaOfVideos
from questree.features.local_models import backbone_in
from questree.features.making import write_features
from questree.features.options import FeatureOptions
from questree.features.read import open_features
from questree.tables.images import Images
from questree.tables.run import Run
from test_features import Killed
from test_pages import commands
from worlds.commands import questree as command
from worlds.image_run import image_run

torch = pytest.importorskip("torch", reason="PyTorch is not installed; `make test-models` installs it")
transformers = pytest.importorskip(
    "transformers", reason="transformers is not installed; `make test-models` installs it"
)
pillow = pytest.importorskip("PIL.Image", reason="Pillow is not installed; `pip install 'questree[ask]'`")


@pytest.fixture(scope="module")
def vit(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small ViT that looks at 16 x 16 pixels."""
    folder = tmp_path_factory.mktemp("vit")
    torch.manual_seed(1)
    how = transformers.ViTConfig(
        hidden_size=8, num_hidden_layers=1, num_attention_heads=2, intermediate_size=8, image_size=16, patch_size=8
    )
    transformers.ViTModel(how).save_pretrained(folder)
    told = {"size": {"height": 16, "width": 16}, "image_mean": [0.5] * 3, "image_std": [0.5] * 3}
    (folder / "preprocessor_config.json").write_text(json.dumps(told))
    return folder


@pytest.fixture(scope="module")
def rooms(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Rooms, with a picture of each in which every thing has a grey of its own."""
    run = image_run(tmp_path_factory.mktemp("pictured") / "run")
    (run.folder / "media").mkdir()
    for at, id in enumerate(Images.load(run.images).images["id"].to_list()):
        picture = pillow.new("RGB", (200, 20))  # twice as large as annotated
        for thing in range(3):
            picture.paste((60 * thing + 3 * at,) * 3, (20 * thing, 0, 20 * thing + 16, 16))
        picture.save(run.folder / "media" / f"{id}.png")
    return run


def seen_alone(folder: Path, image: Any) -> Any:
    return backbone_in(folder).seen([image])[0]


def test_a_thing_is_what_the_backbone_sees_in_its_box(rooms: Run, vit: Path) -> None:
    done = command("features", rooms.folder, "--media", rooms.folder / "media", "--backbone", vit, "--name", "vit")
    assert done.returncode == 0, done.stderr
    found = open_features(rooms.folder, "vit")
    assert (found.streams["objects"].width, found.note["made"]["source"]) == (8 + 6, vit.name)
    values, there = found.take(["train2"], ["objects"])["objects"]
    assert there.tolist() == [[True] * 3]
    model = transformers.ViTModel.from_pretrained(vit).eval()
    with pillow.open(rooms.folder / "media" / "train2.png") as whole:
        for thing in range(3):
            crop = np.asarray(whole.crop((20 * thing, 0, 20 * thing + 16, 16)).resize((16, 16)), np.float32)
            pixels = torch.from_numpy(((crop / 255 - 0.5) / 0.5).transpose(2, 0, 1)[None].copy())
            with torch.inference_mode():
                wanted = model(pixel_values=pixels).pooler_output[0].numpy()
            np.testing.assert_allclose(values[0, thing, :-6], wanted, atol=1e-5)
    assert not np.allclose(values[0, 0, :-6], values[0, 1, :-6])


@pytest.fixture(scope="module")
def filmed(cleaned_run: Run, tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Videos whose frames are of a grey that says their number."""
    return painted(
        copy(cleaned_run, tmp_path_factory.mktemp("filmed")),
        lambda number: pillow.new("RGB", (24, 24), (number % 250,) * 3),
    )


def painted(run: Run, frame: Callable[[int], Any]) -> Run:
    """With a picture of every annotated frame, which follows from its number."""
    facts = run.load("facts")
    for video, number in facts.frames.select("video", "number").rows():
        place = run.folder / "media" / facts.videos["id"][video]
        place.mkdir(parents=True, exist_ok=True)
        frame(number).save(place / f"{number:06}.png")
    return run


def shaded(number: int) -> Any:
    """Every part of it looks different."""
    across, down = np.meshgrid(np.arange(60), np.arange(40))
    return pillow.fromarray(np.stack([4 * across, 6 * down, 0 * down + number % 250], axis=2).astype(np.uint8))


def test_detected_boxes_of_frames_are_cut_out(cleaned_run: Run, vit: Path, tmp_path: Path) -> None:
    run = painted(copy(cleaned_run, tmp_path), shaded)
    how: dict[str, Any] = {"media": run.folder / "media", "backbone": vit, "frames": 1, "clips": 1, "object_frames": 1}
    questree.make_features(run.folder, detections=True, spurious=1, miss=0.5, name="cut", workers=1, **how)
    told = json.loads((run.folder / "features" / "cut" / "detections.json").read_text())
    facts, found, checked = run.load("facts"), open_features(run.folder, "cut"), 0
    for video, (id, width, height) in enumerate(facts.videos.select("id", "width", "height").rows()):
        numbers = facts.frames.filter(facts.frames["video"] == video)["number"].to_list()
        number = numbers[len(numbers) // 2]
        boxes = np.clip(np.array(told[f"{id}/{number:06}"]["bboxes"]) / [width, height, width, height], 0, 1)
        values, there = found.take([id], ["objects"])["objects"]
        assert there.sum() == len(boxes)
        for own, (x1, y1, x2, y2) in zip(values[0][there[0]], boxes * [60, 40, 60, 40], strict=True):
            corner = min(int(x1), 59), min(int(y1), 39)
            crop = shaded(number).crop((*corner, max(round(x2), corner[0] + 1), max(round(y2), corner[1] + 1)))
            np.testing.assert_allclose(own[:-6], seen_alone(vit, crop), atol=1e-4)
            checked += 1
    assert checked > 2 * len(facts.videos)


def test_frames_and_what_changes_between_them(filmed: Run, vit: Path) -> None:
    how: dict[str, Any] = {
        "media": filmed.folder / "media",
        "backbone": vit,
        "frames": 4,
        "clips": 2,
        "object_frames": 1,
    }
    questree.make_features(filmed.folder, name="one", shard=5, workers=1, **how)
    facts, found = filmed.load("facts"), open_features(filmed.folder, "one")
    id = facts.videos["id"][2]
    numbers = facts.frames.filter(facts.frames["video"] == 2)["number"].to_list()
    taken = found.take([id], ["appearance", "motion", "objects"])
    greys = [numbers[int((at + 0.5) * len(numbers) / 4)] % 250 for at in range(4)]
    wanted = np.stack([seen_alone(vit, pillow.new("RGB", (24, 24), (grey,) * 3)) for grey in greys])
    np.testing.assert_allclose(taken["appearance"][0][0], wanted, atol=1e-5)
    moved = np.abs(np.diff(wanted, axis=0, prepend=wanted[:1]))
    np.testing.assert_allclose(taken["motion"][0][0], [moved[:2].mean(axis=0), moved[2:].mean(axis=0)], atol=1e-5)
    middle = seen_alone(vit, pillow.new("RGB", (24, 24), (numbers[len(numbers) // 2] % 250,) * 3))
    boxes = taken["objects"][0][0][taken["objects"][1][0]]
    assert len(boxes) > 0
    np.testing.assert_allclose(boxes[:, :-6], np.tile(middle, (len(boxes), 1)), atol=1e-5)


@pytest.fixture(scope="module")
def watcher(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small VideoMAE that looks at two pictures."""
    folder = tmp_path_factory.mktemp("watching") / "watcher"
    how = transformers.VideoMAEConfig(
        hidden_size=8, num_hidden_layers=1, num_attention_heads=2, intermediate_size=8,
        image_size=16, patch_size=8, num_frames=2, tubelet_size=2,
    )  # fmt: skip
    transformers.VideoMAEModel(how).save_pretrained(folder)
    (folder / "preprocessor_config.json").write_text('{"size": {"height": 16, "width": 16}}')
    return folder


def test_clips_are_watched_by_a_backbone_of_videos(filmed: Run, vit: Path, watcher: Path) -> None:
    places = {"RUN": filmed.folder, "DIR": filmed.folder / "media", "FOLDER": vit, "WATCHER": watcher}
    lines = [line.split()[1:] for line in commands("docs/experiments.md") if "--media" in line]
    assert len(lines) == 2
    for words in lines:
        named = [str(places.get(word, word)) for word in words]
        done = command(*named, *["--frames", "2", "--clips", "3", "--object-frames", "1", "--workers", "1"])
        assert done.returncode == 0, done.stderr
    found = open_features(filmed.folder, vit.name)
    id = filmed.load("facts").videos["id"][0]
    values, there = found.take([id], ["motion"])["motion"]
    assert values.shape == (1, 3, 8)
    assert there.all()
    assert not np.allclose(values[0, 0], values[0, 2])


def test_safetensors_are_read_by_their_package() -> None:
    reader = pytest.importorskip("safetensors.numpy", reason="safetensors is not installed")
    arrays: dict[str, Any] = {
        "a.values": np.arange(6, dtype=np.float32).reshape(2, 3),
        "a.start": np.array([0, 2], np.int64),
    }
    found = reader.load(packed(arrays))
    assert {name: array.tolist() for name, array in found.items()} == {k: v.tolist() for k, v in arrays.items()}


def test_what_is_missing_is_said_before_anything_is_made(rooms: Run, vit: Path, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(BadInput, match=r"expected a folder with config.json \(transformers\) or one file of weights"):
        questree.make_features(rooms.folder, media=rooms.folder / "media", backbone=tmp_path / "empty")
    with pytest.raises(BadInput, match=r"expected train0\.png or \.jpg, got none"):
        questree.make_features(rooms.folder, media=tmp_path / "empty", backbone=vit)
    with pytest.raises(BadInput, match="motion: expected a run of videos, got image sets"):
        questree.make_features(rooms.folder, media=rooms.folder / "media", backbone=vit, motion=vit)
    assert not (rooms.folder / "features" / vit.name).exists()


@pytest.mark.parametrize(
    ("file", "content"),
    [
        ("config.json", '{"model_type": "nothing known"}'),
        ("config.json", "no JSON"),
        ("model.safetensors", "no weights"),
    ],
)
def test_a_damaged_backbone_is_one_line(rooms: Run, vit: Path, tmp_path: Path, file: str, content: str) -> None:
    broken = Path(shutil.copytree(vit, tmp_path / "broken"))
    (broken / file).write_text(content)
    with pytest.raises(BadInput, match="broken: expected a model that transformers can load; "):
        questree.make_features(rooms.folder, media=rooms.folder / "media", backbone=broken)


def test_who_looks_at_pictures_does_not_watch_clips(filmed: Run, vit: Path, watcher: Path) -> None:
    with pytest.raises(BadInput) as told:
        questree.make_features(filmed.folder, media=filmed.folder / "media", backbone=watcher, motion=vit)
    assert str(told.value).splitlines() == [
        "backbone: expected a model of single pictures, got one of clips: watcher",
        f"motion: expected a model of clips, got one of single pictures: {vit.name}",
    ]


def test_weights_of_half_precision_are_looked_through(vit: Path, tmp_path: Path) -> None:
    transformers.ViTModel.from_pretrained(vit).half().save_pretrained(tmp_path)
    (tmp_path / "preprocessor_config.json").write_bytes((vit / "preprocessor_config.json").read_bytes())
    picture = shaded(3)
    np.testing.assert_allclose(seen_alone(tmp_path, picture), seen_alone(vit, picture), atol=1e-2)


@pytest.mark.processes
def test_looking_that_was_killed_goes_on_in_processes_to_the_same_bytes(filmed: Run, vit: Path) -> None:
    options, where = FeatureOptions(frames=2, clips=1, object_frames=1), filmed.folder / "features"
    source = MediaOfVideos(filmed.folder, options, filmed.folder / "media", vit)
    source.check()
    write_features(source, options, filmed, "whole", "parquet", 4, 1, ThreadPoolExecutor(1))
    with pytest.raises(KeyboardInterrupt):
        write_features(source, options, filmed, "killed", "parquet", 4, 1, Killed(1))
    assert [path.name for path in where.glob(".killed.part/*.parquet")] == ["00000.parquet"]
    write_features(source, options, filmed, "killed", "parquet", 4, 2)
    whole, again = ({path.name: path.read_bytes() for path in (where / name).iterdir()} for name in ("whole", "killed"))
    assert whole == again
    assert len(whole) == 3 + 2
