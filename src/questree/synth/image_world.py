"""The made-up world of images as data: places, and what each thing may look like."""

from functools import cache
from importlib import resources

import msgspec

Zone = tuple[float, float, float, float]  # top, bottom, left, right as shares of the whole


class Kind(msgspec.Struct, forbid_unknown_fields=True):
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
    ground: dict[str, Kind]
    things: dict[str, Kind]
    worn: dict[str, Zone]
    worn_values: dict[str, Kind]
    parts: dict[str, Zone]
    part_values: dict[str, Kind]


@cache
def world() -> World:
    text = resources.files("questree.synth").joinpath("images.toml").read_bytes()
    return msgspec.toml.decode(text, type=World)
