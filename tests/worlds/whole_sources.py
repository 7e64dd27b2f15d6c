"""Raw files read whole, by one process, as nobody but tests reads them: what is shared out must give the same."""

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl

from questree.faults import BadInput, Fault, refuse
from questree.sources.action_genome_videos import (
    OBJECTS,
    PERSONS,
    FolderColumns,
    columns_in,
    listed_in,
    missing,
    other_table,
    refuse_unlike,
)
from questree.sources.agqa import read_agqa
from questree.sources.assemble import SourceReading, assemble
from questree.sources.charades import refuse_unrated
from questree.sources.gqa import SceneFiles, scene_graph_files
from questree.sources.own_json import read_own_json
from questree.sources.runs import COUNTED_IMAGES
from questree.sources.scenes import used_twice
from questree.sources.shared_videos import TRUTH
from questree.tables.images import NAMED, TABLES, Images
from questree.tables.run import Run
from questree.tables.store import new_folder
from questree.vocabulary.words import Vocabulary


def read_action_genome(
    folder: Path, vocabulary: Vocabulary, fps: float | None = None, rates_in: Path | None = None
) -> SourceReading:
    """Facts of a folder; its frame rates may lie in another one."""
    faults = missing(folder)
    listed, told = listed_in(folder, rates_in or folder, vocabulary, fps)
    refuse([*faults, *told.faults])
    skipped = Counter(told.skipped)
    marks = columns_in(folder / OBJECTS, vocabulary, skipped)
    people = columns_in(folder / PERSONS, vocabulary, skipped)
    refuse_unrated([id for id in marks.keys["id"].unique(maintain_order=True) if id in told.unrated], fps, folder)
    return assemble(FolderColumns(listed, marks, people).rows(skipped), vocabulary, str(folder))


def read_with_truth(folder: Path, vocabulary: Vocabulary, fps: float | None = None) -> SourceReading:
    """The same; a folder `truth` inside, with the same files, holds the clean facts about the same frames."""
    raw, clean = read_action_genome(folder, vocabulary, fps), folder / TRUTH
    if not clean.is_dir():
        return raw
    truth = read_action_genome(clean, vocabulary, fps, rates_in=folder)
    refuse_unlike(other_table(raw, truth), folder)
    return replace(raw, truth=truth.facts)


def joined(first: Images, second: Images) -> Images:
    """The images of both, the first ones first; rows of the first stay what they are."""
    words = pl.concat([first.words, second.words]).unique(maintain_order=True)
    at = second.words.join(words.with_row_index("at", 0), on="word", how="left", maintain_order="left")["at"]
    shift = {"image": len(first.images), "thing": len(first.things), "edge": len(first.relations)}
    shift |= {"subject": shift["thing"], "object": shift["thing"]}

    def moved(name: str) -> pl.DataFrame:
        before: pl.DataFrame = getattr(first, name)
        table: pl.DataFrame = getattr(second, name)
        columns = [pl.col(column) + by for column, by in shift.items() if column in table.columns]
        named = [at.gather(table[column]).alias(column) for column in NAMED if column in table.columns]
        return pl.concat([before, table.with_columns(*columns, *named).cast(before.schema)])

    return Images(**{name: words if name == "words" else moved(name) for name in TABLES})


def write_image_run(images: Images, source: Path, run: Path, add: bool = False) -> dict[str, int]:
    """Write RUN/images; with `add` the images that are there stay, and these come after them. Counts of the whole."""
    if images.images.is_empty():
        raise BadInput.at(source, "no image found in these files")
    folder = Run(run).images
    if add and folder.is_dir():
        before = Images.load(folder)
        again = images.images.join(before.images, on="id", how="semi")["id"]
        refuse([Fault(f"{source}, image {name}", used_twice(name, str(run))) for name in again])
        images = joined(before, images)
    with new_folder(folder) as work:
        images.save(work)
    return {name: len(getattr(images, name)) for name in COUNTED_IMAGES}


def ingest(folder: Path, run: Path, add: bool = False) -> dict[str, int]:
    """Write RUN/images, or raise BadInput with everything that is wrong and write nothing."""
    images, odd = read_gqa(folder)
    return write_image_run(images, folder, run, add) | odd


def read_gqa(folder: Path) -> tuple[Images, Counter[str]]:
    """The images of a folder, and what was odd about them."""
    reading = read_scene_files(scene_graph_files(folder))
    return reading.done(), reading.skipped


def read_scene_files(paths: list[Path]) -> SceneFiles:
    reading = SceneFiles()
    for path in paths:
        reading.path(path)
    return reading


def read_files(paths: list[Path]) -> Images:
    return read_scene_files(paths).done()


READERS: dict[str, Callable[..., Any]] = {
    "action-genome": read_with_truth,
    "agqa": read_agqa,
    "json": read_own_json,
    "gqa": read_gqa,
}
