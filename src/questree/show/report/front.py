"""What a report opens with: overall values of all models in one table and one forest plot."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import groupby

from questree import svg
from questree.metrics.scores import QUESTION_ACCURACY, Score
from questree.show.report.charts import BOT, GRID, Axis, around, colour, mark, per_cent, said, short, whisker
from questree.show.report.document import Block, Column, Entry, Figure, Grid, Line, Number, ScoreRows
from questree.svg import COLUMN, line

ALONE, IN_DAGS = "questions", "with their sub-questions"
NODES = (QUESTION_ACCURACY, "type")  # metric and by of overall values
WHOLES = tuple((metric, "composition") for metric in ("CA", "RWR", "Delta", "IC"))
READ = (
    "Accuracy of questions, and of questions and sub-questions together. CA: right wholes among those whose parts are "
    "all right. RWR: right wholes among those with a wrong part. Delta = RWR − CA. IC: consistency checks passed."
)
SEEN = "Overall values with their 95 % intervals, best first; grey: bots and baselines."
BESIDE = 390.0  # pixels of the plot beside the table, and on a phone
Measure = tuple[str, Callable[[str], Score | None]]  # what it is called, its row of a model


@dataclass(frozen=True)
class Front:
    """Overall values of all who answered one domain's questions."""

    models: Sequence[str]
    bots: Sequence[str]  # and baselines
    dags: ScoreRows
    alone: ScoreRows
    by: str  # the table of single questions that has the overall accuracy

    def accuracy(self, name: str) -> Score | None:
        return self._known(self.alone.find("accuracy", self.by, "Overall", name))

    def whole(self, metric: str, name: str) -> Score | None:
        return self._known(self.dags.find(metric, "composition", "Overall", name))

    @staticmethod
    def _known(row: Score | None) -> Score | None:
        return row if row is not None and row.value is not None else None

    def best_first(self, names: Sequence[str]) -> list[Score]:
        """Accuracies of those who have one."""
        found = [row for name in names if (row := self.accuracy(name))]
        return sorted(found, key=lambda row: -(row.value or 0.0))

    def ordered(self, names: Sequence[str]) -> list[str]:
        """Best first, those without an accuracy last."""
        return list(dict.fromkeys([*(row.model for row in self.best_first(names)), *names]))

    @property
    def shown(self) -> tuple[Sequence[str], Sequence[str]]:
        """Without models the bots are looked at."""
        return (self.models, self.bots) if self.models else (self.bots, ())


def front_blocks(front: Front) -> Iterator[Block]:
    yield scoreboard(front)
    if drawn := forest_plot(front):
        yield Figure("forest", "Intervals", SEEN, (drawn,), (forest_plot(front, COLUMN),))


def scoreboard(front: Front) -> Grid:
    """A line per model and bot, best first, with the overall value of every metric."""
    cells = [(front.alone, "accuracy", front.by), *((front.dags, *each) for each in (NODES, *WHOLES))]
    columns = [Column("accuracy", ALONE), Column("accuracy", IN_DAGS), *(Column(name, IN_DAGS) for name, _ in WHOLES)]
    lines = []
    for group in (front.models, front.bots):
        for name in front.ordered(group):
            entries: list[Entry] = [rows.number(metric, by, "Overall", name) for rows, metric, by in cells]
            lines.append(Line((name,), tuple(entries)))
    blocks = {0: "Models", len(front.models): "Bots and baselines"} if front.models and front.bots else {}
    return Grid("scoreboard", "Scoreboard", READ, ("Model",), tuple(columns), tuple(lines), blocks)


def forest_plot(front: Front, wide: float = BESIDE) -> str:
    """Accuracy, CA and IC of every model and bot below each other on one axis, the values at the right."""
    models, bots = front.shown
    ordered = [*front.ordered(models), *front.ordered(bots)]
    found = [(title, row) for title, of in measures(front) for name in ordered if (row := of(name))]
    if not found:
        return ""
    ends = [end for _, row in found for end in (row.value, row.low, row.high) if end is not None]
    left, top, step, numbers = 106.0, 4.0, 16.0, 142.0
    x = Axis(*around(ends), left, wide - numbers)
    shapes, y = [], top
    for title, own in groupby(found, key=lambda each: each[0]):
        shapes.append(svg.words(4, y + step / 2, title, 11))
        y += step
        for _, row in own:
            at = None if row.model in bots else list(models).index(row.model)
            middle = y + step / 2
            shapes += [svg.words(left - 12, middle, short(row.model, 15), 11, "end"), _told(row, wide - 4, middle)]
            shapes += _marked(row, x, middle, at)
            y += step
        y += 6
    ruled = [line((x(value), top), (x(value), y), GRID) for value in x.ticks()]
    scale = [svg.words(x(value), y + 10, per_cent(value), 11, "middle") for value in x.ticks()]
    return svg.drawing(wide, y + 22, [*ruled, *shapes, *scale])


def measures(front: Front) -> tuple[Measure, ...]:
    return (
        ("Accuracy of questions, %", front.accuracy),
        ("CA, %", partial(front.whole, "CA")),
        ("IC, %", partial(front.whole, "IC")),
    )


def _told(row: Score, right: float, y: float) -> str:
    number = Number.of(row)
    return svg.words(right, y, f"{number.text} [{number.room}]" if number.room else number.text, 11, "end")


def _marked(row: Score, x: Axis, y: float, at: int | None) -> Iterator[str]:
    tint, place = BOT if at is None else colour(at), (x(row.value or 0.0), y)
    if row.low is not None and row.high is not None:
        yield whisker((x(row.low), y), (x(row.high), y), tint)
    if at is None:
        yield svg.element("circle", svg.title(said(row)), cx=place[0], cy=y, r=3.5, fill=BOT)
    else:
        yield mark(at, place, said(row))
