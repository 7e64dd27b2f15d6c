"""The questions of a run as plain columns, of either medium: what an exporter from outside starts from."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import polars as pl

from questree.formats.agqa_records import answers
from questree.stages.balance.rounds import selection
from questree.stages.generate.text import lexicon, texts
from questree.stages.questions import Bank
from questree.tables.facts import SPLIT_UNSAID, VIDEOS
from questree.tables.image_questions import BALANCED, answered
from questree.tables.images import IMAGES
from questree.tables.run import Run

PLAIN: dict[str, Any] = {
    "id": pl.String,
    "about": pl.List(pl.String),  # the id of the video, or the ids of the images
    "split": pl.String,  # train, dev or test
    "template": pl.String,
    "question": pl.String,
    "answer": pl.String,
    "balanced": pl.Boolean,  # is it in the balanced selection? Without one every question is
}


def questions(run: Run) -> Iterator[pl.DataFrame]:
    """Tables with the columns of PLAIN: one per shard of questions about videos, one of all about image sets."""
    if run.questions.is_dir():
        yield from _of_videos(run)
    if run.covr.is_dir():
        yield _of_images(run)


def _of_videos(run: Run) -> Iterator[pl.DataFrame]:
    bank, chosen = Bank(run), selection(run)
    phrases, split = lexicon(bank.vocabulary, bank.edition), run.table("facts", VIDEOS)["split"]
    words = [answers(template, bank.vocabulary) for template in bank.edition.by_code]
    begin = pl.Series(np.cumsum([0, *map(len, words)])[:-1])
    names = pl.Series([template.name for template in bank.edition.by_code])
    for shard in (piece for folder in bank.folders() for piece in bank.pieces(folder)):
        asked = shard.questions
        balanced = pl.Series(np.ones(len(asked), bool))
        if chosen is not None:
            marked = chosen.select("video", "number", balanced=True)
            both = asked.join(marked, on=["video", "number"], how="left", maintain_order="left")
            balanced = both["balanced"].fill_null(False)
        row = begin.gather(asked["template"]) + asked["answer"].cast(pl.Int64)
        yield pl.DataFrame(
            {
                "id": shard.named_ids,
                "about": pl.Series([[each] for each in bank.ids], dtype=PLAIN["about"]).gather(asked["video"]),
                "split": split.replace("", SPLIT_UNSAID).gather(asked["video"]),
                "template": names.gather(asked["template"]),
                "question": texts(shard, phrases),
                "answer": pl.concat(words).gather(row),
                "balanced": balanced,
            },
            schema=PLAIN,
        )


def _of_images(run: Run) -> pl.DataFrame:
    table, ids = answered(run), IMAGES.read(run.images)["id"]
    chosen = BALANCED.read(run.covr)["id"] if (run.covr / f"{BALANCED.name}.parquet").is_file() else table["id"]
    listed = table.with_row_index("row").select("row", "images").explode("images").drop_nulls()
    about = listed.with_columns(about=ids.gather(listed["images"])).group_by("row", maintain_order=True).agg("about")
    named = table.with_row_index("row").join(about, on="row", how="left", maintain_order="left")
    return named.with_columns(balanced=pl.col("id").is_in(chosen.implode())).select(*PLAIN)
