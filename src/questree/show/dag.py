"""One question's DAG of sub-questions: texts by kind of word, answers, edges."""

import re
from dataclasses import dataclass
from string import Formatter
from typing import Any

from questree.domains.video import VIDEO
from questree.notation.own import parse
from questree.program import slots
from questree.readings.english import english
from questree.show.opened import Opened
from questree.stages.decompose.forms import ordered_slots
from questree.stages.decompose.spoken import Texts
from questree.stages.questions import Question

TIME = re.compile(r"\b(before|after|while|between|for the \w+ amount of time|for a \w+ amount of time)\b")
INSIDE = {"a": "action", "b": "action", "object": "object", "relation": "relation"}  # slots of slots: time.a
Piece = tuple[str, str]  # (kind of word: object, relation, action, time, attribute or "", text)


@dataclass(frozen=True)
class Dag:
    """Nodes by number, the question first; edges of each in order."""

    rows: list[dict[str, Any]]  # text, type, program, answer, how it is known
    pieces: list[list[Piece]]  # the text of each node, by kind of word
    edges: dict[int, list[tuple[str, int]]]  # node -> (composition, sub-question)

    @classmethod
    def of(cls, rows: list[dict[str, Any]], pieces: list[list[Piece]], one: Opened) -> "Dag":
        """`one` is a shard that is one DAG; `rows` are its nodes as they are said."""
        rows = [row | {"known": known} for row, known in zip(rows, one.known, strict=True)]
        edges: dict[int, list[tuple[str, int]]] = {}
        for parent, label, child in one.edges.select("parent", "label", "child").iter_rows():
            edges.setdefault(parent, []).append((one.compositions[label], child))
        return cls(rows, pieces, edges)

    def depths(self) -> list[int]:
        """[node] the length of the longest way to it."""
        found = [0] * len(self.rows)
        for node in range(len(self.rows)):  # parents have smaller numbers
            for _, child in self.edges.get(node, ()):
                found[child] = max(found[child], found[node] + 1)
        return found

    def data(self) -> list[dict[str, Any]]:
        return [
            row | {"number": at, "parts": [{"composition": label, "number": n} for label, n in self.edges.get(at, ())]}
            for at, row in enumerate(self.rows)
        ]


def spelled(program: str, row: dict[str, int], texts: Texts) -> list[Piece]:
    """The text of a node about a video in pieces."""
    node = parse(program, VIDEO)
    kinds = {slot.name: slot.kind for slot in ordered_slots(node)}
    found: list[Piece] = []
    for text, name, form, _ in Formatter().parse(english(node, texts.vocabulary)):
        found += [("time" if at % 2 else "", part) for at, part in enumerate(TIME.split(text)) if part]
        if name and (word := texts.words(kinds[name], form or "")[row[name]]):
            found.append((kinds[name].name, word))
    return found


def pieces(question: Question) -> list[Piece]:
    """The text of a question about a video: every character belongs to the shortest slot around it."""
    own = {name: slot.kind.name for name, slot in slots(question.template.node).items()}
    kind = [""] * len(question.text)
    for name, (begin, end) in sorted(question.spans.items(), key=lambda span: span[1][0] - span[1][1]):
        last = name.rpartition(".")[2]
        named = own.get(name) or INSIDE.get(last, "")
        kind[begin:end] = ["time" if named == "window" else named] * (end - begin)
    found: list[Piece] = []
    for what, letter in zip(kind, question.text, strict=True):
        if found and found[-1][0] == what:
            found[-1] = (what, found[-1][1] + letter)
        else:
            found.append((what, letter))
    return found
