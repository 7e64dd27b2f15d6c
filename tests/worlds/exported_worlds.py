"""A run of small random worlds with questions, exported as AGQA's release, for the tests of export and import."""

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import polars as pl

from questree.formats.agqa import ExportOptions, export
from questree.sources.runs import write_run
from questree.stages.generate.shards import GenerateOptions, generate
from questree.tables.facts import Facts
from questree.tables.run import Run
from questree.tables.store import new_folder
from questree.vocabulary.load import default_text
from worlds import generator_worlds as chance
from worlds.small import facts

VIDEOS, SHARD = 4, 7  # and the rare cases
Record = dict[str, Any]


def random_facts(videos: int = VIDEOS) -> Facts:
    """Every third video is for testing, one names no split."""
    found = facts("\n".join([*chance.world(seed=5, videos=videos), *chance.RARE_CASES]))
    count = len(found.videos)
    split = ["" if at == 4 else "test" if at % 3 == 0 else "train" for at in range(count)]
    return Facts(**{**vars(found), "videos": found.videos.with_columns(pl.Series("split", split))})


def run_of(known: Facts, folder: Path, shard: int = SHARD, as_released: bool = False) -> Run:
    """A run of these facts with all its questions."""
    run = Run(folder)
    write_run(folder, default_text(), known)
    with new_folder(run.facts) as work:
        known.save(work)
    generate(run, GenerateOptions(shard=shard, rare_below=0, as_released=as_released), pool=ThreadPoolExecutor(1))
    return run


def random_run(folder: Path) -> Run:
    return run_of(random_facts(), folder)


def select_every(run: Run, step: int) -> None:
    """A balanced selection, as `questree balance` writes one: every so many questions."""
    with new_folder(run.balanced) as work:
        for folder in sorted(path for path in run.questions.iterdir() if path.is_dir()):
            table = pl.read_parquet(folder / "questions.parquet", columns=["video", "number"])
            table.gather_every(step).write_parquet(work / f"{folder.name}.parquet")


def exported(run: Run, out: Path, **options: Any) -> Path:
    export(run, out, ExportOptions(**options), pool=ThreadPoolExecutor(1))
    return out


def records(folder: Path, name: str, split: str) -> dict[str, Record]:
    found: dict[str, Record] = json.loads((folder / f"AGQA_{name}" / f"{split}_{name}.txt").read_text())
    return found


def content(folder: Path) -> dict[str, bytes]:
    """Every file by its path inside the folder."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}
