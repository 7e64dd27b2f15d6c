"""Accuracy per reasoning, semantic and structural category, overall, for novel compositions and for more steps.

AGQA, section 4 and supplement 6.1: Tables 2 and 9 (categories), 3, 4, 6 (novel compositions), 8 (more steps). A
question counts in every reasoning category it has.
"""

import numpy as np
import polars as pl
from numpy.typing import NDArray

from questree.tables.scored import QuestionRecords

OVERALL = "Overall"
REASONING = (  # rows in the order of Table 2
    "obj-rel",
    "rel-act",
    "obj-act",
    "superlative",
    "sequencing",
    "exists",
    "duration-comparison",
    "activity-recognition",
)
SEMANTIC = ("object", "relation", "action")
STRUCTURAL = ("query", "compare", "choose", "logic", "verify")
NOVEL = {"Sequencing": "nc_seq", "Superlative": "nc_sup", "Duration": "nc_dur", "Obj-rel": "nc_objrel"}
Bools = NDArray[np.bool_]


def groups(asked: QuestionRecords) -> dict[str, dict[str, Bools]]:
    """Table -> row -> [question] whether it belongs there; categories of the data's own come after the paper's."""
    table = asked.table
    every = np.ones(len(table), bool)
    named = {
        name: {**{group: _is(table, name, group) for group in _rows(table, name, listed)}, OVERALL: every}
        for name, listed in (("reasoning", REASONING), ("semantic", SEMANTIC), ("structural", STRUCTURAL))
    }
    flag = {name: table[name].to_numpy() for name in (*NOVEL.values(), "novel_comp", "more_steps")}
    novel = {row: flag[name] for row, name in NOVEL.items()} | {OVERALL: flag["novel_comp"]}
    return named | {"novel composition": novel, "more steps": {OVERALL: flag["more_steps"]}}


def _rows(table: pl.DataFrame, name: str, listed: tuple[str, ...]) -> list[str]:
    values = table[name].explode() if table.schema[name] == pl.List(pl.String) else table[name]
    own = sorted(set(values.drop_nulls().to_list()) - {*listed, ""})
    return [*listed, *own]


def _is(table: pl.DataFrame, name: str, group: str) -> Bools:
    column = pl.col(name)
    inside = column.list.contains(group) if table.schema[name] == pl.List(pl.String) else column == group
    return np.asarray(table.select(inside).to_series().fill_null(False).to_numpy(), bool)
