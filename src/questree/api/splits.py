"""The splits of a run: the sides its videos or images are on, and those that `questree split` made."""

from collections.abc import Callable, Collection, Iterable
from typing import NamedTuple

import polars as pl

from questree.benchmarks import Benchmark
from questree.faults import BadInput
from questree.stages.split import image_sets
from questree.stages.split.videos import read_split
from questree.tables.facts import SPLIT_UNSAID, VIDEOS
from questree.tables.image_questions import answered
from questree.tables.run import Run


class Splits(NamedTuple):
    """Where a benchmark has them."""

    sides: Callable[[Run], pl.Series]  # [scope or question]
    parts: Callable[[Run, str], dict[str, pl.DataFrame]]  # of a split by its name


def _of_image_sets(run: Run, name: str) -> dict[str, pl.DataFrame]:
    return {part: ids.to_frame("id") for part, ids in image_sets.read_split(run, name).items()}


VIDEO_SPLITS = Splits(lambda run: run.table("facts", VIDEOS)["split"].replace("", SPLIT_UNSAID), read_split)
IMAGE_SPLITS = Splits(lambda run: answered(run)["split"], _of_image_sets)


def declared(run: Run, own: Benchmark) -> list[str]:
    """Names of the splits that were made."""
    found = own.place(run, "splits").glob("*")
    return sorted(path.name.removesuffix(".parquet") for path in found if path.is_dir() or path.suffix == ".parquet")


def parts(run: Run, own: Benchmark, name: str) -> dict[str, pl.DataFrame]:
    """train, test, ... of a split that was made -> the columns that name its questions."""
    found: dict[str, pl.DataFrame] = own.part("splits").parts(run, name)
    return found


def sides(run: Run, own: Benchmark) -> list[str]:
    """train, dev and test, as far as there are videos or images of them."""
    found: pl.Series = own.part("splits").sides(run)
    return found.unique().sort().to_list()


def questions_of(run: Run, own: Benchmark, split: str, sides: Collection[str]) -> pl.DataFrame | None:
    """What names the questions of a split that was made, as "NAME PART"; None if it is a side of all questions."""
    if split in sides:
        return None
    for name in (name for name in declared(run, own) if split.lower().startswith(f"{name.lower()} ")):
        if (part := split[len(name) + 1 :]) in (found := parts(run, own, name)):
            return found[part]
    made = declared(run, own)
    parted = f', or a part of {", ".join(made)} as "{made[0]} train"' if made else ""
    raise BadInput.at(run.folder, f"expected a split, got {split!r}; choose from {', '.join(sorted(sides))}{parted}")


def choices(run: Run, own: Benchmark, sides: Iterable[str]) -> list[str]:
    return [*sorted(sides), *(f"{name} {part}" for name in declared(run, own) for part in parts(run, own, name))]
