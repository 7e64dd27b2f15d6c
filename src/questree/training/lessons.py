"""Which questions are learnt, and which are kept aside to validate on."""

from dataclasses import dataclass
from hashlib import blake2b

import numpy as np
import polars as pl

from questree.columns.hashing import seed_of
from questree.tables.hierarchies import Hierarchies


@dataclass(frozen=True)
class Lesson:
    """Tables with id, scope, question and answer: to learn from, and to validate on."""

    learn: pl.DataFrame
    check: pl.DataFrame
    dags: Hierarchies | None = None  # whose rules the answers shall keep
    nodes: pl.DataFrame | None = None  # their questions and sub-questions
    found: pl.DataFrame | None = None  # id, boxes: the objects that questions find

    def digest(self) -> str:
        """Of all questions and answers."""
        found = blake2b(digest_size=16)
        for table in (self.learn, self.check):
            for column in ("id", "question", "answer"):
                found.update("\0".join(table[column].fill_null("").to_list()).encode())
        return found.hexdigest()


def held_back(scopes: pl.Series, share: float, seed: int) -> pl.Series:
    """[row] is its scope one of those kept for validation? One at least, where there are two."""
    different = scopes.unique().to_list()
    order = sorted(different, key=lambda scope: int(seed_of(seed, f"validation {scope}")))
    count = min(max(1, round(share * len(order))), len(order) - 1)
    return scopes.is_in(order[:count])


def drawn(table: pl.DataFrame, count: int, seed: int) -> pl.DataFrame:
    """So many questions by a keyed hash of their ids; 0: all."""
    if not count or count >= len(table):
        return table
    hashes = np.array([seed_of(seed, f"sample {id}") for id in table["id"]], np.uint64)
    return table[np.sort(np.argsort(hashes, kind="stable")[:count])]
