"""From raw facts to facts questions can rely on: every rule of the paper, in a declared order, with a ledger."""

from questree.stages.augment.graphs import AugmentOptions, Change, Graphs, Rule
from questree.stages.augment.guarantees import guarantees
from questree.stages.augment.rules import RULES, Entry, augment

__all__ = ["RULES", "AugmentOptions", "Change", "Entry", "Graphs", "Rule", "augment", "guarantees"]
