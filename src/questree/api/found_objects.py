"""Which objects questions and sub-questions find: what networks are guided by."""

import polars as pl

from questree.domains.images.corpus import corpus
from questree.faults import BadInput
from questree.stages.decompose.image_sets import read_sets, spoken_sets
from questree.stages.decompose.set_hierarchies import decomposed, image_ids, node_keys
from questree.stages.ground.node_evidence import found_numbers
from questree.tables.images import IMAGES, Images
from questree.tables.nodes import SETS
from questree.tables.run import Run


def of_videos(run: Run) -> pl.DataFrame:
    """Sub-questions about videos find frames; which boxes there is not told."""
    raise BadInput.at("--guided", "expected a run of image sets (covr), got videos")


def of_image_sets(run: Run) -> pl.DataFrame:
    """id, boxes: their numbers among those of the set's images; a node that several questions ask has an id of each."""
    tables, names = read_sets(decomposed(run)), IMAGES.read(run.images)["id"]
    images, tops = Images.load(run.images), tables["tops"].select("id", "node")
    # which things are meant does not depend on groups of attributes
    boxes = found_numbers(tables, images, corpus(images, {})).rename("boxes")
    keys = node_keys(spoken_sets(tables, asked=False), tops, image_ids(tables[SETS.name]["images"], names))
    parts = pl.DataFrame([keys.rename("id"), boxes])
    return pl.concat([tops.select("id", boxes=boxes.gather(tops["node"])), parts]).unique("id", keep="first")
