"""From questions to nodes and edges: a node's sub-questions depend on the node alone, so each is expanded once."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from heapq import heappop, heappush

import numpy as np
from numpy.typing import NDArray

from questree.stages.decompose.forms import NodeForm, NodeForms, Variant
from questree.terms import Array, Node, fill, slots

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Batch:
    """Questions of one form."""

    form: Node
    video: Ints  # [row] counted from the shard's first
    values: tuple[Array, ...]  # per slot, [row]
    question: Ints  # [row] which question it is


def marked_apart(forms: NodeForms, node: Node, words: dict[str, Ints], scope: Ints, question: Ints) -> Iterator[Batch]:
    """Questions of one program; a word that changes which sub-questions there are makes another form of it."""
    marked = [slot for slot in slots(node).values() if slot.kind in forms.marked]
    code = np.zeros(len(question), np.int64)
    for at, slot in enumerate(marked):
        code |= forms.marked[slot.kind][words[slot.name]].astype(np.int64) << at
    for one in np.unique(code).tolist():
        own = code == one
        filled = fill(node, {slot.name: replace(slot, alone=bool(one >> at & 1)) for at, slot in enumerate(marked)})
        assert isinstance(filled, Node)
        form, origins = forms.canonical(filled)
        values = tuple(forms.column(origin, words, len(question))[own] for origin in origins)
        yield Batch(form, scope[own], values, question[own])


@dataclass(frozen=True)
class Block:
    """The nodes of one form, numbered from `first` on, ordered by video and words."""

    form: NodeForm
    first: int
    video: Ints  # [node]
    values: dict[str, Ints]  # slot -> [node] positions in the vocabulary
    children: Ints  # [node, part] numbers of its sub-questions

    def __len__(self) -> int:
        return len(self.video)

    @property
    def rows(self) -> slice:
        """The numbers of its nodes."""
        return slice(self.first, self.first + len(self))


@dataclass
class Asking:
    """Rows of one form that want to know their node's number: where it is to be written."""

    keys: list[list[Ints]] = field(default_factory=list)  # per push, [key] as `Forms.layout` divides the words
    places: list[tuple[Ints, Array]] = field(default_factory=list)  # (column of numbers, its rows)


@dataclass
class Waiting:
    """Forms whose rows are not all known yet; the highest has no parents left among them."""

    asking: dict[Node, Asking] = field(default_factory=dict)
    order: list[tuple[int, str, Node]] = field(default_factory=list)  # a heap

    def at(self, form: NodeForm) -> Asking:
        if form.node not in self.asking:
            self.asking[form.node] = Asking()
            heappush(self.order, (-form.height, form.text, form.node))
        return self.asking[form.node]

    def highest(self) -> tuple[Node, Asking]:
        *_, node = heappop(self.order)
        return node, self.asking.pop(node)


def expand(forms: NodeForms, batches: Iterable[Batch], questions: int) -> tuple[list[Block], Ints]:
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
    forms: NodeForms,
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
    keys = packed(forms, video, [forms.column(origin, values, len(video)) for origin in variant.origins])
    place = waiting.at(forms[variant.form])
    place.keys.append(keys if kept.all() else [key[kept] for key in keys])
    place.places.append((numbers, rows if kept.all() else rows[kept]))


def number(forms: NodeForms, node: Node, asking: Asking, first: int) -> Block:
    """Each distinct row becomes a node; those who wait are told its number."""
    form = forms[node]
    keys, inverse = distinct([np.concatenate(key) for key in zip(*asking.keys, strict=True)])
    at = 0
    for column, rows in asking.places:
        column[rows] = first + inverse[at : at + len(rows)]
        at += len(rows)
    scope, words = unpacked(forms, keys, len(form.slots))
    children = np.full((len(scope), len(form.parts)), -1, np.int64)
    return Block(form, first, scope, {slot.name: own for slot, own in zip(form.slots, words, strict=True)}, children)


def packed(forms: NodeForms, scope: Ints, words: list[Ints]) -> list[Ints]:
    """The scope and the words of rows as few numbers, which sort like them."""
    keys: list[Ints] = []
    at = 0
    for size in forms.layout(len(words)):
        key = np.zeros(len(scope), np.int64) if keys else scope
        # a key that overflows would silently make one node of two
        assert int(key.max()).bit_length() + forms.width * size < 64, "too many videos or words for one key"
        for word in words[at : at + size]:
            key = (key << forms.width) | word
        keys.append(key)
        at += size
    return keys


def unpacked(forms: NodeForms, keys: list[Ints], words: int) -> tuple[Ints, list[Ints]]:
    """The scope and the words again."""
    found: list[Ints] = []
    for key, size in zip(keys[::-1], forms.layout(words)[::-1], strict=True):
        for _ in range(size):
            found.append(key & ((1 << forms.width) - 1))
            key = key >> forms.width
        scope = key
    return scope, found[::-1]


def distinct(keys: list[Ints]) -> tuple[list[Ints], Ints]:
    """The different rows in order, and [row] which it is."""
    if len(keys) == 1:
        (key,) = keys
        different, inverse = np.unique(key, return_inverse=True)
        return [different], inverse
    order = np.lexsort(keys[::-1])
    new = np.logical_or.reduce([np.diff(key[order], prepend=key[order[0]] - 1) != 0 for key in keys])
    inverse = np.empty(len(order), np.int64)
    inverse[order] = np.cumsum(new) - 1
    return [key[order[new]] for key in keys], inverse
