"""The DAGs of one file as columns: an entry that many DAGs repeat is decoded once, the rest is arithmetic."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

import msgspec
import numpy as np
from numpy.typing import NDArray

from questree.tables.hierarchies import NOTHING

OBJECT = re.compile(r"objExists\(([^()]*)\)")
Ints = NDArray[np.int64]
Written = dict[str, list[str]]  # composition -> texts of its children


class ReleasedDag(msgspec.Struct, gc=False):
    """Entries stay as they are written."""

    subquestion: dict[str, msgspec.Raw]
    hierarchy: dict[str, msgspec.Raw]


class ReleasedNode(msgspec.Struct, gc=False):
    key: str
    type: str
    answer: str | None = None
    program: str | None = None


NODE, WRITTEN = msgspec.json.Decoder(ReleasedNode), msgspec.json.Decoder(Written)


class Numbers(dict[str, int]):
    """Words numbered in order of appearance: numbers["cup"]."""

    def __missing__(self, word: str) -> int:
        self[word] = number = len(self)
        return number


class Entries(dict[tuple[str, bytes], int]):
    """Different entries, a text and what is written about it, numbered in order of appearance."""

    def __missing__(self, entry: tuple[str, bytes]) -> int:
        self[entry] = number = len(self)
        return number


@dataclass(frozen=True)
class Names:
    """What all files number together."""

    types: Numbers = field(default_factory=Numbers)
    compositions: Numbers = field(default_factory=Numbers)
    words: Numbers = field(default_factory=Numbers)

    def word(self, answer: str | None) -> int:
        return NOTHING if answer is None else self.words[answer]

    def thing(self, program: str | None) -> int:
        """The o of objExists(o) as a word, NOTHING for any other program."""
        found = OBJECT.fullmatch(program) if program and program.startswith("objExists(") else None
        return self.words[found[1].strip()] if found else NOTHING


class HierarchyNodes:
    """The nodes of a file's DAGs; [node] unless said otherwise, numbered from 0 on."""

    def __init__(self, dags: Sequence[ReleasedDag], names: Names):
        entries, keys = Entries(), Numbers()
        node = array([entries[text, bytes(raw)] for dag in dags for text, raw in dag.subquestion.items()])
        read, self.texts = [NODE.decode(raw) for _, raw in entries], Numbers()
        self.dag = np.repeat(np.arange(len(dags)), array([len(dag.subquestion) for dag in dags]))
        self.text = array([self.texts[text] for text, _ in entries])[node]
        self.type = array([names.types[own.type] for own in read])[node]
        self.key = array([keys[own.key] for own in read])[node]
        self.answer = array([names.word(own.answer) for own in read])[node]
        self.object = array([names.thing(own.program) for own in read])[node]
        self.keys = list(keys)
        place = self.dag * len(self.texts) + self.text  # a text is one node of its DAG
        self._order = np.argsort(place)
        self._place = place[self._order]

    def find(self, dag: Ints, text: Ints) -> Ints:
        """[row] the node of a DAG that has a text; an error if there is none."""
        wanted = dag * len(self.texts) + text
        at = np.minimum(np.searchsorted(self._place, wanted), max(len(self._place) - 1, 0))
        if (text == NOTHING).any() or (len(wanted) and not np.array_equal(self._place[at], wanted)):
            raise LookupError("a hierarchy mentions a text that is no sub-question")
        return self._order[at] if len(wanted) else np.zeros(0, np.int64)


class Composed:
    """The compositions of a file's DAGs, ordered by the parent's node, and their edges."""

    def __init__(self, dags: Sequence[ReleasedDag], asked: HierarchyNodes, names: Names):
        entries = Entries()
        entry = array([entries[text, bytes(raw)] for dag in dags for text, raw in dag.hierarchy.items()])
        read, texts = [WRITTEN.decode(raw) for _, raw in entries], asked.texts
        label = array([names.compositions[name] for own in read for name in own])
        size = array([len(listed) for own in read for listed in own.values()])
        child = array([texts.get(text, NOTHING) for own in read for listed in own.values() for text in listed])
        labels, edges = starts([len(own) for own in read]), starts(size)  # where those of an entry, a label begin
        parts = np.diff(edges[labels])  # [entry]
        again = repeats(np.repeat(np.arange(len(read)), parts) * len(texts) + child)

        dag = np.repeat(np.arange(len(dags)), array([len(dag.hierarchy) for dag in dags]))
        self.row = asked.find(dag, array([texts.get(text, NOTHING) for text, _ in entries])[entry])  # [entry of a DAG]
        order = np.argsort(self.row)
        entry, count = entry[order], np.diff(labels)[entry[order]]
        which = spans(labels[entry], count)
        self.parent, self.label, self.size = np.repeat(self.row[order], count), label[which], size[which]
        edge = spans(edges[which], self.size)
        self.child = asked.find(np.repeat(asked.dag[self.parent], self.size), child[edge])
        self.repeated = again[edge]


def repeats(numbers: Ints) -> NDArray[np.bool_]:
    """[row] was the number there before?"""
    found = np.ones(len(numbers), bool)
    found[np.unique(numbers, return_index=True)[1]] = False
    return found


def array(numbers: Sequence[int]) -> Ints:
    return np.array(numbers, np.int64)


def starts(sizes: Sequence[int] | Ints) -> Ints:
    """[span + 1] where spans of these sizes begin, one after the other."""
    return np.concatenate([[0], np.cumsum(array(sizes))])  # type: ignore[arg-type]


def spans(begin: Ints, size: Ints) -> Ints:
    """begin, begin + 1, ... for every span."""
    ends = np.cumsum(size)
    return np.repeat(begin - ends + size, size) + np.arange(int(ends[-1]) if len(ends) else 0)
