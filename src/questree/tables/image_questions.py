"""Questions about sets of images, and which of them are kept, as columns."""

import polars as pl

from questree.tables.table import Table

ANSWERED = Table(  # RUN/covr/questions.parquet, in the order they were made
    "questions",
    {
        "id": pl.String,
        "split": pl.String,  # train, dev or test
        "template": pl.String,  # COUNT, VERIFYLOGIC, ...
        "question": pl.String,
        "answer": pl.String,  # "yes", "no", a number or a word
        "program": pl.String,  # in our own notation
        "images": pl.List(pl.UInt32),  # rows in `images`
        "length": pl.UInt8,  # nodes and relations of its largest reference
        "depth": pl.UInt8,  # of its deepest reference
        "attributes": pl.UInt8,  # of all its references
        "pair": pl.UInt32,  # equal for questions of one text that were made together with other images and answers
    },
)
BALANCED = Table("balanced", {"id": pl.String})  # RUN/covr/balanced.parquet
