"""One way to split a run: shards write which of their questions are in which part of every declared split, and queries
over these tables prove the splits.

The proof: nothing held out is in train, every part of it is, and nothing is seen on both sides.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import polars as pl

from questree.faults import Fault, refuse
from questree.stages.shard_tables import ShardTables
from questree.stages.split.declared import Split
from questree.stages.split.predicates import Predicate
from questree.stages.split.properties import Drawing
from questree.stages.split.rows import QuestionRows, Truth
from questree.tables.store import content

HELD_OUT = "held out"  # questions of the training side that have what a split holds out, in train or not
JUDGED = ("test", "dev held out")  # parts that have what is held out
PLACE = "place"  # the video or the images of a question
PARTS, FINDINGS = "parts", "findings"  # folders of what shards write
# what train has: a composition that is held out, or a part of one
FINDING: dict[str, pl.DataType | type[pl.DataType]] = {
    "split": pl.UInt32,  # by number
    "part": pl.UInt32,  # by number; none of a composition
    "text": pl.String,
    "questions": pl.UInt32,
    "examples": pl.List(pl.String),  # ids of a few questions
}
EXAMPLES = 3  # questions and places that a fault names


@dataclass(frozen=True)
class SplitOptions:
    file: Path | None = None  # the user's splits
    all: bool = False  # split every question, not only the balanced selection
    more_steps: dict[str, int] | None = None  # videos: template -> most steps in train
    as_released: bool = False  # videos: novel compositions by the flags of questions
    names: tuple[str, ...] = ()  # image sets: only these
    drawing: Drawing = field(default_factory=Drawing)  # image sets
    curve: tuple[int, ...] = ()  # image sets: numbers of examples of a training list each, besides few_shot
    draws: int = 3  # image sets: of the program split and of the lexical split, each with the next seed

    @property
    def written(self) -> bytes:
        """The user's file."""
        return content(self.file) if self.file else b""

    @property
    def given(self) -> str:
        """The same, to be told."""
        return self.written.decode(errors="replace")


def write_parts(
    tables: ShardTables,
    name: str,
    splits: Sequence[Split],
    rows: QuestionRows,
    side: Mapping[str, Truth],
    columns: pl.DataFrame,
) -> None:
    """Which questions of a shard are in which part of which split, beside some columns, and what train has."""
    parts, findings = split_tables(splits, rows, side)
    tables.write(PARTS, name, pl.concat([columns, parts], how="horizontal"))
    tables.write(FINDINGS, name, findings)


def column(split: int, part: str) -> str:
    """The questions of a part of a split, which is known by its number."""
    return f"{split} {part}"


