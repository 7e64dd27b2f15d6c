"""What is known about images: things with boxes, their attributes and relations; every word a position in one list."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

from questree.tables.facts import BOX
from questree.tables.table import Table

THING, WORD = pl.UInt32, pl.UInt32  # row in `things`; row in `words`; an edge is a row in `relations`

IMAGES = Table(
    "images",
    {"id": pl.String, "split": pl.String, "width": pl.UInt32, "height": pl.UInt32, "location": pl.String},
    optional=frozenset({"width", "height", "location"}),
)
THINGS = Table("things", {"image": pl.UInt32, "id": pl.String, "name": WORD, **BOX}, optional=frozenset(BOX))
ATTRIBUTES = Table("attributes", {"thing": THING, "attribute": WORD})
RELATIONS = Table("relations", {"subject": THING, "relation": WORD, "object": THING})
PREPOSITIONS = Table(
    "prepositions", {"edge": pl.UInt32, "preposition": WORD, "object": THING}
)  # edge: row in relations
WORDS = Table("words", {"word": pl.String})
NAMED = ("name", "attribute", "relation", "preposition")  # columns of words
TABLES: Mapping[str, Table] = {t.name: t for t in (IMAGES, THINGS, ATTRIBUTES, RELATIONS, PREPOSITIONS, WORDS)}


@dataclass(frozen=True)
class Images:
    """Things are sorted by image, attributes by thing, relations by subject; inside, in the order of the source."""

    images: pl.DataFrame
    things: pl.DataFrame
    attributes: pl.DataFrame
    relations: pl.DataFrame
    prepositions: pl.DataFrame
    words: pl.DataFrame

    def save(self, folder: Path) -> None:
        for name, table in TABLES.items():
            table.write(getattr(self, name), folder)

    @classmethod
    def load(cls, folder: Path) -> "Images":
        return cls(**{each.name: TABLES[each.name].read(folder) for each in fields(cls)})


class SceneEdge(NamedTuple):
    relation: str
    object: int  # position among the things of its image
    prepositions: Sequence[tuple[str, int]] = ()  # (preposition, position of its object)


class Thing(NamedTuple):
    id: str
    name: str
    box: tuple[float, float, float, float] | None  # x1, y1, x2, y2 in pixels
    attributes: Iterable[str] = ()
    edges: Sequence[SceneEdge] = ()


@dataclass
class Gathering:
    """The tables of images that come one by one."""

    _columns: dict[str, dict[str, list[Any]]] = field(
        default_factory=lambda: {name: {column: [] for column in table.columns} for name, table in TABLES.items()}
    )
    _words: dict[str, int] = field(default_factory=dict)

    def add(
        self, id: str, split: str, size: tuple[int | None, int | None], location: str | None, things: Sequence[Thing]
    ) -> None:
        image, first = len(self._columns["images"]["id"]), len(self._columns["things"]["id"])
        edges, word = len(self._columns["relations"]["subject"]), self._word
        rows = {name: list[tuple[Any, ...]]() for name in ("things", "attributes", "relations", "prepositions")}
        for at, thing in enumerate(things, first):
            rows["things"].append((image, thing.id, word(thing.name), *(thing.box or (None,) * 4)))
            # an attribute said twice is one attribute
            rows["attributes"] += [(at, word(attribute)) for attribute in dict.fromkeys(thing.attributes)]
            for edge in thing.edges:
                row = edges + len(rows["relations"])
                rows["relations"].append((at, word(edge.relation), first + edge.object))
                rows["prepositions"] += [(row, word(name), first + target) for name, target in edge.prepositions]
        for name, values in ({"images": [(id, split, *size, location)]} | rows).items():
            self._extend(name, values)

    def done(self) -> Images:
        self._columns["words"]["word"] = list(self._words)
        made = {name: pl.DataFrame(self._columns[name], schema=dict(TABLES[name].columns)) for name in TABLES}
        return Images(**made)

    def _word(self, word: str) -> int:
        return self._words.setdefault(word, len(self._words))

    def _extend(self, table: str, rows: list[tuple[Any, ...]]) -> None:
        for column, values in zip(self._columns[table].values(), zip(*rows, strict=True), strict=bool(rows)):
            column += values
