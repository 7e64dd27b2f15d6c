"""The DAGs of one file as columns: an entry that many DAGs repeat is decoded once, the rest is arithmetic."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import msgspec
import numpy as np
from numpy.typing import NDArray

from questree.tables.hierarchies import NOTHING

OBJECT = re.compile(r"objExists\(([^()]*)\)")
Ints = NDArray[np.int64]


class Dag(msgspec.Struct, gc=False):
    """Entries stay as they are written."""

    subquestion: dict[str, msgspec.Raw]
    hierarchy: dict[str, msgspec.Raw]


class Node(msgspec.Struct, gc=False):
    key: str
    type: str
    answer: str | None = None
    program: str | None = None


class WholeDag(msgspec.Struct, gc=False):
    """The same with all its entries decoded: slower, but it knows where a fault is."""

    subquestion: dict[str, Node]
    hierarchy: dict[str, dict[str, list[str]]]


NODE = msgspec.json.Decoder(Node)
COMPOSITIONS = msgspec.json.Decoder(dict[str, list[str]])


class Numbers(dict[str, int]):
    """Words numbered in order of appearance: numbers["cup"]."""

    def __missing__(self, word: str) -> int:
        self[word] = number = len(self)
        return number


class Entries(dict[tuple[str, bytes], int]):
    """Different entries, numbered in order of appearance: a text and what is written about it."""

    def __missing__(self, entry: tuple[str, bytes]) -> int:
        self[entry] = number = len(self)
        return number


@dataclass(frozen=True)
class Names:
    """What all files number together."""

    types: Numbers
    compositions: Numbers
    words: Numbers

    def thing(self, program: str | None) -> int:
        """The o of objExists(o) as a word, NOTHING for any other program."""
        found = OBJECT.fullmatch(program) if program and program.startswith("objExists(") else None
        return self.words[found[1].strip()] if found else NOTHING

    def word(self, answer: str | None) -> int:
        return NOTHING if answer is None else self.words[answer]


class Video:
    """The rows of a file's DAGs, numbered from 0 on, in the columns of the tables."""

    def __init__(self, dags: Mapping[str, Dag], names: Names):
        asked, composed, self.tops = Entries(), Entries(), list(dags)
        node = array([asked[text, bytes(raw)] for dag in dags.values() for text, raw in dag.subquestion.items()])
        parent = array([composed[text, bytes(raw)] for dag in dags.values() for text, raw in dag.hierarchy.items()])
        self.texts = Numbers()
        self.entry_text = array([self.texts[text] for text, _ in asked])
        self.dag = np.repeat(np.arange(len(dags)), array([len(dag.subquestion) for dag in dags.values()]))
        self.text = self.entry_text[node]
        self._nodes(asked, node, names)
        self._compositions(composed, parent, array([len(dag.hierarchy) for dag in dags.values()]), names)

    def _nodes(self, asked: Entries, node: Ints, names: Names) -> None:
        read, keys = [NODE.decode(raw) for _, raw in asked], Numbers()
        self.type = array([names.types[own.type] for own in read])[node]
        self.key = array([keys[own.key] for own in read])[node]
        self.answer = array([names.word(own.answer) for own in read])[node]
        self.object = array([names.thing(own.program) for own in read])[node]
        self.keys = list(keys)

    def _compositions(self, composed: Entries, entry: Ints, parents: Ints, names: Names) -> None:
        """Parents in the order of their nodes, each with its compositions as they are written."""
        read = [COMPOSITIONS.decode(raw) for _, raw in composed]
        label = array([names.compositions[name] for own in read for name in own])
        size = array([len(listed) for own in read for listed in own.values()])
        child = array([self.texts[text] for own in read for listed in own.values() for text in listed])
        again = np.array([flag for own in read for flag in repeats(own)], bool)
        first_label, first_child = firsts(array([len(own) for own in read])), firsts(size)

        dag = np.repeat(np.arange(len(self.tops)), parents)
        row = self.find(dag, array([self.texts[text] for text, _ in composed])[entry])
        self.strange = self.lost(dag, entry, row, list(composed))
        order = np.argsort(row, kind="stable")
        row, entry = row[order], entry[order]
        self.parent = np.zeros(len(self.dag), bool)
        self.parent[row] = True
        which = spans(first_label[entry], first_label[entry + 1] - first_label[entry])
        self.composed = np.repeat(row, first_label[entry + 1] - first_label[entry])
        self.label, self.edges = label[which], size[which]
        edge = spans(first_child[which], size[which])
        self.child = self.find(np.repeat(self.dag[self.composed], self.edges), child[edge])
        self.repeated = again[edge]
