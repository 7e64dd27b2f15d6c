"""Kinds of errors in choices between two actions, where a model knows that both happen and still answers wrong."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import polars as pl

from questree.metrics.answered import Answered
from questree.metrics.cells import OVERALL, Cell, Column, Tallies, tally
from questree.metrics.dags import span_sums, usable_parts

COMPOSITIONS = ("Longer Choose", "Shorter Choose")
KINDS = ("valid", "related", "unrelated")
BY = "error"


@dataclass(frozen=True)
class Choices:
    """What choices between two actions offer."""

    options: pl.DataFrame  # key of the question, first, second
    about: Mapping[str, str]  # an action or an object -> the object it is about


def error_kinds(model: Answered, choices: Choices) -> Tallies:
    """Share of a kind = errors of the kind / errors; an error is a wrong parent whose usable children are all right.

    AGQA-Decomp, supplement "Qualitative Examples" and Figure 11: valid, the other option is chosen; related, an answer
    that is no option but about the object of one ("holding a phone" for "talking on a phone"); unrelated, any other.
    Parents are choices between two actions that both are named, have a truth and an answer, and count once per text and
    video.

    Columns ("error", composition, kind).
    """
    found = model.hierarchies
    chosen, usable, wrong_part = usable_parts(model)
    parent, start, size = (found.composed[name].to_numpy().astype(np.int64) for name in ("parent", "first", "edges"))
    right = span_sums(wrong_part, start, size) == 0
    wanted = np.array([name in COMPOSITIONS for name in found.compositions], bool)[found.composed["composition"]]
    wrong = (model.prediction[parent] >= 0) & ~model.correct[parent]
    rows = np.flatnonzero(wanted & chosen[parent] & right & (span_sums(usable, start, size) > 0) & wrong)
    keys = found.keys.gather(found.nodes["key"].gather(parent[rows]))
    asked = pl.DataFrame({"key": keys, "row": rows}).join(choices.options, on="key", maintain_order="left")
    rows = asked["row"].to_numpy()
    said = pl.Series(list(model.words.number), dtype=pl.String).gather(model.prediction[parent[rows]])
    kind = np.array([kind_of(*each, choices.about) for each in zip(said, asked["first"], asked["second"], strict=True)])
    names: list[Column] = [(BY, name, kind) for name in COMPOSITIONS for kind in KINDS]
    place = np.array([COMPOSITIONS.index(n) if n in COMPOSITIONS else 0 for n in found.compositions], np.int64)
    column = place[found.composed["composition"].to_numpy()[rows]]
    several = np.arange(len(KINDS))
    return tally(
        np.repeat(model.video[parent[rows]].astype(np.int64), len(KINDS)),
        (column[:, None] * len(KINDS) + several).ravel(),
        (kind.reshape(-1, 1) == several).ravel(),
        len(found.videos),
        names,
    )


def error_cells(tallies: Tallies) -> list[Cell]:
    at = {own: number for number, own in enumerate(tallies.columns)}
    return [
        Cell(f"{kind} error", BY, group, (tuple(at[BY, name, kind] for name in few if (BY, name, kind) in at),))
        for group, few in [*((name, (name,)) for name in COMPOSITIONS), (OVERALL, COMPOSITIONS)]
        for kind in KINDS
    ]


def kind_of(said: str, first: str, second: str, about: Mapping[str, str]) -> int:
    """Position among KINDS."""
    if said in (first, second):
        return 0
    return 1 if said in about and about[said] in (about.get(first), about.get(second)) else 2
