"""Frames and images of a run as pictures: all that its truth tells, or else where annotations have things."""

import math
from collections.abc import Iterator
from typing import Any

import polars as pl

from questree.draw.canvas import Box, Sheet
from questree.draw.frame import draw_frame
from questree.draw.image import draw_image
from questree.draw.images import dyed
from questree.draw.scene import FrameScene, SeenThing, Spell
from questree.draw.videos import doing_of, states_at, under_way
from questree.tables.facts import BOX, Facts
from questree.tables.images import Images
from questree.vocabulary.words import Vocabulary

SEEN = ("contact", "spatial", "attention")  # relations that a frame can show
DEFAULT = (400, 300)  # of what has neither a size nor boxes
Size = tuple[int, int]


def frame_png(scene: FrameScene, longest: int) -> bytes:
    sheet = Sheet(scene.size, longest / max(scene.size))
    draw_frame(sheet.canvas, scene)
    return sheet.png()


def frame_scene(facts: Facts, position: int, words: Vocabulary, telling: bool) -> FrameScene:
    """`facts` are those of one video. Unless `telling`, nothing is marked: neither relations nor what is done."""
    here = pl.col("frame") == position
    second = float(facts.frames["seconds"][position])
    id, length, width, height = facts.videos.select("id", "length", "width", "height").row(0)
    person = next(facts.persons.filter(here).select(list(BOX)).iter_rows(), None)
    rows = facts.objects.filter(here & pl.col("visible")).select("object", *BOX).rows()
    size = size_of(width, height, [row[1:] for row in rows] + [person])
    spells = [
        Spell(doing_of(action, words), start, end)
        for action, start, end in facts.actions.select("action", "start", "end").iter_rows()
        if telling
    ]
    states, related = states_at(spells, second), _related(facts, position, words) if telling else {}
    cells = free_cells(sum(row[1] is None for row in rows), size)
    things = tuple(
        SeenThing(
            words.objects[thing].name,
            next(cells) if box[0] is None else tuple(box),
            frozenset(related.get(thing, ())),
            states.get(words.objects[thing].name, frozenset()),
        )
        for thing, *box in rows
    )
    last = max(length or 0.0, float(facts.frames["seconds"][-1]))
    when = min(second / last, 1.0) if last else 0.0
    return FrameScene(size, id, id, person, things, under_way(spells, second), when)


def _related(facts: Facts, position: int, words: Vocabulary) -> dict[int, set[str]]:
    """object -> the person's relations to it, without those that follow from a closer contact."""
    table = facts.relations.filter(pl.col("frame") == position)
    found: dict[int, set[str]] = {}
    for relation, thing in table.select("relation", "object").iter_rows():
        if words.relations[relation].group in SEEN:
            found.setdefault(thing, set()).add(words.relations[relation].name)
    return {thing: names - _implied(names, words) for thing, names in found.items()}


def _implied(names: set[str], words: Vocabulary) -> set[str]:
    close = [name for name in names if words.relations[words.relation_at[name]].group == "contact"]
    return {other for name in close for other in words.entailments.get(name, ())}


def image_png(images: Images, at: int, longest: int) -> bytes:
    scene = image_scene(images, at)
    sheet = Sheet((scene["width"], scene["height"]), longest / max(scene["width"], scene["height"]))
    sheet.canvas.clear(0xFFFFFFFF)  # made-up images have walls, others may have nothing behind things
    draw_image(sheet.canvas, scene, dyed())
    return sheet.png()


def image_scene(images: Images, at: int) -> dict[str, Any]:
    """Things of one image with their attributes and relations, as scene graphs of GQA have them."""
    words = images.words["word"]
    width, height = images.images.select("width", "height").row(at)
    rows = images.things.with_row_index("row").filter(image=at).select("row", "name", *BOX).rows()
    size = size_of(width, height, [row[2:] for row in rows])
    cells = free_cells(sum(row[2] is None for row in rows), size)
    things: dict[str, dict[str, Any]] = {}
    for row, name, *box in rows:
        x1, y1, x2, y2 = next(cells) if box[0] is None else box
        sides = {"x": x1, "y": y1, "w": x2 - x1, "h": y2 - y1}
        things[str(row)] = {"name": words[name], **sides, "attributes": [], "relations": []}
    own = [row[0] for row in rows]
    for thing, said in images.attributes.filter(pl.col("thing").is_in(own)).iter_rows():
        things[str(thing)]["attributes"].append(words[said])
    for subject, relation, other in images.relations.filter(pl.col("subject").is_in(own)).iter_rows():
        things[str(subject)]["relations"].append({"name": words[relation], "object": str(other)})
    return {"width": size[0], "height": size[1], "objects": things}


def size_of(width: int | None, height: int | None, boxes: list[Any]) -> Size:
    """As the source says, or all that there is to see."""
    if width and height:
        return width, height
    corners = [box[2:] for box in boxes if box and box[0] is not None]
    if not corners:
        return DEFAULT
    return int(max(x for x, _ in corners)) + 10, int(max(y for _, y in corners)) + 10


def free_cells(count: int, size: Size) -> Iterator[Box]:
    """Room side by side for things of which nobody said where they are."""
    columns = math.ceil(math.sqrt(count)) or 1
    wide, high = size[0] / columns, size[1] / (math.ceil(count / columns) or 1)
    for at in range(count):
        x, y = at % columns * wide, at // columns * high
        yield x + 0.1 * wide, y + 0.1 * high, x + 0.9 * wide, y + 0.9 * high
