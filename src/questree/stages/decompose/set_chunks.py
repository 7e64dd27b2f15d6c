"""Questions about image sets taken apart by chunks of sets: workers write tables of their own, which are joined."""

import pickle
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import msgspec
import numpy as np
import polars as pl

from questree.columns.joins import Ints
from questree.domains.images import Corpus, corpus
from questree.rules import IMAGE_DAGS
from questree.search.same_words import SameWords
from questree.search.word_tables import WordTables
from questree.stages.decompose.columns import edge_table, form_table, leaves, node_table
from questree.stages.decompose.expand import expand
from questree.stages.decompose.image_sets import AskedSets, answered_nodes, batches, some
from questree.stages.decompose.set_nodes import ChunkCounts, JoinedNodes, RankedForm, put_together
from questree.stages.decompose.spoken import SetTexts, say
from questree.stages.split.image_sets import selected
from questree.tables.images import Images
from questree.tables.nodes import ASKED_TOPS, FORMS, SETS, WORDS, nodes_about
from questree.tables.owners import part
from questree.tables.run import Run, kept_while
from questree.tables.store import new_folder
from questree.workers import processes, results

QUESTIONS = 1 << 14  # of a chunk, unless more are about one set


@dataclass(frozen=True)
class ImageDecomposeSummary:
    questions: int
    unknown: int  # questions that no template asks: left out
    without_parts: int
    nodes: int
    edges: int
    types: dict[str, int]
    undefined: dict[str, int]  # nodes without an answer, by type
    different: list[str]  # ids of questions whose stored answer is not the executed one


ChunkTables = dict[str, pl.DataFrame]  # nodes, edges, tops (question, node); nodes and forms numbered by themselves


@dataclass(frozen=True)
class SetsTask:
    """The questions about some sets, small enough to send anywhere that sees the run."""

    run: Path
    every: bool
    groups: bytes  # of attributes, pickled: word tables may lie where only the client sees them
    begin: int  # sets begin <= s < end
    end: int
    out: Path


def decompose_run(
    run: Run, words: WordTables, every: bool = False, workers: int = 1, words_from: Path | None = None
) -> ImageDecomposeSummary:
    """Write RUN/covr/decomposed/, whole or not at all; the balanced questions, or every one."""
    groups = pickle.dumps(words.attribute_group)
    asked = asked_sets(run.folder, every, groups)
    with new_folder(run.covr / "decomposed") as folder:
        with part(folder / "parts", folder=True) as parts:
            tasks = [
                SetsTask(run.folder, every, groups, begin, end, parts / f"{at:05d}")
                for at, (begin, end) in enumerate(pairwise(layout(asked)))
            ]
            with processes(workers, tasks=min(workers, len(tasks))) as pool:
                futures = {f"sets {task.begin}-{task.end - 1}": pool.submit(write_chunk, task) for task in tasks}
                counts = results(futures, "decompose")
                written = put_together(parts, counts, folder, pool)
        write_listed(asked, written, folder)
        options = {"all": every, "words": str(words_from or "")}
        (folder / "plan.json").write_bytes(msgspec.json.encode({"options": options}))
    return summary_of(asked, counts)


def write_listed(asked: AskedSets, written: JoinedNodes, folder: Path) -> None:
    """What is known without the nodes, and which of them each question is."""
    for name, table in (listed(asked, written.forms) | {ASKED_TOPS.name: tops_of(asked, written.tops)}).items():
        table.write_parquet(folder / f"{name}.parquet", compression="zstd", compression_level=1)


@kept_while("covr/questions.parquet", "covr/balanced.parquet", "images")
def asked_sets(folder: Path, every: bool, packed: bytes) -> AskedSets:
    run, groups = Run(folder), pickle.loads(packed)
    questions, images = selected(run, every), Images.load(run.images)
    same = SameWords.of(images)
    return AskedSets.of(questions, corpus(images, groups), same, corpus(same.merged(images), groups) if same else None)


def layout(asked: AskedSets) -> list[int]:
    """Where chunks of sets begin, and the end."""
    ends = np.cumsum(np.bincount(asked.scope, minlength=len(asked.sets)))
    cuts = np.searchsorted(ends, np.arange(QUESTIONS, len(asked.scope), QUESTIONS), side="right")
    return [0, *sorted({*cuts.tolist()} - {0, len(asked.sets)}), len(asked.sets)]


