"""What a harness asks: every question and sub-question of some DAGs once, with its prompt and what is seen."""

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
import polars as pl

from questree.api.dag_tables import node_table
from questree.benchmarks import chosen
from questree.faults import BadInput, Fault, at_least, refuse
from questree.show.frames import SUFFIXES, image_file, media_folder
from questree.stages.decompose.hierarchies import hierarchies_in
from questree.tables.run import Run

ALL = "all"
INSTRUCTION = "Answer with yes or no, a number, or a short phrase."
FILM = ".mp4"
SHOWN = 5  # scopes without media that are named


@dataclass(frozen=True)
class HarnessOptions:
    """Which questions, and what is seen of videos and images."""

    split: str = "test"
    benchmark: str = ""
    media: Path | None = None
    frames: int = 8
    video: bool = False
    inline: bool = False  # VLMEvalKit: pictures inside the table

    @property
    def only(self) -> str | None:
        return None if self.split == ALL else self.split


@dataclass(frozen=True)
class HarnessItems:
    """id, scope, cluster, question, prompt, answer (or null), type, asked (no sub-question), media (files)."""

    run: Run
    options: HarnessOptions
    table: pl.DataFrame
    of_images: bool

    @classmethod
    def of(cls, run: Run, options: HarnessOptions) -> "HarnessItems":
        refuse(at_least(1, {"frames": options.frames}))
        own = chosen(run, options.benchmark, "decomposed")
        asked = node_table(hierarchies_in(run, options.only, own.name), programs=False)
        of_images = asked.schema["scope"] != pl.String
        if options.video and (of_images or options.media is None):
            raise BadInput.at("--video", "expected questions about videos and --media, where their files are")
        ids = asked["scope"] if of_images else asked.select(pl.concat_list("scope"))["scope"]
        table = asked.with_columns(
            scope=ids.list.join(","),
            cluster=ids.list.first(),
            prompt=pl.format("{}\n{}", "question", pl.lit(INSTRUCTION)),
            media=seen(ids, options, of_images),
        )
        columns = ("id", "scope", "cluster", "question", "prompt", "answer", "type", "asked", "media")
        return cls(run, options, table.select(columns), of_images)

    @property
    def settings(self) -> dict[str, Any]:
        """What a task has to know besides."""
        media = self.options.media
        return {
            "run": str(self.run.folder.resolve()),
            "split": self.options.split,
            "benchmark": self.options.benchmark,
            "frames": self.options.frames,
            "media": "" if media is None else str(media.resolve()),
        }

    def write(self, folder: Path) -> None:
        """questions.jsonl and settings.json."""
        self.table.write_ndjson(folder / "questions.jsonl")
        (folder / "settings.json").write_bytes(msgspec.json.format(msgspec.json.encode(self.settings)) + b"\n")

    def words(self, out: Path, **more: str) -> Mapping[str, str]:
        """What the README of a folder tells about its own."""
        asked = int(self.table["asked"].sum())
        media, medium = self.options.media, "sets of images" if self.of_images else "videos"
        shown = "nothing: only words" if media is None else self._shown()
        split = [] if self.options.only is None else ["--split", self.options.only]
        own = ["--benchmark", self.options.benchmark] if self.options.benchmark else []
        return {
            "count": f"{len(self.table):,}",
            "asked": f"{asked:,}",
            "scopes": f"{self.table['scope'].n_unique():,} {medium}",
            "seen": shown,
            "run": shlex.quote(str(self.run.folder.resolve())),
            "split": said([*split, *own]),
            "benchmark": said(own),
            "served": "" if media is None else f" --media {shlex.quote(str(media.resolve()))}",
            "out": str(out),
            **more,
        }

    def _shown(self) -> str:
        if self.of_images:
            return "every image of the set, in its order"
        return "the video file" if self.options.video else f"at most {self.options.frames} frames, evenly spread"


def said(options: Sequence[str]) -> str:
    """Behind a command."""
    return f" {shlex.join(options)}" if options else ""


def seen(ids: pl.Series, options: HarnessOptions, of_images: bool) -> pl.Series:
    """[question] files below --media; all that lack one are refused at once."""
    if options.media is None:
        return pl.Series([[]], dtype=pl.List(pl.String)).new_from_index(0, len(ids))
    home = media_folder(options.media)
    wanted = {name: files(home, name, options, of_images) for name in ids.explode().unique().sort().to_list()}
    without = [name for name, found in wanted.items() if not found]
    kind = f"{FILM} files" if options.video else "pictures"
    few = f"{', '.join(without[:SHOWN])}{' ...' if len(without) > SHOWN else ''}"
    refuse([Fault(str(home), f"expected {kind} of {len(wanted):,}, got none of {few}")] if without else [])
    every = [[path for name in scope for path in wanted[name]] for scope in ids.to_list()]
    return pl.Series(every, dtype=pl.List(pl.String))


def files(home: Path, name: str, options: HarnessOptions, image: bool) -> list[str]:
    """Paths below the folder."""
    if image:
        own = image_file(home, name)
        return [own.relative_to(home).as_posix()] if own else []
    if options.video:
        return [f"{name}{FILM}"] if (home / f"{name}{FILM}").is_file() else []
    place = home / name
    if not place.is_dir() or not place.resolve().is_relative_to(home.resolve()):
        return []
    found = sorted(path for path in place.iterdir() if path.suffix.lower() in SUFFIXES)
    return [path.relative_to(home).as_posix() for path in evenly(found, options.frames)]


def evenly(every: Sequence[Path], count: int) -> list[Path]:
    """The middles of so many equal stretches."""
    if len(every) <= count:
        return list(every)
    return [every[int((at + 0.5) * len(every) / count)] for at in range(count)]
