"""One metric by group: a line per group, a mark with its interval per model."""

from collections.abc import Sequence

from questree import svg
from questree.metrics.scores import Score
from questree.scoring.grids import once
from questree.show.report.charts import GRID, Axis, around, colour, legend, mark, per_cent, said, whisker
from questree.svg import line

LEFT, RIGHT, TOP, LINE = 210.0, 700.0, 12.0, 16.0


def group_plot(rows: Sequence[Score], models: Sequence[str], metric: str) -> str:
    """`rows` are those of one metric that have a value."""
    groups, here = once(row.group for row in rows), [name for name in models if any(r.model == name for r in rows)]
    ends = [end for row in rows for end in (row.value, row.low, row.high) if end is not None]
    x, height = Axis(*around(ends, limits=(min(0.0, *ends), max(1.0, *ends))), LEFT, RIGHT), LINE * (len(here) + 1)
    bottom = TOP + height * len(groups)
    shapes = [svg.words((LEFT + RIGHT) / 2, bottom + 32, f"{metric}, %", 12, "middle")]
    for value in x.ticks():
        shapes.append(line((x(value), bottom), (x(value), TOP), GRID))
        shapes.append(svg.words(x(value), bottom + 13, per_cent(value), 11, "middle"))
    at = {(row.group, row.model): row for row in rows}
    for number, group in enumerate(groups):
        middle = TOP + height * (number + 0.5)
        shapes.append(svg.words(LEFT - 10, middle, group, 12, "end"))
        for model, name in enumerate(here):
            if row := at.get((group, name)):
                shapes += marked(row, x, middle + LINE * (model - (len(here) - 1) / 2), model)
    names, end = legend(here, (LEFT, bottom + 54))
    return svg.drawing(RIGHT + 30, end + 16, [*shapes, *names])


def marked(row: Score, x: Axis, y: float, model: int) -> list[str]:
    assert row.value is not None
    room = [] if row.low is None or row.high is None else [whisker((x(row.low), y), (x(row.high), y), colour(model))]
    return [*room, mark(model, (x(row.value), y), said(row))]
