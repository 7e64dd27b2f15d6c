"""How far facts agree with the clean truth: precision and recall of relation facts, without those entailed by others.

stated     a fact that no other annotation of the same frame and object entails
precision  stated facts that are true, or entailed by something true / stated facts
recall     true stated facts that are found, or entailed by something found / true stated facts

What a rule of augmentation is worth: the agreement when it works alone, and when only it is left out.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from questree.stages.augment import AugmentationRule
from questree.stages.augment.graphs import FACTS, among, counted_as, rows, telling, within, without
from questree.stages.augment.relations import entailed, verb_facts
from questree.tables.facts import Facts
from questree.vocabulary.words import Vocabulary

GROUPS: dict[str, tuple[str, ...]] = {
    "spatial": ("spatial",),
    "contact": ("contact",),
    "spatial and contact": ("spatial", "contact"),
    "verb": ("verb",),
}
WHOLE = "spatial and contact"  # the group rules are judged by


@dataclass(frozen=True)
class AgreementScore:
    group: str
    given_by_actions: bool  # are facts counted that an action of the frame gives, such as holding while holding a cup?
    stated: int  # facts found
    right: int  # of them true
    true: int  # facts of the truth
    found: int  # of them found

    def __add__(self, other: "AgreementScore") -> "AgreementScore":
        """The same counted in further videos."""
        counts = (getattr(self, name) + getattr(other, name) for name in ("stated", "right", "true", "found"))
        return AgreementScore(self.group, self.given_by_actions, *counts)

    @property
    def precision(self) -> float | None:
        return self.right / self.stated if self.stated else None

    @property
    def recall(self) -> float | None:
        return self.found / self.true if self.true else None


def agreement(facts: Facts, truth: Facts, vocabulary: Vocabulary) -> list[AgreementScore]:
    """Frames are matched by video id and frame number; what the other side has no frame for is not judged."""
    ours, our_gifts = _side(facts, vocabulary)
    clean, true_gifts = (_placed(table, truth, facts) for table in _side(truth, vocabulary))
    clean = rows(clean, true_gifts)  # the truth of its actions is part of the truth; ours has to be in the facts
    stated, true = _stated(ours, our_gifts, vocabulary), _stated(clean, true_gifts, vocabulary)
    right = within(stated, rows(clean, entailed(clean, vocabulary)))
    found = within(true, rows(ours, entailed(ours, vocabulary)))
    tables, gifts = (stated, right, true, found), rows(our_gifts, true_gifts)
    scores = [_score(group, True, tables, vocabulary) for group in GROUPS]
    bare = tuple(without(table, gifts) for table in tables)
    return scores + [_score(group, False, bare, vocabulary) for group in GROUPS if group != "verb"]


def _side(facts: Facts, vocabulary: Vocabulary) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The relation facts, and those its actions give, both under merged names."""
    relations = counted_as(facts.relations, "object", vocabulary.merged_object)
    actions = counted_as(facts.actions, "action", vocabulary.merged_action)
    named = relations.filter(pl.col("object") != vocabulary.unnamed_at)
    return rows(counted_as(named, "relation", vocabulary.folded)), verb_facts(actions, vocabulary)


def _placed(relations: pl.DataFrame, facts: Facts, like: Facts) -> pl.DataFrame:
    """The rows under the video and frame positions of `like`."""
    here, there = _frame_names(facts), _frame_names(like).rename({"video": "new_video", "frame": "new_frame"})
    place = here.join(there, on=["id", "number"]).drop("id", "number")
    found = relations.join(place, on=["video", "frame"])
    return rows(found.with_columns(video="new_video", frame="new_frame"))


def _frame_names(facts: Facts) -> pl.DataFrame:
    ids = facts.videos.select("id").with_row_index("video")
    return facts.frames.select("video", "frame", "number").join(ids, on="video")


def _stated(relations: pl.DataFrame, gifts: pl.DataFrame, vocabulary: Vocabulary) -> pl.DataFrame:
    return without(relations, entailed(rows(relations, gifts), vocabulary))


def _score(group: str, given: bool, tables: Sequence[pl.DataFrame], vocabulary: Vocabulary) -> AgreementScore:
    asked = among("relation", telling(vocabulary, *GROUPS[group]))
    return AgreementScore(group, given, *(table.filter(asked).height for table in tables))


@dataclass(frozen=True)
class Worth:
    number: int | None  # none: the first line, with no rule at all and with all of them
    name: str
    alone: AgreementScore
    left_out: AgreementScore


def variants(rules: Sequence[AugmentationRule]) -> list[list[AugmentationRule]]:
    """No rule and all rules that change facts; then each of them alone, and all others."""
    changing = [rule for rule in rules if rule.when == FACTS]
    pairs = (([rule], [other for other in changing if other is not rule]) for rule in changing)
    return [[], changing, *(variant for pair in pairs for variant in pair)]


def judged(facts: Facts, truth: Facts, vocabulary: Vocabulary) -> AgreementScore:
    """What rules are judged by."""
    return next(s for s in agreement(facts, truth, vocabulary) if s.group == WHOLE and s.given_by_actions)


def worths(rules: Sequence[AugmentationRule], scores: Sequence[AgreementScore]) -> list[Worth]:
    """Of the scores of all variants."""
    named = [(None, "none, and all"), *((rule.number, rule.name) for rule in rules if rule.when == FACTS)]
    pairs = zip(named, scores[::2], scores[1::2], strict=True) if scores else ()
    return [Worth(number, name, alone, left_out) for (number, name), alone, left_out in pairs]
