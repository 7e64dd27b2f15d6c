"""Which objects questions and sub-questions find: what networks are guided by."""

import polars as pl

from questree.domains.images.corpus import corpus
from questree.faults import BadInput
from questree.stages.decompose.set_hierarchies import read_sets, set_shards
from questree.stages.ground.node_evidence import found_numbers
from questree.tables.images import Images
from questree.tables.run import Run


def of_videos(run: Run) -> pl.DataFrame:
    """Sub-questions about videos find frames; which boxes there is not told."""
    raise BadInput.at("--guided", "expected a run of image sets (covr), got videos")


def of_image_sets(run: Run) -> pl.DataFrame:
    """id, boxes: their numbers among those of the set's images; a node that several questions ask has an id of each."""
    images, parts = Images.load(run.images), list[pl.DataFrame]()
    facts = corpus(images, {})  # which things are meant does not depend on groups of attributes
    for folder in set_shards(run):
        tables = read_sets(folder)
        boxes, tops = found_numbers(tables, images, facts), tables["tops"]
        parts.append(tops.select("id", boxes=boxes.gather(tops["node"])))
        parts.append(tables["nodes"].select(id="key", boxes=boxes))
    return pl.concat(parts).unique("id", keep="first")
