"""What a run's questions are: counts in one pass over its shards, and the text of a few of them."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl

from questree.progress import watch
from questree.stages.audit.counts import answer_codes, selected
from questree.stages.audit.sample import sample
from questree.stages.balance.work import selection
from questree.stages.questions import Bank
from questree.tables.facts import VIDEOS
from questree.tables.nodes import COMPOSITIONS, EDGES, FORMS, KNOWN, NODES
from questree.tables.questions import QUESTIONS
from questree.tables.run import Run
from questree.tables.table import Table

ASKED = Table(QUESTIONS.name, {name: QUESTIONS.columns[name] for name in ("video", "number", "template", "answer")})
LINKS = Table(EDGES.name, {name: EDGES.columns[name] for name in ("parent", "label")})
FORMED = Table(NODES.name, {name: NODES.columns[name] for name in ("form", "known")})
TEXTS = 20_000  # questions whose text is made


@dataclass(frozen=True)
class Corpus:
    balanced: bool  # is there a selection? if not, before and after are the same
    videos: int
    counts: pl.DataFrame  # template, answer, before, after: questions of all and of the selection
    texts: pl.Series  # of a fixed share of the selection, chosen by a hash


def corpus(run: Run, seed: int, workers: int = 2) -> Corpus:
    """Of a run that has questions."""
    bank, chosen = Bank(run), selection(run)
    test = (run.table("facts", VIDEOS)["split"] != "train").to_numpy()
    with ThreadPoolExecutor(workers) as pool:
        folders = bank.folders()
        parts = watch(pool.map(lambda folder: counted(folder, chosen), folders), "counting answers", len(folders))
        counts = pl.concat(list(parts)).group_by("template", "answer").agg(pl.col("before", "after").sum())
        share = min(1.0, TEXTS / max(int(counts["after"].sum()), 1))
        texts = sample(bank, test, chosen, (share, share), seed, pool)["question"]
    return Corpus(chosen is not None, len(bank.ids), counts.sort("template", "answer"), texts)


def counted(folder: Path, chosen: pl.DataFrame | None) -> pl.DataFrame:
    questions = ASKED.read(folder)
    after = pl.Series(selected(questions, chosen))
    table = questions.select("template", answer=pl.Series(answer_codes(questions).astype(np.uint16)), after=after)
    return table.group_by("template", "answer").agg(before=pl.len(), after=pl.col("after").sum())


@dataclass(frozen=True)
class Parts:
    """What questions fall into; names with their numbers."""

    types: dict[str, int]  # type -> sub-questions, each text of a video once
    compositions: dict[str, int]  # composition -> wholes put together by it
    known: dict[str, int]  # how answers are known -> sub-questions


def parts(run: Run) -> Parts:
    """Of a run that is decomposed."""
    folders = sorted(path for path in run.decomposed.iterdir() if path.is_dir())
    found = [counted_parts(folder) for folder in watch(folders, "counting sub-questions", len(folders))]
    table = pl.concat(found)
    sums = table.group_by("what", "name").agg(pl.col("n").sum())
    named = {what: dict(own.select("name", "n").rows()) for (what,), own in sums.group_by("what")}
    types = named.get("type", {})
    return Parts(
        {name: types[name] for name in sorted(types, key=lambda name: (-types[name], name))},
        {name: n for name in COMPOSITIONS if (n := named.get("composition", {}).get(name, 0))},
        {name: n for name in KNOWN if (n := named.get("known", {}).get(name, 0))},
    )


def counted_parts(folder: Path) -> pl.DataFrame:
    forms, nodes, edges = FORMS.read(folder), FORMED.read(folder), LINKS.read(folder)
    types = forms["type"].gather(nodes["form"])
    known = pl.Series(KNOWN).gather(nodes["known"])
    wholes = pl.Series(COMPOSITIONS).gather(edges.unique()["label"])
    return pl.concat([*_numbers({"type": types, "known": known, "composition": wholes})])


def _numbers(columns: dict[str, pl.Series]) -> Iterator[pl.DataFrame]:
    for what, names in columns.items():
        table = pl.DataFrame({"what": pl.repeat(what, len(names), eager=True), "name": names})
        yield table.group_by("what", "name").agg(n=pl.len().cast(pl.Int64))
