"""How attributes look: things dyed, patterned, of a material, and what a tag says of the rest."""

from collections.abc import Sequence
from functools import cache, lru_cache
from importlib import resources
from typing import Any

import msgspec
import skia

from questree.draw.canvas import Box, Canvas, color
from questree.draw.frame import draw_thing
from questree.draw.marks import Glyph, glyph
from questree.draw.shapes import lightness, recorded, source_of, tinted

TILE = 20.0  # side of a tile
SEAM, ROOM = 0.6, 32.0  # pixels: of the seam, and around a thing for it
SMALL = 70.0  # pixels: things up to this size have tiles of half the size


class Attributes(msgspec.Struct):
    """attributes.toml"""

    unsaid: str
    backdrop: str
    colors: dict[str, str]
    patterns: dict[str, str]
    materials: dict[str, str]
    glyphs: dict[str, str]
    people: dict[str, list[str]]
    hair: dict[str, str]
    faces: dict[str, str]
    links: dict[str, list[str]]


@cache
def attributes() -> Attributes:
    return msgspec.toml.decode(
        resources.files("questree.draw").joinpath("attributes.toml").read_bytes(), type=Attributes
    )


def draw_painted(canvas: Canvas, word: str, box: Box, said: Sequence[str], unsaid: str) -> None:
    """A thing in its colours, half and half if there are two; where it says none in `unsaid`, or as it is."""
    known, area = attributes(), skia.Rect(*box)
    colours = [known.colors[each] for each in said if each in known.colors] or ([unsaid] if unsaid else [])
    canvas.saveLayer(area.makeOutset(ROOM, ROOM), _edge())
    source = source_of(word, frozenset(said))
    middle = lightness(source) if source else 1.0
    for at, paint in enumerate([_dye(colour, middle) for colour in colours] or [None]):
        canvas.save()
        if at:
            canvas.clipRect(skia.Rect(box[0] + (box[2] - box[0]) * at / len(colours), box[1], box[2], box[3]))
        draw_thing(canvas, word, box, frozenset(said), paint)
        canvas.restore()
    for each in said:
        tile = known.patterns.get(each) or known.materials.get(each)
        if tile:
            canvas.drawRect(area, _cover(tile, min(box[2] - box[0], box[3] - box[1]) < SMALL))
    canvas.restore()


@cache
def _edge() -> Any:
    """A dark seam around what is drawn: white on white is seen too."""
    return skia.Paint(ImageFilter=skia.ImageFilters.DropShadow(0, 0, SEAM, SEAM, color("#000000", 220)))


@cache
def _dye(colour: str, middle: float) -> Any:
    return skia.Paint(ColorFilter=tinted(colour, middle))


@lru_cache(256)
def _cover(tile: str, small: bool) -> Any:
    """Tiles that cover only what is drawn already."""
    shader = recorded(tile).makeShader(
        skia.TileMode.kRepeat,
        skia.TileMode.kRepeat,
        skia.FilterMode.kLinear,
        skia.Matrix.Scale(0.5, 0.5) if small else skia.Matrix(),
        skia.Rect(TILE, TILE),
    )
    return skia.Paint(Shader=shader, BlendMode=skia.BlendMode.kSrcATop)


def told(said: Sequence[str]) -> list[Glyph]:
    """Of attributes that neither colour nor pattern show."""
    known = attributes()
    rest = [each for each in said if each not in known.colors and each not in known.patterns]
    return [glyph(known.glyphs.get(each, each)) for each in rest]
