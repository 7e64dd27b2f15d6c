"""What is known about videos or images, as tables in words."""

import polars as pl

from questree.benchmarks import Benchmark
from questree.faults import BadInput
from questree.tables import facts, images
from questree.tables.facts import Facts
from questree.tables.images import Images
from questree.tables.run import Run
from questree.vocabulary.words import Vocabulary


def fact_table(run: Run, own: Benchmark, name: str, stage: str, raw: bool) -> pl.DataFrame:
    """One table of facts."""
    known, read = own.part("fact tables")
    if name not in known:
        raise BadInput.at("facts", f"expected a table, got {name!r}; choose from {', '.join(known)}")
    table: pl.DataFrame = read(run, name, stage, raw)
    return table


def _of_videos(run: Run, name: str, stage: str, raw: bool) -> pl.DataFrame:
    if stage not in ("facts", "raw", "truth"):
        raise BadInput.at("stage", f"expected a stage, got {stage!r}; choose from facts, raw, truth")
    stored = facts.TRACKS if name == "relations" else facts.TABLES[name]
    table = run.table(stage, stored)
    if raw:
        return facts.unpack(table) if name == "relations" else table
    return _about_videos(run, run.load(stage), name)


def _about_videos(run: Run, known: Facts, name: str) -> pl.DataFrame:
    if name == "videos":
        return known.videos
    table: pl.DataFrame = getattr(known, name)
    frames = known.frames.select("video", "frame", "number", "seconds")
    if "frame" in table.columns and name != "frames":
        table = table.join(frames, on=["video", "frame"], how="left", maintain_order="left")
    found = in_words(table.with_columns(video=known.videos["id"].gather(table["video"])), run.vocabulary())
    first = [each for each in ("video", "frame", "number", "seconds") if each in found.columns]
    return found.select(*first, pl.exclude(first))


def in_words(table: pl.DataFrame, words: Vocabulary) -> pl.DataFrame:
    """Positions in the vocabulary as names."""
    lists = {
        "object": [word.name for word in words.objects],
        "relation": [word.name for word in words.relations],
        "action": [word.phrase for word in words.actions],
    }
    spelled = {
        name: pl.Series(own, dtype=pl.String).gather(table[name])
        for name, own in lists.items()
        if name in table.columns
    }
    return table.with_columns(**spelled)


def _of_images(run: Run, name: str, stage: str, raw: bool) -> pl.DataFrame:
    known = Images.load(run.images)
    table: pl.DataFrame = getattr(known, name)
    if raw or name == "images":
        return table
    words, ids, things = known.words["word"], known.images["id"], known.things["id"]
    spelled = {each: words.gather(table[each]) for each in images.NAMED if each in table.columns}
    ends = {each: things.gather(table[each]) for each in ("thing", "subject", "object") if each in table.columns}
    found = table.with_columns(**spelled, **ends)
    if "image" in table.columns:
        return found.with_columns(image=ids.gather(table["image"]))
    if "edge" in table.columns:
        owner = known.relations["subject"].gather(table["edge"])
    else:
        owner = table["thing" if "thing" in table.columns else "subject"]
    return found.insert_column(0, ids.gather(known.things["image"].gather(owner)).alias("image"))


VIDEO_FACTS = ("videos", "frames", "objects", "persons", "relations", "actions"), _of_videos
IMAGE_FACTS = ("images", "things", "attributes", "relations", "prepositions"), _of_images
