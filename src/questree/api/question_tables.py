"""Questions of a run as a table in words, of either medium: text and program are made only if they are asked for."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import polars as pl

from questree.api.splits import questions_of
from questree.benchmarks import AGQA, COVR, Benchmark
from questree.faults import Fault, refuse
from questree.scoring.run_scores import COLUMNS as NEEDED
from questree.scoring.run_scores import records
from questree.stages.balance.rounds import between, selection
from questree.stages.decompose.hierarchies import image_ids
from questree.stages.decompose.keys import rows_of
from questree.stages.generate.programs import programs
from questree.stages.generate.text import lexicon, texts
from questree.stages.questions import Bank, joined
from questree.tables.facts import SPLIT_UNSAID, VIDEOS
from questree.tables.image_questions import BALANCED, answered
from questree.tables.images import IMAGES
from questree.tables.questions import QUESTIONS, ascending, with_programs
from questree.tables.run import Run
from questree.tables.scored import FLAGS

SHARED = ("id", "scope", "split", "question", "answer", "program", "template")  # columns of either medium, the first
OF_VIDEOS = (*SHARED, "steps", "structural", "semantic", "reasoning", "binary", *FLAGS, "direct", "balanced")
OF_IMAGES = (*SHARED, "length", "depth", "attributes", "pair", "balanced")
THREADS = 2
TOGETHER = 8  # shards that are put into words at once: templates and frames are gone through once for all of them


def question_table(
    run: Run,
    own: Benchmark,
    split: str | None = None,
    balanced: bool = True,
    columns: Sequence[str] | None = None,
    raw: bool = False,
) -> pl.DataFrame:
    """Of one split or all; the balanced selection, if there is one, or every question."""
    if raw:
        return _raw_images(run, split, balanced) if own is COVR else _raw_videos(run, split, balanced)
    known = OF_IMAGES if own is COVR else OF_VIDEOS
    columns = [columns] if isinstance(columns, str) else columns
    strange = [name for name in columns or () if name not in known]
    refuse([Fault("columns", f"expected a column, got {name!r}; choose from {', '.join(known)}") for name in strange])
    wanted = known if columns is None else columns
    table = (_images if own is COVR else _videos)(run, split, balanced, frozenset(wanted))
    return table.select(wanted)


def _wanted(run: Run, split: str | None, selected: pl.DataFrame | None) -> tuple[pl.Series, pl.DataFrame | None]:
    """[video] is it of the split? And the questions that are listed, by video and number, if not all of them."""
    side = run.table("facts", VIDEOS)["split"].replace("", SPLIT_UNSAID)
    everywhere = pl.Series(np.ones(len(side), bool))
    if split is None:
        return everywhere, selected
    made = questions_of(run, AGQA, split, side.unique().to_list())
    if made is None:
        return side == split, selected
    keys = ["video", "number"]
    made = made if selected is None else made.join(selected, on=keys, how="semi")
    return everywhere, made.select(keys).sort(keys)


def _chosen(asked: pl.DataFrame, inside: pl.Series, selected: pl.DataFrame | None) -> pl.DataFrame:
    """The questions of a shard that are listed, by video and number."""
    wanted = asked if selected is None else between(selected, asked)
    if not inside.all():
        wanted = wanted.filter(inside.gather(wanted["video"]))
    if selected is not None:
        return asked[rows_of(asked, wanted, "balanced", "balance")]
    return wanted if ascending(wanted) else wanted.sort("video", "number")


def _raw_videos(run: Run, split: str | None, balanced: bool) -> pl.DataFrame:
    """As they are stored: positions in vocabulary.toml, rows of side tables."""
    bank, (inside, selected) = Bank(run), _wanted(run, split, selection(run) if balanced else None)
    tables = [QUESTIONS.read(folder) for folder in bank.folders()]
    return pl.concat([QUESTIONS.empty(), *tables][bool(tables) :]).pipe(_chosen, inside, selected)


def _videos(run: Run, split: str | None, balanced: bool, wanted: frozenset[str]) -> pl.DataFrame:
    bank, selected = Bank(run), selection(run)
    inside, only = _wanted(run, split, selected if balanced else None)
    words = lexicon(bank.vocabulary, bank.edition)

    def some(folders: Sequence[Path]) -> pl.DataFrame:
        whole = map(bank.shard, folders)
        listed = [each.where(_chosen(each.questions, inside, only)) for each in whole]
        shard = joined(listed)
        more = {"question": texts(shard, words)} if "question" in wanted else {}
        more |= {"program": programs(shard)} if "program" in wanted else {}
        return shard.questions.select(*NEEDED.columns).with_columns(**more)

    with ThreadPoolExecutor(THREADS) as pool:
        folders = bank.folders()
        table = pl.concat(pool.map(some, (folders[at : at + TOGETHER] for at in range(0, len(folders), TOGETHER))))
    side = run.table("facts", VIDEOS)["split"].replace("", SPLIT_UNSAID)
    names = pl.Series([template.name for template in bank.edition.by_code], dtype=pl.String)
    kept: pl.Expr | pl.Series = pl.lit(True)
    if selected is not None and not balanced and "balanced" in wanted:
        marked = selected.with_columns(balanced=pl.lit(True))
        kept = table.join(marked, on=["video", "number"], how="left", maintain_order="left")["balanced"].fill_null(
            False
        )
    found = records(bank, table).rename({"video": "scope"})
    return found.with_columns(
        *(table[name] for name in ("question", "program") if name in table.columns),
        split=side.gather(table["video"]),
        template=names.gather(table["template"]),
        balanced=kept,
    )


def _raw_images(run: Run, split: str | None, balanced: bool) -> pl.DataFrame:
    table = answered(run)
    made = None if split is None else questions_of(run, COVR, split, table["split"].unique().to_list())
    if made is not None:
        table = table.join(made, on="id", how="semi", maintain_order="left")
    elif split is not None:
        table = table.filter(split=split)
    if balanced and (run.covr / f"{BALANCED.name}.parquet").is_file():
        table = table.join(BALANCED.read(run.covr), on="id", how="semi", maintain_order="left")
    return table


def _images(run: Run, split: str | None, balanced: bool, wanted: frozenset[str]) -> pl.DataFrame:
    table = _raw_images(run, split, balanced)
    kept: pl.Expr | pl.Series = pl.lit(True)
    if (run.covr / f"{BALANCED.name}.parquet").is_file():
        kept = table["id"].is_in(BALANCED.read(run.covr)["id"].implode())
    scope = (
        image_ids(table["images"], IMAGES.read(run.images)["id"])
        if len(table)
        else pl.Series([], dtype=pl.List(pl.String))
    )
    return (with_programs(table) if "program" in wanted else table).with_columns(scope=scope, balanced=kept)
