"""The questions of a run as columns: whoever wants to know what is asked, in which form and words, reads it here."""

from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Executor
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import polars as pl

from questree.benchmarks.agqa.arguments import Argument, ArgumentMaker
from questree.benchmarks.agqa.editions import SECOND, Edition, edition_of
from questree.benchmarks.agqa.frames import Span, render_spans
from questree.benchmarks.agqa.phrases import WAYS, Choices, choices, not_between, runs_on, time_ways
from questree.benchmarks.agqa.templates import ACTION_REFERENCES, BETWEEN, REFERENCES, TIMES, Template
from questree.columns.hashing import seed_of
from questree.columns.joins import Ints, by_value
from questree.faults import UNREADABLE, BadInput
from questree.readings.answer import spell
from questree.stages.named import DIRECT, INDIRECT, Named
from questree.stages.question_forms import BITS, QuestionForm, canonical, form
from questree.stages.template_columns import TemplateColumns
from questree.tables.facts import VIDEOS
from questree.tables.questions import NOTHING16, QUESTIONS, TABLES, TEXT, WORDED, time_actions
from questree.tables.run import Run
from questree.tables.store import own_note
from questree.tables.table import NO_WORD
from questree.terms import ACTION, OBJECT, Node, Term, fill, slots
from questree.vocabulary.words import Vocabulary
from questree.workers import processes

OF_ACTIONS = ("verb", "object", "object.relation")  # what is said inside an action reference
FEW = 1 << 26  # bytes of questions that one process works through sooner than others have started
GIVEN_TEXT = "text"  # column of questions that were given with their text; others are worded when they are read


@dataclass(frozen=True)
class Question:
    id: str
    video: int  # row in `videos`
    template: Template
    terms: dict[str, Term]  # what fills each slot
    text: str
    spans: dict[str, Span]  # slot, and slots inside: "time.a"
    answer: str
    row: dict[str, int]  # its row in the table of questions

    @cached_property
    def program(self) -> Node:
        found = fill(self.template.node, self.terms)
        assert isinstance(found, Node)
        return canonical(found)


class WordPositions(dict[str, Ints]):
    """Column -> [question] positions in the vocabulary, read when first asked for; a form says which it has."""

    def __init__(self, shard: "Shard"):
        super().__init__()
        self.shard = shard

    def __missing__(self, name: str) -> Ints:
        self[name] = found = self.shard.word(name).astype(np.int16)
        return found


