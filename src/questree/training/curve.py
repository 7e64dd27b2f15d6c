"""The loss of every epoch, in training and in validation, as a plot."""

from collections.abc import Sequence
from typing import Protocol

from questree import svg
from questree.show.report.charts import Axis, around, colour, frame, legend, mark, path

TALL = 220.0  # pixels of the panel


class Losses(Protocol):
    @property
    def loss(self) -> float: ...
    @property
    def validation(self) -> float: ...


def loss_curve(epochs: Sequence[Losses], best: int, wide: float = svg.COLUMN) -> str:
    """Two lines over epochs, counted from 1; a ring is around the epoch whose weights are kept."""
    lines = {"training": [each.loss for each in epochs], "validation": [each.validation for each in epochs]}
    named, top = legend(list(lines), (70, 16), wide=wide)
    x = Axis(0.5, len(epochs) + 0.5, 62, wide - 14)
    y = Axis(*around([v for own in lines.values() for v in own], 0.1, (0.0, 1e9)), top + TALL + 20, top + 20)
    shapes = frame(x, y, "epoch", "loss", whole_x=True, told=lambda value: f"{value:g}")
    for at, (name, own) in enumerate(lines.items()):
        points = [(x(epoch), y(value)) for epoch, value in enumerate(own, 1)]
        shapes.append(path(points, colour(at), 2))
        told = (f"{name}, epoch {epoch}: {value:.4f}" for epoch, value in enumerate(own, 1))
        shapes += [mark(at, place, said, 3) for place, said in zip(points, told, strict=True)]
    kept = {"cx": x(best + 1), "cy": y(epochs[best].validation), "r": 7.0}
    ring = svg.element("circle", svg.title("these weights are kept"), **kept, fill="none", stroke="black")
    return svg.drawing(wide, y.begin + 44, [*shapes, ring, *named])
