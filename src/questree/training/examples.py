"""Questions as networks learn and answer them: rows of words, the scope each is about, the number of its answer."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl
import torch

from questree.columns.hashing import mix, seed_of
from questree.networks.batches import QuestionBatch
from questree.training.eyes import Eyes
from questree.training.words import Ints, KnownWords

ALIKE = 16  # batches among which scopes are sorted by size


@dataclass(frozen=True)
class Examples:
    """Rows stand in the order of the table they come from."""

    ids: pl.Series
    scopes: Sequence[str]  # [row]
    words: Ints  # [row, word]
    answers: Ints  # [row] NOTHING without one
    eyes: Eyes
    keep: Mapping[str, Any] = field(default_factory=dict)  # id -> numbers of the boxes that are seen, if not all

    @classmethod
    def of(
        cls, table: pl.DataFrame, known: KnownWords, eyes: Eyes, keep: Mapping[str, Any] | None = None
    ) -> "Examples":
        """A table with id, scope, question and, for training, answer."""
        answer = table["answer"] if "answer" in table.columns else pl.Series([None] * len(table), dtype=pl.String)
        words, answers = known.numbered(table["question"]), known.answered(answer)
        return cls(table["id"], table["scope"].to_list(), words, answers, eyes, keep or {})

    def __len__(self) -> int:
        return len(self.scopes)

    def batch(self, rows: Ints) -> QuestionBatch:
        """What a network is given: nothing in it depends on answers."""
        words = self.words[rows]
        longest = int((words != 0).sum(1).max(initial=1))
        keep = [self.keep.get(id) for id in self.ids.gather(rows)] if self.keep else None
        seen = self.eyes.of([self.scopes[row] for row in rows.tolist()], keep)
        return QuestionBatch(torch.from_numpy(words[:, :longest]), seen)

    def truth(self, rows: Ints) -> torch.Tensor:
        return torch.from_numpy(self.answers[rows])

    @cached_property
    def hashes(self) -> Any:
        """[row] a number that its id gives."""
        return np.array([seed_of(0, id) for id in self.ids], np.uint64)

    @cached_property
    def images(self) -> Any:
        """[row] of how many images its scope is; a video is one."""
        return np.array([scope.count("\0") + 1 for scope in self.scopes])

    def shuffled(self, seed: int, epoch: int, size: int) -> list[Ints]:
        """Rows in the order of an epoch, in batches of nearly `size`: the same whatever came before.

        Of a few batches each has scopes of like size, so that little is padded.
        """
        key = seed_of(seed, f"epoch {epoch}")
        order = np.argsort(mix(key, self.hashes), kind="stable")
        count = max(1, -(-len(order) // size))
        if len(np.unique(self.images)) == 1:
            return np.array_split(order, count)
        near = np.split(order, range(ALIKE * size, len(order), ALIKE * size))
        order = np.concatenate([own[np.argsort(self.images[own], kind="stable")] for own in near])
        mixed = np.argsort(mix(key, np.arange(count)), kind="stable")  # small scopes do not always come first
        batches = np.array_split(order, count)
        return [batches[at] for at in mixed]

    def in_order(self, size: int) -> Iterator[Ints]:
        """Rows by the length of their questions, so that little is padded."""
        order = np.argsort((self.words != 0).sum(1), kind="stable")
        return (order[at : at + size] for at in range(0, len(order), size))
