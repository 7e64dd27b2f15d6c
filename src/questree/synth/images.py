"""Made-up images in GQA's format: places, what each thing may look like, boxes, and the relations that boxes decide."""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from itertools import permutations
from pathlib import Path
from random import Random
from typing import Any

import msgspec

from questree.faults import Fault, refuse
from questree.progress import watch
from questree.tables.owners import present
from questree.tables.store import new_file

Zone = tuple[float, float, float, float]  # top, bottom, left, right as shares of the whole


class ThingKind(msgspec.Struct, forbid_unknown_fields=True):
    size: tuple[float, float] = (0.0, 0.0)  # share of the image's width
    tall: float = 1.0  # height / width
    surface: bool = False  # things lie on it
    seat: bool = False
    ride: bool = False
    person: bool = False
    animal: bool = False
    parts: list[str] = []
    color: list[str] = []
    material: list[str] = []
    pattern: list[str] = []
    shape: list[str] = []
    state: list[str] = []


class Place(msgspec.Struct, forbid_unknown_fields=True):
    name: str
    location: str
    back: str
    ground: str
    stands: list[str]
    hangs: list[str]
    lies: list[str]


class World(msgspec.Struct, forbid_unknown_fields=True):
    sizes: list[tuple[int, int]]
    shares: dict[str, float]
    places: list[Place]
    hold: dict[str, list[str]]
    ground: dict[str, ThingKind]
    things: dict[str, ThingKind]
    worn: dict[str, Zone]
    worn_values: dict[str, ThingKind]
    parts: dict[str, Zone]
    part_values: dict[str, ThingKind]


@cache
def world() -> World:
    text = resources.files("questree.synth").joinpath("images.toml").read_bytes()
    return msgspec.toml.decode(text, type=World)


Box = tuple[int, int, int, int]  # x1, y1, x2, y2 in pixels


def left_of(a: Box, b: Box, width: int) -> bool:
    """Wholly to the left, and at the same height: the heights share half of the smaller one."""
    return a[2] <= b[0] and 2 * _shared(a[1], a[3], b[1], b[3]) >= min(a[3] - a[1], b[3] - b[1])


def above(a: Box, b: Box, width: int) -> bool:
    """Wholly above, and over it: the widths share half of the smaller one."""
    return a[3] <= b[1] and 2 * _shared(a[0], a[2], b[0], b[2]) >= min(a[2] - a[0], b[2] - b[0])


def near(a: Box, b: Box, width: int) -> bool:
    """Apart, but by at most a twentieth of the image's width."""
    gap = max(a[0] - b[2], b[0] - a[2], a[1] - b[3], b[1] - a[3])
    return 0 <= gap <= width // 20


def behind(a: Box, b: Box, width: int) -> bool:
    """Partly covered by a thing that stands further down, hence nearer; both must stand on the ground."""
    overlap = _shared(a[0], a[2], b[0], b[2]) > 0 and _shared(a[1], a[3], b[1], b[3]) > 0
    return overlap and a[3] < b[3] - width // 50


def _shared(low: int, high: int, other_low: int, other_high: int) -> int:
    return min(high, other_high) - max(low, other_low)


Test = Callable[[Box, Box, int], bool]


def _mirrored(test: Test) -> Test:
    return lambda a, b, width: test(b, a, width)


EVERYWHERE: dict[str, Test] = {"to the left of": left_of, "to the right of": _mirrored(left_of), "near": near}
HANGING: dict[str, Test] = {"above": above, "below": _mirrored(above)}  # one of the two hangs
STANDING: dict[str, Test] = {"behind": behind, "in front of": _mirrored(behind)}  # both stand on the ground


VALUE_GROUPS = ("color", "material", "pattern", "shape", "state")
FILES = {split: f"{split}_sceneGraphs.json" for split in ("train", "val")}
PIXELS = "pixels"  # folder of the images themselves, if they are drawn
FIRST_IMAGE = 1_000_001
VAL_EVERY = 5
NO_IMAGE = b"{\n\n}\n"
SMALL, LARGE = 0.25, 0.75  # of the range of a thing's sizes
GROUND = 0.6  # the ground begins at this share of the image's height
TWO_COLORS = 0.04


@dataclass
class Drawn:
    """A thing of one image while it is being made."""

    name: str
    kind: ThingKind
    box: Box
    layer: str  # back, stands, hangs, lies, held, worn, part
    attributes: list[str] = field(default_factory=list)
    relations: list[tuple[str, "Drawn"]] = field(default_factory=list)


