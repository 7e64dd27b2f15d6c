"""Counting what is rejected, and the rules about words: relations, pairs, references; none looks at the time."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from questree.benchmarks.agqa import templates as t
from questree.columns.joins import Ints
from questree.stages.generate.words import Words

Flags = NDArray[np.bool_]
Rules = list[tuple[str, Flags]]


@dataclass
class Tally:
    """Rejected candidates per rule, and the questions that are left."""

    rejected: dict[str, int] = field(default_factory=dict)
    kept: int = 0

    def reject(self, rule: str, count: int) -> None:
        self.rejected[rule] = self.rejected.get(rule, 0) + int(count)

    def sift(self, rules: Rules, weight: Ints) -> Flags:
        """Apply rules in order; every candidate counts for the first rule that rejects it."""
        alive = np.ones(len(weight), bool)
        for name, failed in rules:
            self.reject(name, weight[alive & failed].sum())
            alive &= ~failed
        return alive


def relation_rules(words: Words, template: t.Template, relation: Ints) -> Rules:
    found: dict[str, Callable[[], Flags]] = {
        t.NEVER_ASKED: lambda: words.never_asked[relation],
        t.ONE_OBJECT: lambda: words.one_object[relation],
        t.BANNED_RELATION: lambda: words.banned_relation[template.name][relation],
    }
    return [(rule, found[rule]()) for rule in template.rules if rule in found]


def pair_rules(words: Words, template: t.Template, relation: Ints, thing: Ints) -> Rules:
    """Rules about a relation and a direct object; here ONE_OBJECT comes with the pair (it is part of "valid pair")."""
    found: dict[str, Callable[[], Flags]] = {
        t.ONE_OBJECT: lambda: words.one_object[relation],
        t.RARE: lambda: words.rare[relation, thing],
        t.COMMON_SENSE: lambda: words.common_sense[relation, thing],
    }
    return [(rule, found[rule]()) for rule in template.rules if rule in found]


def reference_rules(
    words: Words, template: t.Template, relation: Ints, done_to: Ints, thing: Ints, inner: Ints
) -> Rules:
    """Rules about a relation (named by what was done to an object, -1: by its word) and a reference whose own relation
    is `inner` (-1: direct), in the template's order."""
    touching = words.vocabulary.relation_at.get("touching", -1)
    found: dict[str, Any] = dict(relation_rules(words, template, relation))
    found |= dict(pair_rules(words, template, relation, thing))
    found[t.SAME_RELATION] = inner == relation
    found[t.TOUCHING] = (relation == touching) & (inner >= 0) & words.groups["contact"][inner]
    if t.ABOUT_OBJECT in template.rules:
        found[t.ABOUT_OBJECT] = done_to == thing
    return [(rule, found[rule]) for rule in template.rules if rule in found]
