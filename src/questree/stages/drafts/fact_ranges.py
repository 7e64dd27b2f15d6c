"""Facts about images read by ranges: what is used in a range, and its columns as if there were no other images."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from questree.search.same_words import SameWords
from questree.stages.drafts.part_facts import PartFacts
from questree.stages.drafts.parts import only
from questree.tables.images import ATTRIBUTES, IMAGES, PREPOSITIONS, RELATIONS, THINGS, WORDS, Images
from questree.tables.store import new_folder
from questree.tables.table import Table, readable

IMAGES_OF_A_RANGE = 1 << 13


@dataclass(frozen=True)
class ImageRange:
    """Images that stand next to each other, and the rows of tables about them; small enough to send anywhere."""

    images: tuple[int, int]
    things: tuple[int, int]
    attributes: tuple[int, int]
    relations: tuple[int, int]
    part: bytes  # [image] its part, one byte each

    def __str__(self) -> str:
        return f"{self.images[0]}-{self.images[1] - 1}"

    def of(self, part: int) -> NDArray[np.bool_]:
        """[image] is it of this part?"""
        return np.asarray(np.frombuffer(self.part, np.uint8) == part)

    def load(self, folder: Path) -> Images:
        """Numbered from 0 on; the words are those of all images."""
        thing, edge = self.things[0], self.relations[0]
        hanging = PREPOSITIONS.read(folder, pl.col("edge").is_between(edge, self.relations[1] - 1))
        return Images(
            IMAGES.read(folder, rows=self.images),
            _moved(THINGS.read(folder, rows=self.things), image=self.images[0]),
            _moved(ATTRIBUTES.read(folder, rows=self.attributes), thing=thing),
            _moved(RELATIONS.read(folder, rows=self.relations), subject=thing, object=thing),
            _moved(hanging, edge=edge, object=thing),
            WORDS.read(folder),
        )


def _moved(table: pl.DataFrame, **by: int) -> pl.DataFrame:
    return table.with_columns(pl.col(name) - number for name, number in by.items())


def ranges_of(folder: Path, part: NDArray[np.uint8]) -> list[ImageRange]:
    """All images of a run. part: [image]"""
    images = [*range(0, len(part), IMAGES_OF_A_RANGE), len(part)]
    things = _begins(folder, THINGS, "image", images)
    attributes, relations = _begins(folder, ATTRIBUTES, "thing", things), _begins(folder, RELATIONS, "subject", things)
    spans = zip(*map(pairwise, (images, things, attributes, relations)), strict=True)
    return [ImageRange(a, b, c, d, part[slice(*a)].tobytes()) for a, b, c, d in spans]


def _begins(folder: Path, table: Table, column: str, at: Sequence[int]) -> list[int]:
    """Where the rows of these numbers begin in a table that is sorted by them."""
    path, below = folder / f"{table.name}.parquet", [(pl.col(column) < cut).sum().alias(str(cut)) for cut in {*at}]
    with readable(path):
        found = pl.scan_parquet(path, glob=False).select(below).collect(engine="streaming").row(0, named=True)
    return [int(found[str(cut)]) for cut in at]


Used = list[list[int]]  # kind of word -> those that are used


def used_words(folder: Path, own: ImageRange, parts: int) -> list[Used]:
    """[part] names, attributes and relations of its images in the range."""
    images = own.load(folder)
    some = (only(images, own.of(part)) for part in range(parts))
    columns = ((each.things["name"], each.attributes["attribute"], each.relations["relation"]) for each in some)
    return [[column.unique().to_list() for column in three] for three in columns]


def same_words(words: pl.Series, used: Sequence[Used]) -> SameWords:
    """Of a part, from what all ranges use."""
    names, attributes, links = (
        words.gather(sorted({row for own in used for row in own[kind]})).to_list() for kind in range(3)
    )
    return SameWords.among(names, attributes, links)


def write_range(
    folder: Path, own: ImageRange, part: int, groups: Mapping[str, str], same: SameWords, out: Path
) -> None:
    """The facts of a part in a range, as if there were no others."""
    chosen = own.of(part)
    rows = own.images[0] + np.flatnonzero(chosen)
    facts = PartFacts.of(only(own.load(folder), chosen), rows, groups, same)
    with new_folder(out) as work:
        facts.write(work)
