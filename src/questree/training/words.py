"""Texts of questions as numbers of words, and answers as numbers."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import polars as pl
from numpy.typing import NDArray

from questree.tables.hierarchies import NOTHING

Ints = NDArray[np.int64]
WORD = r"[a-z0-9]+(?:['-][a-z0-9]+)*"
RESERVED = ("", "?")  # no word, any other word
LONGEST = 64  # words of a question that are read


def spelled(texts: pl.Series) -> pl.Series:
    """[text] its words."""
    return texts.str.to_lowercase().str.extract_all(WORD).list.head(LONGEST)


@dataclass(frozen=True)
class KnownWords:
    """What a network knows: words of questions, and answers it can give; both come from what it is trained on."""

    words: Sequence[str]  # the first two are RESERVED
    answers: Sequence[str]

    @classmethod
    def of(cls, texts: pl.Series, answers: pl.Series) -> "KnownWords":
        words = spelled(texts).explode().drop_nulls().unique().sort().to_list()
        return cls([*RESERVED, *words], answers.drop_nulls().unique().sort().to_list())

    @cached_property
    def number(self) -> dict[str, int]:
        return {word: at for at, word in enumerate(self.words)}

    def numbered(self, texts: pl.Series) -> Ints:
        """[text, word] numbers of words, 0 beyond the end."""
        words = spelled(texts)
        size = words.list.len().fill_null(0).to_numpy().astype(np.int64)
        found = np.zeros((len(size), int(size.max(initial=1))), np.int64)
        there = np.arange(found.shape[1]) < size[:, None]
        flat = words.explode(empty_as_null=False)
        found[there] = flat.replace_strict(self.number, default=1, return_dtype=pl.Int64).to_numpy()
        return found

    def answered(self, answers: pl.Series) -> Ints:
        """[text] the number of the answer, NOTHING if there is none or nobody gave it in training."""
        number = {word: at for at, word in enumerate(self.answers)}
        return answers.replace_strict(number, default=NOTHING, return_dtype=pl.Int64).to_numpy()
