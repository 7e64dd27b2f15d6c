"""Blocks of nodes as tables of forms, nodes and edges: their answers by execution, and what is counted about them."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import polars as pl

from questree.domains.video.time import between, within
from questree.rules import NO, VIDEO_DAGS, YES
from questree.stages.decompose.expand import Block
from questree.stages.decompose.forms import NodeForms
from questree.stages.decompose.negatives import Negatives, about_doing, about_existence
from questree.stages.decompose.occurrences import Occurrences
from questree.stages.generate.annotated import rests_on_relations
from questree.tables.nodes import (
    EDGES,
    EXECUTED,
    FORMS,
    KNOWN,
    LABELLED,
    NO_SUCH_ACTION,
    NODES,
    NOT_SAID,
    UNDEFINED,
    slots_of,
)
from questree.tables.store import new_file, own_note
from questree.tables.table import Table
from questree.terms import UNKNOWN, Array, Node
from questree.vocabulary.words import Vocabulary

ROWS = 1 << 16  # asked at once; some operators look at every action of a row's video
AFTER, BEFORE, BETWEEN = (VIDEO_DAGS.compositions.index(label) for label in ("After", "Before", "Between"))


def executed(
    forms: Iterable[tuple[slice, Node, dict[str, Array]]],
    scope: Array,
    run: Callable[[Node, Array, dict[str, Array]], Array],
) -> Array:
    """[node] the answer, UNKNOWN where there is none: of every form some nodes at a time.

    forms: (its nodes, the form, the words of its slots); scope: [node]; run: (form, scopes, words) -> answers.
    """
    found = np.full(len(scope), UNKNOWN, np.int32)
    for nodes, form, values in forms:
        for begin in range(nodes.start, nodes.stop, ROWS):
            rows = slice(begin, min(begin + ROWS, nodes.stop))
            own = slice(rows.start - nodes.start, rows.stop - nodes.start)
            found[rows] = run(form, scope[rows], {name: column[own] for name, column in values.items()})
    return found


def executed_blocks(blocks: list[Block], run: Callable[[Node, Array, dict[str, Array]], Array]) -> Array:
    scope = np.concatenate([np.zeros(0, np.int64), *(block.video for block in blocks)])
    return executed(((block.rows, block.form.node, block.values) for block in blocks), scope, run)


def known(blocks: list[Block], answers: Array, closed: bool, absent: Negatives, forms: NodeForms) -> Array:
    """[node] how its answer is known. In an open world an object nobody annotated may be there all the same, unless
    somebody says that it is not, or it is asked for around an action that does not occur; and in a video with actions
    alone a relation may have other objects than those of its actions. What has no class may be anything anyway."""
    found = np.where(answers == UNKNOWN, UNDEFINED, EXECUTED).astype(np.uint8)
    for block in blocks:
        found[block.rows][absent.hidden(block, answers[block.rows])] = NOT_SAID
    for block in blocks if not closed else ():
        if about_existence(block.form.node):
            own = block.rows
            said = np.where(absent.nowhere(block), NO_SUCH_ACTION, NOT_SAID)
            said = np.where(absent.believed.labelled(block, forms), LABELLED, said)
            found[own] = np.where(answers[own] == NO, said, found[own])
        elif absent.actions_only is not None and rests_on_relations(block.form.node):
            own = block.rows
            unsaid = answers[own] == NO if about_doing(block.form.node) else answers[own] != UNKNOWN
            found[own] = np.where(unsaid & absent.actions_only[block.video], NOT_SAID, found[own])
    return found


def labels(block: Block, answers: Array, compositions: Sequence[str] = VIDEO_DAGS.compositions) -> tuple[Array, int]:
    """[node, part] compositions, and how many nodes are no longer Between: no, although both sides are yes."""
    usual = np.array([compositions.index(label) for label in block.form.labels], np.uint8)
    found = np.repeat(usual[None], len(block), axis=0)
    if not in_between(block.form.node):
        return found, 0
    sides = np.flatnonzero(usual == BETWEEN)
    assert len(sides) == 2
    own = answers[block.rows]
    other = (own == NO) & (answers[block.children[:, sides]] == YES).all(1)
    found[np.ix_(other, sides)] = (AFTER, BEFORE)
    return found, int(other.sum())


def in_between(node: Node) -> bool:
    window = node.args[-1] if node.op is within else None
    return isinstance(window, Node) and window.op is between


DAGS = 1 << 17  # spelled out at once
Coverage = dict[str, Counter[str]]  # type -> how the answers of its nodes are known


@dataclass
class DecomposeSummary:
    questions: int = 0
    isolated: int = 0  # questions that have no sub-questions
    edges: int = 0
    relabelled: int = 0  # nodes whose Between edges became After and Before
    negatives: int = 0  # questions that are asked only because their answer is no
    clashes: int = 0  # answers that two ways to know them disagree about
    contradictions: list[str] = field(default_factory=list)  # the first of them, both ways told
    types: Coverage = field(default_factory=dict)
    everything: Coverage = field(default_factory=dict)  # the same for questions that are not selected, too
    places: Counter[str] = field(default_factory=Counter)  # how the nodes of all DAGs are known, one after the other
    all_places: Counter[str] = field(default_factory=Counter)
    beyond: Counter[str] = field(default_factory=Counter)  # why AGQA-Decomp does not cover a question -> how many

    @property
    def nodes(self) -> int:
        return sum(counts.total() for counts in self.types.values())

    def write(self, note: Path) -> None:
        with new_file(note) as work:
            work.write_bytes(msgspec.json.encode(self))

    @classmethod
    def read(cls, note: Path) -> "DecomposeSummary":
        found = own_note(note)
        for name in ("places", "all_places", "beyond"):
            found[name] = Counter(found[name])
        for name in ("types", "everything"):
            found[name] = {type: Counter(counts) for type, counts in found[name].items()}
        return cls(**found)

    def add(self, other: "DecomposeSummary") -> None:
        for name in ("questions", "isolated", "edges", "relabelled", "negatives", "clashes"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.contradictions += other.contradictions
        for own, more in ((self.types, other.types), (self.everything, other.everything)):
            for type, counts in more.items():
                own.setdefault(type, Counter()).update(counts)
        self.beyond.update(other.beyond)
        self.places.update(other.places)
        self.all_places.update(other.all_places)


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
        found[block.children[found[block.rows]].ravel()] = True
    return found


def renumbered(edges: pl.DataFrame, kept: Array, place: Array) -> pl.DataFrame:
    """The edges of some nodes, as these are numbered without the others."""
    parent = edges["parent"].to_numpy()
    own = edges.filter(pl.Series(kept[parent]))
    moved = [pl.Series(name, place[own[name].to_numpy()], own.schema[name]) for name in ("parent", "child")]
    return own.with_columns(moved)


def form_table(blocks: list[Block]) -> pl.DataFrame:
    columns = {
        "program": [block.form.text for block in blocks],
        "type": [block.form.type for block in blocks],
        "parts": [len(block.form.parts) for block in blocks],
    }
    return pl.DataFrame(columns, schema=dict(FORMS.columns))


def coverage(blocks: list[Block], how: Array, counted: Array | None = None) -> Coverage:
    """How the answers of nodes are known, of all or of those that are counted."""
    found: Coverage = {}
    for block in blocks:
        own = how[block.rows] if counted is None else how[block.rows][counted[block.rows]]
        counts = np.bincount(own, minlength=len(KNOWN)).tolist()
        found.setdefault(block.form.type, Counter()).update(dict(zip(KNOWN, counts, strict=True)))
    return found


def places(tops: Array, how: Array, edges: pl.DataFrame) -> Counter[str]:
    """How the answers of the nodes of all DAGs are known; a node counts in every DAG it is in."""
    found = np.zeros(len(KNOWN), np.int64)
    for begin in range(0, len(tops), DAGS):
        own = Occurrences.of(tops[begin : begin + DAGS], len(how), edges)
        found += np.bincount(how[own.node], minlength=len(KNOWN))
    return Counter(dict(zip(KNOWN, found.tolist(), strict=True)))


def word_of(vocabulary: Vocabulary) -> type[np.unsignedinteger[Any]]:
    """The type of a word's position in the nodes of videos."""
    return np.uint16 if vocabulary.wide else np.uint8


