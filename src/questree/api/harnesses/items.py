"""What a harness asks: every question and sub-question of some DAGs once, with its prompt and what is seen."""

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
import polars as pl

from questree.api.asked_items import asked_items
from questree.api.dag_tables import node_table
from questree.api.runs import Run
from questree.api.runs import open as open_run
from questree.ask.media import Sight
from questree.ask.prompts import prompt_of
from questree.faults import BadInput, Fault, at_least, refuse
from questree.said.lexicon import shipped
from questree.said.reading import Reader

ALL = "all"
SHOWN = 3  # things without media that are named


@dataclass(frozen=True)
class HarnessOptions:
    """Which questions, how they are put, and what is seen of videos and images."""

    split: str = "test"
    questions: int = 0
    seed: int = 0
    benchmark: str = ""
    prompt: str = "short"
    media: Path | None = None
    frames: int = 8
    video: bool = False
    inline: bool = False  # VLMEvalKit: pictures inside the table

    @property
    def only(self) -> str | None:
        return None if self.split == ALL else self.split

    @property
    def told(self) -> dict[str, list[str]]:
        """As options of other commands: of a benchmark, of its split, of scoring."""
        own = ["--benchmark", self.benchmark] if self.benchmark else []
        split = [] if self.only is None else ["--split", self.only]
        few = ["--missing", "skip"] if self.questions else []
        return {"benchmark": own, "split": [*split, *own], "scored": [*split, *few, *own]}


@dataclass(frozen=True)
class HarnessItems:
    """id, scope, cluster, question, prompt, answer (or null), type, asked (no sub-question), media (files)."""

    run: Run
    options: HarnessOptions
    table: pl.DataFrame

    @classmethod
    def of(cls, folder: Path, options: HarnessOptions) -> "HarnessItems":
        refuse([*at_least(1, {"frames": options.frames}), *at_least(0, {"questions": options.questions})])
        run = open_run(folder, benchmark=options.benchmark)
        if not run._own.has(run._place, "decomposed"):
            raise BadInput.at(folder, "expected a decomposed run; `questree decompose` makes one")
        if options.video and (run.medium == "images" or options.media is None):
            raise BadInput.at("--video", "expected questions about videos and --media, where their files are")
        chosen = asked_items(run, options.only, options.questions, options.seed, True, False)
        every = node_table(run._dags(options.only), programs=False).select("id", "answer", "type", "asked")
        asked = chosen.table.join(every, on="id", how="left", maintain_order="left")
        ids = asked["scope"] if run.medium == "images" else asked.select(pl.concat_list("scope"))["scope"]
        reader, prompt = Reader(chosen.answers, run.vocabulary, shipped()), prompt_of(options.prompt)
        names = ids.list.join(",")
        texts = [
            prompt.user(reader.question(text, "", ()), name)
            for text, name in zip(asked["question"].to_list(), names.to_list(), strict=True)
        ]
        table = asked.with_columns(
            scope=names,
            cluster=ids.list.first(),
            prompt=pl.Series(texts, dtype=pl.String),
            media=seen(asked["scope"], options, run.medium),
        )
        columns = ("id", "scope", "cluster", "question", "prompt", "answer", "type", "asked", "media")
        return cls(run, options, table.select(columns))

    @property
    def of_images(self) -> bool:
        return self.run.medium == "images"

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

    @property
    def words(self) -> Mapping[str, str]:
        """What the README of a folder tells about its own."""
        media, medium = self.options.media, "sets of images" if self.of_images else "videos"
        served = ["--media", str(media.resolve())] if media else []
        return {
            "count": f"{len(self.table):,}",
            "asked": f"{self.table['asked'].sum():,}",
            "scopes": f"{self.table['scope'].n_unique():,} {medium}",
            "seen": "nothing: only words" if media is None else self._shown(),
            "run": shlex.quote(str(self.run.folder.resolve())),
            "served": said([*served, *self.options.told["split"]]),
            **{name: said(words) for name, words in self.options.told.items()},
        }

    def _shown(self) -> str:
        if self.of_images:
            return "every image of the set, in its order"
        return "the video file" if self.options.video else f"at most {self.options.frames} frames, evenly spread"


def said(options: Sequence[str]) -> str:
    """Behind a command."""
    return f" {shlex.join(options)}" if options else ""


def seen(scopes: pl.Series, options: HarnessOptions, medium: str) -> pl.Series:
    """[question] files below --media; if any are missing that is refused in one line."""
    if options.media is None:
        return pl.Series([[]], dtype=pl.List(pl.String)).new_from_index(0, len(scopes))
    sight = Sight(options.media, medium, options.frames, options.video)
    every = scopes.unique(maintain_order=True).to_list()
    missing = [fault.message.partition(",")[0] for fault in sight.faults(every)]
    more = " ..." if len(missing) > SHOWN else ""
    found = f"{', '.join(missing[:SHOWN])}{more}, got none ({len(missing):,} are missing)"
    refuse([Fault(f"--media {options.media}", found)] if missing else [])
    known = {
        key_of(scope): [shot.path.relative_to(options.media).as_posix() for shot in sight.shots(scope)]
        for scope in every
    }
    return pl.Series([known[key_of(scope)] for scope in scopes.to_list()], dtype=pl.List(pl.String))


def key_of(scope: Any) -> Any:
    return scope if isinstance(scope, str) else tuple(scope)
