"""The audit of questions about image sets: what their text alone tells about their answers, template by template."""

import numpy as np
import polars as pl

from questree.benchmarks.covr.templates import TEMPLATES
from questree.columns.hashing import mix, seed_of
from questree.stages.audit.audited import Audit, AuditedQuestions, AuditOptions, audited, shares
from questree.stages.audit.guesses import SETS, Types
from questree.tables.image_questions import BALANCED, answered
from questree.tables.run import Run

NAMES = [template.name for template in TEMPLATES]
BINARY = ("yes", "no")


def audit(run: Run, options: AuditOptions) -> Audit:
    """Write RUN/covr/audit. The key of a question is its text; questions of dev are left out."""
    table, balanced = questions(run, options.seed)
    templates = table["name"].unique(maintain_order=True).to_list()
    table = table.with_columns(
        template=table["name"].replace_strict(templates, range(len(templates)), return_dtype=pl.Int64),
        answer=pl.col("said").rank("dense").cast(pl.Int64),
        key=pl.col("question").rank("dense").cast(pl.Int64),
    )
    counts = table.group_by("template", "key", "answer", "test", maintain_order=True).agg(
        before=pl.len().cast(pl.Int64), after=pl.col("kept").sum().cast(pl.Int64)
    )
    sets = {"before": table, "after": table.filter("kept")}
    said = {name: sampled(sets[name], shares(counts, name, options.most)) for name in SETS}
    words = dict(table.select("answer", "said").unique().rows())
    asked = AuditedQuestions(balanced, [counts.lazy()], counts, said, types_of(table, templates), templates, words)
    return audited(asked, options, run.covr / "audit")


def questions(run: Run, seed: int) -> tuple[pl.DataFrame, bool]:
    """name, question, said, kind, test, kept, hash, in the order of the hash; and whether there is a selection."""
    every = answered(run).filter(pl.col("split") != "dev")
    balanced = (run.covr / f"{BALANCED.name}.parquet").is_file()
    kept = every["id"].is_in(BALANCED.read(run.covr)["id"].implode()) if balanced else pl.Series([True] * len(every))
    ids = np.array([seed_of(seed, id) for id in every["id"]], np.uint64)
    order = {name: at for at, name in enumerate(NAMES)}
    table = every.select(
        "question",
        name="template",
        said="answer",
        kind=pl.col("template").replace_strict(order, default=len(NAMES), return_dtype=pl.Int64),
        test=pl.col("split") == "test",
    )
    return table.with_columns(kept=kept, hash=pl.Series(mix(seed_of(seed, "audit"), ids))).sort("hash"), balanced


def sampled(table: pl.DataFrame, share: tuple[float, float]) -> pl.DataFrame:
    """At most as many of train and of test as may be looked at."""
    limit = pl.when("test").then(share[1]).otherwise(share[0]) * 2.0**53
    return table.filter((pl.col("hash") // 2**11).cast(pl.Float64) < limit)


def types_of(table: pl.DataFrame, templates: list[str]) -> Types:
    """A template whose answers are yes and no alone is binary."""
    open_ones = set(table.filter(~pl.col("said").is_in(BINARY))["name"])
    return {
        "all": ["all"] * len(templates),
        "answers": ["open" if name in open_ones else "binary" for name in templates],
        "template": templates,
    }
