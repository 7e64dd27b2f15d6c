"""One question out of the tables: its program, its text, and where in the text each slot stands."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import polars as pl

from questree.benchmarks.agqa.arguments import Argument, Arguments
from questree.benchmarks.agqa.editions import EDITIONS, SECOND, Edition
from questree.benchmarks.agqa.frames import Span, frames, render_spans
from questree.benchmarks.agqa.templates import ACTION_REFERENCES, REFERENCES, TIMES, Template
from questree.columns.hashing import seed_of
from questree.columns.joins import Ints, starts
from questree.faults import BadInput
from questree.program import OBJECT, Node, fill, slots
from questree.readings.answer import spell
from questree.stages.generate.choices import choices, time_ways
from questree.stages.generate.spans import DIRECT, INDIRECT, NOTHING
from questree.tables.facts import VIDEOS
from questree.tables.questions import NOTHING8, QUESTIONS, TABLES
from questree.tables.run import Run
from questree.vocabulary.words import Vocabulary


@dataclass(frozen=True)
class Question:
    id: str
    video: int  # row in `videos`
    template: Template
    program: Node
    text: str
    spans: dict[str, Span]  # slot, and slots inside: "time.a"
    answer: str
    row: dict[str, int]  # its row in the table of questions


@dataclass(frozen=True)
class Shard:
    """The questions of one shard and their side tables, read from a finished run."""

    vocabulary: Vocabulary
    ids: list[str]  # of all videos
    seed: int
    questions: pl.DataFrame
    sides: dict[str, pl.DataFrame]
    edition: Edition = SECOND

    @cached_property
    def first(self) -> int:
        return int(self.questions["video"].min() or 0)  # type: ignore[arg-type]

    @cached_property
    def start(self) -> dict[str, Ints]:
        """side table -> [video from `first` on] where its rows begin."""
        last = int(self.questions["video"].max() or 0)  # type: ignore[arg-type]
        videos = last - self.first + 1
        return {n: starts(t["video"].to_numpy().astype(np.int64) - self.first, videos) for n, t in self.sides.items()}

    @cached_property
    def seeds(self) -> Any:
        last = int(self.questions["video"].max() or 0)  # type: ignore[arg-type]
        return np.array([seed_of(self.seed, video) for video in self.ids[self.first : last + 1]], np.uint64)

    def side(self, name: str, video: int, row: int) -> dict[str, int]:
        return self.sides[name].row(int(self.start[name][video - self.first]) + row, named=True)

    def question(self, at: int) -> Question:
        row: dict[str, int] = self.questions.row(at, named=True)
        template, edition = self.edition.by_code[row["template"]], self.edition.name
        ways = choices(self.seeds, np.array([row["video"] - self.first]), np.array([row["number"]]), edition)
        say = Speaker(self, Arguments(self.vocabulary, edition), row["video"])
        said = {name: say.slot(name, template, row, ways) for name in slots(template.node)}
        program = fill(template.node, {name: argument.term for name, argument in said.items()})
        assert isinstance(program, Node)
        known = frames(edition)[template.name]
        text, spans = render_spans(known[int(ways.frame[0]) % len(known)], {n: a.forms for n, a in said.items()})
        answer = spell(program.kind, row["answer"], self.vocabulary)
        name = f"{self.ids[row['video']]}-{row['number']}"
        return Question(name, row["video"], template, canonical(program), text, spans, answer or "", row)

    def __iter__(self) -> Iterator[Question]:
        return map(self.question, range(len(self.questions)))


def canonical(node: Node) -> Node:
    """Over the whole video a localised event is the event itself."""
    args = tuple(canonical(arg) if isinstance(arg, Node) else arg for arg in node.args)
    if node.op.name == "within" and isinstance(args[1], Node) and args[1].op.name == "whole":
        assert isinstance(args[0], Node)
        return args[0]
    return Node(node.op, args)


@dataclass(frozen=True)
class Speaker:
    """Turns the row numbers of one video into arguments: terms and phrases."""

    shard: Shard
    make: Arguments
    video: int

    def slot(self, name: str, template: Template, row: dict[str, int], ways: Any) -> Argument:
        if name == "relation":
            done_to = row.get("done_to", NOTHING8)
            return self.make.relation(row["relation"]) if done_to == NOTHING8 else self.make.relation_reference(done_to)
        if name == "time":
            return self.time(row["phrase"], int(ways.time[0]))
        if template.every_object:
            return self.make.object(row["x"])
        if template.every_action:
            return self.make.action(row["x"])
        side = "second" if name in ("second", "b") else "first"
        way = int(getattr(ways, side)[0])
        is_object = slots(template.node)[name].kind == OBJECT
        return self.object(row[side], way) if is_object else self.action(row[side], way)

    def object(self, at: int, way: int) -> Argument:
        row = self.shard.side("references", self.video, at)
        if row["kind"] == DIRECT:
            return self.make.object(row["object"])
        time = self.make.packed_time(row["time"], way) if row.get("time") else None
        return self.make.object_reference(REFERENCES[row["kind"]], row["relation"], way, time)

    def action(self, at: int, way: int) -> Argument:
        row = self.shard.side("action_references", self.video, at)
        if row["kind"] == DIRECT:
            return self.make.action(row["action"])
        if row["kind"] == INDIRECT:
            found = self.make.indirect_action(row["action"], self.object(row["reference"], way))
            assert found, "generation offers no reference where the phrase has no noun"
            return found
        return self.make.action_reference(ACTION_REFERENCES[row["kind"]], way)

    def time(self, at: int, way: int) -> Argument:
        """way = own way + own ways * way of its actions."""
        row, ways = self.shard.side("phrases", self.video, at), time_ways(self.make.edition)
        named = [self.action(row[side], way // ways) for side in "ab" if row[side] != NOTHING]
        return self.make.time(TIMES[row["kind"]], way % ways, *named)


class Bank:
    """All questions of a run; stages after generation know the second edition only."""

    def __init__(self, run: Run, any_edition: bool = False):
        self.run = run
        self.vocabulary = run.vocabulary()
        if not run.questions.is_dir():
            raise BadInput.at(run.questions, "not there yet; `questree generate` writes it")
        self.ids: list[str] = run.table("facts", VIDEOS)["id"].to_list()
        self.options = self._options(run.questions / "plan.json")
        self.edition = EDITIONS[self.options.get("edition", SECOND.name)]
        if self.edition is not SECOND and not any_edition:
            wanted = f"wanted questions of edition {SECOND.name}, these are of edition {self.edition.name}"
            raise BadInput.at(run.questions, f"{wanted}, which can be generated and shown only")

    def _options(self, plan: Path) -> dict[str, Any]:
        """The options the questions were made with; refuses questions of other facts."""
        try:
            found = msgspec.json.decode(plan.read_bytes())
            options, facts = dict(found["options"]), found["facts"]
        except (OSError, msgspec.DecodeError, KeyError, TypeError) as error:
            raise BadInput.at(plan, "damaged or missing; `questree generate` makes the questions again") from error
        if facts != self.run.facts_digest():
            raise BadInput.at(self.run.questions, "made from other facts; run `questree generate` again")
        return options

    def folders(self) -> list[Path]:
        return sorted(path for path in self.run.questions.iterdir() if path.is_dir())

    def shard(self, folder: Path) -> Shard:
        sides = {name: table.read(folder) for name, table in TABLES[self.edition.name].items()}
        questions = sides.pop(QUESTIONS.name)
        return Shard(self.vocabulary, self.ids, self.options["seed"], questions, sides, self.edition)

    def find(self, name: str) -> Question:
        """A question by its id, <video>-<number>."""
        video, _, number = name.rpartition("-")
        if video not in self.ids or not (number.isascii() and number.isdecimal()):
            raise BadInput.at(
                self.run.folder, f"no question {name!r}: an id is <video>-<number>, as in {self.ids[0]}-0"
            )
        at = self.ids.index(video)
        shard = self.shard(self.folders()[at // self.options["shard"]])
        rows = np.flatnonzero((shard.questions["video"] == at) & (shard.questions["number"] == int(number)))
        if not len(rows):
            count = int((shard.questions["video"] == at).sum())
            raise BadInput.at(self.run.folder, f"no question {name!r}: video {video} has {count:,}, numbered from 0")
        return shard.question(int(rows[0]))
