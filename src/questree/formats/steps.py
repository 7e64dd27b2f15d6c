"""More steps than in training, for a release: the threshold of every template that has questions."""

import numpy as np
import polars as pl

from questree.benchmarks.agqa.templates import TEMPLATES
from questree.stages.split.steps import NEVER, most_steps


def thresholds(counts: pl.DataFrame) -> dict[int, int]:
    """counts: template, steps, train, n of all questions -> M per template: a question with more steps has "more"."""
    table = np.zeros((2, len(TEMPLATES), NEVER + 1), np.int64)  # [train, template, steps]
    columns = [counts[name].to_numpy().astype(np.int64) for name in ("train", "template", "steps")]
    np.add.at(table, tuple(columns), counts["n"].to_numpy())
    return {at: most for at, most in enumerate(most_steps(table, {})) if most != NEVER}
