"""Stages on a Dask cluster: the same bytes as without, whatever the cluster."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from chaos.kills import content
from conftest import copy
from questree.tables.run import Run
from worlds.commands import questree

distributed = pytest.importorskip("distributed")


@pytest.fixture(scope="module")
def scheduler() -> Iterator[str]:
    """A cluster inside this process: a scheduler, and two workers that are threads."""
    with distributed.LocalCluster(2, processes=False, threads_per_worker=1, dashboard_address=None) as found:
        yield found.scheduler_address


def done(folder: Path, *words: object) -> str:
    found = questree(*words, folder=folder)
    assert found.returncode == 0, found.stderr
    return found.stdout


def test_stages_of_videos_give_the_same_bytes(cleaned_run: Run, scheduler: str, tmp_path: Path) -> None:
    folders = [tmp_path / name for name in ("plain", "cluster")]
    options: list[list[object]] = [["--workers", 1], ["--cluster", scheduler]]
    for folder, more in zip(folders, options, strict=True):
        copy(cleaned_run, folder)
        done(folder, "generate", "run", "--shard", 3, "--rare-below", 3, "--quiet", *more)
        done(folder, "balance", "run", "--quiet", *more)
        done(folder, "decompose", "run", "--invalid-actions", 1, "--quiet", *more)
        done(folder, "answer", "run", "--model", "composition-noise", "--quiet", *more)
        done(folder, "answer", "run", "--model", "shortcut", "--quiet", *more)
        done(folder, "export", "decomp", "run", "--out", "decomp", "--quiet", *more)
        done(folder, "export", "agqa", "run", "--out", "agqa", "--quiet", *more)
        own = more if "--cluster" in more else []
        done(folder, "score", "run", "--resamples", 20, "--json", "scores.json", "--quiet", *own)
    plain, cluster = map(content, folders)
    assert plain.keys() == cluster.keys()
    assert [name for name in plain if plain[name] != cluster[name]] == []
