"""One question's DAG of sub-questions: texts by kind of word, answers, edges."""

from dataclasses import dataclass
from typing import Any

from questree.show.opened import Opened

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
