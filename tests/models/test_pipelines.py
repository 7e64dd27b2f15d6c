"""`questree ask --hf`: pipelines of models with random weights, which transformers loads from a folder."""

import json
from pathlib import Path

import pytest

from conftest import copy
from questree import open as open_run
from questree.tables.run import Run
from worlds.commands import questree as command

pytest.importorskip("torch", reason="PyTorch is not installed; `make test-models` installs it")
pytest.importorskip("transformers", reason="transformers is not installed; `make test-models` installs it")
pillow = pytest.importorskip("PIL.Image", reason="Pillow is not installed; `pip install 'questree[ask]'`")


@pytest.mark.parametrize("sees", [False, True])
def test_a_pipeline_of_a_local_folder_answers(apart_images: Run, tmp_path: Path, sees: bool) -> None:
    from worlds.tiny_models import tiny_text_model, tiny_vision_model

    (tiny_vision_model if sees else tiny_text_model)(tmp_path / "tiny")
    run = copy(apart_images, tmp_path)
    media = tmp_path / "pictures"
    media.mkdir()
    for name in open_run(run.folder).facts("images")["id"]:
        pillow.new("RGB", (32, 32), (9, 90, 200)).save(media / f"{name}.png")
    words = ("--hf", "tiny", "--answer-tokens", 4, "--questions", 2, "--batch", 2, "--raw", "raw.jsonl")
    seen = ("--media", media) if sees else ("--no-media",)
    done = command("ask", "run", *words, *seen, folder=tmp_path)
    assert done.returncode == 0, done.stderr
    lines = [json.loads(line) for line in (tmp_path / "raw.jsonl").read_text().splitlines()]
    assert len(lines) >= 2 and all(isinstance(line["raw"], str) for line in lines)
    assert len(open_run(run.folder).predictions("tiny")) == len(lines)
    again = command("ask", "run", *words, *seen, "--json", "told.json", folder=tmp_path)
    assert again.returncode == 0 and json.loads((tmp_path / "told.json").read_text())["requests"] == 0
