"""Synthetic runs to measure on, made in a process of their own: its memory is not what is measured."""

from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import get_context
from pathlib import Path
from shutil import copytree, rmtree
from tempfile import TemporaryDirectory
from typing import Any, Literal, TypeVar

import msgspec
import numpy as np
import polars as pl

from questree.cli.terminal import watching
from questree.tables.facts import TABLES, VIDEOS, Facts
from questree.tables.owners import part
from questree.tables.questions import BALANCED, QUESTIONS, REFERENCES, packed_time, time_actions, time_kind
from questree.tables.run import Run
from questree.tables.store import new_folder

Stage = Literal["facts", "questions", "copies", "balanced", "selected", "decomposed"]
WORLD = 10_000  # videos of a made-up world, at most: 2 GB while it is read
SHUFFLES = 8  # of the actions in time phrases, over all copies; more would make too many content keys
Made = TypeVar("Made")


def aside(make: Callable[..., Made], *how: Any) -> Made:
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as process:
        return process.submit(make, *how).result()


@contextmanager
def made_run(stage: Stage, videos: int, seed: int, size: int = 0) -> Iterator[Run]:
    """A run of videos up to a stage, while its progress is shown; `size` is of copies, or per video."""
    with watching(), TemporaryDirectory(prefix="questree-bench-") as place:
        yield aside(make_run, Path(place), stage, videos, seed, size)


def make_run(place: Path, stage: Stage, videos: int, seed: int, size: int) -> Run:
    from questree.stages.balance.levelling import BalanceOptions
    from questree.stages.balance.rounds import balance
    from questree.stages.decompose.dag_shards import DecomposeOptions, decompose
    from questree.stages.generate.shards import GenerateOptions, generate

    run = cleaned(place, videos, seed)
    if stage != "facts":
        generate(run, GenerateOptions(), 2)
    if stage == "copies":
        return multiply(run, place / "many", size)
    if stage == "balanced":
        balance(run, BalanceOptions())
    if stage in ("selected", "decomposed"):
        select(run, size)
    if stage == "decomposed":
        decompose(run, DecomposeOptions(balanced=True), 2)
    return run


def cleaned(place: Path, videos: int, seed: int) -> Run:
    """A run with cleaned facts of a synthetic world; a large one is made of several worlds, as each is read at once.

    It has no raw facts then: those of the first alone would say that nothing was annotated in the others.
    """
    parts = [min(WORLD, videos - begin) for begin in range(0, videos, WORLD)]
    run, first = cleaned_world(place, parts[0], seed)
    if len(parts) > 1:
        with new_folder(run.facts) as folder, part(place / "facts", folder=True) as pieces:
            for at, size in enumerate(parts):
                with TemporaryDirectory(dir=place) as other:
                    made = cleaned_world(Path(other), size, seed + at)[1] if at else first
                write_piece(made, at, pieces / f"{at:05d}")
            rmtree(run.raw)
            for table in TABLES.values():
                table.join([pieces / f"{at:05d}" for at in range(len(parts))], folder)
    return run


def write_piece(facts: Facts, at: int, folder: Path) -> None:
    """The facts of one of several worlds, its videos numbered after those of the worlds before it."""
    folder.mkdir()
    for name, table in TABLES.items():
        rows: pl.DataFrame = getattr(facts, name)
        ids = pl.col("id") + (f"x{at}" if at else "")
        table.write_piece(rows.with_columns(ids if name == VIDEOS.name else pl.col("video") + at * WORLD), folder)


def cleaned_world(place: Path, videos: int, seed: int) -> tuple[Run, Facts]:
    from questree.api.ingesting import ingest
    from questree.stages.augment import augment
    from questree.synth.video import Rates
    from questree.synth.world import write_world
    from questree.vocabulary.load import default

    write_world(place / "world", videos, seed, Rates(), None)
    run = Run(place / "run")
    ingest(place / "world", out=run.folder, source="action-genome")
    found = augment(run.load("raw"), default())[0]
    with new_folder(run.facts) as facts:
        found.save(facts)
    return run, found


