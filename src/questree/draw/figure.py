"""A person who stands, sits or lies, filling a box; where their eyes, mouth and shoulders are."""

from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

import msgspec
import skia

from questree.columns.hashing import seed_of
from questree.draw.canvas import Box, Canvas, fill, stroke
from questree.draw.shapes import recorded, stretch

Point = tuple[float, float]
UPRIGHT = 2.3  # height / width of who stands
SKIN = ("#f1c9a5", "#d9a066", "#8d5a3b", "#c68642", "#ffdbac")
HAIR = ("#2b1b12", "#5a3825", "#c9a227", "#7b3f00", "#555555")
SHIRT = ("#3a6ea5", "#c8553d", "#588157", "#7b5ea7", "#d4a017", "#2a9d8f")
TROUSERS = ("#2f3e4e", "#4a4e69", "#5c4033", "#1d3557")


class Posture(msgspec.Struct, frozen=True):
    """postures.toml"""

    size: tuple[float, float]
    body: str
    eyes: Point
    apart: float
    mouth: Point
    shoulders: tuple[Point, Point]
    rest: tuple[Point, Point]


@cache
def postures() -> dict[str, Posture]:
    text = resources.files("questree.draw").joinpath("postures.toml").read_bytes()
    return msgspec.toml.decode(text, type=dict[str, Posture])


@dataclass(frozen=True)
class Figure:
    """A person in the picture; the person's own measures turned into those of the picture."""

    box: Box
    posture: Posture
    skin: str
    hair: str
    shirt: str
    trousers: str

    def at(self, point: Point) -> Point:
        width, height = self.posture.size
        x1, y1, x2, y2 = self.box
        return x1 + point[0] * (x2 - x1) / width, y1 + point[1] * (y2 - y1) / height

    @property
    def unit(self) -> float:
        """Of the figure's measures, in pixels."""
        width, height = self.posture.size
        return min((self.box[2] - self.box[0]) / width, (self.box[3] - self.box[1]) / height)

    def draw(self, canvas: Canvas) -> None:
        stretch(canvas, _body(self.posture, self.skin, self.hair, self.shirt, self.trousers), self.box)

    def arm(self, canvas: Canvas, side: int, hand: Point) -> None:
        """From the shoulder to where the hand is, bent a little outwards."""
        x, y = self.at(self.posture.shoulders[side])
        bend = ((x + hand[0]) / 2 + (1 - 2 * (side == 0)) * 4 * self.unit, (y + hand[1]) / 2 + 8 * self.unit)
        path = skia.Path().moveTo(x, y).quadTo(*bend, *hand)
        canvas.drawPath(path, stroke("#333333", 8.6 * self.unit))
        canvas.drawPath(path, stroke(self.shirt, 7 * self.unit))
        self.hand(canvas, hand)

    def hand(self, canvas: Canvas, hand: Point) -> None:
        canvas.drawCircle(*hand, 5 * self.unit, fill(self.skin))
        canvas.drawCircle(*hand, 5 * self.unit, stroke("#333333", 0.9 * self.unit))

    def face(self, canvas: Canvas, mouth: str, target: Point | None) -> None:
        """Eyes that look at the target, straight on without one, and a mouth."""
        eyes, unit = self.at(self.posture.eyes), self.unit
        aside = (0.0, 0.0)
        if target is not None:
            away = (target[0] - eyes[0], target[1] - eyes[1])
            far = max((away[0] ** 2 + away[1] ** 2) ** 0.5, 1.0)
            aside = (1.4 * unit * away[0] / far, 1.4 * unit * away[1] / far)
        for side in (-0.5, 0.5):
            x = eyes[0] + side * self.posture.apart * unit
            canvas.drawCircle(x, eyes[1], 3.2 * unit, fill("#ffffff"))
            canvas.drawCircle(x + aside[0], eyes[1] + aside[1], 1.7 * unit, fill("#111111"))
        x, y = self.at(self.posture.mouth)
        wide = 5 * unit
        if mouth == "open":
            canvas.drawCircle(x, y, 3 * unit, fill("#7a1f1f"))
        elif mouth == "merry":
            canvas.drawArc(skia.Rect(x - wide, y - wide, x + wide, y + wide), 0, 180, True, fill("#7a1f1f"))
        else:
            dip = 4 * unit if mouth == "glad" else 0.0
            path = skia.Path().moveTo(x - wide, y).quadTo(x, y + dip, x + wide, y)
            canvas.drawPath(path, stroke("#7a1f1f", 1.4 * unit))


def figure(box: Box, who: str) -> Figure:
    """Their posture is told by the shape of the box."""
    wide, high = box[2] - box[0], box[3] - box[1]
    posture = "upright" if high > UPRIGHT * wide else "seated" if high > wide else "flat"
    return Figure(box, postures()[posture], *_colours(who))


@cache
def _colours(who: str) -> tuple[str, str, str, str]:
    seed = int(seed_of(0, f"looks {who}"))
    found = []
    for choices in (SKIN, HAIR, SHIRT, TROUSERS):
        seed, pick = divmod(seed, len(choices))
        found.append(choices[pick])
    return found[0], found[1], found[2], found[3]


@cache
def _body(posture: Posture, skin: str, hair: str, shirt: str, trousers: str) -> tuple[Any, Box]:
    text = posture.body.format(skin=skin, hair=hair, shirt=shirt, trousers=trousers)
    return recorded(text), (0.0, 0.0, *posture.size)