@dataclass(frozen=True)
class Shard:
    """The questions of one shard, all or some of them."""

    vocabulary: Vocabulary
    ids: list[str] = field(repr=False)  # of all videos
    seed: int
    questions: pl.DataFrame
    named: Named
    edition: Edition = SECOND

    @classmethod
    def of(
        cls,
        vocabulary: Vocabulary,
        ids: list[str],
        seed: int,
        questions: pl.DataFrame,
        sides: dict[str, pl.DataFrame],
        edition: Edition = SECOND,
        ends: tuple[int, int] | None = None,
    ) -> "Shard":
        """`ends`: its first and last video, if not all their questions are given."""
        first, last = ends or (int(end or 0) for end in (questions["video"].min(), questions["video"].max()))  # type: ignore[arg-type]
        here = pl.col("video").is_between(first, last)  # at either end there may be videos without a question
        sides = {name: table.filter(here) for name, table in sides.items()}
        return cls(vocabulary, ids, seed, questions, Named(vocabulary, sides, first, last - first + 1), edition)

    def where(self, questions: pl.DataFrame) -> "Shard":
        """Other questions of these videos."""
        return replace(self, questions=questions)

    @property
    def first(self) -> int:
        return self.named.first

    @property
    def sides(self) -> dict[str, pl.DataFrame]:
        return self.named.sides

    @cached_property
    def seeds(self) -> Ints:
        """[video from `first` on]"""
        own = self.ids[self.first : self.first + self.named.videos]
        return np.array([seed_of(self.seed, video) for video in own], np.uint64)

    @cached_property
    def video(self) -> Ints:
        """[question] counted from the shard's first."""
        return self.column("video") - self.first

    def column(self, name: str) -> Ints:
        return self.questions[name].to_numpy().astype(np.int64)

    @cached_property
    def _rows(self) -> dict[str, Ints]:
        return {}

    def row(self, place: str) -> Ints:
        """[question] the row of the side table that words a place: first, second, time, time.a, time.b; -1: none."""
        if place not in self._rows:
            self._rows[place] = self._row(place).astype(np.int32)
        return self._rows[place]

    def _row(self, place: str) -> Ints:
        if place == "time":
            return np.asarray(self.named.start["phrases"][self.video] + self.column("phrase"))
        if place in ("time.a", "time.b"):
            return self.named.actions_of(place[-1])[self.row("time")]
        number, actions = self.column(place), self.names_action(place)
        base = (self.named.start[side][self.video] for side in ("action_references", "references"))
        return np.where(number != NOTHING16, np.where(actions, *base) + number, -1)

    def names_action(self, place: str) -> Ints:
        """[question] is first or second an action?"""
        own = [
            any(slot.kind == ACTION and WORDED.get(name) == place for name, slot in slots(template.node).items())
            for template in self.edition.by_code
        ]
        return np.array(own)[self.column("template")]

    def word(self, name: str) -> Ints:
        """[question] the word of a column, as forms name them."""
        if name in ("answer", "relation", "first", "second"):
            return self.column({"first": "x", "second": "y"}.get(name, name))
        if name == "relation.object":
            return self.column("done_to")
        if name in ("time.a", "time.b"):
            return np.asarray(time_actions(self.column("time"))["ab".index(name[-1])])
        place = next(place for place in ("first", "second", "time.a", "time.b") if name.startswith(f"{place}."))
        inside, row = name[len(place) + 1 :], self.row(place)
        if place in ("first", "second"):  # what is inside an action is not inside a reference
            row = np.where(self.names_action(place) == (inside in OF_ACTIONS), row, -1)
        return self.named.words[inside][row]

    @cached_property
    def words(self) -> WordPositions:
        return WordPositions(replace(self))  # of another than keeps them: what goes round waits for the collector

    @cached_property
    def forms(self) -> Ints:
        """[question] the number of its form."""
        code = self.column("template") << BITS["relation"]
        if "done_to" in self.questions.columns:
            code |= self.column("done_to") != NO_WORD[self.vocabulary.wide]
        shapes = self.named.shapes
        for place in ("first", "second"):
            row, actions = self.row(place), self.names_action(place)
            own = shapes["references"][np.where(actions, -1, row)]
            own = own + shapes["action_references"][np.where(actions, row, -1)]
            code = code << BITS[place] | own
        return np.asarray(code << BITS["time"] | shapes["phrases"][self.row("time")])

    def form(self, number: int) -> QuestionForm:
        bits = sum(BITS.values())
        return form(self.edition.by_code[number >> bits], number & (1 << bits) - 1)

    def by_form(self) -> Iterator[tuple[QuestionForm, Ints]]:
        """Each form with the rows of its questions, ascending."""
        return ((self.form(code), at) for code, at in by_value(self.forms))

    @property
    def named_ids(self) -> pl.Series:
        """[question] <video>-<number>."""
        return numbered(pl.Series(self.ids, dtype=pl.String).gather(self.questions["video"]), self.questions["number"])

    def question(self, at: int) -> Question:
        row: dict[str, int] = self.questions.row(at, named=True)
        template, edition = self.edition.by_code[row["template"]], self.edition.name
        ways = choices(self.seeds, np.array([row["video"] - self.first]), np.array([row["number"]]), edition)
        say = Speaker(self, self.arguments, row["video"])
        said = {name: say.slot(name, template, row, ways) for name in template.kinds}
        terms = {name: argument.term for name, argument in said.items()}
        if GIVEN_TEXT in row:
            text, spans = str(row.pop(GIVEN_TEXT)), dict[str, Span]()
            for name in said:
                spans |= found_in(text, name, (say.slot(name, template, row, way) for way in every_way(edition)))
        else:
            known = template.frames
            text, spans = render_spans(known[int(ways.frame[0]) % len(known)], {n: a.forms for n, a in said.items()})
        answer = spell(template.node.kind, row["answer"], self.vocabulary)
        name = f"{self.ids[row['video']]}-{row['number']}"
        return Question(name, row["video"], template, terms, text, spans, answer or "", row)

    @cached_property
    def arguments(self) -> ArgumentMaker:
        return ArgumentMaker(self.vocabulary, self.edition.name)

    def side(self, name: str, video: int, row: int) -> dict[str, int]:
        return self.sides[name].row(int(self.named.start[name][video - self.first]) + row, named=True)

    def __iter__(self) -> Iterator[Question]:
        return map(self.question, range(len(self.questions)))


