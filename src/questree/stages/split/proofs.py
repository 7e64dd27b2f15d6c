"""Each split proves itself: nothing held out is in train, every part is, and nothing is seen on both sides."""

from dataclasses import dataclass, field

import numpy as np

from questree.faults import Fault
from questree.stages.split.algebra import Predicate
from questree.stages.split.declared import Split
from questree.stages.split.rows import QuestionRows, Truth

EXAMPLES = 3


@dataclass
class Proof:
    """What was seen of one split so far, shard by shard."""

    split: Split
    train: int = 0
    test: int = 0
    places: dict[str, set[int]] = field(default_factory=lambda: {"train": set(), "test": set()})
    called: str = ""  # what the places are: videos, images
    missing: list[Predicate] = field(default_factory=list)
    wrong: dict[str, int] = field(default_factory=dict)  # composition -> questions of train that have it
    examples: dict[str, list[str]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.missing = list(dict.fromkeys(part for each in self.split.compositions for part in each.parts))

    def see(self, rows: QuestionRows, train: Truth, test: Truth) -> None:
        self.called = rows.called
        self.train += int(train.sum())
        self.test += int(test.sum())
        for side, own in (("train", train), ("test", test)):
            self.places[side] |= rows.places(own)
        for each in self.split.compositions:
            self._accuse(str(each.held_out), rows, np.flatnonzero(each.held_out.holds(rows) & train))
        self.missing = [part for part in self.missing if not (part.holds(rows) & train).any()]

    def _accuse(self, composition: str, rows: QuestionRows, at: np.ndarray[tuple[int], np.dtype[np.int64]]) -> None:
        if len(at):
            self.wrong[composition] = self.wrong.get(composition, 0) + len(at)
            seen = self.examples.setdefault(composition, [])
            seen += rows.named(at[:EXAMPLES].tolist())

    def faults(self, ids: list[str]) -> list[Fault]:
        """A held-out composition in train, or a place on both sides; ids of all places."""
        found = []
        for composition, count in self.wrong.items():
            named = ", ".join(self.examples[composition][:EXAMPLES])
            found.append(Fault(self.split.name, f"{count:,} questions of train have {composition}: {named}, ..."))
        both = sorted(self.places["train"] & self.places["test"])
        if both:
            named = ", ".join(ids[place] for place in both[:EXAMPLES])
            found.append(Fault(self.split.name, f"{len(both):,} {self.called} are in train and in test: {named}, ..."))
        return found

    def warnings(self) -> list[str]:
        """A part that never occurs in train: the corpus is too small to learn it."""
        found = [f"{self.split.name}: nothing in train has {part}" for part in self.missing]
        empty = [side for side in ("train", "test") if not getattr(self, side)]
        return found + [f"{self.split.name}: {side} is empty" for side in empty]