def write_images(out: Path, images: int, seed: int) -> dict[str, int]:
    """Write OUT/train_sceneGraphs.json and OUT/val_sceneGraphs.json; every fifth image is for val."""
    check_order(out, "images", _is_made_up, images, seed)
    lines: dict[str, list[bytes]] = {"train": [], "val": []}
    counts = {"images": images, "things": 0, "attributes": 0, "relations": 0}
    for at in watch(range(images), "making images", images):
        scene = make_image(at, seed)
        key = msgspec.json.encode(str(FIRST_IMAGE + at))
        lines["val" if at % VAL_EVERY == VAL_EVERY - 1 else "train"].append(key + b": " + msgspec.json.encode(scene))
        counts["things"] += len(scene["objects"])
        for thing in scene["objects"].values():
            counts["attributes"] += len(thing["attributes"])
            counts["relations"] += len(thing["relations"])
    with new_file(out / FILES["train"]) as train, new_file(out / FILES["val"]) as val:
        for path, split in ((train, "train"), (val, "val")):
            path.write_bytes(b"{\n" + b",\n".join(lines[split]) + b"\n}\n")
    return counts


def check_order(out: Path, what: str, is_made_up: Callable[[Path], bool], images: int, seed: int) -> None:
    """Refuse to write over files of somebody else, and numbers that make no sense."""
    foreign = bool(present(out)) and not is_made_up(out)
    refuse(
        [Fault(str(out), f"not empty and not made-up {what}; choose a new folder")] * foreign
        + [Fault("--images", f"must be at least 1, is {images}")] * (images < 1)
        + [Fault("--seed", f"expected 0 or more, got {seed}")] * (seed < 0)
    )


def _is_made_up(folder: Path) -> bool:
    """GQA's own files have the same names, but no image of ours comes first in them; a killed command leaves one."""
    there = {path.name: path for path in present(folder)}
    first = {"train": FIRST_IMAGE, "val": FIRST_IMAGE + VAL_EVERY - 1}
    ours = {FILES[split]: f'{{\n"{image}": '.encode() for split, image in first.items()}
    return there.keys() <= {*ours, PIXELS} and all(
        _begin(there[name], len(begin)) in (begin, NO_IMAGE) for name, begin in ours.items() if name in there
    )


def _begin(path: Path, size: int) -> bytes:
    with path.open("rb") as file:
        return file.read(size)


def make_image(at: int, seed: int) -> dict[str, Any]:
    """One scene graph; it depends on the seed and its own number only."""
    studio = _Studio(Random(f"questree image {seed} {at}"))
    things = studio.paint()
    key = {id(thing): str((FIRST_IMAGE + at) * 100 + i) for i, thing in enumerate(things)}
    objects = {
        key[id(thing)]: {
            "name": thing.name,
            "x": x1,
            "y": y1,
            "w": x2 - x1,
            "h": y2 - y1,
            "attributes": thing.attributes,
            "relations": [{"name": name, "object": key[id(target)]} for name, target in thing.relations],
        }
        for thing in things
        for x1, y1, x2, y2 in [thing.box]
    }
    place = {"location": studio.place.location, "place": studio.place.name}
    return {"width": studio.width, "height": studio.height, **place, "objects": objects}


