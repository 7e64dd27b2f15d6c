"""One question of a run as an object: its text, answer, program, evidence, labels and DAG."""

from dataclasses import dataclass
from functools import cached_property
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from questree.api.dags import Dag
from questree.api.programs import Program, shortened
from questree.faults import BadInput
from questree.show.colours import WORDS
from questree.show.dag import words_of
from questree.tables.predictions import Stored

if TYPE_CHECKING:
    from questree.api.consistency import Consistency
    from questree.api.runs import Run
    from questree.show.dag import Opened
    from questree.show.views import Posed, View


@dataclass(frozen=True, repr=False)
class Question:
    """A question of a run. `run[id]` gives one.

    >>> q = run["07QFE-0"]
    >>> q.text, q.answer
    ('In the video, were they interacting with a bag?', 'no')
    >>> q.program, q.dag
    (<Program interacting(bag)>, <Dag 4 nodes, 3 edges: Is the person interacting with a bag?>)
    """

    run: "Run"
    posed: "Posed"

    @classmethod
    def _of(cls, run: "Run", id: str) -> "Question":
        """By its id."""
        view = run._view
        key = view.key(id) if isinstance(id, str) else None
        if key is None:
            like = f"; ids are like {some}" if (some := run._some_id()) else ""
            raise BadInput.at(run.folder, f"no question {id!r} about {view.name}{like}")
        return cls(run, view.find(key))

    @property
    def _view(self) -> "View":
        return self.run._view

    @property
    def id(self) -> str:
        """As in the column `id` of `run.questions()`."""
        return self.posed.id

    @property
    def text(self) -> str:
        """What is asked."""
        return self.posed.text

    @property
    def answer(self) -> str:
        """The right answer."""
        return self.posed.answer

    @property
    def template(self) -> str:
        """Name of the template it was made from."""
        return self.posed.template

    @cached_property
    def program(self) -> Program | None:
        """What it means; None if its program cannot be read."""
        found = self.posed.program
        return None if found is None else Program(found, self.run.vocabulary)

    @property
    def labels(self) -> dict[str, str]:
        """What it is filed under: steps, categories, its video, its split, ..."""
        return dict(self._view.labels(self.posed))

    @cached_property
    def _opened(self) -> "Opened | None":
        return self._view.alone(self.posed)

    @cached_property
    def dag(self) -> Dag:
        """The question with all its sub-questions, taken apart now if the run is not."""
        if self._opened is None:
            raise BadInput.at(self.run.folder, f"no rule takes question {self.id!r} apart")
        return Dag._of(self._view, self._opened)

    @cached_property
    def evidence(self) -> pl.DataFrame:
        """What each part of its program rests on: frames of the video in seconds, or things with their boxes.

        Videos: program, role, window (is it a time?), frames, seconds. Image sets: program, role, image, thing, x1, y1,
        x2, y2. Role is what it is needed for: `decides` the answer, `reference` (tells what is meant), `time` that is
        asked about, `searched` (the time in which a reference is looked for).
        """
        from questree.api.evidence import evidence

        return evidence(self._view, self.posed)

    def consistency(self, model: str) -> "Consistency":
        """Which rules the answers of a stored model to the question and its sub-questions break.

        >>> run["07QFE-0"].consistency("perception-noise")
        <Consistency: 1 of 1 checks kept, 0 broken>
        """
        from questree.api.consistency import consistency
        from questree.scoring.compared import known_models

        known_models(self.run.folder, [model], self.run.models)
        if self._stored is None:
            told = "is not among the decomposed questions, which models answer; run.score takes any predictions"
            raise BadInput.at(self.run.folder, f"question {self.id!r} {told}")
        shard, node, top = self._stored
        said = words_of(Stored.of(self.run._place, model), shard, shard.below(node)[1:], top)
        return consistency(Dag._of(self._view, shard.only(node)), said)

    @cached_property
    def _stored(self) -> "tuple[Opened, int, int] | None":
        """Its shard, its node and its row there, if it is decomposed."""
        key = self._view.key(self.id)
        if not self._view.decomposed or key is None:
            return None
        shard = self._view.opened(self._view.shard_of(key))
        top = np.flatnonzero(self._view.keys(shard.tops) == key)
        return (shard, int(shard.tops["node"][int(top[0])]), int(top[0])) if len(top) else None

    def predictions(self) -> dict[str, str | None]:
        """Model -> what it answers, of the models that are stored in the run.

        >>> run["07QFE-0"].predictions()
        {'perception-noise': 'no'}
        """
        if self._stored is None:
            return dict.fromkeys(self.run.models)
        shard, _, top = self._stored
        return {name: words_of(Stored.of(self.run._place, name), shard, [], top)[0] for name in self.run.models}

    def data(self) -> dict[str, Any]:
        """As one flat record.

        >>> run["07QFE-0"].data()["program"]
        'interacting(bag)'
        """
        program = "" if self.program is None else str(self.program)
        record = {"id": self.id, "question": self.text, "answer": self.answer, "program": program}
        return record | {"template": self.template, **self.labels}

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return f"<Question {self.id}: {shortened(self.text, 60)} {self.answer}>"

    def _repr_html_(self) -> str:
        words = "".join(
            f'<span style="color:{WORDS[kind]}">{escape(text)}</span>' if kind else escape(text)
            for kind, text in self.posed.pieces
        )
        labels = ", ".join(f"{name} {value}" for name, value in self.labels.items() if value)
        head = f"<p>{words} <b>{escape(self.answer)}</b></p>"
        told = f"<p><small>{escape(self.id)}: {escape(self.template)}; {escape(labels)}</small></p>"
        drawing = "" if self._opened is None else self.dag._repr_html_()
        return f"<div>{head}{told}<code>{escape(str(self.program or ''))}</code>{drawing}</div>"
