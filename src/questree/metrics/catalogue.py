"""Metrics as values: a name, a formula and what a question counts; a score is a ratio of sums, with an interval.

The table has one row per question: `scope` (position of the video or the first image, what the bootstrap draws), `id`,
`answer`, `prediction` (null without one), `correct`, and what the benchmark says about a question (`type`, `parts`,
`template`, `steps` ...). The tables of AGQA, FPVG and COVR are such metrics, and so are those of plugins.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import polars as pl

from questree.extensions import Registry
from questree.faults import BadInput
from questree.metrics.cells import COMBINE, OVERALL, Bools, Cell, Column, Floats, How, Ints, Part, Tallies, joined
from questree.metrics.scores import QUESTION_ACCURACY, Scored
from questree.tables.scored import ASKED

ALL = "all"
SHIPPED = ("accuracy", "CA", "RWR", "Delta", "IC", QUESTION_ACCURACY, "precision", "recall", "coverage", "unparsed")
COLUMNS = dict.fromkeys(  # of the tables below, in whichever benchmark
    ("id", "answer", "prediction", "correct", "scope", "type", "parts", "dag", "template", "image", *ASKED.columns)
)
GROUPED = [name for name in COLUMNS if name not in ("scope", "dag", "parts")]  # those number rows, of one shard
NUMBERS = ("steps", "images")  # columns whose values are sorted as numbers
SAID = ("prediction", "correct")  # columns that differ from model to model
REST, EVERY = "", None  # what is counted beside groups: the questions in none of them, or all where groups overlap
Counted = pl.Series | pl.Expr | Sequence[pl.Series | pl.Expr]


@dataclass(frozen=True)
class Metric:
    name: str
    formula: str
    count: Counted | Callable[[pl.DataFrame], Counted]  # [question] 1 passed, 0 failed, null not counted; one per part
    by: str = ""  # a column whose values are the rows of its table, above Overall
    how: How = "ratio"  # how the parts are put together
    needs: tuple[str, ...] = ()  # columns; without one of them the metric is left out
    listed: tuple[str, ...] = ()  # rows that come first, whether or not there are questions of them
    flags: Mapping[str, str] = field(default_factory=dict)  # instead of `by`: row -> column that says who is in it
    overall: bool = True  # a last row for all questions
    called: str = ""  # what its rows are listed by, if not by the name of the column
    pooled: bool = False  # n is that of all parts together; otherwise several parts have none

    @property
    def label(self) -> str:
        return self.called or self.by or ALL

    def applies(self, table: pl.DataFrame) -> bool:
        return {*self.needs, *([self.by] if self.by else [])} <= {*table.columns}

    def parts(self, table: pl.DataFrame) -> list[Floats]:
        """[question] per part; NaN where it is not counted. A plugin's metric must count a scope's questions alike
        whatever other scopes are in the table, as a shard has some of them only."""
        parts = self._parts(table)
        if callable(self.count) and "scope" in table.columns and len(table):
            first = table["scope"] == table["scope"][0]
            alone, among = self._parts(table.filter(first)), [part[first.to_numpy()] for part in parts]
            if not all(np.allclose(*both, equal_nan=True) for both in zip(alone, among, strict=True)):
                wanted = "expected a question to count the same whatever is asked about other videos or images"
                raise BadInput.at(METRICS.places.get(self.name, ""), f"{wanted}; look at rows of its own scope alone")
        return parts

    def _parts(self, table: pl.DataFrame) -> list[Floats]:
        given = self.count(table) if callable(self.count) else self.count
        several: list[Any] = list(given) if isinstance(given, list | tuple) else [given]
        found = [table.select(each).to_series() if isinstance(each, pl.Expr) else each for each in several]
        place = METRICS.places.get(self.name, "")
        for each in found:
            if not isinstance(each, pl.Series) or len(each) != len(table):
                got = f"{len(each)} rows" if isinstance(each, pl.Series) else type(each).__name__
                raise BadInput.at(place, f"expected a Series of {len(table)} rows, got {got}")
            if not (each.dtype.is_numeric() or each.dtype in (pl.Boolean, pl.Null)):
                raise BadInput.at(place, f"expected a Series of numbers, got one of {each.dtype}")
        wanted, _ = COMBINE[self.how]
        many = self.how.startswith("mean")
        if not found or (len(found) % wanted if many else len(found) != wanted):
            said = f"how {self.how!r}: expected {wanted}{' or a multiple of it' * many} Series, got {len(found)}"
            raise BadInput.at(place, said)
        return [each.cast(pl.Float64).fill_null(np.nan).to_numpy() for each in found]

    def groups(self, table: pl.DataFrame) -> "Groups":
        if self.flags:
            return Groups([*self.flags], [table[name].to_numpy() for name in self.flags.values()])
        if not self.by:
            return Groups([], code=np.zeros(len(table), np.int64))
        column = table[self.by]
        several = isinstance(column.dtype, pl.List)
        values = (column.explode() if several else column).drop_nulls().unique().sort().cast(pl.String)
        names = [*self.listed, *(value for value in values if value not in self.listed and value != "")]
        if several:
            column = column.cast(pl.List(pl.String))
            masks = [column.list.contains(pl.lit(name)).fill_null(False).to_numpy() for name in names]
            return Groups(names, masks)
        place = {name: at for at, name in enumerate(names)}
        code = column.cast(pl.String).replace_strict(place, default=len(names), return_dtype=pl.Int64)
        return Groups(names, code=code.to_numpy())

    def tallies(self, table: pl.DataFrame, scopes: int, groups: "Groups") -> Tallies:
        """Sums per scope, a column (metric, label, group, part) for each group and part."""
        scope = table["scope"].to_numpy().astype(np.int64)
        parts = [groups.tally(scope, part, scopes) for part in self.parts(table)]
        columns = [(self.name, self.label, *own, at) for at, part in enumerate(parts) for own in part.columns]
        found = joined(parts)
        return Tallies(columns, found.passed, found.total)

    def cells(self, columns: Sequence[Column]) -> list[Cell]:
        """Over the columns of tallies, whoever counted them; none where it does not apply."""
        own = {column[2:]: at for at, column in enumerate(columns) if column[:2] == (self.name, self.label)}
        if not own:
            return []
        names, parts = self.ordered({group for group, _ in own} - {REST, EVERY}), len({part for _, part in own})

        def part(group: str, number: int) -> Part:
            """Overall is the sum of groups that do not overlap, and of the questions that are in none."""
            if group != OVERALL or OVERALL in names:
                return (own[group, number],)
            every = (EVERY,) if (EVERY, number) in own else (*names, REST)
            return tuple(own[name, number] for name in every)

        counted = parts == 1 or self.pooled
        return [
            Cell(self.name, self.label, group, tuple(part(group, at) for at in range(parts)), self.how, counted)
            for group in [*names, *([OVERALL] if self.overall else [])]
        ]

    def ordered(self, names: Collection[Any]) -> list[str]:
        """The rows of its table: those that are listed, then others."""
        first = list(self.flags or self.listed)
        return first + sorted({*names} - {*first}, key=int if self.by in NUMBERS else str)


@dataclass(frozen=True)
class Groups:
    """The rows of a metric's table: which questions are in each; of a list a question is in every row it names."""

    names: list[str]
    masks: list[Bools] | None = None  # per name, [question] is it in it?
    code: Ints | None = None  # instead, where they do not overlap: [question] position of its name, or after the last

    def inside(self, at: int) -> Bools:
        return self.masks[at] if self.masks is not None else np.asarray(self.code == at)

    def tally(self, scope: Ints, part: Floats, scopes: int) -> Tallies:
        """A column per name, and a last one: of the questions in none, or, where groups overlap, of all."""
        there, width = ~np.isnan(part), len(self.names) + 1
        columns: list[Column] = [(name,) for name in (*self.names, REST if self.masks is None else EVERY)]
        if self.code is not None:
            cell, passed = scope[there] * width + self.code[there], part[there]
            sums = np.bincount(cell, passed, scopes * width), np.bincount(cell, minlength=scopes * width)
            return Tallies(columns, sums[0].reshape(-1, width), sums[1].astype(np.int32).reshape(-1, width))
        assert self.masks is not None
        rows = [np.flatnonzero(mask & there) for mask in (*self.masks, there)]
        passed = np.stack([np.bincount(scope[own], part[own], scopes) for own in rows], axis=1)
        total = np.stack([np.bincount(scope[own], minlength=scopes) for own in rows], axis=1)
        return Tallies(columns, passed, total.astype(np.int32))


