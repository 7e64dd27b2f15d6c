"""Raw files into a benchmark in one go: every stage with its defaults."""

from collections.abc import Mapping, Sequence
from os import fspath
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from questree.api.augmenting import augment
from questree.api.ingesting import ingest
from questree.api.runs import Run, StrPath
from questree.api.runs import open as open_run
from questree.api.stages import balance, decompose, generate, split
from questree.faults import BadInput
from questree.sources.catalogue import SOURCES, kind_of


def build(
    world: StrPath | None = None,
    *,
    out: StrPath,
    videos: int | None = None,
    images: int | None = None,
    seed: int = 1,
    source: str | None = None,
    vocabulary: StrPath | None = None,
    fps: float | None = None,
    settings: Mapping[str, Any] | None = None,
    questions: int | None = None,
    without: Sequence[str] = (),
    closed_world: bool = False,
    text: bool = True,
    shard: int | None = None,
    phrases: int | None = None,
    as_released: bool = False,
    workers: int = 2,
) -> Run:
    """Make a benchmark of raw files, as `questree build` does: ingest, augment, generate, balance, split, decompose.

    Parameters
    ----------
    world
        The raw files; without them a made-up world of so many videos or images.
    out
        Run folder to write.
    videos, images
        Size of a made-up world.
    seed
        Seed of a made-up world, of the questions and of their selection.
    source, vocabulary, fps, settings
        As of `ingest`.
    questions
        Image sets: largest number of questions.
    without, as_released
        Videos: as of `augment`.
    closed_world, text, shard, phrases
        Videos: as of `generate`.
    workers
        Number of processes.

    >>> questree.build(out="small", images=40, questions=12, workers=1)
    <Run small: 40 images, 13 questions, 13 balanced, 62 nodes>
    """
    place = Path(fspath(out))
    if world is None:
        with TemporaryDirectory(prefix="questree-") as folder:
            made_up(Path(folder) / "world", videos, images, seed)
            return build(
                Path(folder) / "world", out=out, seed=seed, questions=questions, without=without, text=text,
                shard=shard, phrases=phrases, as_released=as_released, closed_world=closed_world, workers=workers,
            )  # fmt: skip
    if videos is not None or images is not None:
        raise BadInput.at("videos", "expected no world beside it: raw files are as many as they are")
    kind = source or kind_of(Path(fspath(world)))
    ingest(world, out=out, source=kind, fps=fps, vocabulary=vocabulary, settings=settings)
    common: dict[str, Any] = {"workers": workers}
    if SOURCES[kind].medium == "images":
        common["benchmark"] = "covr"
        generate(place, seed=seed, questions=questions, **common)
    else:
        common["benchmark"] = "agqa"
        augment(place, without=without, as_released=as_released)
        asked: dict[str, Any] = {"text": text, "shard": shard, "phrases": phrases, "closed_world": closed_world}
        generate(place, seed=seed, **asked, **common)
    balance(place, seed=seed, **common)
    split(place, as_released=as_released, **common)
    decompose(place, train_set=SOURCES[kind].medium == "video", **common)
    return open_run(place, benchmark=common["benchmark"])


def made_up(folder: Path, videos: int | None, images: int | None, seed: int) -> None:
    """Raw files of a made-up world."""
    from questree.synth.images import write_images
    from questree.synth.video import Rates
    from questree.synth.world import write_world

    if (videos is None) == (images is None):
        raise BadInput.at("build", "expected a world, or one of videos= and images= for a made-up one")
    if videos is not None:
        write_world(folder, videos, seed, Rates(), 1)
    elif images is not None:
        write_images(folder, images, seed)
