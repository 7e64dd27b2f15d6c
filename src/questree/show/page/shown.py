"""One question with all there is to say about it: its DAG, what models answer, why answers are known, its evidence."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from questree.benchmarks.agqa.held_out import FLAGS
from questree.domains.video import Videos, videos
from questree.notation import agqa
from questree.notation.own import show
from questree.program import Node
from questree.show.dag import Dag, Piece
from questree.show.grounds import grounds_of
from questree.show.judged import Judged, judged
from questree.show.opened import Opened
from questree.show.page.site import Site
from questree.show.page.timeline import Mentioned, Timeline, mentioned, programs
from questree.show.page.wording import pieces
from questree.show.reasons import reason
from questree.stages.questions import Question
from questree.tables.facts import Facts
from questree.tables.nodes import UNSCORED

WHY = {  # how an answer is known, in words
    "executed": "its program was executed on the facts of the video",
    "not said": "nobody annotated it, which does not make it absent: no answer is published (open world)",
    "undefined": "the facts give it no single answer",
    "asked": "it is asked as a question of its own",
    "entailed": "it follows by rules from other answers",
    "unknown": "no question asks it and no rule tells it",
    "labelled": "a person said that the object is not there",
    "no such action": "the action it is asked around does not occur",
}


@dataclass(frozen=True)
class Said:
    model: str
    word: str | None
    right: bool | None


@dataclass(frozen=True)
class Evidence:
    program: str
    frames: list[int]  # positions
    window: bool  # is it a time, or something that is seen?


@dataclass(frozen=True)
class NodeShown:
    number: int
    pieces: list[Piece]
    text: str
    type: str
    scored: bool
    program: str
    answer: str | None
    why: str
    parts: list[tuple[str, int]]  # composition, sub-question
    said: list[Said]
    evidence: list[Evidence]

    @property
    def frames(self) -> dict[str, list[int]]:
        """Frames that show it, and those of the times it is asked about."""
        return {
            name: sorted({frame for each in self.evidence if each.window == window for frame in each.frames})
            for name, window in (("shown", False), ("window", True))
        }


@dataclass(frozen=True)
class Clash:
    rules: list[str]
    meaning: str
    parts: tuple[int, ...]  # sub-questions


@dataclass(frozen=True)
class Shown:
    """The page of a question."""

    site: Site
    at: int  # row among the questions in memory
    question: Question
    shard: Opened  # its DAG alone
    said: dict[str, list[str | None]]  # model -> [node]

    @classmethod
    def of(cls, site: Site, at: int) -> "Shown":
        question = site.asked.question(at)
        return cls(site, at, question, *site.dag(at, question))

    @cached_property
    def dag(self) -> Dag:
        return self.shard.dag(self.site.texts)

    @cached_property
    def judged(self) -> dict[str, Judged]:
        return {model: judged(self.dag, self.shard, model, said, self.site.words) for model, said in self.said.items()}

    @property
    def pieces(self) -> list[Piece]:
        return pieces(self.question)

    @cached_property
    def facts(self) -> Facts:
        return self.site.video(self.question.video)

    @cached_property
    def world(self) -> Videos:
        return videos(self.facts, self.site.asked.bank.vocabulary)

    @cached_property
    def mentioned(self) -> Mentioned:
        return mentioned(self.shard, self.site.asked.bank.vocabulary)

    @property
    def video(self) -> str:
        return self.site.asked.bank.ids[self.question.video]

    @property
    def labels(self) -> list[tuple[str, str]]:
        own, row = self.question.template.categories, self.question.row
        flags = [name for bit, name in enumerate(FLAGS) if row["flags"] >> bit & 1]
        found = [
            ("template", self.question.template.name),
            ("type", self.dag.rows[0]["type"]),
            ("steps", str(row["steps"])),
            ("structure", own.structural),
            ("semantic", own.semantic),
            ("reasoning", ", ".join(own.reasoning)),
            ("video", self.video),
            ("split", self.site.asked.splits[self.question.video]),
            ("flags", ", ".join(flags)),
        ]
        return [(name, value) for name, value in found if value]

    @property
    def program(self) -> str:
        return "\n".join(indented(self.question.program))

    @property
    def agqa(self) -> str:
        return agqa.write(self.question.program, self.site.asked.bank.vocabulary)

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

    @cached_property
    def nodes(self) -> list[NodeShown]:
        own = programs(self.shard, self.site.asked.bank.vocabulary)
        return [self._node(number, program) for number, program in enumerate(own)]

    def _node(self, number: int, program: Node) -> NodeShown:
        row = self.dag.rows[number]
        return NodeShown(
            number=number,
            pieces=self.dag.pieces[number],
            text=row["text"],
            type=row["type"],
            scored=row["type"] not in UNSCORED,
            program=show(program),
            answer=row["answer"],
            why=WHY[row["known"]],
            parts=self.dag.edges.get(number, []),
            said=[Said(name, each.said[number], each.right[number]) for name, each in self.judged.items()],
            evidence=[
                Evidence(show(node), frames, node.kind.name == "window")
                for node, frames in grounds_of(program, self.world).items()
                if frames
            ],
        )

    @property
    def graph(self) -> dict[str, Any]:
        """What is drawn: edges, and per model the path of its errors and its contradictions."""
        return {
            "edges": [[parent, child, label] for parent, parts in self.dag.edges.items() for label, child in parts],
            "frames": [node.frames for node in self.nodes],
            "models": {
                name: {
                    "right": each.right,
                    "error": sorted(each.error_path),
                    "contradiction": sorted(each.contradiction),
                }
                for name, each in self.judged.items()
            },
        }

    @cached_property
    def timeline(self) -> Timeline:
        return Timeline(self.facts, self.site.asked.bank.vocabulary, self.mentioned)


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
