"""A small synthetic run with cleaned facts and questions, made once."""

import shutil
from pathlib import Path

import pytest

from questree.sources.action_genome import read_action_genome
from questree.sources.runs import write_run
from questree.stages.augment import augment
from questree.stages.generate.work import Options, generate
from questree.synth.noise import Rates
from questree.synth.world import write_world
from questree.tables.run import Run
from questree.tables.store import new_folder
from questree.vocabulary.load import default, default_text

VIDEOS = 12


@pytest.fixture(scope="session")
def cleaned_run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Facts of a few synthetic videos; do not write into it."""
    folder: Path = tmp_path_factory.mktemp("cleaned")
    write_world(folder / "world", VIDEOS, 3, Rates(), 1)
    raw = read_action_genome(folder / "world", default(), None).facts
    run = Run(folder / "run")
    write_run(run.folder, default_text(), raw)
    with new_folder(run.facts) as facts:
        augment(raw, default())[0].save(facts)
    return run


@pytest.fixture(scope="session")
def asked_run(cleaned_run: Run, tmp_path_factory: pytest.TempPathFactory) -> Run:
    """The same run with its questions and their text."""
    run = copy(cleaned_run, tmp_path_factory.mktemp("asked"))
    generate(run, Options(shard=5, text=True, rare_below=3), workers=1)
    return run


def copy(run: Run, folder: Path) -> Run:
    shutil.copytree(run.folder, folder / "run")
    return Run(folder / "run")
