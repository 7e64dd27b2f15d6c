"""The ledger of augmentation: what every rule changed, counted in parts of the corpus and added up."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from questree.stages.augment.annotations import merge_synonyms
from questree.stages.augment.graphs import AugmentationRule, Change, Counts, Graphs
from questree.vocabulary.words import Vocabulary

TOO_MANY = 0.1  # of the facts of a class


@dataclass(frozen=True)
class Loss:
    """A class of which a rule removed more than a tenth."""

    of: str  # relation facts, object annotations, actions
    name: str
    removed: int
    before: int


@dataclass(frozen=True)
class Entry:
    """A rule in the ledger."""

    number: int
    name: str
    says: str
    when: str
    changes: list[Change]
    losses: list[Loss]


@dataclass(frozen=True)
class RuleCounts:
    """What a rule did to some videos."""

    changes: list[Change]
    before: Counts  # [class] rows, as `classes` counts them
    after: Counts

    def __add__(self, other: "RuleCounts") -> "RuleCounts":
        found = dict[str, Change]()
        for change in (*self.changes, *other.changes):
            found[change.what] = found[change.what] + change if change.what in found else change
        return RuleCounts(list(found.values()), self.before + other.before, self.after + other.after)


def classes(graphs: Graphs, vocabulary: Vocabulary) -> Counts:
    """[class] relation facts of every relation, then annotations of every object, then instances of every action."""
    columns = (
        (graphs.relations["relation"], vocabulary.relations),
        (graphs.objects["object"], vocabulary.objects),
        (graphs.actions["action"], vocabulary.actions),
    )
    return np.concatenate([np.bincount(found.to_numpy(), minlength=len(words)) for found, words in columns])


def entry(rule: AugmentationRule, counts: RuleCounts, vocabulary: Vocabulary) -> Entry:
    lost = losses(counts, vocabulary) if rule.apply is not merge_synonyms else []  # merged is not lost
    return Entry(rule.number, rule.name, rule.says, rule.when, counts.changes, lost)


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
