"""Runs that many tests look at, made once for all test processes; do not write into them."""

import fcntl
import gc
import os
import shutil
import sys
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from functools import cache
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import settings
from numba.core.compiler_lock import global_compiler_lock
from numba.core.dispatcher import Dispatcher

from questree.extensions import installed
from questree.formats.agqa_run import import_agqa
from questree.search.word_tables import default_words
from questree.sources.runs import write_run
from questree.stages.augment import augment
from questree.stages.decompose.set_shards import decompose_run
from questree.stages.generate.shards import GenerateOptions, generate
from questree.synth.video import Rates
from questree.synth.world import write_world
from questree.tables.run import Run
from questree.tables.store import new_folder
from questree.vocabulary.load import default, default_text
from worlds import exported_worlds, forked
from worlds.commands import run
from worlds.forked import Pools, one_thread
from worlds.image_run import image_run
from worlds.whole_sources import read_action_genome

VIDEOS = 12
os.environ.pop("COLUMNS", None)  # processes of pytest-xdist have 80 there; tables are as wide as in a pipe

settings.register_profile("no deadline", deadline=None)  # how long an example takes says how busy the machine is
settings.load_profile("no deadline")


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """One process after the other: the second finds the tests compiled."""
    with Path(__file__).open() as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        return (yield)


def pytest_collection_finish() -> None:
    gc.freeze()  # modules and tests stay: the collector need not look at them again and again


def pytest_runtest_setup(item: pytest.Item) -> None:
    Pools.real = item.get_closest_marker("processes") is not None


@pytest.fixture(autouse=True)
def same_modules_for_every_test() -> Iterator[None]:
    """A command that adds to the path modules are found by (`--verify module:function`) does so for its test alone."""
    path = list(sys.path)
    yield
    sys.path[:] = path


@pytest.fixture(scope="session", autouse=True)
def processes_where_they_matter() -> Iterator[None]:
    """Starting processes takes longer than most tests' work, so a thread does it but in tests marked `processes`."""

    def pool(workers: int, **how: Any) -> Executor:
        return (ProcessPoolExecutor if Pools.real else one_thread)(workers, **how)

    with (
        patch("questree.workers.ProcessPoolExecutor", pool),
        patch("bench.runs.ProcessPoolExecutor", pool),
    ):
        yield
    forked.stop()


@pytest.fixture(scope="session", autouse=True)
def installed_packages_looked_at_once() -> Iterator[None]:
    """A command looks for plugins among them, and here thousands of commands run in one process."""
    with patch("questree.extensions.installed", cache(installed)):
        yield


