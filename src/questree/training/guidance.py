"""A loss for objects: a network that points says of each whether the question finds it, and is told.

Answers alone hardly tell a network which of sixty objects matter. What a question or a sub-question finds follows
from its program; the loss is the binary cross-entropy of what the network says of every object that is shown.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np
import polars as pl
import torch
from torch import Tensor
from torch.nn.functional import binary_cross_entropy_with_logits

from questree.networks.batches import QuestionBatch
from questree.training.examples import Examples
from questree.training.words import Ints


@runtime_checkable
class Pointing(Protocol):
    """A network that also tells, with the logits of answers, a logit for every object."""

    def pointed(self, batch: QuestionBatch) -> tuple[Tensor, Tensor]: ...


@dataclass(frozen=True)
class Guide:
    weight: float
    found: Mapping[str, Any]  # id -> numbers of the boxes that the question finds

    @classmethod
    def of(cls, weight: float, table: pl.DataFrame) -> "Guide":
        """A table with id and boxes."""
        return cls(weight, dict(zip(table["id"].to_list(), table["boxes"].to_list(), strict=True)))

    def loss(self, points: Tensor, batch: QuestionBatch, examples: Examples, rows: Ints) -> Tensor:
        """Of the logits of objects [row, object]; questions of which nothing is known have none."""
        marks, known = self.marks(examples, rows)
        judged = batch.streams["objects"].there & known.to(points.device)[:, None]
        if not judged.any():
            return points.new_zeros(())
        return self.weight * binary_cross_entropy_with_logits(points[judged], marks.to(points.device)[judged])

    def marks(self, examples: Examples, rows: Ints) -> tuple[Tensor, Tensor]:
        """([row, object] 1 if the question finds it, [row] is that known?)"""
        boxes = examples.eyes.boxes([examples.scopes[row] for row in rows.tolist()])
        told = [self.found.get(id) for id in examples.ids.gather(rows)]
        marks = np.stack([np.isin(own, found or ()) for own, found in zip(boxes, told, strict=True)])
        return torch.from_numpy(marks.astype(np.float32)), torch.tensor([found is not None for found in told])
