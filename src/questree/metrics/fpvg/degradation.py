"""c2i = correct / incorrect answers, for FPVG+ and FPVG-; degradation = 1 - c2i of the worse set / c2i of the better.

FPVG, section 5, Table 4 and Figure 5: from in-distribution to out-of-distribution questions within FPVG+ or FPVG-, and
from FPVG+ to FPVG- within a set. c2i is a ratio of counts, not a share; nothing incorrect makes it N/A.
"""

import numpy as np

from questree.metrics.cells import Cell
from questree.metrics.fpvg.grounding import OVERALL, Grounding
from questree.metrics.tallies import Column, Tallies

SETS = ("ID", "OOD")
SIGNS = ("FPVG+", "FPVG-")


def count_c2i(model: Grounding, outside: set[str] | None) -> Tallies:
    """Columns ("c2i", sign, set); without a list of out-of-distribution questions everything is ID."""
    out = np.array([id in (outside or set()) for id in model.questions["id"].to_list()], np.int64)
    column = out * len(SIGNS) + (~model.grounded).astype(np.int64)
    names: list[Column] = [("c2i", sign, name) for name in SETS for sign in SIGNS]
    return model.tally(column, model.correct["all"], model.evaluated, names)


def c2i_cells(tallies: Tallies, with_sets: bool) -> list[Cell]:
    def part(sign: str, name: str | None) -> tuple[int, ...]:
        return tuple(
            at for at, column in enumerate(tallies.columns) if column[:2] == ("c2i", sign) and name in (None, column[2])
        )

    cells = [Cell("c2i", "all", sign, (part(sign, None),), "odds") for sign in SIGNS]
    if with_sets:
        cells += [Cell("c2i", name, sign, (part(sign, name),), "odds") for name in SETS for sign in SIGNS]
        cells += [Cell("degradation", "ID to OOD", s, (part(s, "ID"), part(s, "OOD")), "odds drop") for s in SIGNS]
    cells += [
        Cell("degradation", "FPVG+ to FPVG-", name or OVERALL, (part("FPVG+", name), part("FPVG-", name)), "odds drop")
        for name in [*(SETS if with_sets else ()), None]
    ]
    return cells
