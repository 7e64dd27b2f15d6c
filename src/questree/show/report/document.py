"""The report before it is written: sections of tables laid out as in the papers, pictures, words and failures."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby, pairwise
from types import MappingProxyType

from questree.metrics.best import Key, Marks, differing, note
from questree.metrics.cells import OVERALL
from questree.metrics.scores import NO_SHARES, Resampling, Score
from questree.scoring.footnotes import WEAK
from questree.svg import COLUMN, PAGE

NOT_AVAILABLE = "N/A"
NO_MARKS = Marks()


@dataclass(frozen=True)
class Number:
    """A share with the interval and the n behind it, written in per cent; None is N/A."""

    value: float | None
    n: int | None = None
    low: float | None = None
    high: float | None = None
    digits: int | None = None  # of a number that is no share
    best: bool = False  # of the models in its cell
    differs: bool = False  # by the test its caption names
    weak: bool = False  # not tested
    tested: tuple[Key, float] | None = None  # what is tested, and p

    @classmethod
    def of(cls, row: Score, marks: Marks = NO_MARKS) -> "Number":
        key = (row.metric, row.by, row.group, row.model)
        tested = (key, marks.p[key]) if key in marks.p else None
        return cls(row.value, row.n, row.low, row.high, NO_SHARES.get(row.metric), key in marks.best, tested=tested)

    @property
    def mark(self) -> str:
        return "*" if self.differs else WEAK if self.weak else ""

    @property
    def text(self) -> str:
        return (
            NOT_AVAILABLE
            if self.value is None
            else self._spelled(self.value, 2 if self.digits is None else self.digits)
        )

    @property
    def room(self) -> str:
        """The interval, if there is one."""
        if self.value is None or self.low is None or self.high is None:
            return ""
        digits = 1 if self.digits is None else max(self.digits - 1, 0)  # ends are less sure than the value
        return f"{self._spelled(self.low, digits)}, {self._spelled(self.high, digits)}"

    def _spelled(self, value: float, digits: int) -> str:
        scaled = round(100 * value if self.digits is None else value, digits)
        return f"{scaled + 0.0:.{digits}f}"  # + 0.0: no minus before a zero


Entry = Number | str | int | None  # None: nothing belongs here


@dataclass(frozen=True)
class Column:
    title: str
    over: str = ""  # stands once above neighbours that have the same
    text: bool = False  # words, not numbers


@dataclass(frozen=True)
class Line:
    heads: tuple[str, ...]  # one per corner; the first is said once for neighbours that share it
    entries: tuple[Entry, ...]
    strong: bool = False  # Overall


@dataclass(frozen=True)
class Grid:
    name: str  # of its file and its anchor
    title: str
    caption: str  # what to see, and how to read it
    corners: tuple[str, ...]
    columns: tuple[Column, ...]
    lines: tuple[Line, ...]
    blocks: dict[int, str] = field(default_factory=dict)  # line -> what is said above it

    @property
    def common_n(self) -> list[int | None] | None:
        """[line] the one n of all its numbers, if that is so in every line: then it can be said once."""
        found = [{entry.n for entry in line.entries if isinstance(entry, Number)} for line in self.lines]
        if len(self.columns) < 2 or any(len(own) > 1 for own in found) or not any(own - {None} for own in found):
            return None
        return [next(iter(own), None) for own in found]

    @property
    def spans(self) -> list[tuple[str, int]]:
        """What stands above the columns, and over how many of them."""
        return [(over, len(list(own))) for over, own in groupby(column.over for column in self.columns)]

    def parts(self, most: int) -> Iterator["Grid"]:
        """With so many columns each; columns under one title stay together where they fit."""
        ends, begin = [0], 0
        for _, count in self.spans:
            for end in range(begin + 1, begin + count + 1):
                if end - ends[-1] > most:
                    ends.append(begin if begin > ends[-1] else end - 1)
            begin += count
        for a, b in pairwise([*ends, len(self.columns)]):
            lines = (replace(line, entries=line.entries[a:b]) for line in self.lines)
            yield replace(self, columns=self.columns[a:b], lines=tuple(lines))

    def rows(self) -> Iterator[tuple[str, int, Line]]:
        """(what is said above, over how many lines the first head reaches or 0 where it was said before, line)."""
        begins = {0, *self.blocks} if len(self.corners) > 1 else set(range(len(self.lines)))
        begins |= {at for at, (a, b) in enumerate(pairwise(self.lines), 1) if a.heads[0] != b.heads[0]}
        reach = {begin: end - begin for begin, end in pairwise([*sorted(begins), len(self.lines)])}
        for at, line in enumerate(self.lines):
            yield self.blocks.get(at, ""), reach.get(at, 0), line


def noted(grid: Grid, resampling: Resampling | None) -> Grid:
    """The caption says what marks mean, if there are any."""
    marked = any(isinstance(entry, Number) and entry.best for line in grid.lines for entry in line.entries)
    return replace(grid, caption=f"{grid.caption} {note(resampling)}") if marked else grid


def starred(grids: Sequence[Grid]) -> list[Grid]:
    """Tables that are shown together, with marks on what differs from the best by a test over all of them."""
    numbers = [entry for grid in grids for line in grid.lines for entry in line.entries if isinstance(entry, Number)]
    apart = differing(dict(number.tested for number in numbers if number.tested))

    def marked(entry: "Entry") -> "Entry":
        if not isinstance(entry, Number) or entry.tested is None:
            return entry
        return replace(entry, differs=entry.tested[0] in apart)

    return [
        replace(grid, lines=tuple(replace(line, entries=tuple(map(marked, line.entries))) for line in grid.lines))
        for grid in grids
    ]


ScoreColumn = tuple[Column, str, str]  # metric, model
ScoreLine = tuple[tuple[str, ...], str, str]  # heads; by, group


class ScoreRows:
    """Score rows, to be asked for one by one."""

    def __init__(self, rows: Iterable[Score], marks: Marks = NO_MARKS):
        self.all = list(rows)
        self.marks = marks
        self._at = {(row.metric, row.by, row.group, row.model): row for row in self.all}

    def find(self, metric: str, by: str, group: str, model: str) -> Score | None:
        return self._at.get((metric, by, group, model))

    def groups(self, by: str, metrics: Sequence[str]) -> list[str]:
        return list(dict.fromkeys(row.group for row in self.all if row.by == by and row.metric in metrics))

    def number(self, metric: str, by: str, group: str, model: str) -> Number | None:
        row = self.find(metric, by, group, model)
        return Number.of(row, self.marks) if row else None

    def grid(
        self,
        name: str,
        title: str,
        caption: str,
        corners: tuple[str, ...],
        columns: Sequence["ScoreColumn"],
        lines: Iterable["ScoreLine"],
        blocks: Mapping[int, str] = MappingProxyType({}),
    ) -> Grid:
        """The table whose lines and columns name their scores."""
        made = tuple(
            Line(
                heads, tuple(self.number(metric, by, group, model) for _, metric, model in columns), heads[0] == OVERALL
            )
            for heads, by, group in lines
        )
        return Grid(name, title, caption, corners, tuple(column for column, _, _ in columns), tuple(made), dict(blocks))


@dataclass(frozen=True)
class Figure:
    name: str
    title: str
    caption: str  # what to see
    pictures: tuple[str, ...]  # SVG, side by side
    narrow: tuple[str, ...] = ()  # the same for a column of a paper

    @classmethod
    def drawn(cls, name: str, title: str, caption: str, *draw: Callable[[float], str]) -> "Figure":
        """From what draws pictures of a width."""
        wide, narrow = ([text for own in draw if (text := own(width))] for width in (PAGE, COLUMN))
        return cls(name, title, caption, tuple(wide), tuple(narrow))


@dataclass(frozen=True)
class Sentences:
    """Sentences under a heading."""

    title: str
    sentences: tuple[str, ...]
    running: bool = False  # as one paragraph


@dataclass(frozen=True)
class Missing:
    """A part the run does not have yet, and what makes it."""

    what: str
    commands: tuple[str, ...]


@dataclass(frozen=True)
class Failure:
    """One question a model failed on, taken apart."""

    id: str
    text: str
    truth: str
    said: tuple[tuple[str, str | None, bool], ...]  # (model, its answer if any, is it right); the one drawn comes first
    composition: str
    sentence: str  # what went wrong
    picture: str  # its DAG as HTML
    narrow: str  # the same as SVG for a column of a paper
    raw: Mapping[str, str] = field(default_factory=dict)  # model -> what it said, if it was read as its answer
    shots: tuple[tuple[str, str], ...] = ()  # (what it is called, address) of pictures that decide it


Block = Grid | Figure | Sentences | Missing | Failure


@dataclass(frozen=True)
class Section:
    name: str
    title: str
    intro: str
    blocks: tuple[Block, ...]


@dataclass(frozen=True)
class ReportDocument:
    title: str
    facts: tuple[tuple[str, str], ...]  # what was scored, how: label, text
    sections: tuple[Section, ...]
    made_from: tuple[tuple[str, str], ...]  # options and digests of the stages
    commands: tuple[str, ...]  # that make it again
    warnings: tuple[str, ...] = ()  # for whoever makes it

    def grids(self) -> Iterator[Grid]:
        for section in self.sections:
            yield from (block for block in section.blocks if isinstance(block, Grid))

    def plots(self) -> Iterator[tuple[str, str]]:
        """(name, SVG) of every picture that fits a page, as a paper takes it."""
        from questree.show.outline import fits_page, is_paged  # takes DAGs along, and tables have none

        for block in (block for section in self.sections for block in section.blocks):
            if isinstance(block, Figure):
                several = len(block.narrow) > 1
                names = [f"{block.name}-{at}" if several else block.name for at in range(1, len(block.narrow) + 1)]
                yield from zip(names, block.narrow, strict=True)
            elif isinstance(block, Failure) and fits_page(block.narrow):
                yield f"failure-{block.id}" + "-page" * is_paged(block.narrow), block.narrow
