"""A DAG as cards that fold, for pages, reports and notebooks; an indented list where no script runs."""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from pathlib import Path
from typing import Any

from markupsafe import Markup

from questree.show import colours
from questree.show.dag import Dag
from questree.show.judged import Judged
from questree.show.templates import ShownAnswer, environment

HERE = Path(__file__).parent / "page"
MODULES = ("folding.js", "layered.js", "dag.js")  # each may import from those before it
IMPORT, EXPORT = re.compile(r"^import .*\n", re.MULTILINE), re.compile(r"^export ", re.MULTILINE)
SOURCE_MAP = re.compile(r"^//# sourceMappingURL.*$", re.MULTILINE)


@dataclass(frozen=True)
class Branch:
    """A node of the list, below the first whole that names it; below others it is only named again."""

    node: int
    via: str = ""  # compositions by which it is a part
    error: bool = False  # of the way of an error
    clash: bool = False  # of a contradiction
    again: bool = False
    parts: tuple["Branch", ...] = ()


@dataclass(frozen=True)
class Cards:
    dag: Dag
    judged: Mapping[str, Judged]
    model: str = ""  # whose errors are shown first
    raw: Mapping[str, Sequence[str | None]] = field(default_factory=dict)  # model -> [node] what was read as its answer
    unscored: Collection[str] = ()  # types

    @classmethod
    def of(cls, dag: Dag, judged: Judged | None) -> "Cards":
        return cls(dag, {judged.model: judged}, judged.model) if judged else cls(dag, {})

    @cached_property
    def nodes(self) -> list[dict[str, Any]]:
        """The rows of the DAG with what a card says."""
        shown = self.judged.get(self.model)
        return [
            row
            | {
                "number": at,
                "pieces": self.dag.pieces[at],
                "scored": row["type"] not in self.unscored,
                "wrong": shown is not None and shown.right[at] is False,
                "said": [
                    ShownAnswer(name, each.said[at], each.right[at], self.raw[name][at] if name in self.raw else None)
                    for name, each in self.judged.items()
                ],
            }
            for at, row in enumerate(self.dag.rows)
        ]

    @property
    def graph(self) -> dict[str, Any]:
        """What is drawn between cards: edges, and per model the path of its errors and its contradictions."""
        return {
            "edges": [[parent, child, label] for parent, parts in self.dag.edges.items() for label, child in parts],
            "models": {
                name: {
                    "right": each.right,
                    "error": sorted(each.error_path),
                    "contradiction": sorted(each.contradiction),
                }
                for name, each in self.judged.items()
            },
        }

    @property
    def tree(self) -> Branch:
        return self._branch(0, None, "", set())

    def _branch(self, node: int, parent: int | None, via: str, seen: set[int]) -> Branch:
        shown, again = self.judged.get(self.model), node in seen
        edge = None if parent is None else (parent, node)
        marks = {
            "error": shown is not None and edge in shown.error_path,
            "clash": shown is not None and edge in shown.contradiction,
        }
        seen.add(node)
        labels: dict[int, list[str]] = {}  # part -> its compositions, each once
        for label, part in () if again else self.dag.edges.get(node, ()):
            labels[part] = list(dict.fromkeys([*labels.get(part, ()), label]))
        parts = tuple(self._branch(part, node, ", ".join(own), seen) for part, own in labels.items())
        return Branch(node, via, **marks, again=again, parts=parts)


_environment = cache(environment)


def markup(dag: Dag, judged: Judged | None, kinds: Mapping[str, str], name: str = "") -> str:
    """The cards alone, for a page that has `style` and, at its end, `script`; a name where the question is not it."""
    cards, template = Cards.of(dag, judged), _environment().get_template("dag.html")
    return str(template.module.taken_apart(cards, cards.graph, kinds=kinds, name=name))  # type: ignore[attr-defined]


def notebook(dag: Dag, judged: Judged | None, kinds: Mapping[str, str]) -> str:
    """Everything a cell of a notebook shows: a reader may open it without those above."""
    return f"<style>\n{style()}</style>\n{markup(dag, judged, kinds)}<script>\n{script()}</script>\n"


@cache
def style() -> Markup:
    return Markup(colours.sheet(".questree-dag") + _asset("dag.css"))


@cache
def script() -> Markup:
    """The modules of the page and the layout library as one script that needs no other file."""
    own = "".join(EXPORT.sub("", IMPORT.sub("", _asset(name))) for name in MODULES)
    library = SOURCE_MAP.sub("", _asset("vendor/dagre.min.js"))
    licence = _asset("vendor/LICENCES.txt").partition("==== @dagrejs/dagre ====")[2].partition("====")[0].strip()
    return Markup(f"(() => {{\n/* dagre\n{licence} */\n{library}{own}}})();\n")


def _asset(name: str) -> str:
    return (HERE / "assets" / name).read_text("utf-8")
