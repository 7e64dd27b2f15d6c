"""Hierarchies with one model's predictions beside them: the columns all AGQA-Decomp metrics read."""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from questree.metrics.decomp.names import GROUPS, UNSCORED, YES_NO, group_of
from questree.tables.hierarchies import NOTHING, Hierarchies

Missing = Literal["error", "wrong", "skip"]
NEVER = -2  # the number of a word nobody says
Bools = NDArray[np.bool_]
Ints = NDArray[Any]


@dataclass(frozen=True)
class Answered:
    """What the metrics see; word numbers are shared by answers, objects and predictions."""

    hierarchies: Hierarchies
    groups: list[str]  # rows of the tables by type: those of the paper, then types of the data's own
    group_of_type: NDArray[np.int64]  # [type] position in `groups`, NOTHING for an unscored type
    video: NDArray[np.uint32]  # [node]
    prediction: NDArray[np.int32]  # [node] word, NOTHING without one
    scored: Bools  # [node] type is scored, and there is a prediction unless its absence counts as wrong
    yes_no: Bools  # [node] scored and of a type answered yes or no
    correct: Bools  # [node]
    isolated: NDArray[np.int32]  # [question without a DAG] predicted word
    words: dict[str, int]  # yes, no, before, after -> their numbers

    def column(self, name: str) -> Ints:
        return self.hierarchies.nodes[name].to_numpy()

    def group(self, nodes: Ints) -> NDArray[np.int64]:
        """[row] position in `groups` of these nodes."""
        return np.asarray(self.group_of_type[self.column("type")[nodes]])

    @property
    def own_groups(self) -> list[str]:
        """The rows of tables about DAGs: a type that only questions without a DAG have is no row there."""
        seen = set(self.group_of_type[np.flatnonzero(np.bincount(self.column("type")))].tolist())
        return [name for at, name in enumerate(self.groups) if name in GROUPS or at in seen]

    @property
    def answered(self) -> Bools:
        """[node] there is a ground truth."""
        return np.asarray(self.column("answer") != NOTHING)


def answered(hierarchies: Hierarchies, predictions: pl.DataFrame, missing: Missing = "error") -> Answered:
    """Join predictions (columns id, prediction; each id once) to the nodes by key."""
    number = {word: at for at, word in enumerate(hierarchies.words)}
    said = predictions_by_key(hierarchies, predictions, number)
    prediction = said[hierarchies.nodes["key"].to_numpy()]
    types, type = hierarchies.types, hierarchies.nodes["type"].to_numpy()
    groups = list(dict.fromkeys([*GROUPS, *(group_of(name) for name in types if name not in UNSCORED)]))
    group = np.array([NOTHING if name in UNSCORED else groups.index(group_of(name)) for name in types], np.int64)
    scored = (group != NOTHING)[type]
    if missing == "skip":
        scored &= prediction != NOTHING
    return Answered(
        hierarchies=hierarchies,
        groups=groups,
        group_of_type=group,
        video=hierarchies.node_video,
        prediction=prediction,
        scored=scored,
        yes_no=np.array([name in YES_NO for name in types], bool)[type] & scored,
        correct=(prediction == hierarchies.nodes["answer"].to_numpy()) & (prediction != NOTHING),
        isolated=said[hierarchies.isolated["key"].to_numpy()],
        words={word: number.get(word, NEVER) for word in ("yes", "no", "before", "after")},
    )


def predictions_by_key(
    hierarchies: Hierarchies, predictions: pl.DataFrame, number: dict[str, int]
) -> NDArray[np.int32]:
    """[key] the predicted word; new words get the numbers after those of the hierarchies."""
    said = predictions["prediction"].unique(maintain_order=True).drop_nulls().to_list()
    for word in said:
        number.setdefault(word, len(number))
    numbers = pl.DataFrame(
        {"prediction": list(number), "word": range(len(number))}, schema_overrides={"word": pl.Int32}
    )
    table = predictions.join(numbers, on="prediction", how="left").select("id", "word")
    keys = pl.DataFrame({"id": hierarchies.keys})
    found = keys.join(table, on="id", how="left", maintain_order="left")
    return found["word"].fill_null(NOTHING).to_numpy()


def first(text: Ints, rows: Ints) -> Ints:
    """The rows that are the first of their text, in order."""
    earliest = np.full(int(text.max(initial=0)) + 1, -1, np.int64)
    earliest[text[rows][::-1]] = rows[::-1]  # the last assignment stays
    kept = earliest[earliest >= 0]
    return np.sort(kept)


def needed(hierarchies: Hierarchies) -> pl.Series:
    """The ids of all questions whose prediction some metric looks at: those of scored types."""
    scored = np.array([name not in UNSCORED for name in hierarchies.types], bool)
    tables = (hierarchies.nodes, hierarchies.isolated)
    keys = [table["key"].to_numpy()[scored[table["type"].to_numpy()]] for table in tables]
    return hierarchies.keys[np.unique(np.concatenate(keys))]
