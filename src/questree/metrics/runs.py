"""Over training runs with different seeds: the median, and the maximum deviation from it.

FPVG, Table 3. A cell that is N/A in any run is N/A.
"""

from collections.abc import Sequence
from statistics import median

from questree.metrics.scores import Score


def over_runs(runs: Sequence[Sequence[Score]]) -> list[Score]:
    """Cells of all runs, with low and high the median minus and plus the maximum deviation."""
    named = [{(row.metric, row.by, row.group): row for row in rows} for rows in runs]
    found = []
    for name, row in named[0].items():
        values = [rows[name].value for rows in named if name in rows]
        known = [value for value in values if value is not None]
        if len(known) < len(runs):
            found.append(Score(*name, None, row.n, None, None, label(len(runs))))
            continue
        middle = median(known)
        far = max(abs(value - middle) for value in known)
        found.append(Score(*name, middle, row.n, middle - far, middle + far, label(len(runs))))
    return found


def label(runs: int) -> str:
    return f"median of {runs} runs"
