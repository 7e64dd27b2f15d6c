"""Questions that somebody took out, with their reasons: they are balanced as if nobody had asked them."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from questree.benchmarks import Said
from questree.faults import BadInput
from questree.stages.questions import Bank
from questree.tables.questions import QUESTIONS
from questree.tables.run import Run

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


def numbered(run: Run, found: pl.DataFrame) -> pl.DataFrame:
    """video, number and reason of the questions with these ids, <video>-<number>; others are left out."""
    bank = Bank(run)
    videos = pl.DataFrame({"name": bank.ids}).with_row_index("video")
    parts = found.with_columns(
        name=pl.col("id").str.extract(r"^(.*)-\d{1,9}$"),
        number=pl.col("id").str.extract(r"-(\d{1,9})$").cast(pl.UInt32),
    )
    named = parts.join(videos, on="name", maintain_order="left")
    there = [
        some.join(named, on=["video", "number"], how="semi")
        for folder in bank.folders()
        for some in QUESTIONS.only("video", "number").pieces(folder)
    ]
    return named.join(pl.concat(there), on=["video", "number"], how="semi", maintain_order="left")


def rejected(found: pl.DataFrame, there: pl.DataFrame) -> Rejected:
    """Of what was to be taken out, `there` are the questions of the run: both have the columns id and reason."""
    counts = there["reason"].value_counts(name="count").sort("count", "reason", descending=[True, False])
    return Rejected(dict(counts.iter_rows()), len(found) - len(there))
