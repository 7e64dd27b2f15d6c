"""What the splits of a run test: which questions are novel compositions, of which lists, and which have more steps."""

import polars as pl

from questree.benchmarks.agqa import held_out
from questree.stages.questions import Bank, numbered
from questree.stages.split.declared import MORE, NOVEL
from questree.stages.split.videos import LISTS, REPORT
from questree.tables.questions import BALANCED
from questree.tables.run import Run
from questree.tables.table import Table

TEST = Table("test", BALANCED.columns)
BY_FLAGS = "novel compositions: by the flags of questions, as the run has no split; `questree split {}` makes one"


def is_split(run: Run) -> bool:
    """Does the run say what its splits test? Refuses those of other questions."""
    novel, more = (run.folder / "splits" / name for name in (NOVEL, MORE))
    found = (more / "test.parquet").is_file() and (not novel.is_dir() or (novel / f"{LISTS.name}.parquet").is_file())
    if found:
        run.refuse_stale(novel.parent / REPORT, "split")
    return found


def tested(bank: Bank, asked: pl.DataFrame) -> pl.DataFrame:
    """Questions as columns of ASKED, some of the run's videos: what is novel and what has more steps by its splits."""
    splits, videos = bank.run.folder / "splits", bank.names.is_in(asked["video"].unique().implode()).arg_true()
    near = pl.col("video").is_between(pl.lit(videos.min()), pl.lit(videos.max()))
    more = with_ids(bank, TEST.read(splits / MORE, near)).select("id", more_steps=True)
    novel = LISTS.empty() if not (splits / NOVEL).is_dir() else LISTS.read(splits / NOVEL, near)
    bits = pl.col("lists").fill_null(0)
    columns = {name: (bits & 1 << at) > 0 for at, name in enumerate(held_out.FLAGS) if name.startswith("nc_")}
    found = asked.drop("more_steps").join(more, on="id", how="left", maintain_order="left")
    found = found.join(with_ids(bank, novel).select("id", "lists"), on="id", how="left", maintain_order="left")
    flags = pl.col("more_steps").fill_null(False), pl.col("lists").is_not_null().alias("novel_comp")
    return found.with_columns(*flags, **columns).select(asked.columns)


def with_ids(bank: Bank, questions: pl.DataFrame) -> pl.DataFrame:
    return questions.with_columns(id=numbered(bank.names.gather(questions["video"]), questions["number"]))
