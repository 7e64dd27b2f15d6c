"""Decompose the questions of a run, shard by shard in worker processes, into tables of nodes and edges."""

from collections import Counter
from concurrent.futures import Executor, as_completed
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import polars as pl

from questree.domains.video import Videos, videos
from questree.faults import BadInput
from questree.program import UNKNOWN, Array
from questree.progress import watch
from questree.stages.decompose.answers import ASKED, ENTAILED, NOT_FOUND, executed, known, labels
from questree.stages.decompose.expand import Block, expand
from questree.stages.decompose.forms import Forms
from questree.stages.decompose.propagate import GIVEN, NOT_KNOWN, Propagation
from questree.stages.decompose.texts import Texts
from questree.stages.decompose.told import told
from questree.stages.decompose.tops import Tops
from questree.stages.questions import Bank, Shard
from questree.tables.balanced import read_balanced
from questree.tables.facts import Facts
from questree.tables.nodes import EDGES, FORMS, KNOWN, NODES, SLOTS, TOPS
from questree.tables.run import Run
from questree.tables.store import new_folder
from questree.workers import processes

NO_SLOT = 255


@dataclass(frozen=True)
class Options:
    balanced: bool = False  # only the balanced selection, or every question
    closed: bool = True  # what is not annotated is not there
    rules_only: bool = False  # no execution: answers are those of questions, and what rules make of them


