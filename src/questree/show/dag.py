"""One question's DAG of sub-questions: texts by kind of word, answers, edges."""

import re
from dataclasses import dataclass
from string import Formatter
from typing import Any

from questree.domains.video import VIDEO
from questree.notation.own import parse
from questree.readings.english import english
from questree.stages.decompose.forms import ordered_slots
from questree.stages.decompose.texts import Texts

TIME = re.compile(r"\b(before|after|while|between|for the \w+ amount of time|for a \w+ amount of time)\b")
Piece = tuple[str, str]  # (kind of word: object, relation, action, time or "", text)


@dataclass(frozen=True)
class Dag:
    """Nodes by number, the question first; edges of each in order."""

    rows: list[dict[str, Any]]  # text, type, program, answer
    pieces: list[list[Piece]]  # the text of each node, by kind of word
    edges: dict[int, list[tuple[str, int]]]  # node -> (composition, sub-question)

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
    """A node's text in pieces."""
    node = parse(program, VIDEO)
    kinds = {slot.name: slot.kind for slot in ordered_slots(node)}
    found: list[Piece] = []
    for text, name, form, _ in Formatter().parse(english(node, texts.vocabulary)):
        found += [("time" if at % 2 else "", part) for at, part in enumerate(TIME.split(text)) if part]
        if name and (word := texts.words(kinds[name], form or "")[row[name]]):
            found.append((kinds[name].name, word))
    return found
