"""Scenes as sources give them: checked, mended where that is safe, and gathered as image facts."""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from math import inf

import polars as pl
from msgspec import Struct

from questree.faults import Fault, refuse, with_nul
from questree.sources.repeated_ids import Met
from questree.tables.images import Gathering, Images, SceneEdge, Thing
from questree.vocabulary.class_names import BRACKETS, told_apart

Number = int | float
Box = tuple[float, float, float, float]  # x1, y1, x2, y2 in pixels
LARGEST = 1_000_000  # pixels
VAL, DEV = "val", "dev"  # dev: the source has a train, dev and test of its own, so nobody deals out its images anew
SPLITS = {"train": "train", "dev": VAL, "val": VAL, "testdev": "testdev", "test": "test"}  # by the beginning of a name


class GqaPreposition(Struct):
    name: str
    object: str | int


class GqaRelation(Struct):
    name: str
    object: str | int
    prepositions: list[GqaPreposition] = []


class GqaObject(Struct):
    name: str
    x: Number | None = None
    y: Number | None = None
    w: Number | None = None
    h: Number | None = None
    attributes: list[str] = []
    relations: list[GqaRelation] = []


class GqaScene(Struct):
    """One image as GQA writes it; other sources turn theirs into it."""

    objects: dict[str, GqaObject]
    width: int | None = None
    height: int | None = None
    location: str | None = None


def split_of(name: str) -> str:
    """Of a file, or as a record says it; "" if it is none of them."""
    return next((split for begin, split in SPLITS.items() if name.lower().startswith(begin)), "")


def used_twice(image: str, where: str) -> str:
    return f"image id {image} is used twice; it is also in {where}"


class SceneReading:
    """Scenes, faults and oddities as they come, over all files; `tidy`: words and boxes are mended on the way."""

    def __init__(self, tidy: bool = True) -> None:
        self.gathering, self.tidy = Gathering(), tidy
        self.faults: list[Fault] = []
        self.skipped = Counter[str]()
        self.met = Met()
        self.names = 0  # things, relations and prepositions read: each has a "name"

    def done(self) -> Images:
        refuse(self.faults)
        found = self.gathering.done()
        names = {"image id": found.images["id"], "thing id": found.things["id"], "name": found.words["word"]}
        refuse([fault for what, texts in names.items() for fault in with_nul("", what, texts.to_list())])
        whole = {"train", VAL, "test"} <= set(found.images["split"])
        return replace(found, images=found.images.with_columns(pl.col("split").replace(VAL, DEV))) if whole else found

    def scene(self, image: str, scene: GqaScene, split: str, file: str) -> None:
        place = f"{file}, image {image}"
        if other := self.met.note(image, file, len(self.faults)):
            self.faults.append(Fault(place, used_twice(image, other)))
        if self.tidy:
            self.skipped.update(mend(scene))
            self.faults += _far_out(scene, place)
        self.faults += scene_faults(scene, place)
        if not self.faults:  # nothing will be written otherwise: only go on looking for faults
            things = _things(scene)
            self.names += len(things) + sum(1 + len(edge.prepositions) for each in things for edge in each.edges)
            self.gathering.add(image, split, (scene.width, scene.height), scene.location, things)


CLIPPED = "boxes that stuck out of their image, clipped"
SHORTENED = "words with punctuation at their end, which is left out"
RESPELLED = "words with underscores, commas or brackets, written as they are said"
PUNCTUATION = ".,;:!?"
SHORT = re.compile(r"(?:^|\s)(?:\w\.)+\w\.$")  # t.v., whose last full stop stays
ROUND = str.maketrans("[]{}", "()()")
UNDERSCORE = re.compile("(?<!:)_")  # that of "pouring:_into" stays
BRACKET = re.compile(r"(?<=\S)\(")
LISTED = re.compile(r",\s*(?=[^\d\s])")  # not the comma of a number
FEW, SHARE = 10, 0.1  # pixels, or part of the image's side, that a box may stick out: further out is a fault


def mend(scene: GqaScene) -> Iterator[str]:
    """Words without final punctuation, boxes inside their image; what was done, once for each time."""
    for each in scene.objects.values():
        every: list[GqaObject | GqaRelation | GqaPreposition] = [each, *each.relations]
        for named in (*every, *(one for relation in each.relations for one in relation.prepositions)):
            if (word := noun(named.name) if named is each else tidied(named.name)) != named.name:
                yield from oddities(named.name, word)
                named.name = word
        if each.attributes:
            said = [adjectives(word) for word in each.attributes]
            yield from (odd for word, own in zip(each.attributes, said, strict=True) for odd in oddities(word, *own))
            each.attributes = [word for own in said for word in own]
        yield from [CLIPPED] * _clip(each, scene)


