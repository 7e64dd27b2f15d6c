"""From raw facts to facts questions can rely on: every rule of the paper, in a declared order, with a ledger."""

from questree.stages.augment.graphs import AugmentationRule, AugmentOptions, Change, Graphs
from questree.stages.augment.guarantees import guarantees
from questree.stages.augment.ledger import Entry
from questree.stages.augment.rules import RULES, augment, optional

__all__ = [
    "RULES",
    "AugmentOptions",
    "AugmentationRule",
    "Change",
    "Entry",
    "Graphs",
    "augment",
    "guarantees",
    "optional",
]
