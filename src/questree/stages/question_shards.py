"""Questions about image sets as shards: a set of images belongs to its first image, a shard has a range of these."""

from collections.abc import Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from itertools import accumulate, pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np
import polars as pl

from questree.columns.joins import Ints
from questree.tables.image_questions import ANSWERED, TEXTS
from questree.tables.predictions import shard_name
from questree.tables.store import new_folder
from questree.tables.table import Table
from questree.workers import each

QUESTIONS = 1 << 14  # about a shard, unless more are about one image
DEALT = Table("dealt", {**ANSWERED.columns, **TEXTS})  # number: in its piece
FIRST = Table("first", {"first": pl.UInt32})  # image


class PieceRows(NamedTuple):
    """Questions of a shard that stand next to each other in a piece."""

    piece: Path
    begin: int
    rows: int
    before: int  # questions of the pieces before it


@dataclass(frozen=True)
class QuestionShard:
    name: str
    pieces: tuple[PieceRows, ...]

    def __str__(self) -> str:
        return self.name


def write_piece(made: pl.DataFrame, folder: Path) -> None:
    """In a worker: some questions, in the order of their first images."""
    first = made.select(first=pl.col("images").list.min().fill_null(0))
    order = first["first"].arg_sort()
    DEALT.write_piece(made.with_row_index("number")[order], folder)
    FIRST.write_piece(first[order], folder)


def write_shards(pieces: Sequence[Path], out: Path, pool: Executor | None) -> None:
    """Write OUT/questions/<shard>/ of all pieces; questions are numbered in their order."""
    (shards,) = each(pool, "dealing questions", "all", [out.name], lay_out, pieces)
    each(pool, "writing questions", "shard", shards, write_shard, out)


def lay_out(pieces: Sequence[Path], _: str) -> list[QuestionShard]:
    first = [FIRST.read_piece(piece)["first"].to_numpy() for piece in pieces]
    cuts = cut(np.bincount(np.concatenate([np.zeros(0, np.int64), *first])), QUESTIONS)
    found: list[list[PieceRows]] = [[] for _ in pairwise(cuts)]
    for piece, own, before in zip(pieces, first, accumulate(map(len, first), initial=0), strict=False):
        for shard, (begin, end) in enumerate(pairwise(np.searchsorted(own, cuts).tolist())):
            if end > begin:
                found[shard].append(PieceRows(piece, begin, end - begin, before))
    return [QuestionShard(shard_name(at), tuple(own)) for at, own in enumerate(found)]


def cut(sizes: Ints, most: int) -> list[int]:
    """Where shards begin, and the end: what stands next to each other, no more than so much unless one has more."""
    ends = np.cumsum(sizes)
    cuts = np.searchsorted(ends, np.arange(most, ends[-1] if len(ends) else 0, most), side="right")
    return [0, *sorted({*cuts.tolist()} - {0, len(sizes)}), len(sizes)]


def write_shard(out: Path, shard: QuestionShard) -> None:
    """In a worker."""
    found = [DEALT.empty()]
    for own in shard.pieces:
        rows = DEALT.read_piece(own.piece, own.begin, own.rows)
        found.append(rows.with_columns(pl.col("number") + pl.lit(own.before, pl.UInt32)))
    with new_folder(out / "questions" / shard.name) as folder:
        ANSWERED.write(pl.concat(found).sort("number"), folder)
