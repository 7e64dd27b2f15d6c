"""One shard of videos: all its questions and the side tables their row numbers point into."""

from dataclasses import fields
from typing import Any

import numpy as np
import polars as pl

from questree.benchmarks.agqa.templates import CODES, Template
from questree.columns.joins import Ints, starts
from questree.stages.generate.chunk import Chunk
from questree.stages.generate.existence import existence_questions
from questree.stages.generate.filters import Tally
from questree.stages.generate.questions import Questions, join, object_questions
from questree.stages.generate.sequences import action_questions
from questree.tables.questions import TABLES
from questree.tables.table import Table

NUMPY: dict[object, type[np.unsignedinteger[Any]]] = {pl.UInt8: np.uint8, pl.UInt16: np.uint16, pl.UInt32: np.uint32}
Counts = dict[str, Tally]  # per template


def questions(chunk: Chunk, counts: Counts, first_video: int) -> pl.DataFrame:
    """Every question of the chunk, by template; numbered within their video in that order."""
    tables: list[pl.DataFrame] = []
    so_far = np.zeros(chunk.videos, np.int64)  # [video] questions of the templates before
    for template in chunk.words.edition.templates:
        tally = counts.setdefault(template.name, Tally())
        found = join(of_template(template, chunk, tally))
        tally.kept += len(found.video)
        tables.append(numbered(chunk, CODES[template.name], found, so_far, first_video))
        so_far += np.bincount(found.video, minlength=chunk.videos)
    return pl.concat(tables)


def of_template(template: Template, chunk: Chunk, tally: Tally) -> list[Questions]:
    if template.every_action:
        return existence_questions(template, chunk, tally)
    about_objects = template.relations or template.every_object or template.name == "objWhatGeneral"
    if about_objects and not template.actions:
        return object_questions(template, chunk, tally)
    return action_questions(template, chunk, tally)


def numbered(chunk: Chunk, code: int, found: Questions, so_far: Ints, first_video: int) -> pl.DataFrame:
    """Small columns; what a template does not have is the largest number of its type."""
    rank = np.arange(len(found.video)) - starts(found.video, chunk.videos)[found.video]
    columns = {field.name: getattr(found, field.name) for field in fields(found)}
    flags = chunk.words.held_out.flags[columns.pop("marks")]
    columns |= {
        "number": so_far[found.video] + rank,
        "template": np.full(len(rank), code),
        "flags": flags,
        "video": found.video + first_video,
    }
    return small(TABLES[chunk.words.edition.name]["questions"], columns)


def side_tables(chunk: Chunk, first_video: int) -> dict[str, pl.DataFrame]:
    """References, action references and phrases, sorted by video: the row numbers of the questions count in them."""
    refs, acts, spans = chunk.references, chunk.actions, chunk.spans
    first, second = chunk.passes
    span = np.concatenate([first.span, second.span])
    order = np.argsort(spans.video[span], kind="stable")  # within a video the first pass comes first
    a, b = (np.concatenate([getattr(first, side), getattr(second, side)])[order] for side in "ab")
    span = span[order]
    columns = [
        ("references", {n: getattr(refs, n) for n in ("kind", "object", "relation", "time", "video")}),
        ("action_references", {n: getattr(acts, n) for n in ("kind", "action", "reference", "video")}),
        ("phrases", {"kind": spans.kind[span], "a": a, "b": b, "video": spans.video[span]}),
    ]
    tables = TABLES[chunk.words.edition.name]
    return {name: small(tables[name], data | {"video": data["video"] + first_video}) for name, data in columns}


def small(table: Table, columns: dict[str, Ints]) -> pl.DataFrame:
    """Columns as the table's small integers; -1 becomes the largest number of its type."""
    return pl.DataFrame({name: columns[name].astype(NUMPY[dtype]) for name, dtype in table.columns.items()})
