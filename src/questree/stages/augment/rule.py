"""A rule is a number, a name and a pure function: graphs in, graphs out, and what it changed."""

from collections.abc import Callable
from dataclasses import dataclass

from questree.stages.augment.graphs import Graphs
from questree.stages.augment.options import Options
from questree.vocabulary.words import Vocabulary

FACTS, QUESTIONS = "facts", "questions"  # when a rule acts


@dataclass(frozen=True)
class Change:
    """Counts for one table; its size grows by added - removed."""

    what: str
    added: int = 0
    removed: int = 0
    changed: int = 0
    concerned: int = 0  # rules that act when questions are made: what they will act on


Apply = Callable[[Graphs, Vocabulary, Options], tuple[Graphs, list[Change]]]


@dataclass(frozen=True)
class Rule:
    number: int  # in the list of the paper's fact sheet; the order of work is that of RULES
    name: str
    says: str
    apply: Apply
    when: str = FACTS
