"""What marks in pictures mean: every mark alone, by the word it stands for."""

from functools import cache

from questree.draw.canvas import Sheet
from questree.draw.marks import Glyph, glyph, where_glyph
from questree.draw.paint import attributes
from questree.draw.scene import marks

SIDE = 48  # pixels


@cache
def frame_marks() -> dict[str, Glyph]:
    """Where a thing is, how it is touched, what is done; by the names of relations."""
    known = marks()
    verbs = {name: glyph(source) for name, source in known.verbs.items()}
    contacts = {name: glyph(source) for name, source in known.contacts.items()}
    return {name: where_glyph(where) for name, where in known.where.items()} | contacts | verbs


@cache
def image_marks() -> dict[str, Glyph]:
    """By the names of attributes."""
    return {name: glyph(source) for name, source in attributes().glyphs.items()}


@cache
def mark_png(name: str) -> bytes | None:
    found = frame_marks().get(name) or image_marks().get(name)
    if found is None:
        return None
    sheet = Sheet((round(SIDE * found.wide), SIDE))
    sheet.canvas.clear(0xFFFFFFFF)
    found.draw(sheet.canvas, 0, 0, SIDE)
    return sheet.png()
