"""Accuracy of a type: mean over its ground-truth answers g of (right with truth g / all with truth g).

AGQA-Decomp, section 4 "Accuracy" and Table 9: answers on the long tail weigh as much as frequent ones. Overall pools
the answers of all types, so it is neither a mean of types nor of questions. Each text counts once per video; unscored
types and texts without a truth are left out before that. Questions without a DAG count every time, and "no answer" is
an answer there.
"""

import numpy as np

from questree.metrics.cells import Cell
from questree.metrics.dags.answered import OVERALL, Answered, first
from questree.metrics.tallies import Column, Tallies, tally
from questree.tables.hierarchies import NOTHING

NO_TRUTH = "None"  # how a question without a truth is listed


def count_accuracy(model: Answered, skip_missing: bool) -> Tallies:
    """Columns ("accuracy", group, answer)."""
    found, loose = model.hierarchies, model.hierarchies.isolated
    rows = first(model.column("text"), np.flatnonzero(model.scored & model.answered))
    loose_group = model.group_of_type[loose["type"].to_numpy()]
    kept = (loose_group != NOTHING) & ((model.isolated != NOTHING) | (not skip_missing))
    truth = loose["answer"].to_numpy()[kept]

    group = np.concatenate([model.group(rows), loose_group[kept]])
    answer = np.concatenate([model.column("answer")[rows], truth])
    passed = np.concatenate([model.correct[rows], (model.isolated[kept] == truth) & (truth != NOTHING)])
    video = np.concatenate([model.video[rows], loose["video"].to_numpy()[kept]]).astype(np.int64)
    words = [NO_TRUTH, *found.words]
    names: list[Column] = [("accuracy", name, word) for name in model.groups for word in words]
    return tally(video, group * len(words) + answer - NOTHING, passed, len(found.videos), names)


def accuracy_cells(tallies: Tallies, groups: list[str]) -> list[Cell]:
    """By type, then by answer (group `<type>-<answer>`), Overall last in both; added up in alphabetical order."""
    of: dict[str, dict[str, list[int]]] = {group: {} for group in [*groups, OVERALL]}
    for at, column in enumerate(tallies.columns):
        if column[0] == "accuracy":
            _, group, word = map(str, column)
            of[group].setdefault(word, []).append(at)
            of[OVERALL].setdefault(word, []).append(at)
    by_type = [
        Cell("accuracy", "type", group, tuple(tuple(answers[word]) for word in sorted(answers)), "mean of defined")
        for group, answers in of.items()
    ]
    by_answer = [
        Cell("accuracy", "answer", f"{group}-{word}", (tuple(columns),))
        for group, answers in of.items()
        for word, columns in sorted(answers.items())
    ]
    return by_type + by_answer