def joined(shards: Sequence[Shard]) -> Shard:
    """The questions of shards that follow one another, as one."""
    first = shards[0]
    sides = {name: pl.concat([shard.sides[name] for shard in shards]) for name in first.sides}
    questions = pl.concat([shard.questions for shard in shards])
    return Shard.of(first.vocabulary, first.ids, first.seed, questions, sides, first.edition)


def every_way(edition: str) -> Iterator[Choices]:
    """So that every wording of a slot comes about."""
    for way in range(WAYS * time_ways(edition)):
        one = np.array([way])
        yield Choices(one, one % WAYS, one % WAYS, one)


def found_in(text: str, slot: str, said: Iterable[Argument]) -> dict[str, Span]:
    """Where a text that was given says a slot, and what is inside it: the longest of its wordings that is there."""
    phrases = [phrase for argument in said for phrase in argument.forms.values() if phrase.text.strip()]
    there = [phrase for phrase in phrases if phrase.text.strip() in text]
    if not there:
        return {}
    best = max(there, key=lambda phrase: len(phrase.text))
    margin, begin = len(best.text) - len(best.text.lstrip()), text.rindex(best.text.strip())
    inside = {f"{slot}.{name}": (begin + lo - margin, begin + hi - margin) for name, (lo, hi) in best.spans.items()}
    return {slot: (begin, begin + len(best.text.strip()))} | inside


def numbered(names: pl.Series, number: pl.Series) -> pl.Series:
    """[question] `<video>-<number>`; null where the number is."""
    return pl.select(pl.concat_str(names, pl.lit("-"), number.cast(pl.String))).to_series()


