"""Programs executed on the scopes of a run: videos, or sets of images."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from questree.faults import BadInput, Fault, refuse
from questree.readings.answer import WELL, Outcome, evaluate, spell
from questree.terms import REASONS, UNKNOWN, Node

if TYPE_CHECKING:
    from questree.api.runs import Run

Scopes = Sequence[str] | Sequence[Sequence[str]] | None
UNTOLD = "no facts"  # about a video


def answers(node: Node, run: "Run", scopes: Scopes) -> pl.DataFrame:
    """scope, answer, reason: [scope] the answer as it is printed, or why there is none."""
    found: pl.DataFrame = run._own.part("executed")(node, run, scopes)
    return found


def _positions(run: "Run", known: Sequence[str], wanted: Sequence[str], called: str) -> list[int]:
    at = {name: row for row, name in enumerate(known)}
    strange = [name for name in wanted if name not in at]
    few = ", ".join([*known[:3], "..."])
    refuse([Fault(str(run.folder), f"expected {called}, got {name!r}; choose from {few}") for name in strange])
    return [at[name] for name in wanted]


def of_videos(node: Node, run: "Run", scopes: Scopes) -> pl.DataFrame:
    world = run._world
    names = list(world.ids) if scopes is None else [str(name) for name in scopes]
    rows = np.array(_positions(run, world.ids, names, "a video"), np.int64)
    untold = (world.length == 0) & (np.diff(world.instance_start) == 0)
    if untold[rows].all() and len(rows):
        raise BadInput.at(run.folder, "the run has no facts about these videos to answer from")
    asked = world.ask(rows)
    gone, found = pl.Series(untold[rows]), table(names, node, evaluate(node, asked), world.vocabulary)
    return found.with_columns(
        answer=pl.when(gone).then(None).otherwise("answer"),
        reason=pl.when(gone).then(pl.lit(UNTOLD)).otherwise("reason"),
    )


def of_images(node: Node, run: "Run", scopes: Scopes) -> pl.DataFrame:
    from questree.domains.images.corpus import ImageSets, padded

    corpus = run._corpus
    sets = run.scopes if scopes is None else [[scope] if isinstance(scope, str) else list(scope) for scope in scopes]
    rows = [_positions(run, corpus.image_ids, own, "an image") for own in sets]
    world = ImageSets(corpus, padded(rows))
    return table(sets, node, evaluate(node, world), corpus.words)


def table(scopes: Sequence[Any], node: Node, outcome: Outcome, words: Any) -> pl.DataFrame:
    value = outcome.values[node]
    value = np.where(outcome.defined, node.kind.yes(value) if node.kind.yes else value, UNKNOWN)
    spelled = {number: spell(node.kind, number, words) for number in np.unique(value).tolist()}
    reasons = [None if code == WELL else REASONS[code] for code in outcome.reason.tolist()]
    return pl.DataFrame(
        {
            "scope": scopes,
            "answer": pl.Series([spelled[number] for number in value.tolist()], dtype=pl.String),
            "reason": pl.Series(reasons, dtype=pl.String),
        }
    )
