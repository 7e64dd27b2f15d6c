"""A model that perceives and composes, each with its own mistakes: leaves are seen, the rest follows from its parts.

A leaf is answered by the truth and mistaken with one probability; every other node is composed from the answers to its
parts, and that step fails with another one. Composing is what the consistency rules say: And, Xor and Equals in full;
Choose takes the option that is confirmed while the other is denied; of all other questions the truth is taken as long
as the parts allow it. With no mistakes the answers are the truth.
"""

from dataclasses import dataclass

import numpy as np

from questree.domains.video.atoms import exists
from questree.models.asked import AskedShard, Group, chance
from questree.models.options import CHOICES, UNSEEN, another, merged, options
from questree.program import OBJECT, UNKNOWN, Array, Slot
from questree.rules import NO, YES

RADIX = 256  # more than there are words of a kind


@dataclass
class Composer:
    """Answers the nodes of a shard, sub-questions first."""

    shard: AskedShard
    truth: Array  # [node]
    drawn: Array  # [node] random numbers
    misseen: float  # probability that a leaf is mistaken
    miscomposed: float  # probability that a composition fails

    def run(self) -> Array:
        """[node] answers; UNSEEN where there is nothing to say, UNKNOWN where there is nothing to ask."""
        self.said = np.full(len(self.shard), UNKNOWN, np.int64)
        self.absent = np.zeros(0, np.int64)
        leaves = [group for group in self.shard.groups if not group.children.shape[1]]
        for group in leaves:
            self.said[group.rows] = self.mistaken(group, self.truth[group.rows], self.misseen)
        self.absent = self.not_seen(leaves)
        for group in reversed(self.shard.groups):
            if group.children.shape[1]:
                self.said[group.rows] = self.mistaken(group, self.composed(group), self.miscomposed)
        return self.said

    def not_seen(self, leaves: list[Group]) -> Array:
        """Videos and objects, as sorted numbers, that are said not to exist: nobody may name them."""
        found = [np.zeros(0, np.int64)]
        for group in leaves:
            thing = group.node.args[0] if group.node.op is exists else None
            if isinstance(thing, Slot):
                key = self.video(group) * RADIX + group.values[thing.name]
                found.append(key[self.said[group.rows] == NO])
        return np.unique(np.concatenate(found))

    def video(self, group: Group) -> Array:
        return self.shard.nodes["video"].to_numpy()[group.rows].astype(np.int64)

    def composed(self, group: Group) -> Array:
        """[node] what follows from the answers to its parts."""
        parts, op = self.said[group.children], group.node.op.name
        if op == "both":
            return number(all_yes(parts))
        if op == "but_not":
            return number(yes_then_no(parts))
        if op in ("equals", "same_action"):
            return self.same(group)
        if group.type == "Choose":
            return self.chosen(group)
        return self.compared(group) if group.type in CHOICES else self.allowed(group)

    def allowed(self, group: Group) -> Array:
        """The truth, unless a part says that there is nothing of the kind."""
        parts, truth = self.said[group.children], self.truth[group.rows]
        fine = ~self.shard.yes_no[group.children] | (parts == YES)
        if group.node.kind.yes:
            return np.where(fine.all(1), truth, NO)
        fine |= parts == self.truth[group.children]  # an open question may have an answer although a part is no
        seen = fine.all(1)
        if group.node.kind == OBJECT:
            seen &= ~np.isin(self.video(group) * RADIX + truth, self.absent)
        return np.where((truth == UNKNOWN) | seen, truth, UNSEEN)

    def same(self, group: Group) -> Array:
        """Equals: a plain word is there and is what the other part gives; two open parts give the same."""
        parts, thing = self.said[group.children], group.node.args[0]
        if isinstance(thing, Slot):
            word = merged(thing, group, self.shard.words.vocabulary)
            return number((parts[:, 0] == YES) & (parts[:, 1] == word))
        if self.shard.yes_no[group.children[:, 0]].all():  # an action by its verb and object: which one, no part says
            return np.where((parts == self.truth[group.children]).all(1), self.truth[group.rows], NO)
        return number(parts[:, 0] == parts[:, 1])

    def chosen(self, group: Group) -> Array:
        """The option whose part is yes while the other's is no."""
        parts = self.said[group.children]
        right = (parts == self.truth[group.children]).all(1)  # an option may be described, not named
        first, second = options(self.shard, group, self.said)
        cases = [right, yes_then_no(parts), yes_then_no(parts[:, ::-1])]
        return np.select(cases, [self.truth[group.rows], first, second], UNSEEN)

    def compared(self, group: Group) -> Array:
        """The longer or shorter of two actions that are both seen, or the one that is."""
        right = self.said[group.children] == self.truth[group.children]
        first, second = options(self.shard, group, self.said)
        return np.select([right.all(1), right[:, 0], right[:, 1]], [self.truth[group.rows], first, second], UNSEEN)

    def mistaken(self, group: Group, answers: Array, probability: float) -> Array:
        """The answers, some of them replaced by another one; what has no answer gets none."""
        drawn = self.drawn[group.rows]
        wrong = (chance(drawn) < probability) & (self.truth[group.rows] != UNKNOWN)
        others = another(self.shard, group, answers, self.said, drawn)
        return np.where(wrong, others, answers)


def number(yes: Array) -> Array:
    """No and yes as answers."""
    return np.asarray(yes).astype(np.int64)


def all_yes(parts: Array) -> Array:
    return np.asarray((parts == YES).all(1))


def yes_then_no(parts: Array) -> Array:
    return np.asarray((parts[:, 0] == YES) & (parts[:, 1] == NO))
