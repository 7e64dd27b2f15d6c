"""One question's DAG of sub-questions: as a tree of lines, and as data."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from string import Formatter
from typing import Any

import numpy as np

from questree.domains.video import VIDEO, videos
from questree.meanings.english import english
from questree.notation.own import parse
from questree.stages.decompose.forms import Forms, ordered_slots
from questree.stages.decompose.spoken import say
from questree.stages.decompose.texts import Texts
from questree.stages.decompose.work import tables
from questree.stages.questions import Bank, Question
from questree.tables.facts import Facts
from questree.tables.nodes import COMPOSITIONS

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


def dag_of(bank: Bank, question: Question, facts: Facts) -> Dag:
    shard = bank.shard(bank.folders()[question.video // bank.options["shard"]])
    table = shard.questions
    rows = np.flatnonzero((table["video"] == question.video) & (table["number"] == question.row["number"]))
    world = videos(facts.between(shard.first, shard.first + len(shard.seeds)), bank.vocabulary)
    found = tables(Forms(bank.vocabulary), shard, rows, world, closed=True)
    forms, nodes = found.tables["forms"], found.tables["nodes"]
    texts = Texts(bank.vocabulary)
    said = say(forms, nodes, texts, executed=True).drop("video").to_dicts()
    edges: dict[int, list[tuple[str, int]]] = {}
    for parent, label, _, child in found.tables["edges"].iter_rows():
        edges.setdefault(parent, []).append((COMPOSITIONS[label], child))
    pieces = [spelled(forms["program"][row["form"]], row, texts) for row in nodes.iter_rows(named=True)]
    assert int(found.tables["tops"]["node"][0]) == 0, "the question is expanded first"
    return Dag(said, pieces, edges)


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


def lines(dag: Dag) -> Iterator[str]:
    """A tree; a sub-question that was printed before is only pointed at."""
    seen: dict[int, int] = {}
    number = {node: at for at, node in enumerate(order(dag))}

    def visit(node: int, head: str, rest: str, label: str) -> Iterator[str]:
        row = dag.rows[node]
        again = node in seen
        seen[node] = 1
        mark = f"  ^{number[node]}" if again and dag.edges.get(node) else ""
        yield f"{head}{label}{number[node]}. {row['text']}  {row['answer'] or 'undefined'}  [{row['type']}]{mark}"
        edges = dag.edges.get(node, []) if not again else []
        for at, (composition, child) in enumerate(edges):
            last = at == len(edges) - 1
            yield from visit(
                child, rest + ("`- " if last else "|- "), rest + ("   " if last else "|  "), composition + ": "
            )

    yield from visit(0, "", "", "")


def order(dag: Dag) -> list[int]:
    """Nodes in the order the tree prints them."""
    found: dict[int, None] = {}

    def visit(node: int) -> None:
        if node not in found:
            found[node] = None
            for _, child in dag.edges.get(node, ()):
                visit(child)

    visit(0)
    return list(found)