class _Studio:
    """Paints one image: background, what stands and hangs, then what lies, is held, worn, or a part of it."""

    def __init__(self, draw: Random):
        self.draw, self.world = draw, world()
        self.width, self.height = draw.choice(self.world.sizes)
        self.place = draw.choice(self.world.places)
        self.things: list[Drawn] = []

    def paint(self) -> list[Drawn]:
        self.background()
        for name in self.names(self.place.hangs, 0, 3):
            self.hang(name)
        stands = self.names(self.place.stands, 2, 6)
        for name in sorted(stands, key=lambda name: self.world.things[name].person):  # seats before who may sit
            self.stand(name)
        for thing in list(self.things):
            self.dress(thing)
        self.relate()
        return self.things

    def names(self, choices: list[str], least: int, most: int) -> list[str]:
        """Often the same again, so that there is something to count."""
        found: list[str] = []
        for _ in range(self.draw.randint(least, most)):
            again = found and self.draw.random() < 0.35
            found.append(self.draw.choice(found if again else choices))
        return found

    def add(self, name: str, kind: ThingKind, box: Box, layer: str, large: float = 0.5) -> Drawn:
        thing = Drawn(name, kind, box, layer, self.attributes(kind, large))
        self.things.append(thing)
        return thing

    def attributes(self, kind: ThingKind, large: float) -> list[str]:
        said, shares = [], self.world.shares
        for group in VALUE_GROUPS:
            values = getattr(kind, group)
            if values and self.draw.random() < shares[group]:
                two = group == "color" and len(values) > 1 and self.draw.random() < TWO_COLORS
                said += self.draw.sample(values, 2 if two else 1)
        if not SMALL <= large <= LARGE and self.draw.random() < shares["size"]:
            said.append("small" if large < SMALL else "large")
        return said

    def background(self) -> None:
        middle = int(self.height * GROUND)
        self.add(self.place.back, self.world.ground[self.place.back], (0, 0, self.width, middle), "back")
        self.add(self.place.ground, self.world.ground[self.place.ground], (0, middle, self.width, self.height), "back")

    def measured(self, name: str) -> tuple[ThingKind, float, int, int]:
        """The kind, how large of its sort (0..1), width and height in pixels."""
        kind, large = self.world.things[name], self.draw.random()
        w = max(6, round(self.width * (kind.size[0] + large * (kind.size[1] - kind.size[0]))))
        return kind, large, w, max(5, min(round(w * kind.tall), round(self.height * 0.85)))

    def hang(self, name: str) -> None:
        kind, large, w, h = self.measured(name)
        back = self.things[0]
        h = min(h, back.box[3])
        x, y = self.draw.randint(0, self.width - w), self.draw.randint(0, back.box[3] - h)
        thing = self.add(name, kind, (x, y, x + w, y + h), "hangs", large)
        thing.relations.append(("hanging on" if self.place.location == "indoors" else "in", back))

    def stand(self, name: str) -> None:
        kind, large, w, h = self.measured(name)
        x, bottom = self.draw.randint(0, self.width - w), self.draw.randint(int(self.height * 0.7), self.height)
        box = (x, max(0, bottom - h), x + w, bottom)
        thing = self.add(name, kind, box, "stands", large)
        if kind.person:
            self.settle(thing)
        elif kind.animal:
            thing.relations.append(("standing on", self.things[1]))

    def settle(self, person: Drawn) -> None:
        """A person sits on a free seat, rides, or stands."""
        taken = {
            id(target) for thing in self.things for name, target in thing.relations if name in ("sitting on", "riding")
        }
        free = [t for t in self.things if (t.kind.seat or t.kind.ride) and id(t) not in taken]
        if not free or self.draw.random() < 0.2:
            person.attributes.append("standing")
            person.relations.append(("standing on", self.things[1]))
            return
        under = self.draw.choice(free)
        w, h = person.box[2] - person.box[0], (person.box[3] - person.box[1]) * 3 // 4
        middle = (under.box[0] + under.box[2]) // 2
        x = min(max(0, middle - w // 2), self.width - w)
        bottom = (under.box[1] + under.box[3]) // 2
        person.box = (x, max(0, bottom - h), x + w, bottom)
        person.layer = "seated"
        person.relations.append(("sitting on" if under.kind.seat else "riding", under))
        person.attributes += ["sitting"] if under.kind.seat else []

    def dress(self, thing: Drawn) -> None:
        """Everything that comes with a thing: what lies on it, its clothes, what it holds, its parts."""
        if thing.kind.surface and thing.layer in ("stands", "hangs"):
            for name in self.names(self.place.lies, 0, 4):
                self.lay(name, thing)
        if thing.kind.person:
            for name in self.draw.sample(list(self.world.worn), self.draw.randint(1, 3)):
                self.inside(name, self.world.worn_values[name], self.world.worn[name], thing, "worn")
            if self.draw.random() < 0.5:
                self.hold(self.draw.choice(self.world.hold["things"]), thing)
        if thing.kind.parts and self.draw.random() < 0.35:
            name = self.draw.choice(thing.kind.parts)
            self.inside(name, self.world.part_values[name], self.world.parts[name], thing, "part")

    def lay(self, name: str, surface: Drawn) -> None:
        kind, large, w, h = self.measured(name)
        left, top, right, _ = surface.box
        if right - left < w or top < h:
            return
        x, sunk = self.draw.randint(left, right - w), min(3, h - 1)
        thing = self.add(name, kind, (x, top - h + sunk, x + w, top + sunk), "lies", large)
        thing.relations.append(("on", surface))

    def hold(self, name: str, person: Drawn) -> None:
        kind, large, w, h = self.measured(name)
        left, top, right, bottom = person.box
        side = self.draw.choice((left, right)) - w // 2
        x, y = min(max(0, side), self.width - w), min((top + bottom) // 2, self.height - h)
        person.relations.append(("holding", self.add(name, kind, (x, y, x + w, y + h), "held", large)))

    def inside(self, name: str, kind: ThingKind, zone: Zone, whole: Drawn, layer: str) -> None:
        left, top, right, bottom = whole.box
        w, h = right - left, bottom - top
        x1, y1 = left + int(w * zone[2]), top + int(h * zone[0])
        box = (x1, y1, max(x1 + 1, left + int(w * zone[3])), max(y1 + 1, top + int(h * zone[1])))
        thing = self.add(name, kind, box, layer)
        if layer == "worn":
            whole.relations.append(("wearing", thing))
        else:
            thing.relations.append(("of", whole))

    def relate(self) -> None:
        """Every relation between whole things that their boxes decide."""
        bodies = [thing for thing in self.things if thing.layer not in ("back", "worn", "part")]
        linked = {frozenset((id(a), id(b))) for a in self.things for _, b in a.relations}
        for a, b in permutations(bodies, 2):
            if frozenset((id(a), id(b))) in linked:
                continue
            tests = dict(EVERYWHERE)
            if "hangs" in (a.layer, b.layer):
                tests |= HANGING
            if a.layer == b.layer == "stands":
                tests |= STANDING
            a.relations += [(name, b) for name, holds in tests.items() if holds(a.box, b.box, self.width)]
