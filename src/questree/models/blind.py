"""The question-only model of the audit as a bot: it reads what is asked and sees nothing."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import polars as pl

from questree.faults import BadInput
from questree.models.asked import AskedNodes
from questree.stages.audit.ngrams import NgramModel, grams, train
from questree.tables.hierarchies import NOTHING
from questree.terms import Array

MOST = 500_000  # nodes it learns from, as in the audit
ANSWERS = 160  # of a sort: an answer that is rarer is never given, and the weights fit into memory


@dataclass(frozen=True)
class BlindReader:
    """What is known of questions by their words alone."""

    sorts: dict[str, int]  # what may be answered, of questions and of sub-questions -> its number
    model: NgramModel

    def answers(self, asked: AskedNodes) -> Array:
        """[node] words; nothing that was ever learnt answers a sort of question that training does not have."""
        said = sorted_out(asked)
        kind = said["sort"].replace_strict(self.sorts, default=NOTHING, return_dtype=pl.Int64).to_numpy()
        found = self.model.predict(grams(said["text"]), kind)
        return np.where(found == NOTHING, asked.unseen, found)


def learnt(shards: Iterable[AskedNodes], seed: int) -> BlindReader:
    """From published answers about videos or images of train; of many nodes those with the smallest hashes."""
    table = pl.DataFrame(schema={"text": pl.String, "word": pl.Int64, "sort": pl.String, "hash": pl.UInt64})
    for asked in shards:
        own = sorted_out(asked).with_columns(word=asked.published, hash=asked.drawn(seed, "blind"))
        usable = own.filter(pl.col("train") & (pl.col("word") != NOTHING)).select(table.columns)
        table = pl.concat([table, usable.cast(table.schema)])
        table = table if len(table) < 2 * MOST else table.bottom_k(MOST, by="hash")
    if table.is_empty():
        raise BadInput.at("--model=blind", "expected questions of train to learn from, got none")
    table = common(table.sort("hash").head(MOST))
    sorts = {name: at for at, name in enumerate(table["sort"].unique().sort())}
    kind = table["sort"].replace_strict(sorts, return_dtype=pl.Int64).to_numpy()
    return BlindReader(sorts, train(grams(table["text"]), table["word"].to_numpy(), kind, np.arange(len(table))))


def sorted_out(asked: AskedNodes) -> pl.DataFrame:
    """Questions and their parts are learnt apart: parts are answered yes more often."""
    apart = pl.when("top").then(pl.lit(" of a question")).otherwise(pl.lit(" of a part"))
    return asked.read.with_columns(sort=pl.col("sort") + apart)


def common(table: pl.DataFrame) -> pl.DataFrame:
    """The rows with the most common answers of every sort; of equally common ones the smaller number."""
    counts = table.group_by("sort", "word").len("times").sort("sort", "times", "word", descending=[False, True, False])
    kept = counts.group_by("sort", maintain_order=True).head(ANSWERS)
    return table.join(kept, on=["sort", "word"], how="semi", maintain_order="left")
