"""A network from outside: the file of docs/extend, and what is said about wrong ones."""

import shutil
from pathlib import Path

import pytest

from questree.tables.run import Run
from worlds import forked

pytest.importorskip("torch", reason="PyTorch is not installed; `make test-models` installs it")
EXAMPLE = Path(__file__).parents[2] / "docs" / "extend" / "model.py"
MODULE = """import torch
from questree.plugins import model

@model("mine", says="", {0})
def mine(inputs):
    return {1}
"""


def test_a_network_is_one_file(taught: Run, tmp_path: Path) -> None:
    shutil.copy(EXAMPLE, tmp_path)

    def works(*words: object) -> str:
        done = forked.questree(*words, folder=tmp_path)
        assert done.returncode == 0, done.stderr
        return done.stdout

    works("features", "run", "--from-facts", "--workers", 1)
    works("train", "run", "--model", "bag-of-words", "--plugin", "model.py", "--epochs", 3)
    told = works("predict", "run", "--model", "bag-of-words", "--plugin", "model.py")
    assert "questions and sub-questions answered, stored in run/predictions/bag-of-words" in told
    done = forked.questree("predict", "run", "--model", "bag-of-words", folder=tmp_path)
    assert "expected a network, got 'bag-of-words'" in done.stderr


@pytest.mark.parametrize(
    ("streams", "made", "said"),
    [
        (
            "streams=['smell']",
            "1",
            "model mine: streams: expected a known one, got 'smell'; choose from appearance, motion",
        ),
        ("streams='objects'", "1", "model mine: streams: expected a list, got a text 'objects'"),
        ("", "None", "model mine: expected a torch.nn.Module, got NoneType"),
        ("", "torch.nn.Embedding(9, 3)", "model mine: TypeError: "),
    ],
)
def test_what_is_wrong_is_one_line(taught: Run, tmp_path: Path, streams: str, made: str, said: str) -> None:
    (tmp_path / "mine.py").write_text(MODULE.format(streams, made))
    done = forked.questree("train", "run", "--model", "mine", "--plugin", "mine.py", folder=tmp_path)
    assert done.returncode == 1
    assert said in done.stderr
    assert len(done.stderr.splitlines()) == 1
