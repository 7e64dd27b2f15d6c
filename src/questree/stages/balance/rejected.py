"""Questions that somebody took out, with their reasons: they are balanced as if nobody had asked them."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from questree.benchmarks import Said
from questree.faults import BadInput

SHAPE = "expected a CSV with the columns id and reason"
NO_REASON = "no reason"


@dataclass(frozen=True)
class Rejected:
    """What was taken out, by reason."""

    counts: Mapping[str, int]
    unknown: int  # ids that are no question here: sub-questions, or of another run

    def said(self) -> list[Said]:
        reasons = ", ".join(f"{reason} {count:,}" for reason, count in self.counts.items()) or "none"
        others = f"; {self.unknown:,} ids are no question of this run" if self.unknown else ""
        return [f"taken out before: {sum(self.counts.values()):,} questions ({reasons}){others}"]


def read_rejected(path: Path) -> pl.DataFrame:
    """id, reason; every id once."""
    try:
        table = pl.read_csv(path, infer_schema=False)
    except (OSError, pl.exceptions.PolarsError) as error:
        raise BadInput.at(path, f"cannot be read ({type(error).__name__}); {SHAPE}") from error
    if "id" not in table.columns:
        raise BadInput.at(path, f"{SHAPE}, got {', '.join(table.columns)}")
    reason = pl.col("reason") if "reason" in table.columns else pl.lit(None, pl.String)
    return table.select("id", reason=reason.fill_null(NO_REASON)).drop_nulls("id").unique("id", maintain_order=True)


def rejected(found: pl.DataFrame, there: pl.DataFrame) -> Rejected:
    """Of what was to be taken out, `there` are the questions of the run: both have the columns id and reason."""
    counts = there["reason"].value_counts(name="count").sort("count", "reason", descending=[True, False])
    return Rejected(dict(counts.iter_rows()), len(found) - len(there))
