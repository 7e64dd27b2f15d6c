"""Images that were read become RUN/images, alone or beside the images of another source."""

from pathlib import Path

import polars as pl

from questree.faults import BadInput, Fault, refuse
from questree.tables.images import Images, joined
from questree.tables.run import Run
from questree.tables.store import new_folder

COUNTED = ("images", "things", "attributes", "relations", "prepositions", "words")


def write_image_run(images: Images, source: Path, run: Path, add: bool = False) -> dict[str, int]:
    """Write RUN/images; with `add` the images that are there stay, and these come after them. Counts of the whole."""
    if images.images.is_empty():
        raise BadInput.at(source, "no image found in these files")
    folder = Run(run).images
    if add and folder.is_dir():
        before = Images.load(folder)
        again = images.images.join(before.images, on="id", how="semi")["id"]
        refuse(
            [Fault(f"{source}, image {name}", f"image id {name} is used twice; it is also in {run}") for name in again]
        )
        images = joined(before, images)
    with new_folder(folder) as work:
        images.save(work)
    return {name: len(getattr(images, name)) for name in COUNTED} | {"boxes_outside": _boxes_outside(images)}


def _boxes_outside(images: Images) -> int:
    """Boxes that stick out of their image: common in the released files, so counted and kept as they are."""
    sizes = images.images.select("width", "height").with_row_index("image")
    boxes = images.things.join(sizes, on="image")
    out = (pl.col("x1") < 0) | (pl.col("y1") < 0) | (pl.col("x2") > pl.col("width")) | (pl.col("y2") > pl.col("height"))
    return boxes.filter(out).height
