"""Shapes of things: icons and drawings of our own, stretched so that they fill a box to its edges."""

from functools import cache, lru_cache
from importlib import resources
from typing import Any

import msgspec
import skia

from questree.draw.canvas import Box, Canvas, Sheet, color

SQUARE = (0.0, 0.0, 100.0, 100.0)  # of shapes of our own
PLAIN = "plain"
Picture = Any  # skia.Picture


class Icon(msgspec.Struct):
    box: Box  # what the drawing fills of its square
    body: str


@cache
def icons() -> dict[str, Icon]:
    return msgspec.json.decode(_data("icons.json"), type=dict[str, Icon])


@cache
def looks() -> dict[str, dict[str, str]]:
    """word -> state -> an icon, perhaps with a colour, or a shape."""
    return msgspec.toml.decode(_data("things.toml"), type=dict[str, dict[str, str]])


def _data(name: str) -> bytes:
    return resources.files("questree.draw").joinpath(name).read_bytes()


@cache
def picture(source: str) -> tuple[Picture, Box]:
    """A drawing, recorded once, and the box it fills: of "ICON", "ICON #colour" or a shape of our own."""
    if source.startswith("<"):
        return recorded(source), SQUARE
    name, _, tint = source.partition(" ")
    icon = icons()[name]
    if name.startswith("mdi-"):
        return recorded(f'<g fill="{tint or "#222222"}">{icon.body}</g>'), icon.box
    return recorded(icon.body, tint), icon.box


def recorded(body: str, tint: str = "") -> Picture:
    text = f'<svg xmlns="http://www.w3.org/2000/svg" width="200" height="200">{body}</svg>'
    tree = skia.SVGDOM.MakeFromStream(skia.MemoryStream(text.encode(), True))
    tree.setContainerSize(skia.Size(200, 200))
    recorder = skia.PictureRecorder()
    canvas = recorder.beginRecording(skia.Rect(200, 200))
    if tint:
        canvas.saveLayer(None, skia.Paint(ColorFilter=tinted(tint)))
    tree.render(canvas)
    return recorder.finishRecordingAsPicture()


CONTRAST = 0.5  # how much of light and dark stays in another colour
LIGHT = (0.2126, 0.7152, 0.0722)  # of red, green, blue


def tinted(text: str, middle: float = 0.5) -> Any:
    """A filter that keeps light and dark and nothing else of a drawing's colours; what is as light as `middle` gets
    the colour itself."""
    value = color(text)
    rows: list[float] = []
    for shift in (16, 8, 0):
        part = (value >> shift & 255) / 255
        rows += [weight * CONTRAST for weight in LIGHT] + [0.0, part - CONTRAST * middle]
    return skia.ColorFilters.Matrix([*rows, 0.0, 0.0, 0.0, 1.0, 0.0])


@cache
def lightness(source: str) -> float:
    """Of a drawing, on the whole, from 0 to 1."""
    sheet = Sheet((32, 32))
    stretch(sheet.canvas, picture(source), (0.0, 0.0, 32.0, 32.0))
    found = sheet.pixels.astype(float)
    return float((found[..., :3] @ LIGHT).sum() / max(found[..., 3].sum(), 1.0))


def source_of(word: str, states: frozenset[str] = frozenset()) -> str | None:
    """What is drawn for a word, in the first state that it has a drawing for; None for words nobody drew."""
    known = looks().get(word)
    if known is None:
        return None
    return next((known[state] for state in known if state in states), known[PLAIN])


def stretch(canvas: Canvas, drawing: tuple[Picture, Box], box: Box, paint: Any = None) -> None:
    """Fill the box with the drawing."""
    recorded, (left, top, right, bottom) = drawing
    x, y = (box[2] - box[0]) / (right - left), (box[3] - box[1]) / (bottom - top)
    matrix = skia.Matrix.MakeAll(x, 0, box[0] - left * x, 0, y, box[1] - top * y, 0, 0, 1)
    canvas.drawPicture(recorded, matrix, paint)


def fit(canvas: Canvas, source: str, x: float, y: float, side: float) -> None:
    """As large as it is in a square, its sides in proportion; put on whole pixels, so that it is drawn only once."""
    scale = canvas.getTotalMatrix().getScaleX()
    pixels = max(round(side * scale), 1)
    place = skia.Rect.MakeXYWH(round(x * scale) / scale, round(y * scale) / scale, pixels / scale, pixels / scale)
    canvas.drawImageRect(_stamp(source, pixels), place)


@lru_cache(4096)
def _stamp(source: str, side: int) -> Any:
    drawing = picture(source)
    left, top, right, bottom = drawing[1]
    scale = side / max(right - left, bottom - top)
    wide, high = (right - left) * scale, (bottom - top) * scale
    x, y = (side - wide) / 2, (side - high) / 2
    sheet = Sheet((side, side))
    stretch(sheet.canvas, drawing, (x, y, x + wide, y + high))
    return skia.Image.fromarray(sheet.pixels, colorType=skia.kRGBA_8888_ColorType)
