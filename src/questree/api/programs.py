"""A program as an object: its English, steps and parts, and its answer to any video or set of images of a run."""

from collections.abc import Sequence
from functools import cached_property
from html import escape
from os import PathLike
from typing import TYPE_CHECKING, Any

import polars as pl

from questree.api.notations import Notation, is_video, parsed, pointing_at, readings, written
from questree.faults import BadInput
from questree.notation.own import show
from questree.places import path_of
from questree.readings.parts import nodes
from questree.show.trees import tree
from questree.terms import Node
from questree.vocabulary import Vocabulary, default, load

if TYPE_CHECKING:
    from questree.api.runs import Run

SHORT = 70  # characters of a bare repr


def program(
    text: str, *, notation: Notation = "own", vocabulary: "str | PathLike[str] | Run | None" = None
) -> "Program":
    """Read a program.

    Parameters
    ----------
    text
        The program; one of COVR's is a JSON list of rows.
    notation
        How it is written: own, agqa, decomp or covr.
    vocabulary
        A vocabulary file or a run whose words it uses. AGQA's words if left out.

    >>> p = questree.program("within(interaction(holding, phone), after(sitting down))")
    >>> p.english()
    'Is the person holding a phone after going from standing to sitting?'
    >>> p.steps, p.type, p.kind
    (3, 'Interaction After', 'frames')
    """
    words = words_of(vocabulary)
    with pointing_at(text, notation):
        node, notes = parsed(text, notation, words)
    return Program(node, words, tuple(notes))


def words_of(vocabulary: "str | PathLike[str] | Run | None") -> Vocabulary:
    from questree.api.runs import Run

    if vocabulary is None:
        return default()
    return vocabulary.vocabulary if isinstance(vocabulary, Run) else load(path_of(vocabulary))


class Program:
    """What a question means. `questree.program` reads one; a question of a run has one.

    >>> p = questree.program("within(interaction(holding, phone), after(sitting down))")
    >>> p.categories
    {'reasoning': ('exists', 'obj-rel'), 'structural': 'verify', 'semantic': 'relation', 'answer_type': 'binary'}
    >>> questree.program("interaction(holding, phone)").write("agqa")
    'Exists(phone, Iterate(video, Filter(frame, [relations, holding, objects])))'
    """

    def __init__(self, node: Node, vocabulary: Vocabulary | None = None, notes: Sequence[str] = ()):
        self.node = node
        self.notes = list(notes)
        self._words = default() if vocabulary is None else vocabulary

    @cached_property
    def _read(self) -> dict[str, Any]:
        return readings(self.node, self._words)

    def english(self) -> str:
        """The question it asks, in the first of its wordings; "" if it has none.

        >>> questree.program("exists(bed)").english()
        'Does a bed exist?'
        """
        return self.wordings[0] if self.wordings else ""

    @property
    def wordings(self) -> list[str]:
        """Every way to ask it."""
        return list(self._read["english"])

    @property
    def steps(self) -> int | None:
        """Number of reasoning steps; None where the benchmark counts none."""
        found: int | None = self._read["steps"]
        return found

    @property
    def type(self) -> str:
        """Its type as a node of a DAG."""
        return str(self._read["type"])

    @property
    def kind(self) -> str:
        """What it gives: bool, object, action, number, ..."""
        return self.node.kind.name

    @property
    def categories(self) -> dict[str, Any]:
        """What tables list it by: reasoning, structural, semantic, answer_type."""
        return {name: self._read[name] for name in ("reasoning", "structural", "semantic", "answer_type")}

    def parts(self) -> "list[Program]":
        """Its sub-questions, those of sub-questions included, each once.

        >>> questree.program("interaction(holding, phone)").parts()
        [<Program exists(person)>, <Program doing(holding)>, <Program exists(phone)>]
        """
        if self._read["parts"] is None:
            return []
        return [Program(part, self._words) for part in nodes(self.node, self._words)[1:]]

    def write(self, notation: Notation) -> Any:
        """In another notation: own, agqa or decomp of videos, covr of images (a list of rows).

        >>> questree.program("interaction(holding, phone)").write("decomp")
        'interactionExists(objExists(person), relationExists(holding), objExists(phone))'
        """
        with pointing_at("", "own"):
            return written(self.node, [notation], self._words)[notation]

    def answer(
        self, run: "str | PathLike[str] | Run", *, video: str | None = None, images: Sequence[str] | None = None
    ) -> str | None:
        """Its answer about one video, or one set of images; None if it has none.

        >>> questree.program("interaction(holding, phone)").answer(run, video="07QFE")
        'no'
        """
        if (video is None) == (images is None):
            raise BadInput.at("answer", "expected one of video= and images=")
        scope = [video] if video is not None else [list(images or ())]
        found: str | None = self.answers(run, scope)["answer"][0]
        return found

    def answers(
        self, run: "str | PathLike[str] | Run", scopes: "Sequence[str] | Sequence[Sequence[str]] | None" = None
    ) -> pl.DataFrame:
        """Its answer about every scope of a run, or about some: scope, answer, reason (why there is none).

        >>> questree.program("exists(bed)").answers(run).head(2)
        shape: (2, 3)
        ┌───────┬────────┬────────┐
        │ scope ┆ answer ┆ reason │
        │ ---   ┆ ---    ┆ ---    │
        │ str   ┆ str    ┆ str    │
        ╞═══════╪════════╪════════╡
        │ 07QFE ┆ no     ┆ null   │
        │ 3P6K5 ┆ no     ┆ null   │
        └───────┴────────┴────────┘
        """
        from questree.api.execution import answers
        from questree.api.runs import Run, open

        run = run if isinstance(run, Run) else open(run)
        if is_video(self.node) != (run.medium == "video"):
            about = "videos" if is_video(self.node) else "sets of images"
            raise BadInput.at(str(self), f"expected a program about {run.medium}, got one about {about}")
        return answers(self.node, run, scopes)

    def __str__(self) -> str:
        return show(self.node)

    def __repr__(self) -> str:
        return f"<Program {shortened(str(self))}>"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Program) and self.node == other.node

    def __hash__(self) -> int:
        return hash(self.node)

    def _repr_html_(self) -> str:
        head = escape(self.english() or str(self))
        return f"<div><b>{head}</b><pre>{escape(chr(10).join(tree(self.node)))}</pre></div>"


def shortened(text: str, room: int = SHORT) -> str:
    return text if len(text) <= room else text[: room - 1] + "…"
