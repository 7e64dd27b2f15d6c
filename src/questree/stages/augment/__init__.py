"""From raw facts to facts questions can rely on: every rule of the paper, in a declared order, with a ledger."""

from questree.stages.augment.graphs import Graphs
from questree.stages.augment.guarantees import guarantees
from questree.stages.augment.options import Options
from questree.stages.augment.rule import Change, Rule
from questree.stages.augment.rules import RULES
from questree.stages.augment.work import Entry, augment

__all__ = ["RULES", "Change", "Entry", "Graphs", "Options", "Rule", "augment", "guarantees"]
