"""Commands printed in docs/decompose.md are commands that work."""

import shlex
from pathlib import Path

import pytest

from conftest import copy
from questree.cli.app import app
from questree.stages.questions import Bank
from questree.synth.video import Rates
from questree.synth.world import write_world
from questree.tables.run import Run
from test_pages import commands


def test_the_page_on_decomposition_works(
    random_run: Run, release: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    folder = copy(random_run, tmp_path).folder
    write_world(tmp_path / "world", 6, 4, Rates(), 1)
    names = {
        "VIDEO-NUMBER": f"{Bank(random_run).ids[0]}-0",
        "RUN": str(folder),
        "RAW": "world",
        "FOLDER": str(release),
        "FILE": str(release / "AGQA_balanced" / "train_balanced.txt"),
    }
    lines = commands("docs/decompose.md")
    assert len(lines) == 6
    for line in lines:
        for name, value in names.items():
            line = line.replace(name, value)
        app([*shlex.split(line)[1:], "--quiet"], exit_on_error=False, result_action="return_value")