@pytest.fixture(scope="session", autouse=True)
def kernels_compiled_once(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """While one process compiles a kernel the others that need it wait, then find it in the cache."""
    place, held = shared(tmp_path_factory), set[str]()
    inner = Dispatcher.compile

    def compile(kernel: Any, types: Any) -> Any:
        name = f"{kernel.py_func.__module__}.{kernel.py_func.__qualname__}"
        if not name.startswith("questree.") or name in held:  # one that is compiled to compile itself
            return inner(kernel, types)
        with global_compiler_lock, (place / f"{name}.lock").open("w") as lock:  # threads, then processes
            fcntl.flock(lock, fcntl.LOCK_EX)
            held.add(name)
            try:
                return inner(kernel, types)
            finally:
                held.remove(name)

    with patch.object(Dispatcher, "compile", compile):
        yield


def shared(factory: pytest.TempPathFactory) -> Path:
    """A folder for all test processes."""
    base = factory.getbasetemp()
    return base.parent if "PYTEST_XDIST_WORKER" in os.environ else base


def once(factory: pytest.TempPathFactory, name: str, make: Callable[[Path], object]) -> Path:
    """A folder that the first process to need it makes, while the others wait."""
    place = shared(factory)
    folder, done = place / name, place / f"{name}.done"
    with (place / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not done.exists():
            shutil.rmtree(folder, ignore_errors=True)
            make(folder)
            done.touch()
    return folder


@pytest.fixture(scope="session")
def cleaned_run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Facts of a few synthetic videos."""

    def make(folder: Path) -> None:
        write_world(folder / "world", VIDEOS, 3, Rates(unasked_objects=0), 1)  # all that a video shows
        raw = read_action_genome(folder / "world", default(), None).facts
        write_run(folder / "run", default_text(), raw)
        with new_folder(Run(folder / "run").facts) as facts:
            augment(raw, default())[0].save(facts)

    return Run(once(tmp_path_factory, "cleaned", make) / "run")


@pytest.fixture(scope="session")
def asked_run(cleaned_run: Run, tmp_path_factory: pytest.TempPathFactory) -> Run:
    """The same run with its questions and their text."""

    def make(folder: Path) -> None:
        generate(
            copy(cleaned_run, folder), GenerateOptions(shard=5, text=True, rare_below=3), pool=ThreadPoolExecutor(1)
        )

    return Run(once(tmp_path_factory, "asked", make) / "run")


@pytest.fixture(scope="session")
def pictured_run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Facts of a few synthetic images. Questions were asked of a copy: processes find the long kernels compiled."""

    def make(folder: Path) -> None:
        folder.mkdir()
        run("questree synth images --out world --images 60 --seed 4 --quiet", folder)
        run("questree ingest gqa world --out run --quiet", folder)
        copy(Run(folder / "run"), folder / "asked")
        run("questree generate asked/run --questions 20 --workers 1 --quiet", folder)

    return Run(once(tmp_path_factory, "pictured", make) / "run")


@pytest.fixture(scope="session")
def random_run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Small random worlds, train and test, with questions of every template and a balanced selection."""

    def make(folder: Path) -> None:
        exported_worlds.select_every(exported_worlds.random_run(folder), 7)

    return Run(once(tmp_path_factory, "random", make))


@pytest.fixture(scope="session")
def release(random_run: Run, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same run as AGQA's release: every question and the balanced ones, CSVs, graphs."""
    return once(tmp_path_factory, "release", lambda out: exported_worlds.exported(random_run, out, unbalanced=True))


@pytest.fixture(scope="session")
def imported(release: Path, tmp_path_factory: pytest.TempPathFactory) -> Run:
    """The release, read again into a run with the facts of its own scene graphs."""

    def make(folder: Path) -> None:
        told = import_agqa(release, folder, release)
        assert not told.faults
        assert told.kept_as_is == sum(map(len, told.left_out)) == 0

    return Run(once(tmp_path_factory, "imported", make))


@pytest.fixture(scope="session")
def notebook(cleaned_run: Run, asked_run: Run, pictured_run: Run, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder as somebody's notebook has it: `run` of videos and `images`, decomposed, each answered by a bot."""

    def make(folder: Path) -> None:
        exported_worlds.select_every(copy(asked_run, folder), 200)
        shutil.copytree(cleaned_run.folder.parent / "world", folder / "world")
        copy(Run(pictured_run.folder.parent / "asked" / "run"), folder / "pictured").folder.rename(folder / "images")
        for name in ("run", "images"):
            run(f"questree decompose {name} --workers 1 --quiet", folder)
            run(f"questree answer {name} --model perception-noise --noise 0.3 --quiet", folder)

        run("questree answer run --model oracle --out predictions.jsonl --quiet", folder)
        shutil.rmtree(folder / "run" / "predictions" / "oracle")
        run("questree export decomp run --out released --workers 1 --quiet", folder)

    return once(tmp_path_factory, "notebook", make)


@pytest.fixture(scope="session")
def apart_images(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Questions about sets of images to check by eye, taken apart."""

    def make(folder: Path) -> None:
        decompose_run(image_run(folder), default_words(), every=True, workers=1)

    return Run(once(tmp_path_factory, "apart-images", make))


@pytest.fixture(scope="session")
def taught_run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Videos with a few questions each, taken apart, with splits: for networks to learn from."""

    def make(folder: Path) -> None:
        folder.mkdir()
        run("questree synth --out world --videos 24 --seed 5 --unasked-objects 0 --quiet", folder)
        run("questree build world --out run --phrases 1 --workers 1 --quiet", folder)

    return Run(once(tmp_path_factory, "taught", make) / "run")


@pytest.fixture
def taught(taught_run: Run, tmp_path: Path) -> Run:
    """The same run to write into."""
    return copy(taught_run, tmp_path)


def copy(run: Run, folder: Path) -> Run:
    shutil.copytree(run.folder, folder / "run")
    return Run(folder / "run")