def write_chunk(task: SetsTask) -> ChunkCounts:
    asked = asked_sets(task.run, task.every, task.groups)
    rows = np.flatnonzero((asked.scope >= task.begin) & (asked.scope < task.end))
    tables, counts = taken_apart(asked, rows)
    with new_folder(task.out) as folder:
        for name, table in tables.items():
            table.write_ipc(folder / f"{name}.arrow")
    return counts


def decompose(questions: pl.DataFrame, corpus: Corpus) -> dict[str, pl.DataFrame]:
    """Columns of tables/image_questions.ANSWERED -> the tables of tables/nodes.py about sets."""
    asked = AskedSets.of(questions, corpus)
    tables, counts = taken_apart(asked, np.arange(len(asked.questions)))
    tops = tables.pop("tops")["node"].to_numpy()
    return listed(asked, counts.forms) | tables | {ASKED_TOPS.name: tops_of(asked, tops)}


def listed(asked: AskedSets, forms: Sequence[RankedForm]) -> dict[str, pl.DataFrame]:
    """Sets, words and forms."""
    return {
        SETS.name: pl.DataFrame({"images": list(map(list, asked.sets))}, schema=dict(SETS.columns)),
        WORDS.name: pl.DataFrame({"word": asked.said.words}, schema=dict(WORDS.columns)),
        FORMS.name: pl.DataFrame([form[1:] for form in forms], schema=dict(FORMS.columns), orient="row"),
    }


def tops_of(asked: AskedSets, node: Ints) -> pl.DataFrame:
    """node: [question]"""
    return ASKED_TOPS.frame({**asked.questions.select("id", "question").to_dict(), "node": node})


def taken_apart(asked: AskedSets, rows: Ints) -> tuple[ChunkTables, ChunkCounts]:
    """Some of the questions; they are all that are about their sets."""
    blocks, tops = expand(asked.forms, batches(some(asked.programs, rows), asked.forms, asked.scope[rows]), len(rows))
    answers, how = answered_nodes(asked, blocks, tops)
    widest = max((len(block.form.slots) for block in blocks), default=0)
    nodes = node_table(blocks, answers, how, 0, nodes_about("set", widest, pl.UInt32), np.uint32)
    tables = {
        "nodes": nodes,
        "edges": edge_table(blocks, answers, IMAGE_DAGS.compositions)[0],
        "tops": pl.DataFrame({"question": rows, "node": tops}),
    }
    said = say(form_table(blocks), nodes, SetTexts(pl.Series(asked.said.words, dtype=pl.String)), columns=("answer",))
    other = said["answer"].gather(tops).ne_missing(asked.questions["answer"].gather(rows))
    silent = np.bincount(nodes["form"].filter(said["answer"].is_null()), minlength=len(blocks))
    forms = [RankedForm(-own.height, own.text, own.type, len(own.parts)) for own in (block.form for block in blocks)]
    sizes = np.array([len(block) for block in blocks], np.int64)
    return tables, ChunkCounts(forms, sizes, silent, leaves(blocks, tops), rows[other.to_numpy()], widest)


def summary_of(asked: AskedSets, counts: Sequence[ChunkCounts]) -> ImageDecomposeSummary:
    nodes, undefined = Counter[RankedForm](), Counter[RankedForm]()
    for own in counts:
        nodes.update(dict(zip(own.forms, own.nodes.tolist(), strict=True)))
        undefined.update(dict(zip(own.forms, own.undefined.tolist(), strict=True)))
    different = np.sort(np.concatenate([np.zeros(0, np.int64), *(own.different for own in counts)]))
    return ImageDecomposeSummary(
        len(asked.questions),
        asked.unknown,
        sum(own.without_parts for own in counts),
        nodes.total(),
        sum(form.parts * number for form, number in nodes.items()),
        by_type(nodes),
        by_type(undefined),
        asked.questions["id"].gather(different).to_list(),
    )


def by_type(counts: Counter[RankedForm]) -> dict[str, int]:
    """In the order of the nodes."""
    found = Counter[str]()
    for form in sorted(form for form in counts if counts[form]):
        found[form.type] += counts[form]
    return dict(found)
