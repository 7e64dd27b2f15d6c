"""What is to be asked of a run: questions and every distinct sub-question once per scope, as rows and conversations."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from questree.api.dag_tables import node_table
from questree.ask.engine import Chain
from questree.ask.options import Mode
from questree.ask.requests import Item
from questree.columns.hashing import seed_of
from questree.faults import BadInput
from questree.scoring.answer_kinds import kinds
from questree.stages.decompose.hierarchies import RunHierarchies

if TYPE_CHECKING:
    from questree.api.runs import Run


Ints = NDArray[np.int64]
COLUMNS = ("id", "scope", "question", "kind")
SLICE = 4096  # rows that are put into words at a time


@dataclass(frozen=True)
class AskedItems:
    """Rows to ask, those of a scope together; and DAGs as rows, sub-questions first."""

    table: pl.DataFrame  # id, scope, question, kind
    answers: list[str]  # that questions have
    dags: list[Ints] | None = None  # [question] rows of its DAG, the question last

    def chains(self, mode: Mode) -> Iterator[Chain]:
        if mode == "alone" or self.dags is None:
            yield from (((item,),) for item in self.items())
            return
        order = slice(None, None, -1 if mode == "whole-first" else 1)
        scope = self.table["scope"].rle_id().to_numpy()
        for _, some in groupby(self.dags, key=lambda rows: int(scope[rows[-1]])):
            asked = list(some)
            rows = np.unique(np.concatenate(asked))
            known = dict(zip(rows.tolist(), items(self.table[rows], rows.tolist()), strict=True))
            yield [[known[row] for row in dag.tolist()[order]] for dag in asked]

    def items(self) -> Iterator[Item]:
        for begin in range(0, len(self.table), SLICE):
            some = self.table[begin : begin + SLICE]
            yield from items(some, range(begin, begin + len(some)))

    def scopes(self) -> list[Any]:
        return self.table["scope"].unique(maintain_order=True).to_list()


def items(table: pl.DataFrame, rows: Sequence[int]) -> Iterator[Item]:
    columns = (table[name].to_list() for name in ("id", "question", "scope", "kind"))
    return (Item(*each) for each in zip(rows, *columns, strict=True))


def asked_items(run: "Run", split: str | None, sample: int, seed: int, parts: bool, conversations: bool) -> AskedItems:
    """Of a decomposed run with sub-questions, if they are wanted; of any other the questions alone."""
    if not run._own.has(run._place, "decomposed"):
        if conversations:
            raise BadInput.at(run.folder, "expected a decomposed run for conversations; `questree decompose` makes one")
        table = run.questions(split=split, columns=["id", "scope", "question", "template", "answer"])
        table = table.with_columns(kind=kinds(table["template"], table["answer"], run.vocabulary))
        few = table[drawn(table, sample, seed)].select(COLUMNS)
        return AskedItems(by_scope(few), answers_of(table))
    dags = run._dags(split)
    nodes = node_table(dags, programs=False)
    nodes = nodes.with_columns(kind=kinds(nodes["type"], nodes["answer"], run.vocabulary))
    answers = answers_of(nodes)
    if sample:
        dags, nodes = _sampled(dags, nodes, sample, seed)
    if not parts:
        return AskedItems(by_scope(nodes.filter("asked").select(COLUMNS)), answers)
    table = by_scope(nodes.select(COLUMNS))
    return AskedItems(table, answers, _dags(dags, table) if conversations else None)


def answers_of(table: pl.DataFrame) -> list[str]:
    return table["answer"].drop_nulls().unique(maintain_order=True).to_list()


def _sampled(dags: RunHierarchies, nodes: pl.DataFrame, sample: int, seed: int) -> tuple[RunHierarchies, pl.DataFrame]:
    """The DAGs of some questions, whole."""
    found, asked = dags.hierarchies, nodes.filter("asked").select("id", "answer", template="type")
    ids = asked["id"][drawn(asked, sample, seed)]
    chosen = found.keys.is_in(ids.implode()).to_numpy()  # [key]
    top = found.nodes["key"].to_numpy()[found.begins["nodes"][1:] - 1]
    whole = replace(found.taken(np.flatnonzero(chosen[top])), isolated=_where(found.isolated, chosen))
    few = replace(dags, hierarchies=whole)
    kept = pl.concat([whole.nodes["key"], whole.isolated["key"]]).unique()
    return few, nodes.filter(pl.col("id").is_in(found.keys.gather(kept).implode()))


def _where(isolated: pl.DataFrame, chosen: NDArray[np.bool_]) -> pl.DataFrame:
    return isolated.filter(pl.Series(chosen[isolated["key"].to_numpy()]))


def drawn(asked: pl.DataFrame, count: int, seed: int) -> Ints:
    """Rows of so many questions by seed, 0: all; kinds alike often, and of each kind the answers."""
    if not count:
        return np.arange(len(asked))
    hashed = pl.Series([int(seed_of(seed, f"ask {id}")) for id in asked["id"].to_list()], dtype=pl.UInt64)
    table = asked.select("template", "answer", hash=hashed).with_row_index("row").sort("hash")
    answers = table.with_columns(of_answer=pl.int_range(pl.len()).over("template", "answer")).sort("of_answer", "hash")
    kinds = answers.with_columns(of_kind=pl.int_range(pl.len()).over("template")).sort("of_kind", "hash")
    return kinds["row"].head(count).sort().to_numpy().astype(np.int64)


def by_scope(table: pl.DataFrame) -> pl.DataFrame:
    """Scopes in the order in which they come first."""
    name = table["scope"].list.join("\0") if table.schema["scope"] == pl.List(pl.String) else table["scope"]
    first = pl.DataFrame({"name": name}).with_row_index("at").select(pl.col("at").min().over("name"))["at"]
    return table[first.arg_sort()]


def _dags(dags: RunHierarchies, table: pl.DataFrame) -> list[Ints]:
    """[question] rows, by scope of the question."""
    found = dags.hierarchies
    place = pl.DataFrame({"id": table["id"]}).with_row_index("row")
    keys = pl.DataFrame({"id": found.keys}).join(place, on="id", how="left", maintain_order="left")["row"]
    row_of = keys.fill_null(0).to_numpy().astype(np.int64)  # [key]
    own = row_of[found.nodes["key"].to_numpy()]
    begin = found.begins["nodes"]
    every = [own[begin[at] : begin[at + 1]] for at in range(len(found.dags))]
    every += [row_of[[key]] for key in found.isolated["key"].unique(maintain_order=True).to_list()]
    return sorted(every, key=lambda rows: int(rows[-1]))
