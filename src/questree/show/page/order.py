"""What was found in the order of a column of the list; equal rows stay by scope and number."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from questree.show.page.filters import FilteredRows
from questree.show.page.site import Collection
from questree.stages.split.grammar import check

Rows = NDArray[np.int64]
DOWN = "-"  # before the name of a column: from its end


def sortable(own: Collection, models: list[str]) -> list[str]:
    """Columns the list can be sorted by; a model may be called like any of the others."""
    return ["question", "answer", *(f"model {name}" for name in models), "template", *own.view.numbers]


def ordered(own: Collection, found: FilteredRows, sort: str) -> Rows:
    """Or Wrong; a column after `-` is read from its end."""
    if not sort or not len(found.rows):
        return found.rows
    check("column to sort by", (sort.removeprefix(DOWN),), sortable(own, own.models))
    kept: tuple[str, Rows] = found.kept.get("sorted", ("", found.rows))
    if kept[0] != sort:  # the last order is kept, not all
        kept = found.kept["sorted"] = sort, _sorted(own, found.rows, sort)
    return kept[1]


def _sorted(own: Collection, rows: Rows, sort: str) -> Rows:
    key = _key(own, sort.removeprefix(DOWN))[rows].astype(np.int64)
    return rows[np.argsort(-key if sort.startswith(DOWN) else key, kind="stable")]


def _key(own: Collection, column: str) -> NDArray[Any]:
    """[question] whole numbers that ascend as the column does."""
    asked = own.questions
    if column == "question":
        return asked.text_rank
    if column == "answer":
        return alphabetical(asked.words)[asked.columns["answer"]]
    if column == "template":
        return alphabetical(own.view.templates)[asked.columns["template"]]
    if column in own.view.numbers:
        return np.asarray(asked.columns[column])
    judged = asked.models[column.removeprefix("model ")].judgement
    word = np.append(alphabetical(asked.words), -1)[judged.said]  # no answer comes first
    return np.asarray(judged.right.astype(np.int64) * (len(asked.words) + 1) + word)


def alphabetical(words: list[str]) -> NDArray[np.int64]:
    """[word] its place; numbers by their size, before words."""
    order = sorted(range(len(words)), key=lambda at: _place(words[at]))
    found = np.zeros(len(words), np.int64)
    found[order] = np.arange(len(words))
    return found


def _place(word: str) -> tuple[int, float, str]:
    number = word.isascii() and word.isdecimal() and len(word) < 10
    return (0, float(word), "") if number else (1, 0.0, word.lower())