@dataclass
class Summary:
    questions: int = 0
    isolated: int = 0  # questions that have no sub-questions
    edges: int = 0
    relabelled: int = 0  # nodes whose Between edges became After and Before
    contradictions: list[str] = field(default_factory=list)  # of answers that were derived, both ways told
    types: dict[str, Counter[str]] = field(default_factory=dict)  # type -> how its answers are known

    @property
    def nodes(self) -> int:
        return sum(counts.total() for counts in self.types.values())

    def add(self, other: "Summary") -> None:
        for name in ("questions", "isolated", "edges", "relabelled"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.contradictions += other.contradictions
        for type, counts in other.types.items():
            self.types.setdefault(type, Counter()).update(counts)


def decompose(run: Run, options: Options, workers: int = 2, pool: Executor | None = None) -> Summary:
    """Write RUN/decomposed/<shard>/, whole or not at all."""
    bank = Bank(run)
    if options.balanced and not run.balanced.is_dir():
        raise BadInput.at(run.balanced, "not there yet: no balanced selection; --all takes every question")
    summary = Summary()
    with new_folder(run.decomposed) as work, pool or processes(workers) as executor:
        tasks = [(run.folder, folder.name, work / folder.name, options) for folder in bank.folders()]
        found = {executor.submit(shard, *task): task for task in tasks}
        for future in watch(as_completed(found), "decompose", len(tasks)):
            summary.add(future.result())
        (work / "plan.json").write_bytes(msgspec.json.encode({"options": options}))
    return summary


def world_is_closed(run: Run) -> bool:
    """A made-up world knows everything there is; it has its truth beside it."""
    return run.truth.is_dir()


@lru_cache(maxsize=1)
def corpus(run: Path, balanced: bool) -> tuple[Bank, Facts, Forms, pl.DataFrame | None]:
    """What all shards share, read once per process."""
    bank = Bank(Run(run))
    chosen = read_balanced(Run(run).balanced) if balanced else None
    return bank, Run(run).load("facts"), Forms(bank.vocabulary), chosen


def shard(run: Path, name: str, out: Path, options: Options) -> Summary:
    """Write the tables of one shard."""
    bank, facts, forms, chosen = corpus(run, options.balanced)
    part = bank.shard(bank.run.questions / name)
    rows = selected(part, chosen)
    out.mkdir()
    if options.rules_only:
        found = tables_by_rules(forms, part, rows)
    else:
        world = videos(facts.between(part.first, last_video(part) + 1), bank.vocabulary)
        found = tables(forms, part, rows, world, options.closed)
    for table in (FORMS, NODES, EDGES, TOPS):
        table.write(found.tables[table.name], out)
    return found.summary


def last_video(part: Shard) -> int:
    return part.first + max(len(part.seeds), 1) - 1


def selected(part: Shard, chosen: pl.DataFrame | None) -> Array:
    """Rows of the shard's questions that are decomposed."""
    if chosen is None:
        return np.arange(len(part.questions))
    mine = chosen.filter(pl.col("video").is_between(part.first, last_video(part)))
    wanted = part.questions.select("video", "number").with_row_index("row")
    return wanted.join(mine, on=["video", "number"], how="semi")["row"].to_numpy().astype(np.int64)


@dataclass(frozen=True)
class Decomposed:
    """The DAGs of some questions."""

    blocks: list[Block]
    tables: dict[str, pl.DataFrame]
    summary: Summary


def tables(forms: Forms, part: Shard, rows: Array, world: Videos, closed: bool) -> Decomposed:
    """Every node answered by execution."""
    blocks, tops = expand(forms, Tops(part, forms).batches(rows), len(rows))
    answers = executed(blocks, world)
    how = known(blocks, answers, closed)
    edges, relabelled = edge_table(blocks, answers)
    found = {"nodes": node_table(blocks, answers, how, part.first), "edges": edges, "forms": form_table(blocks)}
    found["tops"] = part.questions[rows].select("video", "number").with_columns(node=pl.Series(tops))
    summary = Summary(len(rows), leaves(blocks, tops), len(edges), relabelled, types=coverage(blocks, how))
    return Decomposed(blocks, found, summary)


def tables_by_rules(forms: Forms, part: Shard, rows: Array) -> Decomposed:
    """Nodes answered by all questions of the shard and by rules; counted are those below the questions at `rows`."""
    everything = np.arange(len(part.questions))
    blocks, tops = expand(forms, Tops(part, forms).batches(everything), len(everything))
    made = Propagation.of(forms, blocks, tops, part.questions["answer"].to_numpy().astype(np.int16)).run()
    how = np.where(made.by == GIVEN, ASKED, np.where(made.by == NOT_KNOWN, NOT_FOUND, ENTAILED)).astype(np.uint8)
    edges, _ = edge_table(blocks, np.full(len(how), UNKNOWN))  # without facts no label depends on answers
    found = {"nodes": node_table(blocks, made.answers, how, part.first), "edges": edges, "forms": form_table(blocks)}
    found["tops"] = part.questions[rows].select("video", "number").with_columns(node=pl.Series(tops[rows]))
    below = reached(blocks, tops[rows])
    clashes = told(made, found["forms"], found["nodes"], Texts(forms.vocabulary))
    links = int(below[edges["parent"].to_numpy()].sum())
    summary = Summary(len(rows), leaves(blocks, tops[rows]), links, 0, clashes, coverage(blocks, how, below))
    return Decomposed(blocks, found, summary)


def leaves(blocks: list[Block], tops: Array) -> int:
    """How many questions have no sub-questions."""
    ends = np.cumsum([len(block) for block in blocks])
    leaf = np.array([not block.form.parts for block in blocks])
    return int(leaf[np.searchsorted(ends, tops, side="right")].sum()) if len(tops) else 0


def reached(blocks: list[Block], tops: Array) -> Array:
    """[node] is it one of these questions or below one?"""
    found = np.zeros(sum(map(len, blocks)), bool)
    found[tops] = True
    for block in blocks:  # parents come first
        found[block.children[found[block.first : block.first + len(block)]].ravel()] = True
    return found


def form_table(blocks: list[Block]) -> pl.DataFrame:
    columns = {
        "program": [block.form.text for block in blocks],
        "type": [block.form.type for block in blocks],
        "parts": [len(block.form.parts) for block in blocks],
    }
    return pl.DataFrame(columns, schema=dict(FORMS.columns))


def coverage(blocks: list[Block], how: Array, counted: Array | None = None) -> dict[str, Counter[str]]:
    """Type -> how the answers of its nodes are known."""
    found: dict[str, Counter[str]] = {}
    for block in blocks:
        own = how[block.first : block.first + len(block)]
        own = own if counted is None else own[counted[block.first : block.first + len(block)]]
        counts = np.bincount(own, minlength=len(KNOWN)).tolist()
        found.setdefault(block.form.type, Counter()).update(dict(zip(KNOWN, counts, strict=True)))
    return found


def node_table(blocks: list[Block], answers: Array, how: Array, first_video: int) -> pl.DataFrame:
    total = len(answers)
    columns: dict[str, Any] = {f"s{at}": np.full(total, NO_SLOT, np.uint8) for at in range(SLOTS)}
    columns |= {"video": np.zeros(total, np.uint32), "form": np.zeros(total, np.uint16)}
    for number, block in enumerate(blocks):
        own = slice(block.first, block.first + len(block))
        columns["video"][own], columns["form"][own] = block.video + first_video, number
        for name, values in block.values.items():
            columns[name][own] = values
    missing = pl.Series(answers == UNKNOWN)
    answer = pl.Series(np.maximum(answers, 0).astype(np.uint8)).set(missing, None)
    return NODES.frame(pl.DataFrame(columns | {"known": how}).with_columns(answer=answer))


def edge_table(blocks: list[Block], answers: Array) -> tuple[pl.DataFrame, int]:
    """Edges by parent and position, and the number of Between nodes relabelled."""
    inner = [block for block in blocks if block.form.parts]
    if not inner:
        return EDGES.empty(), 0
    found = [labels(block, answers) for block in inner]
    width = [len(block.form.parts) for block in inner]
    parents = [
        np.repeat(np.arange(block.first, block.first + len(block), dtype=np.uint32), parts)
        for block, parts in zip(inner, width, strict=True)
    ]
    places = [np.tile(np.arange(parts, dtype=np.uint8), len(block)) for block, parts in zip(inner, width, strict=True)]
    columns = {
        "parent": np.concatenate(parents),
        "label": np.concatenate([own.ravel() for own, _ in found]),
        "position": np.concatenate(places),
        "child": np.concatenate([block.children.ravel() for block in inner]).astype(np.uint32),
    }
    return pl.DataFrame(columns), sum(relabelled for _, relabelled in found)
