"""More steps than in training: the threshold of every template (section 12.18 of the fact sheet)."""

import polars as pl

from questree.benchmarks.agqa.templates import TEMPLATES

SHARE = 0.75  # of a template's training questions that stay
FIXED = {"relTime": 5}  # known from the release


def thresholds(counts: pl.DataFrame) -> dict[int, int]:
    """counts: template, steps, train, n of all questions -> M per template: a question with more steps has "more".

    M is the smallest number of steps that at least SHARE of the training questions do not exceed; of all questions
    where a template has none for training.
    """
    found = {}
    for (template,), table in counts.group_by("template"):
        table = table.filter("train") if table["train"].any() else table
        ordered = table.group_by("steps").agg(pl.col("n").sum()).sort("steps")
        share = ordered["n"].cum_sum() / ordered["n"].sum()
        found[int(template)] = int(ordered["steps"].filter(share >= SHARE)[0])
    fixed = {at: FIXED[template.name] for at, template in enumerate(TEMPLATES) if template.name in FIXED}
    return found | fixed
