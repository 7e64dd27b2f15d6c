"""Answers from how often answers are given, without looking at any video: text and habit alone."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import polars as pl

from questree.models.asked import AskedShard
from questree.program import Array
from questree.tables.hierarchies import NOTHING
from questree.tables.nodes import SLOTS

TEXT = ["program", "words"]


def asked(shard: AskedShard) -> pl.DataFrame:
    """[node] type, program, its words as one number, and the word of the published answer."""
    packed = np.zeros(len(shard), np.uint64)
    for at in range(SLOTS):
        packed = (packed << np.uint64(8)) | shard.nodes[f"s{at}"].to_numpy().astype(np.uint64)
    columns = {name: shard.forms[name].gather(shard.nodes["form"]) for name in ("type", "program")}
    return pl.DataFrame({**columns, "words": packed, "word": shard.spelled(shard.published)})


@dataclass(frozen=True)
class Priors:
    """The commonest published answers of a run; of equally common ones that with the smaller number."""

    of_type: dict[str, int]  # type -> word
    of_text: pl.DataFrame  # program, words -> word

    @classmethod
    def of(cls, shards: Iterable[AskedShard]) -> "Priors":
        parts = [asked(shard).filter(pl.col("word") != NOTHING) for shard in shards]
        counts = pl.concat([part.group_by("type", *TEXT, "word").len("times") for part in parts])
        return cls(dict(commonest(counts, ["type"]).iter_rows()), commonest(counts, TEXT))

    def by_type(self, shard: AskedShard) -> Array:
        """[node] the commonest answer to questions of its type."""
        of_form = np.array([self.of_type.get(type, NOTHING) for type in shard.forms["type"]], np.int32)
        return np.asarray(of_form[shard.nodes["form"].to_numpy()])

    def by_text(self, shard: AskedShard) -> Array:
        """[node] the commonest answer to the same question, whatever the video; without one, that of its type."""
        found = asked(shard).select(TEXT).join(self.of_text, on=TEXT, how="left", maintain_order="left")["word"]
        return np.where(found.is_null().to_numpy(), self.by_type(shard), found.fill_null(NOTHING).to_numpy())


def commonest(counts: pl.DataFrame, key: list[str]) -> pl.DataFrame:
    """The word that is most often the answer, per key."""
    summed = counts.group_by(*key, "word").agg(pl.col("times").sum())
    ordered = summed.sort("times", "word", descending=[True, False])
    return ordered.unique(key, keep="first", maintain_order=True).select(*key, "word")
