"""All that is known about the images of a part, as questions are made from it: built once, and mapped into memory by
whoever asks."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import polars as pl
from numpy.typing import NDArray

from questree.domains.images import Corpus, corpus
from questree.domains.images.corpus import ImageFacts
from questree.search.index import RELATION, WORD, Index, Postings, Scenes, boxes_of
from questree.search.mapped import mapped, write_columns
from questree.search.same_words import SameWords
from questree.stages.drafts.parts import only
from questree.tables.images import Images
from questree.tables.store import new_folder
from questree.tables.table import Table

IMAGE_IDS, THING_IDS = (Table(f"{kind} ids", {"id": pl.String}) for kind in ("image", "thing"))
NOTES = "notes.json"
OF_CORPUS = ("first_page", "image_of")  # columns beside the facts
OF_POSTINGS = ("key", "begin", "image")
OF_INDEX = ("area", "ends", "links")  # beside scenes and postings


class FactNotes(msgspec.Struct):
    """What is no column."""

    words: list[str]
    groups: tuple[str, ...]  # of attributes
    same: SameWords
    links: list[int]  # words that are relations
    hanging: list[int]  # and prepositions

    @property
    def apart(self) -> bool:
        """As in Postings."""
        return set(self.links).isdisjoint(self.hanging)


def read_notes(folder: Path) -> FactNotes:
    return msgspec.json.decode((folder / NOTES).read_bytes(), type=FactNotes)


@dataclass(frozen=True)
class PartFacts:
    rows: NDArray[np.int64]  # [image] its row among all images
    index: Index
    same: SameWords
    corpus: Corpus
    merged: Corpus | None  # with one word for what means the same; None if all words differ in meaning
    boxes: NDArray[np.float32]  # [thing, (x1, y1, x2, y2)]

    @classmethod
    def mapped(cls, folder: Path) -> "PartFacts":
        """Those that were written there."""
        notes = read_notes(folder)
        image_ids, thing_ids = (table.read_piece(folder)["id"] for table in (IMAGE_IDS, THING_IDS))
        names = image_ids.to_list()
        scenes = Scenes(**{name: mapped(folder, f"scenes {name}") for name in Scenes._fields})
        key, begin, image = (mapped(folder, f"postings {name}") for name in OF_POSTINGS)
        postings = Postings(key, begin, image, notes.apart)
        own = {name: mapped(folder, name) for name in OF_INDEX}
        index = Index(notes.words, image_ids, thing_ids, scenes, postings=postings, **own)

        def one(name: str) -> Corpus:
            facts = ImageFacts(**{column: mapped(folder, f"{name} {column}") for column in ImageFacts._fields})
            first_page, image_of = (mapped(folder, f"{name} {column}") for column in OF_CORPUS)
            return Corpus(notes.words, notes.groups, names, thing_ids, first_page, image_of, facts)

        boxes, merged = mapped(folder, "boxes"), one("merged") if notes.same else None
        return cls(mapped(folder, "rows"), index, notes.same, one("corpus"), merged, boxes)


def write_part(folder: Path, chosen: NDArray[np.bool_], groups: Mapping[str, str], out: Path) -> None:
    """The facts about some of the images in a folder. chosen: [image]"""
    with new_folder(out) as work:
        write_facts(only(Images.load(folder), chosen), np.flatnonzero(chosen), groups, work)


def write_facts(images: Images, rows: NDArray[np.int64], groups: Mapping[str, str], folder: Path) -> None:
    """What is mapped, a part after the other: they are never all in memory. rows: [image] among all images."""
    same = SameWords.of(images)
    links, hanging = _write_index(Index.of(images), folder)
    write_columns({"rows": rows, "boxes": boxes_of(images)}, folder)
    named = _write_corpus("corpus", corpus(images, groups), folder)
    if same:
        _write_corpus("merged", corpus(same.merged(images), groups), folder)
    notes = FactNotes(images.words["word"].to_list(), named, same, links, hanging)
    (folder / NOTES).write_bytes(msgspec.json.encode(notes))


def _write_index(index: Index, folder: Path) -> tuple[list[int], list[int]]:
    """Gives the words that are relations, and prepositions."""
    columns: dict[str, NDArray[Any]] = {name: getattr(index, name) for name in OF_INDEX}
    columns |= {f"postings {name}": getattr(index.postings, name) for name in OF_POSTINGS}
    write_columns(columns | _prefixed("scenes", index.scenes), folder)
    IMAGE_IDS.write_piece(index.image_ids.to_frame("id"), folder)
    THING_IDS.write_piece(index.thing_ids.to_frame("id"), folder)
    links, hanging = index.scenes.edges[:-1, RELATION], index.scenes.hanging[:, WORD]
    return np.unique(links).tolist(), np.unique(hanging).tolist()


def _write_corpus(name: str, facts: Corpus, folder: Path) -> tuple[str, ...]:
    """Gives the groups of attributes."""
    columns = {f"{name} {column}": getattr(facts, column) for column in OF_CORPUS}
    write_columns(columns | _prefixed(name, facts.facts), folder)
    return facts.groups


def _prefixed(name: str, columns: Any) -> dict[str, NDArray[Any]]:
    """The columns of a named tuple."""
    return {f"{name} {column}": own for column, own in columns._asdict().items()}
