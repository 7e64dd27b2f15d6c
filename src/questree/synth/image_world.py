"""The made-up world of images: places, what each thing may look like, and the relations that boxes decide."""

from collections.abc import Callable
from functools import cache
from importlib import resources

import msgspec

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


def right_of(a: Box, b: Box, width: int) -> bool:
    return left_of(b, a, width)


def above(a: Box, b: Box, width: int) -> bool:
    """Wholly above, and over it: the widths share half of the smaller one."""
    return a[3] <= b[1] and 2 * _shared(a[0], a[2], b[0], b[2]) >= min(a[2] - a[0], b[2] - b[0])


def below(a: Box, b: Box, width: int) -> bool:
    return above(b, a, width)


def near(a: Box, b: Box, width: int) -> bool:
    """Apart, but by at most a twentieth of the image's width."""
    gap = max(a[0] - b[2], b[0] - a[2], a[1] - b[3], b[1] - a[3])
    return 0 <= gap <= width // 20


def behind(a: Box, b: Box, width: int) -> bool:
    """Partly covered by a thing that stands further down, hence nearer; both must stand on the ground."""
    overlap = _shared(a[0], a[2], b[0], b[2]) > 0 and _shared(a[1], a[3], b[1], b[3]) > 0
    return overlap and a[3] < b[3] - width // 50


def in_front_of(a: Box, b: Box, width: int) -> bool:
    return behind(b, a, width)


def _shared(low: int, high: int, other_low: int, other_high: int) -> int:
    return min(high, other_high) - max(low, other_low)


Test = Callable[[Box, Box, int], bool]
EVERYWHERE: dict[str, Test] = {"to the left of": left_of, "to the right of": right_of, "near": near}
HANGING: dict[str, Test] = {"above": above, "below": below}  # one of the two hangs
STANDING: dict[str, Test] = {"behind": behind, "in front of": in_front_of}  # both stand on the ground
