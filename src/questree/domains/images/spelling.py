"""Values as people write them: yes or no, a number, a word, ids of things and images."""

from collections.abc import Callable
from typing import Any

import numpy as np

from questree.domains.images.corpus import Corpus
from questree.domains.images.facts import Ints
from questree.domains.images.kinds import (
    ABSENT,
    ATTRIBUTE,
    COUNT,
    GROUP,
    GROUPS,
    LINK,
    LINK_NAME,
    LINKS,
    NOTHING,
    NOUN,
    PADDING,
    SCENES,
    THING,
    THINGS,
)
from questree.domains.images.sets import ImageSets
from questree.program import BOOL, Array, Kind, Node
from questree.readings.answer import Outcome


def spelled(node: Node, outcome: Outcome, world: ImageSets) -> list[Any]:
    """[row] the value of a node; None if absent or undefined."""
    values, corpus = outcome.values[node], world.corpus
    if outcome.defined.all():
        return _spell(node.kind, values, world.page, corpus)
    defined = np.flatnonzero(outcome.defined)
    found: list[Any] = [None] * len(world)
    there = _spell(node.kind, values[defined], world.page[defined], corpus)
    for row, value in zip(defined.tolist(), there, strict=True):
        found[row] = value
    return found


def _spell(kind: Kind, value: Array, page: Ints, corpus: Corpus) -> list[Any]:
    if kind in SINGLE:
        return SINGLE[kind](corpus, value)
    return [SEVERAL[kind](corpus, *row) for row in zip(page, value, strict=True)]


def _words(corpus: Corpus, value: Ints) -> list[str | None]:
    return [None if word == ABSENT else corpus.words[word] for word in value.tolist()]


def _link(corpus: Corpus, edge: int) -> list[str]:
    return [corpus.words[corpus.facts.link[edge]], corpus.thing_ids[int(corpus.facts.target[edge])]]


def _members(corpus: Corpus, page: int, bits: int) -> list[str]:
    first = int(corpus.facts.first_thing[page])
    return [corpus.thing_ids[first + i] for i in range(bits.bit_length()) if bits >> i & 1]


def _things(corpus: Corpus, page: Ints, bits: Ints) -> list[str]:
    return [name for at, some in zip(page.tolist(), bits.tolist(), strict=True) for name in _members(corpus, at, some)]


def _groups(corpus: Corpus, page: Ints, bits: Ints) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for at, some in zip(page.tolist(), bits.tolist(), strict=True):
        if some:
            found.setdefault(corpus.image_ids[corpus.image_of[at]], []).extend(_members(corpus, at, some))
    return found


SINGLE: dict[Kind, Callable[[Corpus, Array], list[Any]]] = {  # [row] -> [row]
    BOOL: lambda corpus, value: value.tolist(),
    COUNT: lambda corpus, value: value.tolist(),
    NOUN: _words,
    ATTRIBUTE: _words,
    LINK_NAME: _words,
    GROUP: lambda corpus, value: [corpus.groups[group] for group in value.tolist()],
    THING: lambda corpus, value: corpus.thing_ids.gather(value).to_list(),
    LINK: lambda corpus, value: [_link(corpus, edge) for edge in value.tolist()],
    NOTHING: lambda corpus, value: [None] * len(value),
}
SEVERAL: dict[Kind, Callable[[Corpus, Ints, Array], Any]] = {  # pages of a row, its value -> one value
    THINGS: _things,
    GROUPS: _groups,
    SCENES: lambda corpus, page, value: [corpus.image_ids[corpus.image_of[at]] for at in page[value].tolist()],
    LINKS: lambda corpus, page, value: [_link(corpus, edge) for edge in value.tolist() if edge != PADDING],
}
