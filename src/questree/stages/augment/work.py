"""Doing the rules one after the other and writing down what each changed."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from questree.progress import report
from questree.stages.augment.graphs import Graphs
from questree.stages.augment.instances import numbered
from questree.stages.augment.options import Options
from questree.stages.augment.rule import Change, Rule
from questree.stages.augment.rules import RULES
from questree.tables.facts import Facts
from questree.vocabulary.words import Vocabulary


@dataclass(frozen=True)
class Entry:
    """A rule in the ledger."""

    number: int
    name: str
    says: str
    when: str
    changes: list[Change]


def augment(
    facts: Facts, vocabulary: Vocabulary, options: Options | None = None, chosen: Sequence[Rule] | None = None
) -> tuple[Facts, list[Entry]]:
    """The cleaned facts and the ledger."""
    graphs, ledger, rules = Graphs.of(facts), [], [*RULES.values()] if chosen is None else chosen
    for done, rule in enumerate(rules):
        report("augment", done, len(rules))
        graphs, changes = rule.apply(graphs, vocabulary, options or Options())
        ledger.append(Entry(rule.number, rule.name, rule.says, rule.when, changes))
    report("augment", len(rules), len(rules))
    return replace(graphs, actions=numbered(graphs.actions)).facts(), ledger
