"""A model that perceives and composes, each with its own mistakes: leaves are seen, the rest follows from its parts.

A leaf is answered by the truth and mistaken with one probability; every other node is composed from the answers to its
parts, and that step fails with another one. Composing is what the consistency rules say: a question that its parts
settle is answered so; of two options that is taken which is confirmed while the other is denied; of all other questions
the truth is taken as long as the parts allow it. What a question takes for granted is seen. With no mistakes the
answers are the truth.
"""

import numpy as np

from questree.models.asked import AskedNodes, NodeGroup, chance
from questree.rules import Members, NodeColumns, Rule, Ways, WordNumbers
from questree.tables.hierarchies import NOTHING
from questree.terms import Array


class Composer:
    """Answers the nodes of a shard, sub-questions first."""

    def __init__(self, asked: AskedNodes, drawn: Array, misseen: float, miscomposed: float):
        self.asked, self.truth, self.drawn = asked, asked.truth, drawn
        self.misseen, self.miscomposed = misseen, miscomposed  # probabilities of mistakes
        self.yes, self.no = asked.number["yes"], asked.number["no"]
        self.said, self.every = np.full(len(asked), NOTHING, np.int64), np.arange(len(asked))
        inner = np.zeros(len(asked), bool)
        for group in asked.groups:
            inner[group.rows] = group.children.shape[1] > 0
        self.columns = NodeColumns(
            WordNumbers(asked.number),
            self.said,
            asked.about,
            asked.yes_no,
            asked.scored,
            inner & ~asked.yes_no,  # only an open sub-question names what is asked about
            lambda: asked.about,
        )

    def run(self) -> Array:
        """[node] answers; NOTHING where there is nothing to ask."""
        leaves = [group for group in self.asked.groups if not group.labels]
        granted = self.granted()
        for group in leaves:
            known = self.truth[group.rows]
            self.said[group.rows] = np.where(granted[group.rows], known, self.mistaken(group, known, self.misseen))
        self.absent = self.not_seen(leaves)
        for group in self.asked.groups:
            if group.labels:
                self.said[group.rows] = self.mistaken(group, self.composed(group), self.miscomposed)
        return self.said

    def granted(self) -> Array:
        """[node] is it below what some question takes for granted?"""
        found = np.zeros(len(self.asked), bool)
        granting = {name for name, rule in self.asked.scheme.rules.items() if rule.presupposed}
        for group in reversed(self.asked.groups) if granting else ():
            for at, label in enumerate(group.labels):
                found[group.children[found[group.rows] | (label in granting), at]] = True
        return found

    def not_seen(self, leaves: list[NodeGroup]) -> Array:
        """Scopes and things, as sorted numbers, that are said not to exist: nobody may name them."""
        found = [np.zeros(0, np.int64)]
        for group in leaves:
            if group.existing is not None:
                found.append(self.key(group, group.existing)[self.said[group.rows] == self.no])
        return np.unique(np.concatenate(found))

    def key(self, group: NodeGroup, word: Array) -> Array:
        return self.asked.scope[group.rows] * len(self.asked.number) + word

    def composed(self, group: NodeGroup) -> Array:
        """[row] what follows from the answers to its parts."""
        rules = {label: rule for label in group.labels if (rule := self.asked.scheme.rules.get(label))}
        if group.options:
            return self.chosen(group, next((rule for rule in rules.values() if rule.worded == 0), None))
        if group.yes_no:
            settling = next((rule for rule in rules.values() if self.settles(rule, group)), None)
            return self.settled(group, settling) if settling else self.allowed(group)
        return self.counted(group, rules) if self.counts(group) else self.allowed(group)

    def members(self, group: NodeGroup, rule: Rule) -> Members:
        """A question and its parts under the rule's composition."""
        parts = [at for at, label in enumerate(group.labels) if label == rule.composition]
        return Members(self.columns, (self.every[group.rows], *(group.children[:, at] for at in parts)))

    def right(self, group: NodeGroup) -> Array:
        """[row, part]"""
        return np.asarray(self.said[group.children] == self.truth[group.children])

    def settles(self, rule: Rule, group: NodeGroup) -> bool:
        """Do the parts that the rule looks at say yes or no?"""
        _, *parts = self.members(group, rule).nodes
        wanted = self.asked.yes_no if rule.parts == "yes or no" else self.asked.scored
        return (rule.concluded or rule.ways) is Ways.BOTH and all(wanted[each].all() for each in parts)

    def settled(self, group: NodeGroup, rule: Rule) -> Array:
        """Yes exactly when the rule's condition holds; where it does not speak, the truth if all parts are right."""
        case = rule.reads(self.members(group, rule))
        known = case.holds | case.fails if case.torn is None else case.holds | case.fails | case.torn
        other = np.where(self.right(group).all(1), self.truth[group.rows], self.no)
        return np.where(known, np.where(case.holds, self.yes, self.no), other)

    def chosen(self, group: NodeGroup, rule: Rule | None) -> Array:
        """The option that the rule's condition speaks for; without a rule, of two the one that is seen."""
        first, second = self.asked.options(group, self.said)
        right = self.right(group)
        one, two = right[:, 0], right[:, 1]
        if rule:
            case = rule.reads(self.members(group, rule))
            one, two = case.holds, case.fails
        return np.select([right.all(1), one, two], [self.truth[group.rows], first, second], self.asked.unseen)

    def allowed(self, group: NodeGroup) -> Array:
        """The truth, unless a part says that there is nothing of the kind."""
        truth, fine = self.truth[group.rows], ~self.asked.yes_no[group.children]
        fine |= self.said[group.children] == self.yes
        if group.yes_no:
            return np.where(fine.all(1), truth, self.no)
        fine |= self.right(group)  # an open question may have an answer although a part is no
        seen = fine.all(1) & ~np.isin(self.key(group, truth), self.absent)
        return np.where((truth == NOTHING) | seen, truth, self.asked.unseen)

    def counts(self, group: NodeGroup) -> bool:
        """Are all answers numbers?"""
        return group.answers is not None and not np.isnan(self.columns.words.spelled[group.answers]).any()

    def counted(self, group: NodeGroup, rules: dict[str, Rule]) -> Array:
        """Of the truth, none, one and what the parts count, the number next to the truth that all rules allow."""
        truth, spelled = self.truth[group.rows], self.columns.words.spelled
        tried = [truth, *(np.full(len(truth), self.asked.number[word]) for word in ("1", "0"))]
        tried += list(self.said[group.children].T)
        best, least = np.full(len(truth), self.asked.unseen), np.full(len(truth), np.inf)
        for each in tried:
            self.said[group.rows] = each
            away = np.abs(spelled[each] - spelled[truth])
            for rule in rules.values():
                away = np.where(rule.allows(self.members(group, rule)), away, np.inf)
            best, least = np.where(away < least, each, best), np.fmin(away, least)
        return np.where(truth == NOTHING, truth, best)

    def mistaken(self, group: NodeGroup, answers: Array, probability: float) -> Array:
        """The answers, some of them replaced by another one; what has no answer gets none."""
        drawn = self.drawn[group.rows]
        wrong = (chance(drawn) < probability) & (self.truth[group.rows] != NOTHING)
        return np.where(wrong, self.asked.another(group, answers, self.said, drawn), answers)
