"""The AGQA paper's tables of scores: which groups of questions stand down, and which kinds of answers below each."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from questree.metrics.cells import OVERALL
from questree.metrics.scores import Score

KINDS = {"B": ", binary", "O": ", open", "All": ""}
CATEGORIES = {"reasoning": "Reasoning", "semantic": "Semantic class", "structural": "Structure"}
COMPOSITIONS, STEPS = "novel composition", "more steps"
HARDER = {COMPOSITIONS: "Novel compositions", STEPS: "More compositional steps"}
INDIRECT = "indirect reference"


class QuestionGroup(NamedTuple):
    name: str
    by: str
    group: str
    above: str = ""  # what stands above it and its neighbours


class KindTable(NamedTuple):
    """Groups of questions down, binary and open ones and all below each; models across."""

    name: str
    title: str
    groups: Sequence[QuestionGroup]
    metrics: Sequence[str] = ("accuracy",)
    kinds: Sequence[str] = ()  # of every group; without any those it has questions of


def agqa_tables(rows: Iterable[Score]) -> list[KindTable]:
    """Tables 2 and 9, 3, 4, 6, 5 and 7; 8 is the second half of 3."""
    there = dict.fromkeys((row.by, row.group) for row in rows)

    def groups(by: str, above: str = "") -> list[QuestionGroup]:
        return [QuestionGroup(group, by, group, above) for own, group in there if own == by]

    categories = [
        each
        for by, above in CATEGORIES.items()
        for each in groups(by, above)
        if each.group != OVERALL or by == [*CATEGORIES][-1]  # all categories have the same overall value
    ]
    harder = [QuestionGroup(name, by, OVERALL) for by, name in HARDER.items() if (by, OVERALL) in there]
    novel = [each for each in groups(COMPOSITIONS) if each.group != OVERALL]
    return [
        KindTable("agqa-categories", "By category", categories),
        KindTable("agqa-generalisation", "Harder than training", harder, kinds=[*KINDS]),
        KindTable("agqa-novel-all", "Novel compositions by type", novel, kinds=["All"]),
        KindTable("agqa-novel", "Novel compositions, binary and open", novel, kinds=[*KINDS]),
        KindTable("agqa-indirect", "Indirect references", groups(INDIRECT), ("precision", "recall"), [*KINDS]),
    ]