def node_table(
    blocks: list[Block], answers: Array, how: Array, first: int, table: Table = NODES, word: type[Any] = np.uint8
) -> pl.DataFrame:
    """`first`: number of the first video or set; `word`: type of a word's position, its largest where there is none."""
    total, scope, none = len(answers), next(iter(table.columns)), np.iinfo(word).max
    columns: dict[str, Any] = {name: np.full(total, none, word) for name in slots_of(table.columns)}
    columns |= {scope: np.zeros(total, np.uint32), "form": np.zeros(total, np.uint16)}
    for number, block in enumerate(blocks):
        own = block.rows
        columns[scope][own], columns["form"][own] = block.video + first, number
        for name, values in block.values.items():
            columns[name][own] = values
    missing = pl.Series(answers == UNKNOWN)
    answer = pl.Series(np.maximum(answers, 0).astype(word)).set(missing, None)
    return table.frame(pl.DataFrame(columns | {"known": how}).with_columns(answer=answer))


def edge_table(
    blocks: list[Block], answers: Array, compositions: Sequence[str] = VIDEO_DAGS.compositions
) -> tuple[pl.DataFrame, int]:
    """Edges by parent and position, and the number of Between nodes relabelled."""
    inner = [block for block in blocks if block.form.parts]
    if not inner:
        return EDGES.empty(), 0
    found = [labels(block, answers, compositions) for block in inner]
    width = [len(block.form.parts) for block in inner]
    parents = [
        np.repeat(np.arange(block.rows.start, block.rows.stop, dtype=np.uint32), parts)
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