@dataclass(frozen=True)
class Speaker:
    """Turns the row numbers of one video into arguments: terms and phrases."""

    shard: Shard
    make: ArgumentMaker
    video: int

    def slot(self, name: str, template: Template, row: dict[str, int], ways: Any) -> Argument:
        if name == "relation":
            done_to = row.get("done_to", self.none)
            return (
                self.make.relation(row["relation"]) if done_to == self.none else self.make.relation_reference(done_to)
            )
        if name == "time":
            return self.time(row["phrase"], self.time_way(template, row, ways))
        if template.every_object:
            return self.make.object(row["x"])
        if template.every_action:
            return self.make.action(row["x"])
        side = WORDED[name]
        way = int(getattr(ways, side)[0])
        is_object = template.kinds[name] == OBJECT.name
        return self.object(row[side], way) if is_object else self.action(row[side], way)

    def time_way(self, template: Template, row: dict[str, int], ways: Any) -> int:
        named = "relation" in template.kinds and row.get("done_to", self.none) == self.none
        between = TIMES[self.shard.side("phrases", self.video, row["phrase"])["kind"]] == BETWEEN
        unclear = named and between and runs_on(row["relation"], self.shard.vocabulary)
        return int(not_between(ways.time, np.array([unclear]), self.make.edition)[0])

    @property
    def none(self) -> int:
        return NO_WORD[self.shard.vocabulary.wide]

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
        named = [self.action(row[side], way // ways) for side in "ab" if row[side] != NOTHING16]
        return self.make.time(TIMES[row["kind"]], way % ways, *named)


def edition_at(run: Run) -> Edition:
    """That of the run's questions; without questions the second one."""
    plan = run.questions / "plan.json"
    return edition_of(own_note(plan, "options")["options"]) if plan.is_file() else SECOND


@contextmanager
def _readable_plan(plan: Path) -> Iterator[None]:
    """The options the questions were made with and the shards' first videos are read within it."""
    try:
        yield
    except (OSError, *UNREADABLE, LookupError, TypeError, ValueError, ArithmeticError) as error:
        raise BadInput.at(plan, "damaged or missing; `questree generate` makes the questions again") from error


class Bank:
    """All questions of a run; templates are numbered as in `edition.by_code`."""

    def __init__(self, run: Run):
        self.run = run
        self.vocabulary = run.vocabulary()
        if not run.questions.is_dir():
            raise BadInput.at(run.questions, "not there yet; `questree generate` writes it")
        self.ids: list[str] = run.table("facts", VIDEOS)["id"].to_list()
        plan = run.questions / "plan.json"
        with _readable_plan(plan):
            found = msgspec.json.decode(plan.read_bytes())
            self.options, facts = dict(found["options"]), found["facts"]
            begins = msgspec.convert(found.get("begins"), list[int] | None)
        self._refuse_other_facts(facts, "imported" in found)
        with _readable_plan(plan):
            every = np.arange(0, len(self.ids), self.options["shard"]) if begins is None else begins
            self.begins: Ints = np.array(every)
            self.edition = edition_of(self.options)
        self.templates = TemplateColumns(self.edition.by_code)

    def _refuse_other_facts(self, facts: str, imported: bool) -> None:
        if facts != self.run.facts_digest():
            again = "import" if imported else "generate"
            raise BadInput.at(self.run.questions, f"made from other facts; run `questree {again}` again")
        self.run.require_plugins(self.run.questions)
        self.given = imported

    @cached_property
    def names(self) -> pl.Series:
        """[video] its id, to gather from: once for all shards."""
        return pl.Series(self.ids, dtype=pl.String)

    def number(self, video: int) -> int:
        """Of the shard with this video."""
        return int(np.searchsorted(self.begins, video, side="right")) - 1

    def folders(self) -> list[Path]:
        return sorted(path for path in self.run.questions.iterdir() if path.is_dir())

    def bytes(self) -> int:
        """Of the files of questions."""
        return sum((folder / f"{QUESTIONS.name}.parquet").stat().st_size for folder in self.folders())

    def pool(self, workers: int, times: int = 1) -> AbstractContextManager[Executor]:
        """Who works on shards: processes if there are enough questions, each of which is worked on `times`, to pay."""
        tasks = len(self.folders()) if workers > 1 and times * self.bytes() > FEW else 1
        return processes(workers, tasks=tasks)

    def shard(self, folder: Path, wanted: pl.DataFrame | None = None) -> Shard:
        """All its questions; of more than are read at once only those that are `wanted` (video, number)."""
        ranges = QUESTIONS.ranges(folder)
        if wanted is None or len(ranges) == 1:
            return self._shard(self._read(folder), self._sides(folder))
        few = [
            self._read(folder, rows).join(wanted, on=["video", "number"], how="semi", maintain_order="left")
            for rows in ranges
        ]
        return self._shard(pl.concat(few), self._sides(folder), QUESTIONS.ends(folder, "video"))

    def without_questions(self, folder: Path) -> Shard:
        """How things are named in its videos, for questions that are read piece by piece."""
        none = TABLES[self.edition.name][QUESTIONS.name].empty()
        return self._shard(none, self._sides(folder), QUESTIONS.ends(folder, "video"))

    def pieces(self, folder: Path) -> Iterator[Shard]:
        """Its questions, not more at a time than are read at once."""
        ranges, sides = QUESTIONS.ranges(folder), self._sides(folder)
        return (self._shard(self._read(folder, rows if len(ranges) > 1 else None), sides) for rows in ranges)

    def _shard(
        self, questions: pl.DataFrame, sides: dict[str, pl.DataFrame], ends: tuple[int, int] | None = None
    ) -> Shard:
        seed = self.options.get("seed", 0)
        return Shard.of(self.vocabulary, self.ids, seed, questions, sides, self.edition, ends)

    def _sides(self, folder: Path) -> dict[str, pl.DataFrame]:
        tables = TABLES[self.edition.name]
        return {name: table.read(folder) for name, table in tables.items() if name != QUESTIONS.name}

    def _read(self, folder: Path, rows: tuple[int, int] | None = None) -> pl.DataFrame:
        questions = TABLES[self.edition.name][QUESTIONS.name].read(folder, rows=rows)
        return (
            questions.with_columns(TEXT.read(folder, rows=rows)["question"].alias(GIVEN_TEXT))
            if self.given
            else questions
        )

    def find(self, name: str) -> Question:
        """A question by its id, <video>-<number>."""
        video, _, number = name.rpartition("-")
        if video not in self.ids or not (number.isascii() and number.isdecimal()):
            raise BadInput.at(
                self.run.folder, f"no question {name!r}: an id is <video>-<number>, as in {self.ids[0]}-0"
            )
        at = self.ids.index(video)
        shard = self.shard(self.folders()[self.number(at)])
        rows = np.flatnonzero((shard.questions["video"] == at) & (shard.questions["number"] == int(number)))
        if not len(rows):
            count = int((shard.questions["video"] == at).sum())
            raise BadInput.at(self.run.folder, f"no question {name!r}: video {video} has {count:,}, numbered from 0")
        return shard.question(int(rows[0]))