@cache
def tidied(word: str) -> str:
    """Words with single spaces between them, and without punctuation at their end."""
    return ended(UNDERSCORE.sub(" ", word))


def ended(word: str) -> str:
    plain = " ".join(word.split())
    return plain if SHORT.search(plain) else plain.rstrip(PUNCTUATION + " ")


@cache
def noun(word: str) -> str:
    """As it is said: "saline drip" for "drip, saline", "wheel" for "wheel(s)", "red cup" for "cup [red]"."""
    apart = BRACKETS.sub(lambda found: told_apart(found, 0), tidied(word.translate(ROUND)))
    spelled = BRACKET.sub(" (", " ".join(apart.split()))
    return spelled if "(" in spelled else " ".join(reversed(LISTED.split(spelled)))


@cache
def adjectives(word: str) -> tuple[str, ...]:
    """ "black, white" are two."""
    return tuple(filter(None, map(tidied, LISTED.split(word)))) or ("",)


def oddities(word: str, *said: str) -> list[str]:
    """What was odd about a word that is said so."""
    plain = ended(word)
    return [SHORTENED] * (plain != " ".join(word.split())) + [RESPELLED] * ((plain,) != said)


def _clip(each: GqaObject, scene: GqaScene) -> bool:
    """Cut off what sticks out a little; true if there was something."""
    box = _box(each)
    if box is None or is_far_out(box, scene):
        return False
    x1, y1, x2, y2 = max(box[0], 0), max(box[1], 0), min(box[2], scene.width or inf), min(box[3], scene.height or inf)
    each.x, each.y, each.w, each.h = x1, y1, x2 - x1, y2 - y1
    return (x1, y1, x2, y2) != box


def is_far_out(box: Box, scene: GqaScene) -> bool:
    """Does it stick out of its image by more than a little, or is it none that could be cut?"""
    for first, last, end in ((box[0], box[2], scene.width or inf), (box[1], box[3], scene.height or inf)):
        few = max(FEW, SHARE * end) if end < inf else FEW
        if first < -few or last > end + few or not (first <= last and first <= end and last >= 0):
            return True
    return False


def _far_out(scene: GqaScene, place: str) -> Iterator[Fault]:
    for key, each in scene.objects.items():
        box = _box(each)
        if box is not None and box[0] <= box[2] and box[1] <= box[3] and is_far_out(box, scene):
            size = f"{scene.width or '?'} x {scene.height or '?'}"
            yield Fault(f"{place}, object {key}", f"expected a box in its image of {size} pixels, got {list(box)}")


def scene_faults(scene: GqaScene, place: str) -> Iterator[Fault]:
    for side in ("width", "height"):
        if (pixels := getattr(scene, side)) is not None and not 0 < pixels <= LARGEST:
            yield Fault(place, f"{side} must be 1 to {LARGEST} pixels, is {pixels}")
    for key, each in scene.objects.items():
        for message in _object_faults(each, scene):
            yield Fault(f"{place}, object {key}", message)


def _object_faults(each: GqaObject, scene: GqaScene) -> Iterator[str]:
    if not each.name.strip():
        yield "the name is empty"
    if not all(map(str.strip, each.attributes)):
        yield "an attribute is empty"
    missing = [side for side in ("x", "y", "w", "h") if getattr(each, side) is None]
    if 0 < len(missing) < 4:
        yield f"the box has no {', '.join(missing)}; give all of x, y, w, h or none"
    for side, value in (("w", each.w), ("h", each.h)):
        if value is not None and value < 0:
            yield f"a box of negative size: {side} is {value}"
    for relation in each.relations:
        links: list[GqaRelation | GqaPreposition] = [relation, *relation.prepositions]
        for one in links:
            if not one.name.strip():
                yield "the name of a relation is empty"
            if str(one.object) not in scene.objects:
                yield f"relation {one.name!r} to object {one.object}, which is not in this image"


def _things(scene: GqaScene) -> list[Thing]:
    at = {key: position for position, key in enumerate(scene.objects)}
    return [Thing(key, each.name, _box(each), each.attributes, _edges(each, at)) for key, each in scene.objects.items()]


def _edges(each: GqaObject, at: dict[str, int]) -> list[SceneEdge]:
    return [
        SceneEdge(one.name, at[str(one.object)], [(p.name, at[str(p.object)]) for p in one.prepositions])
        for one in each.relations
    ]


def _box(each: GqaObject) -> Box | None:
    if each.x is None or each.y is None or each.w is None or each.h is None:
        return None
    return each.x, each.y, each.x + each.w, each.y + each.h
