"""The ledger of augmentation: what every rule changed, counted in parts of the corpus and added up."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from questree.stages.augment.annotations import merge_synonyms
from questree.stages.augment.graphs import AugmentationRule, Change, Counts, Graphs, counted_as
from questree.vocabulary.words import Vocabulary

TOO_MANY = 0.1  # of the facts of a class
STAMPS = ["start", "end"]
INTERVAL = ["video", "action", *STAMPS]


@dataclass(frozen=True)
class Loss:
    """A class of which a rule removed more than a tenth."""

    of: str  # relation facts, object annotations, actions
    name: str
    removed: int
    before: int


@dataclass(frozen=True)
class Retimed:
    """An instance of an action that a rule gave other stamps, none if it removed it; or one that it made."""

    video: str
    action: str
    start: float | None  # None: it was not there
    end: float | None
    new_start: float | None  # None: it is gone
    new_end: float | None
    seconds_lost: float  # of it, in which no instance of its action is left


@dataclass(frozen=True)
class Entry:
    """A rule in the ledger."""

    number: int
    name: str
    says: str
    when: str
    changes: list[Change]
    losses: list[Loss]
    seconds_lost: float  # of actions
    retimed: list[Retimed]


@dataclass(frozen=True)
class RuleCounts:
    """What a rule did to some videos."""

    changes: list[Change]
    before: Counts  # [class] rows, as `classes` counts them
    after: Counts
    retimed: pl.DataFrame  # columns of Retimed, of a rule that changes when something is done

    def __add__(self, other: "RuleCounts") -> "RuleCounts":
        found = dict[str, Change]()
        for change in (*self.changes, *other.changes):
            found[change.what] = found[change.what] + change if change.what in found else change
        retimed = pl.concat([self.retimed, other.retimed])
        return RuleCounts(list(found.values()), self.before + other.before, self.after + other.after, retimed)


def classes(graphs: Graphs, vocabulary: Vocabulary) -> Counts:
    """[class] relation facts of every relation, then annotations of every object, then instances of every action."""
    columns = (
        (graphs.relations["relation"], vocabulary.relations),
        (graphs.objects["object"], vocabulary.objects),
        (graphs.actions["action"], vocabulary.actions),
    )
    return np.concatenate([np.bincount(found.to_numpy(), minlength=len(words)) for found, words in columns])


def retimed(before: Graphs, after: Graphs, vocabulary: Vocabulary) -> pl.DataFrame:
    """What became of the instances of actions, under the names they are counted as; nothing about those that stay."""
    changed = slice(None if before.actions is not after.actions else 0)
    was, now = (
        counted_as(side.actions[changed], "action", vocabulary.merged_action).select(INTERVAL)
        for side in (before, after)
    )
    gone, new = was.join(now, on=INTERVAL, how="anti").with_row_index("row"), now.join(was, on=INTERVAL, how="anti")
    left = gone.join(now, on=["video", "action"], suffix="_new")
    shared = pl.min_horizontal("end", "end_new") - pl.max_horizontal("start", "start_new")
    near = left.with_columns(shared=shared).filter(pl.col("shared") >= 0)
    stays = near.group_by("row").agg(pl.col("start_new").min(), pl.col("end_new").max(), pl.col("shared").sum())
    length = pl.col("end") - pl.col("start")
    lost = (length - pl.col("shared").fill_null(0)).clip(0, None)
    old = gone.join(stays, on="row", how="left").sort("row").with_columns(seconds_lost=lost)
    known = near.select("video", "action", start="start_new", end="end_new")
    made = new.join(known, on=INTERVAL, how="anti").rename({name: f"{name}_new" for name in STAMPS})
    found = pl.concat([old.drop("row", "shared"), made.with_columns(seconds_lost=pl.lit(0.0))], how="diagonal")
    ids, names = before.videos["id"], pl.Series([word.id for word in vocabulary.actions], dtype=pl.String)
    return found.select(
        video=pl.Series(ids[found["video"]]),
        action=pl.Series(names[found["action"]]),
        start="start",
        end="end",
        new_start="start_new",
        new_end="end_new",
        seconds_lost="seconds_lost",
    )


def entry(rule: AugmentationRule, counts: RuleCounts, vocabulary: Vocabulary) -> Entry:
    lost = losses(counts, vocabulary) if rule.apply is not merge_synonyms else []  # merged is not lost
    named = [Retimed(**row) for row in counts.retimed.iter_rows(named=True)]
    seconds = round(sum(each.seconds_lost for each in named), 2)
    return Entry(rule.number, rule.name, rule.says, rule.when, counts.changes, lost, seconds, named)


def losses(counts: RuleCounts, vocabulary: Vocabulary) -> list[Loss]:
    """Classes with far fewer facts than before, the greatest loss first."""
    named: dict[str, Sequence[str]] = {
        "relation facts": [word.name for word in vocabulary.relations],
        "object annotations": [word.name for word in vocabulary.objects],
        "actions": [word.phrase for word in vocabulary.actions],
    }
    found, begin = list[Loss](), 0
    for of, names in named.items():
        had, have = (side[begin : begin + len(names)] for side in (counts.before, counts.after))
        begin += len(names)
        if have.sum() < had.sum():
            many = np.flatnonzero(had - have > TOO_MANY * had).tolist()
            found += [Loss(of, names[at], int(had[at] - have[at]), int(had[at])) for at in many]
    return sorted(found, key=lambda loss: (-loss.removed, loss.of, loss.name))
