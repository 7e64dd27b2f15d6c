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
from worlds import exported_worlds

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


@pytest.fixture(scope="session")
def random_run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Small random worlds, train and test, with questions of every template and a balanced selection."""
    run = exported_worlds.random_run(tmp_path_factory.mktemp("random") / "run")
    exported_worlds.select_every(run, 7)
    return run


@pytest.fixture(scope="session")
def release(random_run: Run, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same run as AGQA's release: every question and the balanced ones, CSVs, graphs."""
    return exported_worlds.exported(random_run, tmp_path_factory.mktemp("release") / "out", unbalanced=True)


def copy(run: Run, folder: Path) -> Run:
    shutil.copytree(run.folder, folder / "run")
    return Run(folder / "run")
