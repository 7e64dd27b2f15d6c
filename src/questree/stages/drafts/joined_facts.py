"""Facts about the images of a part from those of its ranges: columns end to end, with numbers shifted by what comes
before, and postings sorted some at a time."""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.lib.format import open_memmap
from numpy.typing import NDArray

from questree.search.index import TARGET
from questree.search.mapped import ENDING, mapped, write_columns
from questree.search.same_words import SameWords
from questree.stages.drafts.part_facts import IMAGE_IDS, OF_POSTINGS, THING_IDS, join_notes
from questree.tables.store import new_folder

ENTRIES = 1 << 22  # of postings that are sorted at once, about


class Placed(NamedTuple):
    """How a column of a range becomes some rows of a column of all."""

    shift: tuple[str, ...] = ()  # what is added to each of its columns, "" for nothing
    last: int = 0  # rows at the end that only the last range has


PLACED = {
    "rows": Placed(),
    "area": Placed(),
    "boxes": Placed(),
    "scenes first_thing": Placed(("things",), 1),
    "scenes things": Placed(("", "attributes", "edges"), 1),
    "scenes attribute": Placed(),
    "scenes edges": Placed(("", "things", "hanging"), 1),
    "scenes hanging": Placed(("", "things")),
}
OF_A_CORPUS = {
    "first_page": Placed(("pages",), 1),
    "image_of": Placed(("images",)),
    "first_thing": Placed(("things",), 2),
    "first_attribute_on": Placed(("attributes",), 2),
    "first_edge_on": Placed(("links",), 2),
    "is_next": Placed(last=2),
    "name": Placed(last=1),
    "first_attribute": Placed(("attributes",), 2),
    "attribute": Placed(),
    "bearer": Placed(),
    "first_edge": Placed(("links",), 2),
    "link": Placed(last=1),
    "subject": Placed(last=1),
    "target": Placed(("things",), 1),
    "target_page": Placed(last=1),
    "target_bit": Placed(last=1),
    "informative": Placed(last=1),
}


def put_together(pieces: Sequence[Path], same: SameWords, out: Path) -> None:
    """The facts of a part from those of its ranges."""
    with new_folder(out) as work:
        before = list(_before(pieces))
        columns = PLACED | {f"corpus {name}": placed for name, placed in OF_A_CORPUS.items()}
        columns |= {f"merged {name}": placed for name, placed in OF_A_CORPUS.items()} if same else {}
        for name, placed in columns.items():
            _place(pieces, name, placed, before, work)
        for name in ("corpus", "merged") if same else ("corpus",):
            _save(work, f"{name} group_of", mapped(pieces[0], f"{name} group_of"))
        for name in ("ends", "links"):
            _save(work, name, np.unique(np.concatenate([mapped(piece, name) for piece in pieces])))
        _merge(pieces, [own["images"] for own in before], work)
        for table in (IMAGE_IDS, THING_IDS):
            table.write_piece(pl.concat([table.read_piece(piece) for piece in pieces]), work)
        join_notes(pieces, work)


def _before(pieces: Sequence[Path]) -> Iterator[dict[str, int]]:
    """What each of them has before it."""
    counted = {
        "images": "rows",
        "things": "boxes",
        "attributes": "scenes attribute",
        "edges": "scenes edges",
        "hanging": "scenes hanging",
        "pages": "corpus image_of",
        "links": "corpus link",
    }
    found = dict.fromkeys(counted, 0)
    for piece in pieces:
        yield dict(found)
        for what, name in counted.items():
            found[what] += len(mapped(piece, name)) - (what in ("edges", "links"))  # the last one stands for none


def _place(pieces: Sequence[Path], name: str, placed: Placed, before: Sequence[dict[str, int]], folder: Path) -> None:
    columns = [mapped(piece, name) for piece in pieces]
    rows = sum(len(column) - placed.last for column in columns) + placed.last
    shape, kind = (rows, *columns[0].shape[1:]), columns[0].dtype
    whole, at = _new(folder, name, shape, kind), 0
    side_by_side = whole.reshape(rows, 1 if len(shape) == 1 else shape[1])
    for number, (column, own) in enumerate(zip(columns, before, strict=True)):
        end = len(column) if number == len(columns) - 1 else len(column) - placed.last
        whole[at : at + end] = column[:end]
        for place, what in enumerate(placed.shift):
            side_by_side[at : at + end, place] += own.get(what, 0)
        at += end
    if name == "scenes edges":
        whole[-1, TARGET] = 0  # of the one that stands for none


def _new(folder: Path, name: str, shape: tuple[int, ...], kind: Any) -> NDArray[Any]:
    """A column to be filled, in its file."""
    if not shape[0]:  # a file without content cannot be mapped
        _save(folder, name, np.zeros(shape, kind))
        return np.zeros(shape, kind)
    return open_memmap(folder / f"{name}{ENDING}", "w+", kind, shape)


def _merge(pieces: Sequence[Path], first: Sequence[int], folder: Path) -> None:
    """Postings of all ranges by key, some keys at a time. first: [piece] number of its first image."""
    own = [tuple(mapped(piece, f"postings {name}") for name in OF_POSTINGS) for piece in pieces]
    total = sum(len(image) for _, _, image in own)
    found, at = _new(folder, "postings image", (total,), np.int32), 0
    keys, counts = list[NDArray[Any]](), list[NDArray[Any]]()
    for low, high in pairwise(_cuts([key for key, _, _ in own], total)):
        parts = list[tuple[NDArray[Any], NDArray[Any]]]()
        for (key, begin, image), shift in zip(own, first, strict=True):
            i, j = np.searchsorted(key, [low, high])
            parts.append((np.repeat(key[i:j], np.diff(begin[i : j + 1])), image[begin[i] : begin[j]] + np.int32(shift)))
        key, image = (np.concatenate(each) for each in zip(*parts, strict=True))
        order = np.argsort(key, kind="stable")
        different, count = np.unique(key[order], return_counts=True)
        found[at : at + len(image)] = image[order]
        at += len(image)
        keys.append(different)
        counts.append(count)
    _save(folder, "postings key", np.concatenate(keys))
    _save(folder, "postings begin", np.append(0, np.cumsum(np.concatenate(counts))))


def _cuts(keys: Sequence[NDArray[Any]], total: int) -> list[int]:
    """Keys between which there are about ENTRIES postings."""
    buckets = -(-total // ENTRIES)
    sample = np.sort(np.concatenate([key[:: max(1, len(key) // 512)] for key in keys]))
    inner = sample[np.arange(1, buckets) * len(sample) // max(buckets, 1)] if buckets > 1 else sample[:0]
    return [0, *np.unique(inner).tolist(), np.iinfo(np.int64).max]


def _save(folder: Path, name: str, column: NDArray[Any]) -> None:
    write_columns({name: column}, folder)
