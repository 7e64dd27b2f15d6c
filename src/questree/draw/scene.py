"""What there is to see in a frame, in words and boxes: all that drawing one needs to know."""

from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Literal, NamedTuple

import msgspec

from questree.draw.canvas import Box


@dataclass(frozen=True)
class SeenThing:
    word: str
    box: Box
    relations: frozenset[str]  # of the person to it, by name
    states: frozenset[str] = frozenset()  # open, closed, on, off, full


@dataclass(frozen=True)
class Doing:
    phrase: str
    verb: str  # name of the relation it is
    thing: str  # word, empty without one


class Spell(NamedTuple):
    doing: Doing
    start: float  # seconds
    end: float


@dataclass(frozen=True)
class FrameScene:
    size: tuple[int, int]
    place: str  # rooms of one name have one colour
    who: str  # people of one name look alike
    person: Box | None
    things: tuple[SeenThing, ...]
    doing: tuple[Doing, ...]
    when: float = 0.0  # share of the video that has passed


class Where(msgspec.Struct, rename={"seen": "from"}):
    seen: Literal["top", "side"]
    at: tuple[float, float]
    fill: str


class Marks(msgspec.Struct):
    """marks.toml"""

    contacts: dict[str, str]
    lists: dict[str, list[str]]
    where: dict[str, Where]
    verbs: dict[str, str]
    actions: dict[str, list[str]]
    faces: dict[str, str]
    becomes: dict[str, tuple[str, str]]
    during: dict[str, list[str]]

    def are(self, kind: str, relations: frozenset[str]) -> bool:
        return not relations.isdisjoint(self.lists[kind])


@cache
def marks() -> Marks:
    return msgspec.toml.decode(resources.files("questree.draw").joinpath("marks.toml").read_bytes(), type=Marks)
