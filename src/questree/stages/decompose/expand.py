"""From questions to nodes and edges: a node's sub-questions depend on the node alone, so each is expanded once."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from heapq import heappop, heappush

import numpy as np
from numpy.typing import NDArray

from questree.program import Array, Node
from questree.stages.decompose.forms import WIDTH, Form, Forms, Variant

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Batch:
    """Questions of one form."""

    form: Node
    video: Ints  # [row] counted from the shard's first
    values: tuple[Array, ...]  # per slot, [row]
    question: Ints  # [row] which question it is


@dataclass(frozen=True)
class Block:
    """The nodes of one form, numbered from `first` on, ordered by video and words."""

    form: Form
    first: int
    video: Ints  # [node]
    values: dict[str, Ints]  # slot -> [node] positions in the vocabulary
    children: Ints  # [node, part] numbers of its sub-questions

    def __len__(self) -> int:
        return len(self.video)


@dataclass
class Asking:
    """Rows of one form that want to know their node's number: where it is to be written."""

    keys: list[Ints] = field(default_factory=list)
    places: list[tuple[Ints, Array]] = field(default_factory=list)  # (column of numbers, its rows)


@dataclass
class Waiting:
    """Forms whose rows are not all known yet; the highest has no parents left among them."""

    asking: dict[Node, Asking] = field(default_factory=dict)
    order: list[tuple[int, str, Node]] = field(default_factory=list)  # a heap

    def at(self, form: Form) -> Asking:
        if form.node not in self.asking:
            self.asking[form.node] = Asking()
            heappush(self.order, (-form.height, form.text, form.node))
        return self.asking[form.node]

    def highest(self) -> tuple[Node, Asking]:
        *_, node = heappop(self.order)
        return node, self.asking.pop(node)


def expand(forms: Forms, batches: Iterable[Batch], questions: int) -> tuple[list[Block], Ints]:
    """All nodes below the questions, parents first, and [question] the number of its node."""
    tops = np.full(questions, -1, np.int64)
    waiting = Waiting()
    for batch in batches:
        for variant in forms.variants(batch.form):
            own = dict(zip((slot.name for slot in forms[batch.form].slots), batch.values, strict=True))
            push(forms, waiting, variant, batch.video, own, tops, batch.question)
    blocks: list[Block] = []
    first = 0
    while waiting.order:
        block = number(forms, *waiting.highest(), first)
        for at, variants in enumerate(block.form.parts):
            for variant in variants:
                push(forms, waiting, variant, block.video, block.values, block.children[:, at], np.arange(len(block)))
        blocks.append(block)
        first += len(block)
    return blocks, tops


def push(
    forms: Forms,
    waiting: Waiting,
    variant: Variant,
    video: Ints,
    values: dict[str, Ints],
    numbers: Ints,
    rows: Ints,
) -> None:
    """Ask for the numbers of a sub-question's nodes; they are written to `numbers` at `rows`."""
    kept = np.ones(len(video), bool)
    for action, wanted in variant.wanted:
        kept &= forms.said_as_pair[forms.column(action, values, len(video))] == wanted
    if not kept.any():
        return
    # a key that overflows would silently make one node of two
    assert int(video.max()).bit_length() + WIDTH * len(variant.origins) < 64, "too many videos or words for one key"
    key = video
    for origin in variant.origins:
        key = (key << WIDTH) | forms.column(origin, values, len(video))
    place = waiting.at(forms[variant.form])
    place.keys.append(key if kept.all() else key[kept])
    place.places.append((numbers, rows if kept.all() else rows[kept]))


def number(forms: Forms, node: Node, asking: Asking, first: int) -> Block:
    """Each distinct row becomes a node; those who wait are told its number."""
    form = forms[node]
    keys, inverse = np.unique(np.concatenate(asking.keys), return_inverse=True)
    at = 0
    for column, rows in asking.places:
        column[rows] = first + inverse[at : at + len(rows)]
        at += len(rows)
    values, mask = {}, (1 << WIDTH) - 1
    for slot in reversed(form.slots):
        values[slot.name] = keys & mask
        keys = keys >> WIDTH
    children = np.full((len(keys), len(form.parts)), -1, np.int64)
    return Block(form, first, keys, {slot.name: values[slot.name] for slot in form.slots}, children)
