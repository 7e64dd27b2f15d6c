"""Questions about videos as they are shown: texts by what their words name, evidence on a timeline."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache, partial
from pathlib import Path
from string import Formatter
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import polars as pl
from numpy.typing import NDArray

from questree.benchmarks import AGQA
from questree.benchmarks.agqa.held_out import FLAGS, INDIRECT
from questree.columns.hashing import mix, seed_of
from questree.domains.video import Videos
from questree.notation import agqa, own
from questree.readings.evidence import DECIDES, roles
from questree.rules import VIDEO_DAGS
from questree.show.dag import Dag, DagColumns, Ints, Opened, Piece
from questree.show.frames import media_file
from questree.show.timeline import APART, Timeline, VideoTracks, filled, grounds, mentioned
from questree.show.views import READ, SAID, Evidence, Listed, Mask, Posed, Scene, View
from questree.stages.balance.rounds import between, selection
from questree.stages.decompose.answer_words import AnswerWords
from questree.stages.decompose.dag_shards import tables, tables_by_rules
from questree.stages.decompose.forms import NodeForms, ordered_slots
from questree.stages.decompose.hierarchies import Columns, dags_given, shards
from questree.stages.decompose.spoken import Texts, program
from questree.stages.direct_equivalents import SAME, direct_equivalent
from questree.stages.generate.text import Lexicon, lexicon, texts
from questree.stages.questions import Bank, Question, Shard
from questree.tables.facts import VIDEOS, Facts
from questree.tables.hierarchies import NOTHING
from questree.tables.nodes import EDGES, FORMS, KNOWN, NODES, TOPS, read_nodes
from questree.tables.run import Run
from questree.terms import Node, slots

if TYPE_CHECKING:  # splits are only imported where questions are looked for
    from questree.stages.split.rows import QuestionRows

KEY = 1 << 32  # video * KEY + number
SEEN = 32  # videos that are kept as they are shown
TIME = re.compile(r"\b(before|after|while|between|for the \w+ amount of time|for a \w+ amount of time)\b")
INSIDE = {"a": "action", "b": "action", "object": "object", "relation": "relation"}  # slots of slots: time.a
STORED = (FORMS, NODES, EDGES, TOPS)


@dataclass(frozen=True)
class SaidNode:
    """A node of a DAG as it is said."""

    row: dict[str, Any]  # text, type, program, answer
    pieces: list[Piece]
    program: Node


@dataclass(frozen=True)
class VideoScene(Scene):
    template: ClassVar[str] = "timeline.html"
    script: ClassVar[str] = "timeline.js"
    facts: Facts  # of the video
    timeline: Timeline
    evidence_of: Callable[[Node], list[Evidence]]

    def evidence(self, program: Node) -> list[Evidence]:
        return self.evidence_of(program)

    def files(self, program: Node | None, folder: Path) -> list[tuple[str, Path]]:
        """Of what is not seen anywhere: all frames."""
        found = self.evidence(program) if program else []
        video, numbers, seconds = self.facts.videos["id"][0], self.facts.frames["number"], self.facts.frames["seconds"]
        deciding = sorted({at for one in found if one.role == DECIDES for at in one.at}) or range(len(numbers))
        paths = {at: media_file(folder, video, int(numbers[at])) for at in deciding}
        return [(f"frame {numbers[at]}, {seconds[at]:.1f} s", path) for at, path in paths.items() if path]

    @property
    def size(self) -> tuple[int, int] | None:
        """Width and height, if the source says them."""
        width, height = self.facts.videos["width", "height"].row(0)
        return (int(width), int(height)) if width and height else None


class VideoView(View):
    name, title, scope = "videos", "Videos", "video"
    home, item, compare = "/", "/questions/", "/compare"
    words_hint = 'blanket "before standing up"'
    query_hint = 'has(before, action="standing up") & steps > 4'
    language = (
        *('has(operator, action="…", object="…", relation="…")', 'uses(object="…")', "template(…)", "structure(…)"),
        *("semantic(…)", "reasoning(…)", "time(before, after)", 'answer("yes")', "steps > 4", "more_steps", "novel"),
        "indirect",
    )
    twin = "the same, nothing referred to"
    kinds: ClassVar = {"object": "objects", "relation": "relationships", "action": "actions", "time": "time"}
    numbers: ClassVar = {"steps": "Steps"}
    scheme, benchmark = VIDEO_DAGS, AGQA

    def __init__(self, run: Run):
        super().__init__(run)
        self.bank = Bank(run)
        self.words, self.texts = AnswerWords(self.bank.vocabulary), Texts(self.bank.vocabulary)
        self.number, self.decomposed = dict(self.words.number), run.decomposed.is_dir()
        self.templates = [template.name for template in self.bank.edition.by_code]
        self.keyed, self.seen = lru_cache(READ)(self._keyed), lru_cache(SEEN)(self._seen)
        self.said_stored, self.evidence = lru_cache(SAID)(self._said_stored), lru_cache(SAID)(self._evidence)
        self._asked: dict[str, Shard] = {}  # only with the questions that are listed
        self._rows: dict[str, QuestionRows] = {}

    @cached_property
    def facts(self) -> Facts:
        return self.run.load("facts")

    @cached_property
    def side_of(self) -> pl.Series:
        """[video] as the source splits them."""
        return self.run.table("facts", VIDEOS)["split"]

    @cached_property
    def video_at(self) -> dict[str, int]:
        return {name: at for at, name in enumerate(self.bank.ids)}

    @cached_property
    def chosen(self) -> pl.DataFrame | None:
        """The selection, if that is what is listed."""
        return None if self.decomposed else selection(self.run)

    @classmethod
    def check(cls, run: Run) -> None:
        Bank(run)

    @classmethod
    def counted(cls, folder: Path) -> DagColumns:
        nodes = NODES.only("form", "known").read(folder)
        types, known = FORMS.only("type").read(folder)["type"], pl.Series(KNOWN)
        edges = EDGES.only("parent", "label").read(folder)
        return DagColumns(types.gather(nodes["form"]), known.gather(nodes["known"]), edges)

    def shards(self) -> list[str]:
        return [path.name for path in (shards(self.run) if self.decomposed else self.bank.folders())]

    def open(self, shard: str) -> Opened:
        folder = self.run.decomposed / shard
        found = {table.name: table.read(folder) for table in STORED}
        return self._opened(shard, found | {NODES.name: read_nodes(folder)})

    def _opened(self, name: str, found: dict[str, pl.DataFrame]) -> Opened:
        forms, nodes, edges, tops = (found[table.name] for table in STORED)
        columns, known = Columns.of(forms, nodes, self.words), pl.Series(KNOWN).gather(nodes["known"])
        return Opened(name, nodes, edges, tops, columns, VIDEO_DAGS.compositions, self.words.number, known, forms)

    def cut_out(self, name: str, nodes: Sequence[int]) -> list[Opened]:
        shard = self.open(name)
        return [replace(shard.only(node), numbers=()) for node in nodes]

    def dag(self, one: Opened) -> Dag:
        said = self.said(one)
        return Dag.of([each.row for each in said], [each.pieces for each in said], one)

    def programs(self, one: Opened) -> list[Node]:
        return [each.program for each in self.said(one)]

    def said(self, one: Opened) -> list[SaidNode]:
        """[node] of a shard that is one DAG; questions about a video have many sub-questions in common."""
        if one.numbers:
            return [self.said_stored(one.name, number) for number in one.numbers]
        return [self._said(one, at) for at in range(len(one.nodes))]

    def _said_stored(self, shard: str, number: int) -> SaidNode:
        return self._said(self.opened(shard), number)

    def _said(self, shard: Opened, number: int) -> SaidNode:
        """As `say` has it, which says all nodes of a shard."""
        assert shard.forms is not None
        row, answer = shard.nodes.row(number, named=True), int(shard.columns.answer[number])
        asked = program(shard.forms["program"][row["form"]])
        values = {slot.name: np.array([row[slot.name]]) for slot in ordered_slots(asked)}
        pieces = [("", row["text"])] if "text" in row else spelled(asked, row, self.texts)
        told = {
            "text": "".join(text for _, text in pieces),
            "type": shard.forms["type"][row["form"]],
            "program": self.texts.programs([(slice(0, 1), "", asked, values)], shard.nodes)[0],
            "answer": self.answers[answer] if answer != NOTHING else None,
        }
        return SaidNode(told, pieces, filled(asked, row, self.bank.vocabulary))

    @cached_property
    def answers(self) -> list[str]:
        """[number of an answer] the answer."""
        return list(self.words.number)

    def _keyed(self, number: int) -> tuple[Shard, Ints, Ints]:
        """All questions of a shard, their keys in order, and the row of each; `keyed` keeps the last few."""
        shard = self.bank.shard(self.bank.folders()[number])
        keys = keys_of(shard.questions)
        order = np.argsort(keys)
        return shard, keys[order], order

    def listed(self, shard: str) -> Listed:
        from questree.scoring.run_questions import answer_numbers  # with all bots: one DAG is shown without

        whole, opened = self.bank.shard(self.run.questions / shard), None
        if self.decomposed:
            opened = self.open(shard)  # not kept: all shards are listed one after the other
            asked = opened.tops.join(whole.questions, on=["video", "number"], how="left", maintain_order="left")
            asked = asked.drop("node")
        elif self.chosen is not None:
            few = between(self.chosen, whole.questions)
            asked = whole.questions.join(few, on=["video", "number"], how="semi", maintain_order="left")
        else:
            asked = whole.questions
        self._asked[shard] = whole.where(asked)
        columns = {name: asked[name].to_numpy() for name in ("template", "steps")}
        return Listed(columns | {"answer": answer_numbers(self.words, self.bank, asked), "key": keys_of(asked)}, opened)

    def pose(self, key: int) -> Posed:
        shard, rows = self.stored(key)
        asked = (
            shard.question(int(rows[0])) if len(rows) else self.bank.find(f"{self.bank.ids[key // KEY]}-{key % KEY}")
        )
        about = asked.id, asked.text, pieces(asked), asked.answer, asked.template.name
        return Posed(*about, lambda: asked.program, asked)

    def stored(self, key: int) -> tuple[Shard, Ints]:
        """The shard of a question, and its row there, if there is such a question."""
        shard, keys, order = self.keyed(self.bank.number(key // KEY))
        begin, end = np.searchsorted(keys, [key, key + 1])
        return shard, order[begin:end]

    def alone(self, asked: Posed) -> Opened | None:
        question: Question = asked.stored
        key = question.video * KEY + question.row["number"]
        shard, rows = self.stored(key)
        if self.decomposed and dags_given(self.run):
            opened = self.opened(self.shards()[self.bank.number(question.video)])
            at = np.flatnonzero(keys_of(opened.tops) == key)
            return opened.only(int(opened.tops["node"][int(at[0])])) if len(at) else None
        forms = NodeForms(self.bank.vocabulary)
        if self.facts.told:
            world = self.bank.edition.read(
                self.facts.between(shard.first, shard.first + len(shard.seeds)), self.bank.vocabulary
            )
            found = tables(forms, shard, rows, world, closed=True).tables
        else:
            found = tables_by_rules(forms, shard.where(shard.questions[rows]), np.arange(1)).tables
        assert int(found["tops"]["node"][0]) == 0, "the question is expanded first"
        return self._opened("", found)

    def scene(self, asked: Posed, one: Opened | None) -> VideoScene:
        video = asked.stored.video
        tracks, _ = self.seen(video)
        named = mentioned(self.programs(one) if one else (), self.bank.vocabulary)
        kept = self.evidence if len(tracks.seconds) <= APART else self._evidence  # of long videos it is large
        return VideoScene(tracks.facts, Timeline(tracks, named), partial(kept, video))

    def _evidence(self, video: int, program: Node) -> list[Evidence]:
        needed = roles(program)
        return [
            Evidence(own.show(node), at, f"{len(at)} frame{'s' if len(at) != 1 else ''}", needed[node])
            for node, at in grounds(program, self.seen(video)[1]).items()
            if at
        ]

    def _seen(self, video: int) -> tuple[VideoTracks, Videos]:
        """One video as it is drawn and as programs see it; `seen` keeps the last few."""
        facts = self.facts.between(video, video + 1)
        return VideoTracks(facts, self.bank.vocabulary), self.bank.edition.read(facts, self.bank.vocabulary)

    def labels(self, asked: Posed) -> list[tuple[str, str]]:
        question: Question = asked.stored
        kinds, row = question.template.categories, question.row
        return [
            ("steps", str(row["steps"])),
            ("structure", kinds.structural),
            ("semantic", kinds.semantic),
            ("reasoning", ", ".join(kinds.reasoning)),
            ("video", self.bank.ids[question.video]),
            ("split", self.side_of[question.video]),
            ("flags", ", ".join(name for bit, name in enumerate(FLAGS) if row["flags"] >> bit & 1)),
        ]

    def twins(self, asked: Posed) -> list[int]:
        """The question that asks the same directly."""
        question: Question = asked.stored
        if not question.row["flags"] & INDIRECT:
            return []
        begin = question.video * KEY
        shard, keys, order = self.keyed(self.bank.number(question.video))
        rows = order[slice(*np.searchsorted(keys, [begin, begin + KEY]))]
        columns = {name: shard.questions[name].to_numpy()[rows] for name in ("number", "flags", "time", *SAME)}
        found = direct_equivalent(question.row, columns, self.bank.edition)
        return [] if found is None else [begin + found]

    def notations(self, asked: Posed) -> dict[str, str]:
        text = agqa.written(asked.stored.program, self.bank.vocabulary, self.bank.edition.name)
        return {"in AGQA's notation": text} if text else {}

    def key(self, id: str) -> int | None:
        """An id is <video>-<number>."""
        video, _, number = id.rpartition("-")
        known = video in self.video_at and number.isascii() and number.isdecimal() and len(number) < 10
        return self.video_at[video] * KEY + int(number) if known else None

    def shard_of(self, key: int) -> str:
        return self.shards()[self.bank.number(key // KEY)]

    def keys(self, tops: pl.DataFrame) -> Ints:
        return keys_of(tops)

    def worded(self, shard: str, rows: Ints) -> pl.Series:
        asked = self._asked[shard]
        return texts(asked.where(asked.questions[rows]), self.lexicon)

    @cached_property
    def lexicon(self) -> Lexicon:
        return lexicon(self.bank.vocabulary, self.bank.edition)

    def ids(self, keys: Ints) -> pl.Series:
        return pl.select(pl.concat_str(self.scopes(keys), pl.lit("-"), pl.Series(keys % KEY))).to_series()

    def scopes(self, keys: Ints) -> pl.Series:
        return self.bank.names.gather(keys // KEY)

    def drawn(self, keys: Ints) -> Ints:
        return np.asarray(keys // KEY)

    def named(self, tops: pl.DataFrame) -> pl.Series:
        return self.ids(keys_of(tops))

    def chances(self, tops: pl.DataFrame, seed: int) -> NDArray[np.uint64]:
        videos, own = np.unique(tops["video"].to_numpy(), return_inverse=True)
        hashed = np.array([seed_of(seed, f"failure {self.bank.ids[video]}") for video in videos.tolist()], np.uint64)
        return mix(hashed[own], tops["number"].to_numpy())

    def side(self, keys: Ints) -> pl.Series:
        return self.side_of.gather(keys // KEY)

    def written(self) -> Iterator[tuple[str, Ints]]:
        from questree.stages.split.videos import read_split

        for folder in sorted(path for path in (self.run.folder / "splits").glob("*") if path.is_dir()):
            for side, table in read_split(self.run, folder.name).items():
                yield f"{folder.name} {side}", keys_of(table)

    def within(self, scope: str, keys: Ints) -> Mask:
        from questree.stages.split.grammar import check

        check("video", (scope,), self.bank.ids)
        return np.asarray(keys // KEY == self.video_at[scope])

    def query(self, text: str, shards: Sequence[str]) -> list[Mask]:
        """The language of splits."""
        from questree.stages.split.grammar import Wrong, read
        from questree.stages.split.language import of_videos

        predicate = read(text, of_videos(self.bank.vocabulary, self.most_steps, self.bank.edition))
        if "more_steps" in str(predicate) and not self.most_steps:
            raise Wrong("more_steps: `questree split` says where more steps begin, and it was not run")
        every = map(self.rows, shards)
        return [np.asarray(predicate.holds(rows)) if len(rows) else np.zeros(0, bool) for rows in every]

    def rows(self, shard: str) -> "QuestionRows":
        """What the language of splits looks at; made when it is first asked for."""
        from questree.stages.split.rows import video_rows

        if shard not in self._rows:
            self._rows[shard] = video_rows(self._asked[shard])
        return self._rows[shard]

    @cached_property
    def most_steps(self) -> tuple[int, ...]:
        """Per template, where its splits say so."""
        from questree.stages.split.steps import told

        note: Path = self.run.folder / "splits" / "report.json"
        if not note.is_file():
            return ()
        return told(note, self.bank.edition)


def keys_of(table: pl.DataFrame) -> Ints:
    """[row] video and number as one number."""
    return np.asarray(table["video"].to_numpy().astype(np.int64) * KEY + table["number"].to_numpy())


def spelled(node: Node, row: dict[str, int], texts: Texts) -> list[Piece]:
    """The text of a node about a video in pieces; `node` is its form."""
    kinds = {slot.name: slot.kind for slot in ordered_slots(node)}
    found: list[Piece] = []
    for text, name, form, _ in Formatter().parse(texts.pattern(node)):
        found += [("time" if at % 2 else "", part) for at, part in enumerate(TIME.split(text)) if part]
        if name and (word := texts.words(kinds[name], form or "")[row[name]]):
            found.append((kinds[name].name, word))
    return separated(found) if " between " in texts.pattern(node) else found


def separated(pieces: list[Piece]) -> list[Piece]:
    """With a comma where a relation would run on into "between", as texts have it."""
    found: list[Piece] = []
    for piece in pieces:
        if piece == ("time", "between") and "".join(text for _, text in found).endswith(" in "):
            found[-1] = (found[-1][0], f"{found[-1][1].removesuffix(' ')}, ")
        found.append(piece)
    return found


def pieces(question: Question) -> list[Piece]:
    """The text of a question about a video: every character belongs to the shortest slot around it."""
    own = {name: slot.kind.name for name, slot in slots(question.template.node).items()}
    kind = [""] * len(question.text)
    for name, (begin, end) in sorted(question.spans.items(), key=lambda span: span[1][0] - span[1][1]):
        last = name.rpartition(".")[2]
        named = own.get(name) or INSIDE.get(last, "")
        kind[begin:end] = ["time" if named == "window" else named] * (end - begin)
    found: list[Piece] = []
    for what, letter in zip(kind, question.text, strict=True):
        if found and found[-1][0] == what:
            found[-1] = (what, found[-1][1] + letter)
        else:
            found.append((what, letter))
    return found
