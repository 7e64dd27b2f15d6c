"""Answers from how often answers are given elsewhere, without looking at the video: text and habit alone."""

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
    of_text: pl.DataFrame  # program, words -> the two commonest answers and how often each is given

    @classmethod
    def of(cls, shards: Iterable[AskedShard]) -> "Priors":
        parts = [asked(shard).filter(pl.col("word") != NOTHING) for shard in shards]
        counts = pl.concat([part.group_by("type", *TEXT, "word").len("times") for part in parts])
        types, texts = (commonest_first(counts, key) for key in (["type"], TEXT))
        two = texts.group_by(TEXT, maintain_order=True).agg(
            pl.col(name).get(at, null_on_oob=True).alias(f"{name}{at}") for name in ("word", "times") for at in (0, 1)
        )
        firsts = types.unique("type", keep="first", maintain_order=True)
        return cls(dict(firsts.select("type", "word").iter_rows()), two)

    def by_type(self, shard: AskedShard) -> Array:
        """[node] the commonest answer to questions of its type."""
        of_form = np.array([self.of_type.get(type, NOTHING) for type in shard.forms["type"]], np.int32)
        return np.asarray(of_form[shard.nodes["form"].to_numpy()])

    def by_text(self, shard: AskedShard) -> Array:
        """[node] the commonest answer to the same question about all other videos; without one, that of its type."""
        own = asked(shard)
        found = own.join(self.of_text, on=TEXT, how="left", maintain_order="left")
        word = own["word"].to_numpy()
        words = [found[f"word{at}"].fill_null(NOTHING).to_numpy() for at in (0, 1)]
        # its own answer was counted once
        times = [
            found[f"times{at}"].fill_null(0).to_numpy().astype(np.int64) - ((word == words[at]) & (word != NOTHING))
            for at in (0, 1)
        ]
        ahead = (times[0] > times[1]) | ((times[0] == times[1]) & (words[0] < words[1]))
        known = np.maximum(*times) > 0
        return np.where(known, np.where(ahead, *words), self.by_type(shard)).astype(np.int32)


def commonest_first(counts: pl.DataFrame, key: list[str]) -> pl.DataFrame:
    """How often each word is the answer, per key; the commonest first."""
    summed = counts.group_by(*key, "word").agg(pl.col("times").sum())
    return summed.sort("times", "word", descending=[True, False])
