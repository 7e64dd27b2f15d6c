"""One question with all there is to say about it: its DAG, what models answer, why answers are known, its evidence."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from questree.notation.own import show
from questree.show.cards import Cards
from questree.show.dag import Dag, Opened
from questree.show.judged import Judged, judged, reason
from questree.show.page.browse import lines
from questree.show.page.site import Collection
from questree.show.views import Posed, Scene, lit
from questree.terms import Node

WHY = {  # how an answer is known, in words
    "executed": "its program was executed on the facts",
    "not said": "nobody annotated it, which does not make it absent: no answer is published (open world)",
    "undefined": "the facts give it no single answer",
    "asked": "it is asked as a question of its own",
    "entailed": "it follows by rules from other answers",
    "unknown": "no question asks it and no rule tells it",
    "labelled": "a person said that the object is not there",
    "no such action": "the action it is asked around does not occur",
}


@dataclass(frozen=True)
class Clash:
    rules: list[str]
    meaning: str
    parts: tuple[int, ...]  # sub-questions


@dataclass(frozen=True)
class Shown:
    """The page of a question."""

    own: Collection
    at: int  # row among the questions in memory
    asked: Posed
    one: Opened | None  # its DAG alone
    said: dict[str, list[str | None]]  # model -> [node]
    raw: dict[str, list[str | None]]  # model -> [node] its own words, where they were read as others

    @classmethod
    def of(cls, own: Collection, at: int) -> "Shown":
        asked = own.questions.question(at)
        return cls(own, at, asked, *own.questions.dag(at, asked))

    @cached_property
    def dag(self) -> Dag:
        return self.own.view.dag(self.one) if self.one else Dag([], [], {})

    @cached_property
    def judged(self) -> dict[str, Judged]:
        one = self.one
        return {model: judged(self.dag, one, model, said) for model, said in self.said.items()} if one else {}

    @cached_property
    def scene(self) -> Scene:
        return self.own.view.scene(self.asked, self.one)

    @property
    def labels(self) -> list[tuple[str, str]]:
        type = self.dag.rows[0]["type"] if self.one else ""
        own = [("template", self.asked.template), ("type", type), *self.own.view.labels(self.asked)]
        return [(name, value) for name, value in own if value]

    @property
    def program(self) -> str:
        return "\n".join(indented(self.asked.program)) if self.asked.program else self.asked.stored["program"]

    @cached_property
    def twins(self) -> list[dict[str, Any]]:
        """Lines of the list; a question that is not listed has only its text and its answer."""
        view, listed = self.own.view, self.own.questions
        posed = [view.find(key) for key in view.twins(self.asked)]
        rows = [listed.find(one.id) for one in posed]
        return [
            {"asked": one, "said": [], "listed": False}
            if row is None
            else next(lines(self.own, np.array([row]), self.own.models)) | {"listed": True}
            for one, row in zip(posed, rows, strict=True)
        ]

    def clashes(self, model: str, node: int) -> list["Clash"]:
        """Rules that the model's answers break at a node; both ways to read one composition are one clash."""
        found: dict[tuple[str, tuple[int, ...]], Clash] = {}
        for each in self.judged[model].broken:
            if each.parent == node:
                clash = found.setdefault((each.composition, each.parts), Clash([], each.meaning, each.parts))
                clash.rules.append(each.rule)
        return list(found.values())

    def reason(self, model: str) -> str:
        return reason(self.dag, self.judged[model])

    def cards(self, model: str = "") -> Cards:
        """The DAG as it is drawn, with the errors of a model first."""
        return Cards(self.dag, self.judged, model, self.raw, self.own.view.scheme.unscored)

    @cached_property
    def nodes(self) -> list[dict[str, Any]]:
        """The rows of the DAG with all there is to say about each."""
        programs = self.own.view.programs(self.one) if self.one else []
        return [card | self._about(at, card, programs[at]) for at, card in enumerate(self.cards().nodes)]

    def _about(self, number: int, row: dict[str, Any], program: Node) -> dict[str, Any]:
        evidence = self.scene.evidence(program)
        return {
            "program": show(program),
            "why": WHY[row["known"]],
            "parts": self.dag.edges.get(number, []),
            "evidence": evidence,
            "lit": lit(evidence),
        }

    @property
    def graph(self) -> dict[str, Any]:
        return self.cards().graph | {"lit": [node["lit"] for node in self.nodes]}


def indented(term: Any, depth: int = 0) -> Iterator[str]:
    """A program over several lines; what fits on one stays there."""
    text = show(term)
    if not isinstance(term, Node) or len(text) + 2 * depth <= 88:
        yield "  " * depth + text
        return
    yield "  " * depth + f"{term.op.name}("
    for at, arg in enumerate(term.args):
        *first, last = indented(arg, depth + 1)
        yield from first
        yield last + ("," if at < len(term.args) - 1 else "")
    yield "  " * depth + ")"
