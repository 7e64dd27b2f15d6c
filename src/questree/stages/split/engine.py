"""One way to split a run: every declared split sees all questions, proves itself, and is written whole.

The proof: nothing held out is in train, every part of it is, and nothing is seen on both sides.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from questree.faults import Fault, refuse
from questree.stages.split.declared import Split
from questree.stages.split.predicates import Predicate
from questree.stages.split.properties import Drawing
from questree.stages.split.rows import QuestionRows, Truth
from questree.tables.store import content

Parts = dict[str, Truth]  # train, test; with dev also dev and dev held out -> [question]
JUDGED = ("test", "dev held out")  # parts that have what is held out
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


@dataclass
class SplitCounts:
    """What was seen of one split in some of the questions; small enough to come from anywhere."""

    train: int = 0
    test: int = 0
    places: dict[str, set[int]] = field(default_factory=lambda: {"train": set(), "test": set()})
    called: str = ""  # what the places are: videos, images
    met: set[int] = field(default_factory=set)  # parts of compositions that train has, by number
    wrong: dict[str, int] = field(default_factory=dict)  # composition -> questions of train that have it
    examples: dict[str, list[str]] = field(default_factory=dict)

    def add(self, other: "SplitCounts") -> None:
        """Of questions that come later."""
        self.train += other.train
        self.test += other.test
        self.called = self.called or other.called
        self.met |= other.met
        for side, own in other.places.items():
            self.places[side] |= own
        for composition, count in other.wrong.items():
            self.accuse(composition, count, other.examples[composition])

    def accuse(self, composition: str, count: int, examples: list[str]) -> None:
        self.wrong[composition] = self.wrong.get(composition, 0) + count
        seen = self.examples.setdefault(composition, [])
        seen += examples[: EXAMPLES - len(seen)]


@dataclass
class Proof:
    """What was seen of one split so far, shard by shard."""

    split: Split
    counts: SplitCounts = field(default_factory=SplitCounts)

    @cached_property
    def parts(self) -> list[Predicate]:
        return list(dict.fromkeys(part for each in self.split.compositions for part in each.parts))

    def see(self, rows: QuestionRows, train: Truth, test: Truth) -> None:
        own = self.counts
        own.called = rows.called
        own.train += int(train.sum())
        own.test += int(test.sum())
        for side, there in (("train", train), ("test", test)):
            own.places[side] |= rows.places(there)
        for each in self.split.compositions:
            if len(at := np.flatnonzero(each.held_out.holds(rows) & train)):
                own.accuse(str(each.held_out), len(at), rows.ids(at[:EXAMPLES].tolist()))
        left = [at for at in range(len(self.parts)) if at not in own.met]
        own.met |= {at for at in left if (self.parts[at].holds(rows) & train).any()}

    def faults(self, ids: list[str]) -> list[Fault]:
        """A held-out composition in train, or a place on both sides; ids of all places."""
        found = [] if self.split.lenient else [Fault(self.split.name, text) for text in self._leaks()]
        both = sorted(self.counts.places["train"] & self.counts.places["test"])
        if both:
            named = some([ids[place] for place in both[:EXAMPLES]], len(both))
            found.append(
                Fault(self.split.name, f"{len(both):,} {self.counts.called} are in train and in test: {named}")
            )
        return found

    def _leaks(self) -> Iterator[str]:
        for composition, count in self.counts.wrong.items():
            have = "question of train has" if count == 1 else "questions of train have"
            yield f"{count:,} {have} {composition}: {some(self.counts.examples[composition], count)}"

    def warnings(self) -> list[str]:
        """A part that never occurs in train: the corpus is too small to learn it."""
        found = [f"{self.split.name}: as released, {text}" for text in self._leaks() if self.split.lenient]
        missing = (part for at, part in enumerate(self.parts) if at not in self.counts.met)
        found += [f"{self.split.name}: nothing in train has {part}" for part in missing]
        empty = [side for side in ("train", "test") if not getattr(self.counts, side)]
        return found + [f"{self.split.name}: {side} is empty" for side in empty]


def some(named: list[str], count: int) -> str:
    """A few of so many."""
    shown = named[:EXAMPLES]
    return ", ".join([*shown, *["..."] * (count > len(shown))])


def parts_of(split: Split, rows: QuestionRows, side: dict[str, Truth]) -> Parts:
    """Which questions are in each part: train and dev without what is held out, test with it alone."""
    every = np.ones(len(rows), bool)
    learnt, held = (each.holds(rows) if each else every for each in (split.train, split.test))
    found = {"train": side["train"] & learnt}
    if "dev" in side:
        found |= {"dev": side["dev"] & learnt, "dev held out": side["dev"] & held}
    return found | {"test": side["test"] & held}


def see(proof: Proof, rows: QuestionRows, parts: Parts) -> None:
    """The questions of some parts, which a proof looks at."""
    judged = np.logical_or.reduce([parts[name] for name in JUDGED if name in parts])
    proof.see(rows, parts["train"], judged)


def prove(proofs: Sequence[Proof], ids: list[str]) -> None:
    """Refuse what is violated; ids: of all places."""
    refuse([fault for proof in proofs for fault in proof.faults(ids)])


def write_notes(folder: Path, notes: Mapping[str, Any]) -> None:
    for name, note in notes.items():
        (folder / name).write_bytes(msgspec.json.format(msgspec.json.encode(note)))
