"""Rows of questions as a predicate sees them: each has a shape, whose words are columns; for videos and for images."""

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from functools import cached_property
from typing import ClassVar

import numpy as np
import polars as pl
from numpy.typing import NDArray

from questree.columns.joins import Ints

Truth = NDArray[np.bool_]  # [question]


@dataclass(frozen=True)
class Piece:
    """An operator of a shape with its arguments."""

    op: str
    args: "tuple[Argument, ...]"


@dataclass(frozen=True)
class Argument:
    """column holds what the argument stands for, however it is worded; "" if it stands for no word."""

    kind: str
    column: str
    piece: Piece | None = None


@dataclass(frozen=True)
class QuestionRows(ABC):
    """Questions with everything a predicate may look at, as columns."""

    questions: pl.DataFrame
    code: Ints  # [question] its shape
    words: dict[str, Ints] = field(repr=False)  # column -> [question] position among the words
    called: ClassVar[str]  # what must not be on both sides of a split: videos, images

    @abstractmethod
    def pieces(self, code: int) -> tuple[Piece, ...]:
        """Every operator of a shape."""

    @abstractmethod
    def places(self, at: Truth) -> set[int]:
        """The videos or images of these questions."""

    @abstractmethod
    def named(self, at: list[int]) -> list[str]:
        """The ids of these questions."""

    def __len__(self) -> int:
        return len(self.code)

    @cached_property
    def by_shape(self) -> list[tuple[int, Ints]]:
        """Each shape with its rows."""
        order = np.argsort(self.code, kind="stable")
        codes, begin = np.unique(self.code[order], return_index=True)
        return list(zip(codes.tolist(), np.split(order, begin[1:]), strict=True))