def select(run: Run, per_video: int) -> None:
    """Some questions of every video: as many as there would be after balancing, in one file as there."""
    pieces = list[Path]()
    with new_folder(run.balanced) as chosen, part(run.balanced, folder=True) as work:
        for shard in sorted(path for path in run.questions.iterdir() if path.is_dir()):
            table = QUESTIONS.only("video", "number").read(shard)
            step = (pl.len().over("video") / per_video).ceil().cast(pl.UInt32)
            pieces.append(work / shard.name)
            pieces[-1].mkdir()
            BALANCED.write_piece(table.filter(pl.col("number") % step == 0), pieces[-1])
        BALANCED.join(pieces, chosen)


def exported(run: Run) -> list[Path]:
    """The run's DAGs as JSON files."""
    from questree.formats.decomp import export_decomp

    out = run.folder.parent / "out"
    export_decomp(run, out, 2)
    return sorted(out.glob("*_hierarchies"))


def multiply(run: Run, out: Path, rows: int) -> Run:
    """A run with this many questions, copied from a run that has some."""
    from questree.stages.questions import Bank

    bank, copies, written = Bank(run), 0, 0
    copytree(run.folder, out, ignore=lambda _, names: {"raw", "questions", "truth"} & set(names))
    videos = run.table("facts", VIDEOS)
    tables = []
    while written < rows:
        shift = copies * len(videos)
        tables.append(videos.with_columns(pl.col("id") + f"x{copies}"))
        for folder in bank.folders():
            target = out / "questions" / f"{copies:03d}{folder.name}"
            target.mkdir(parents=True)
            few = renamed(QUESTIONS.read(folder), copies % SHUFFLES, len(bank.vocabulary.actions)).head(rows - written)
            for table, own in ((QUESTIONS, few), (REFERENCES, REFERENCES.read(folder))):
                table.write(own.with_columns(pl.col("video") + shift), target)
            written += len(few)
        copies += 1
    VIDEOS.write(pl.concat(tables), out / "facts")
    many = Run(out)
    plan = {"options": bank.options, "facts": many.facts_digest()}
    (out / "questions" / "plan.json").write_bytes(msgspec.json.encode(plan))
    return many


def renamed(questions: pl.DataFrame, shuffle: int, actions: int) -> pl.DataFrame:
    """Time phrases about other actions, the same ones for the same actions."""
    other = np.append(np.random.default_rng(shuffle).permutation(actions), -1)  # the last: no action
    time = questions["time"].to_numpy().astype(np.int64)
    moved = packed_time(time_kind(time), *(other[action] for action in time_actions(time)))
    return questions.with_columns(time=pl.Series(moved, dtype=questions["time"].dtype))


def made_images(place: Path, images: int, seed: int) -> Run:
    """A run of synthetic images."""
    from questree.api.ingesting import ingest
    from questree.synth.images import write_images

    write_images(place / "world", images, seed)
    ingest(place / "world", out=place / "run", source="gqa")
    return Run(place / "run")


@contextmanager
def asked_images(images: int, seed: int) -> Iterator[Run]:
    """A run of synthetic images, two decomposed questions of each, while its progress is shown."""
    with watching(), TemporaryDirectory(prefix="questree-bench-") as place:
        yield aside(ask_images, Path(place), images, seed)


def ask_images(place: Path, images: int, seed: int) -> Run:
    from questree.search.word_tables import default_words
    from questree.stages.decompose.set_shards import decompose_run
    from questree.stages.drafts.whole_run import DraftOptions, generate

    run = made_images(place, images, seed)
    generate(run, DraftOptions(questions=2 * images, seed=seed), 2)
    decompose_run(run, default_words(), every=True, workers=2)
    return run
