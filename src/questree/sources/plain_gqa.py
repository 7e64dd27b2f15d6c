"""GQA's questions and scene graphs as columns, where they are written plainly."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import polars as pl

from questree.columns.json_values import ANY, KEY, Kind, NotPlain, json_values
from questree.tables.scored import GROUNDED, Annotated, Boxes
from questree.tables.store import content

Paths = dict[tuple[str, ...], Kind]
ASKED: Paths = dict.fromkeys([(KEY,), (ANY, "imageId"), (ANY, "answer"), (ANY, "types", "structural")], "string")
SIDES: Paths = dict.fromkeys([(ANY, "objects", ANY, side) for side in "xywh"], "number")
SCENES: Paths = {(KEY,): "string", (ANY, "objects", KEY): "string", **SIDES}


def plain_annotated(questions: Sequence[Path], scene_graphs: Path, parts: Sequence[str]) -> Annotated:
    """`parts`: those of a question whose words are looked up; refuses what a careful reader must look at."""
    objects, boxes = _objects(scene_graphs)
    asked, about = (pl.concat(tables) for tables in zip(*(_questions(path, parts) for path in questions), strict=True))
    found = about.join(objects, on=["image", "name"], how="left", maintain_order="left")["box"]
    if len(found) > len(about) or found.null_count() or asked["id"].n_unique() < len(asked):
        raise NotPlain
    start = np.concatenate([[0], np.cumsum(asked["words"].to_numpy())])
    return Annotated(GROUNDED.frame(asked), boxes, found.to_numpy(), start)


def _questions(path: Path, parts: Sequence[str]) -> tuple[pl.DataFrame, pl.DataFrame]:
    """GROUNDED with the number of annotated words; and (image, name) of these words' objects."""
    words: Paths = dict.fromkeys([(ANY, "annotations", part, ANY) for part in parts], "string")
    found = json_values(_content(path), ASKED | words)
    id, image, answer, structural = map(found.each, range(len(ASKED)))
    record, _, name = found.under(*range(len(ASKED), len(ASKED) + len(words)))
    count = np.bincount(record, minlength=found.records)
    asked = pl.DataFrame({"id": id, "image": image, "answer": answer, "structural": structural, "words": count})
    return asked, pl.DataFrame({"image": image.gather(record), "name": name})


def _objects(path: Path) -> tuple[pl.DataFrame, Boxes]:
    """(image, name, box) of all objects, and the boxes."""
    found = json_values(_content(path), SCENES)
    record, begin, name = found.under(1)
    end, sides = np.append(begin[1:], len(found.text)), []
    for side in range(2, len(SCENES)):
        place, written = found.numbers(side)
        if len(place) != len(begin) or not ((begin < place) & (place < end)).all():  # an object has each side once
            raise NotPlain
        sides.append(written)
    x, y, wide, high = sides
    boxes = np.stack([x, y, x + wide, y + high], axis=1)
    if np.isnan(boxes).any():
        raise NotPlain
    numbers = pl.int_range(len(name), dtype=pl.Int64, eager=True)
    return pl.DataFrame({"image": found.each(0).gather(record), "name": name, "box": numbers}), boxes


def _content(path: Path) -> bytes:
    if not path.is_file():
        raise NotPlain
    return content(path)