def split_tables(
    splits: Sequence[Split], rows: QuestionRows, side: Mapping[str, Truth]
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """PLACE and a column for every part of every split; FINDING.

    Train and dev are without what is held out, test has it alone."""
    every, columns, findings = np.ones(len(rows), bool), dict[str, Truth](), list[tuple[Any, ...]]()
    for at, split in enumerate(splits):
        learnt, held = (each.holds(rows) if each else every for each in (split.train, split.test))
        train = side["train"] & learnt
        parts = {"train": train, "test": side["test"] & held, HELD_OUT: side["train"] & held}
        if "dev" in side:
            parts |= {"dev": side["dev"] & learnt, "dev held out": side["dev"] & held}
        columns |= {column(at, part): inside for part, inside in parts.items()}
        for each in split.compositions:
            if len(leaked := np.flatnonzero(each.held_out.holds(rows) & train)):
                findings.append((at, None, str(each.held_out), len(leaked), rows.ids(leaked[:EXAMPLES].tolist())))
        for number, part in enumerate(composition_parts(split)):
            if (part.holds(rows) & train).any():
                findings.append((at, number, str(part), 0, []))
    places = rows.questions[rows.scope].alias(PLACE)
    return pl.DataFrame([places]).with_columns(**columns), pl.DataFrame(findings, FINDING, orient="row")


def composition_parts(split: Split) -> list[Predicate]:
    return list(dict.fromkeys(part for each in split.compositions for part in each.parts))


@dataclass(frozen=True)
class Proof:
    """What was seen of one split in all questions."""

    split: Split
    counts: Mapping[str, int]  # part -> questions
    left: int  # questions with what is held out that stay in train
    places: Mapping[str, int]  # train, test -> videos or images
    shared: pl.Series  # those on both sides
    findings: pl.DataFrame  # FINDING, each once

    def faults(self, called: str, ids: Sequence[str]) -> list[Fault]:
        """A held-out composition in train, or a place on both sides; called: what places are, ids: of all of them."""
        faults = [] if self.split.lenient else [Fault(self.split.name, text) for text in self._leaks()]
        if count := len(self.shared):
            named = some([ids[place] for place in self.shared[:EXAMPLES]], count)
            faults.append(Fault(self.split.name, f"{count:,} {called} are in train and in test: {named}"))
        return faults

    def _leaks(self) -> Iterator[str]:
        leaks = self.findings.filter(pl.col("part").is_null()).select("text", "questions", "examples")
        for text, count, examples in leaks.rows():
            have = "question of train has" if count == 1 else "questions of train have"
            yield f"{count:,} {have} {text}: {some(examples, count)}"

    def warnings(self) -> list[str]:
        """A part that never occurs in train: the corpus is too small to learn it."""
        name, learnt = self.split.name, {*self.findings["part"]}
        warnings = [f"{name}: as released, {text}" for text in self._leaks() if self.split.lenient]
        parts = enumerate(composition_parts(self.split))
        warnings += [f"{name}: nothing in train has {part}" for at, part in parts if at not in learnt]
        return warnings + [f"{name}: {side} is empty" for side, count in self.judged.items() if not count]

    @property
    def judged(self) -> dict[str, int]:
        """Questions of train, and of all parts with what is held out."""
        return {"train": self.counts["train"], "test": sum(self.counts.get(part, 0) for part in JUDGED)}


def some(named: list[str], count: int) -> str:
    """A few of so many."""
    shown = named[:EXAMPLES]
    return ", ".join([*shown, *["..."] * (count > len(shown))])


def proofs_of(splits: Sequence[Split], tables: ShardTables) -> list[Proof]:
    """What all shards have written about each split."""
    parts, findings = tables.scan(PARTS), tables.scan(FINDINGS)
    numbers = range(len(splits))
    names = [name for name in parts.collect_schema() if name[0].isdigit()]
    left = [(pl.col(column(at, "train")) & pl.col(column(at, HELD_OUT))).alias(f"left {at}") for at in numbers]
    sums = parts.select(pl.col(*names), *left).sum().collect(engine="streaming").row(0, named=True)
    sides = []
    for at in numbers:
        judged = [column(at, part) for part in JUDGED if column(at, part) in names]
        sides += [pl.col(column(at, "train")).alias(f"train {at}"), pl.any_horizontal(judged).alias(f"test {at}")]
    places = parts.select(PLACE, *sides)
    if places.collect_schema()[PLACE] == pl.List:
        places = places.explode(PLACE, empty_as_null=False)
    seen = places.group_by(PLACE).agg(pl.all().any()).sort(PLACE).collect(engine="streaming")
    by = pl.col("split", "part", "text")
    examples = pl.col("examples").explode(empty_as_null=False).head(EXAMPLES)
    every = findings.group_by(by, maintain_order=True).agg(pl.col("questions").sum(), examples).collect()
    return [
        Proof(
            split,
            {name.partition(" ")[2]: int(sums[name]) for name in names if name.startswith(f"{at} ")},
            int(sums[f"left {at}"]),
            {side: int(seen[f"{side} {at}"].sum()) for side in ("train", "test")},
            seen.filter(pl.col(f"train {at}") & pl.col(f"test {at}"))[PLACE],
            every.filter(split=at),
        )
        for at, split in enumerate(splits)
    ]


def prove(proofs: Sequence[Proof], called: str, ids: Sequence[str]) -> None:
    """Refuse what is violated; called: what places are, ids: of all of them."""
    refuse([fault for proof in proofs for fault in proof.faults(called, ids)])


def write_notes(folder: Path, notes: Mapping[str, Any]) -> None:
    for name, note in notes.items():
        (folder / name).write_bytes(msgspec.json.format(msgspec.json.encode(note)))
