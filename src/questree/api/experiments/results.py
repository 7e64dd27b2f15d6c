"""What an experiment found: score rows, tables and figures as in the paper, findings."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from questree.api.experiments.findings import Finding, Statistic, score
from questree.api.experiments.published import PAPER, published
from questree.metrics.cells import OVERALL
from questree.metrics.scores import Resampling, Score, Scored
from questree.show.report.document import Block, Column, Grid, Line, Number

VERDICTS = (
    "In per cent, a ratio or a correlation as it is. The interval holds 95 % of the values on resampled videos or "
    "images; a finding holds where all of it lies on the claimed side of the bound, and does not where all of it lies "
    "on the other."
)


@dataclass(frozen=True)
class ExperimentResults:
    rows: Sequence[Score]  # ours, then the paper's
    blocks: Sequence[Block]
    findings: Sequence[Finding]
    said: Sequence[str] = ()  # what else to know


@dataclass(frozen=True)
class ScoredModels:
    """Models scored on the same questions."""

    scored: Mapping[str, Scored]
    resampling: Resampling

    def __call__(self, model: str, metric: str = "accuracy", by: str = "structural", group: str = OVERALL) -> Statistic:
        return score(self.scored[model], metric, by, group, self.resampling, model)


def beside(paper: str, ours: Iterable[Score]) -> list[Score]:
    """Our rows, then those of the paper."""
    return [*ours, *published(paper)]


def paper_models(rows: Iterable[Score]) -> list[str]:
    return list(dict.fromkeys(row.model for row in rows if row.model.endswith(PAPER)))


def filled(blocks: Iterable[Block]) -> Iterator[Block]:
    """Tables without columns that are empty; without those that have none."""
    for block in blocks:
        if not isinstance(block, Grid):
            yield block
            continue
        kept = [at for at in range(len(block.columns)) if any(_known(line.entries[at]) for line in block.lines)]
        lines = tuple(replace(line, entries=tuple(line.entries[at] for at in kept)) for line in block.lines)
        if kept and lines:
            yield replace(block, columns=tuple(block.columns[at] for at in kept), lines=lines)


def _known(entry: object) -> bool:
    return entry is not None and not (isinstance(entry, Number) and entry.value is None)


def findings_grid(findings: Sequence[Finding]) -> Grid:
    """A line each: what was claimed, the number with its interval, what the paper has, the verdict."""
    columns = (
        Column("Claim", text=True),
        Column("Here"),
        Column("Bound", text=True),
        Column("Paper"),
        Column("Verdict", text=True),
    )
    lines = tuple(
        Line(
            (each.name,),
            (
                each.claim,
                Number(each.value, None, each.low, each.high, each.digits),
                each.claimed,
                None if each.published is None else Number(each.published, digits=each.digits),
                each.verdict,
            ),
        )
        for each in findings
    )
    return Grid("findings", "Published findings in this world", VERDICTS, ("Finding",), columns, lines)
