"""Questions about sets of images, and which of them are kept, as columns."""

import polars as pl

from questree.faults import BadInput
from questree.tables.questions import PROGRAM
from questree.tables.run import Run
from questree.tables.table import Table

ANSWERED = Table(  # RUN/covr/questions.parquet, in the order they were made
    "questions",
    {
        "id": pl.String,
        "split": pl.String,  # train, dev or test
        "template": pl.String,  # COUNT, VERIFYLOGIC, ...
        "question": pl.String,
        "answer": pl.String,  # "yes", "no", a number or a word
        **PROGRAM,
        "images": pl.List(pl.UInt32),  # rows in `images`
        "length": pl.UInt8,  # nodes and relations of its largest reference
        "depth": pl.UInt8,  # of its deepest reference
        "attributes": pl.UInt8,  # of all its references
        "pair": pl.UInt32,  # equal for questions of one text that were made together with other images and answers
    },
    made_by="questree generate` or `questree import covr",
)
BALANCED = Table("balanced", {"id": pl.String})  # RUN/covr/balanced.parquet
MADE_FROM = {"balanced.parquet": "balanced selection", "splits": "splits", "decomposed": "DAGs"}


def answered(run: Run) -> pl.DataFrame:
    """The image questions of a run; none are none to work with."""
    made_by = "`questree generate` makes them, `questree import covr` reads them"
    if not (run.covr / f"{ANSWERED.name}.parquet").is_file():
        raise BadInput.at(run.covr, f"no image questions here; {made_by}")
    run.require_plugins(run.covr)
    table = ANSWERED.read(run.covr)
    if table.is_empty():
        raise BadInput.at(run.covr, f"the table of image questions is empty; {made_by}")
    return table


def made_from_questions(run: Run) -> str | None:
    """What would go with the questions of a run if they were replaced, in words; None without questions."""
    if not (run.covr / f"{ANSWERED.name}.parquet").is_file():
        return None
    names = [said for name, said in MADE_FROM.items() if (run.covr / name).exists()]
    listed = " and ".join([*([", ".join(names[:-1])] if names[:-1] else []), *names[-1:]])
    verb = "is" if names == ["balanced selection"] else "are"
    return f"; their {listed} {verb} gone" if names else ""