METRICS = Registry[Metric]("metric")  # of plugins: they count the questions of every benchmark


def counted(
    table: pl.DataFrame, scopes: int, metrics: Iterable[Metric], known: "dict[str, Groups] | None" = None
) -> Tallies:
    """Sums per scope of all metrics that the table has the columns for; groups are worked out once for all metrics by
    the same. `known`: those of the same questions that do not depend on what a model said, kept for the next one."""
    kept, own = {} if known is None else known, dict[str, Groups]()
    parts = [Tallies([], np.zeros((scopes, 0), np.int32), np.zeros((scopes, 0), np.int32))]
    for metric in metrics:
        if metric.applies(table):
            key = f"{metric.by} {metric.flags} {metric.listed}"
            found = own if metric.by in SAID else kept
            found[key] = found[key] if key in found else metric.groups(table)
            parts.append(metric.tallies(table, scopes, found[key]))
    return joined(parts)


def cells(columns: Sequence[Column], metrics: Iterable[Metric]) -> list[Cell]:
    """The cells of all metrics that were counted."""
    return [cell for metric in metrics for cell in metric.cells(columns)]


def scored(table: pl.DataFrame, scopes: int, metrics: Iterable[Metric]) -> Scored:
    """The scores of all metrics that the table has the columns for."""
    every = list(metrics)
    tallies = counted(table, scopes, every)
    return Scored(tallies, cells(tallies.columns, every))


def placed(questions: pl.DataFrame) -> tuple[pl.DataFrame, int]:
    """Questions about images with `scope`, the position of their image among all, and how many images there are."""
    images = questions["image"].unique(maintain_order=True)
    place = pl.DataFrame({"image": images, "scope": np.arange(len(images))})
    return questions.join(place, on="image", how="left", maintain_order="left"), len(images)
