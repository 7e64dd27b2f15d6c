"""Which questions have a prediction: coverage = questions with one / questions that need one."""

from dataclasses import dataclass

import polars as pl

from questree.metrics.scores import Score

SHOWN = 5  # missing ids named in a message


@dataclass(frozen=True)
class Coverage:
    needed: int  # different ids
    found: int
    unknown: int  # predictions no question asked for; they are ignored
    examples: tuple[str, ...]  # of ids without a prediction

    @property
    def missing(self) -> int:
        return self.needed - self.found

    def __str__(self) -> str:
        share = 100 * self.found / self.needed if self.needed else 100.0
        return f"{self.found:,} of {self.needed:,} questions ({share:.2f} %), {self.unknown:,} for no question here"

    def row(self, policy: str, model: str) -> Score:
        value = self.found / self.needed if self.needed else None
        return Score("coverage", "policy", policy, value, self.needed, None, None, model)


def coverage(needed: pl.Series, known: pl.Series, predictions: pl.DataFrame) -> Coverage:
    """`needed` and `known` are ids of questions (scored, or there at all); predictions have each id once."""
    ids = pl.DataFrame({"id": needed}).unique(maintain_order=True)
    missing = ids.join(predictions.select("id"), on="id", how="anti", maintain_order="left")
    unknown = predictions.select("id").join(pl.DataFrame({"id": known}), on="id", how="anti").height
    return Coverage(ids.height, ids.height - missing.height, unknown, tuple(missing["id"].head(SHOWN).to_list()))
