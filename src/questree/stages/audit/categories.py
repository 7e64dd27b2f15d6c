"""How many templates and questions each category has, as in AGQA's Tables 10, 12 and 13 and its Figure 4."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import polars as pl

from questree.benchmarks.agqa.editions import Edition
from questree.benchmarks.agqa.templates import Template
from questree.metrics.answers import LISTED
from questree.stages.audit.guesses import SETS
from questree.stages.audit.plots import WIDE, stacked

TITLES = {  # kind of category -> the table of the paper
    "reasoning": "Questions by reasoning type (Table 10)",
    "semantic": "Questions by what they are about (Table 13)",
    "structural": "Questions by structure (Table 12)",
}
INVOLVES = {
    "obj-rel": "whether, when or with what somebody does something",
    "rel-act": "something done, next to an action",
    "obj-act": "an object, next to an action",
    "superlative": "the first, last, longest or shortest",
    "sequencing": "the order of two things",
    "exists": "whether there is something",
    "duration-comparison": "how long actions last",
    "activity-recognition": "which action it is",
    "query": "an open answer",
    "compare": "two things side by side",
    "choose": "one of two options",
    "logic": "and, but not",
    "verify": "yes or no",
}


@dataclass(frozen=True)
class CategoryCount:
    kind: str  # reasoning, semantic, structural
    name: str
    templates: int
    before: int  # questions, all and selected
    after: int

    @property
    def involves(self) -> str:
        return INVOLVES.get(self.name, "")


def categories(counts: pl.DataFrame, edition: Edition) -> Iterator[CategoryCount]:
    """counts: template, before, after. A template, and so a question, counts in every reasoning type it has."""
    sums = counts.group_by("template").agg(pl.col(*SETS).sum())
    number = {template: (before, after) for template, before, after in sums.rows()}
    for kind, listed in LISTED.items():
        labels = {edition.codes[template.name]: own(template, kind) for template in edition.templates}
        others = {name for names in labels.values() for name in names} - {*listed}
        for name in (*listed, *sorted(others)):
            having = [code for code, names in labels.items() if name in names]
            before, after = (sum(number.get(code, (0, 0))[at] for code in having) for at in range(2))
            if having:
                yield CategoryCount(kind, name, len(having), before, after)


def own(template: Template, kind: str) -> tuple[str, ...]:
    found: str | tuple[str, ...] = getattr(template.categories, kind)
    return found if isinstance(found, tuple) else (found,) if found else ()


def draw_categories(found: Sequence[CategoryCount], wide: float = WIDE) -> str:
    """Shares of the categories of each kind, all questions above and the selection below, as in Figure 4."""
    bars = []
    for kind in dict.fromkeys(each.kind for each in found):
        for column in SETS:
            numbers = {each.name: int(getattr(each, column)) for each in found if each.kind == kind}
            total = max(sum(numbers.values()), 1)
            bars.append((f"{kind}: {column}", [(name, number / total) for name, number in numbers.items()]))
    return stacked("Categories", bars, by_name=True, wide=wide)


def lengths(texts: pl.Series) -> dict[int, int]:
    """Words of a question -> how many have so many."""
    return dict((texts.str.count_matches(" ") + 1).value_counts().sort(texts.name).rows())
