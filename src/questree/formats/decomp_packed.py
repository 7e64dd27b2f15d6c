"""Released DAGs as the decomposed questions of a run: programs as forms and words, with the texts and keys they came
with."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import msgspec
import numpy as np
import polars as pl

from questree.columns.joins import Ints
from questree.faults import UNREADABLE, BadInput
from questree.formats.agqa_packed import NONE, Values
from questree.formats.decomp_files import EXAMPLES, ISOLATED, WholeDag, video_files, video_of
from questree.notation import decomp
from questree.notation.grammar import names, positions
from questree.notation.own import show
from questree.readings.answer import answers_of
from questree.readings.forms import lifted
from questree.rules import VIDEO_DAGS
from questree.stages.decompose.forms import REPEATING
from questree.tables.hierarchies import Numbers
from questree.tables.nodes import DECOMPOSED, GIVEN, KNOWN, SLOTS
from questree.terms import ACTION, OBJECT, RELATION, Kind, Node, ProgramError, Term, Word, fill, slots
from questree.vocabulary.words import Vocabulary

ASKED, UNKNOWN = KNOWN.index("asked"), KNOWN.index("unknown")


class FullDag(WholeDag, gc=False):
    question: str
    type: str = ""
    old_program: str = ""
    answer: str | None = None


class LooseQuestion(msgspec.Struct, gc=False):
    """A question without a DAG."""

    key: str
    type: str
    question: str | None = None
    program: str | None = None
    answer: str | None = None


DAG, LOOSE = msgspec.json.Decoder(FullDag), msgspec.json.Decoder(LooseQuestion)
Records = TypeVar("Records")
DAGS_OF, LIST = msgspec.json.Decoder(dict[str, msgspec.Raw]), msgspec.json.Decoder(list[msgspec.Raw])


class NodeShape(NamedTuple):
    """What nodes of a shard share; higher ones come first, so that parents come before their parts."""

    height: int
    program: str
    type: str
    labels: tuple[int, ...]  # positions of the compositions of its edges


class PackedNode(NamedTuple):
    shape: NodeShape
    video: str
    words: tuple[int, ...]
    key: str
    text: str
    answer: int | None
    parts: tuple[int, ...]  # numbers of nodes


class Unreadable(Exception):
    """Why a DAG is none of the run."""


class ReadProgram(NamedTuple):
    node: Node
    form: str
    words: tuple[int, ...]


class AskedTop(NamedTuple):
    video: str
    text: str
    answer: str | None
    program: str | Node  # in AGQA's notation, or read


def decoded(path: Path, decoder: "msgspec.json.Decoder[Records]") -> Records:
    try:
        return decoder.decode(path.read_bytes())
    except UNREADABLE as error:
        raise BadInput.at(path, f"not JSON: {error}") from error


@dataclass
class DagPacker:
    """Reads DAGs one after the other; equal nodes of a video are one."""

    vocabulary: Vocabulary
    nodes: Numbers[PackedNode] = field(default_factory=Numbers)
    heights: list[int] = field(default_factory=list)  # [node]
    tops: dict[str, int] = field(default_factory=dict)  # id of a question -> its node
    loose: dict[str, int] = field(default_factory=dict)  # key of a question without a DAG -> its node
    asked: dict[str, AskedTop] = field(default_factory=dict)  # id of a question -> what is said about it
    left_out: Counter[str] = field(default_factory=Counter)
    examples: dict[str, list[str]] = field(default_factory=dict)
    _programs: dict[str, ReadProgram | str] = field(default_factory=dict)
    _answers: dict[Kind, dict[str, int]] = field(default_factory=dict)
    _meant: dict[tuple[str, Node], int] = field(default_factory=dict)  # video, program -> its answer

    def folder(self, folder: Path) -> list[str]:
        """All DAGs of a folder and its isolated questions; the ids of those that were read."""
        found = list[str]()
        for path in video_files(folder):
            for id, raw in decoded(path, DAGS_OF).items():
                found += self.kept(id, self.dag, raw, video_of(path))
        loose = folder / ISOLATED
        alone = decoded(loose, LIST) if loose.is_file() else []
        for number, raw in enumerate(alone):
            found += self.kept(f"{ISOLATED}, question {number}", self.alone, raw)
        return found

    def kept(self, place: str, work: Callable[..., str], *given: Any) -> list[str]:
        """The id, or nothing if what is there cannot be read; then nothing of it stays."""
        before = len(self.nodes)
        try:
            return [work(place, *given)]
        except (Unreadable, *UNREADABLE) as why:
            while len(self.nodes) > before:
                self.nodes.popitem()
            del self.heights[before:]
            self.leave_out(place, str(why))
            return []

    def leave_out(self, place: str, why: str) -> None:
        self.left_out[why] += 1
        if self.left_out[why] <= EXAMPLES:
            self.examples.setdefault(why, []).append(place)

    def dag(self, id: str, raw: msgspec.Raw, video: str) -> str:
        dag = DAG.decode(raw)
        made, open = dict[str, int](), set[str]()

        def node(text: str) -> int:
            if text in made:
                return made[text]
            if text in open or text not in dag.subquestion:
                raise Unreadable("a question that is part of itself, or not among the sub-questions")
            open.add(text)
            edges = [(label, own) for label, few in dag.hierarchy.get(text, {}).items() for own in few]
            strange = [label for label, _ in edges if label not in VIDEO_DAGS.compositions]
            if strange:
                raise Unreadable(f"composition: {strange[0]!r} is none of the {len(VIDEO_DAGS.compositions)}")
            parts = tuple(node(own) for _, own in edges)
            one = dag.subquestion[text]
            made[text] = self.node(video, text, one, tuple(label for label, _ in edges), parts)
            return made[text]

        self.tops[id] = node(dag.question)
        self.asked[id] = AskedTop(video, dag.question, dag.answer, dag.old_program)
        return id

    def alone(self, _: str, raw: msgspec.Raw) -> str:
        one = LOOSE.decode(raw)
        if one.question is None:
            raise Unreadable("a question without a text")
        video, _, number = one.key.rpartition("-")
        node = self.node(video, one.question, one, (), ())
        if not number.isdecimal():  # asked only because its answer is no
            self.loose[one.key] = node
            return one.key
        self.tops[one.key] = node
        self.asked[one.key] = AskedTop(video, one.question, one.answer, self.program(one.program).node)
        return one.key

    def node(self, video: str, text: str, one: Any, labels: tuple[str, ...], parts: tuple[int, ...]) -> int:
        read = self.program(one.program)
        answer = None if one.answer is None else self.answers(read.node.kind).get(one.answer.lower())
        if answer is None and one.answer is not None:
            raise Unreadable(f"answer: {one.answer!r} is none that a question of this kind can have")
        if answer is not None:
            self._meant[video, read.node] = answer
        height = 1 + max((self.heights[part] for part in parts), default=-1)
        shape = NodeShape(height, read.form, one.type, tuple(VIDEO_DAGS.compositions.index(name) for name in labels))
        number = self.nodes[PackedNode(shape, video, read.words, one.key, text, answer, parts)]
        if number == len(self.heights):
            self.heights.append(height)
        return number

    def program(self, text: str | None) -> ReadProgram:
        if text is None:
            raise Unreadable("a sub-question without a program")
        if text not in self._programs:
            self._programs[text] = self._read(text)
        found = self._programs[text]
        if isinstance(found, str):
            raise Unreadable(found)
        return found

    def _read(self, text: str) -> ReadProgram | str:
        try:
            node = decomp.read(text, self.vocabulary).node
        except ProgramError as error:
            return f"program: {error}"
        form, words = lifted(node, once=node.op.name in REPEATING)
        if len(words) > SLOTS:
            return f"program: more than {SLOTS} words"
        at = tuple(positions(word.kind, self.vocabulary)[word.name] for word in words if isinstance(word, Word))
        return ReadProgram(node, show(form), at)

    def answers(self, kind: Kind) -> dict[str, int]:
        if kind not in self._answers:
            known = self._answers[kind] = {}
            for at, word in enumerate(answers_of(kind, self.vocabulary, 1)):
                known.setdefault((word or "").lower(), at)
        return self._answers[kind]

    def meant(self, videos: Mapping[str, int]) -> Any:
        """What references stand for, by the answers to sub-questions that ask it."""
        named = {kind: names(kind, self.vocabulary) for kind in (OBJECT, RELATION, ACTION)}

        def one(video: str, term: Term) -> int:
            if isinstance(term, Node) and term.op.name == "to_action":
                verb, thing = term.args
                noun = self.vocabulary.object_at[thing.name] if isinstance(thing, Word) else one(video, thing)
                assert isinstance(verb, Word)
                relation = self.vocabulary.folded[self.vocabulary.relation_at[verb.name]]
                fits = (self.vocabulary.verb_of == relation) & (self.vocabulary.object_of == noun)
                own = np.unique(self.vocabulary.merged_action[fits])
                return int(own[0]) if noun != NONE and len(own) == 1 else NONE
            return self._meant.get((video, term), NONE) if isinstance(term, Node) else NONE

        def resolve(term: Term, words: Values, video: Ints) -> Ints:
            called, found = list(videos), list[int]()
            open = slots(term) if isinstance(term, Node) else {}
            for row, at in enumerate(video.tolist()):
                said = {name: Word(named[slot.kind][int(words[name][row])], slot.kind) for name, slot in open.items()}
                filled = fill(term, said) if isinstance(term, Node) else term
                found.append(one(called[at], filled))
            return np.array(found, np.int64)

        return resolve

    def tables(self, questions: pl.DataFrame, videos: Mapping[str, int]) -> dict[str, pl.DataFrame]:
        """The tables of a shard with these questions (video, number, id) and their texts and keys."""
        every, own = list(self.nodes), dict(questions.select("id", "number").iter_rows())
        tops = {id: node for id, node in self.tops.items() if id in own}
        loose = [node for node in self.loose.values() if every[node].video in set(questions["name"])]
        order = sorted(reached(every, [*tops.values(), *loose]), key=lambda at: place(every[at], videos))
        row = {node: at for at, node in enumerate(order)}
        kept = [every[node] for node in order]
        shapes = list(dict.fromkeys(node.shape for node in kept))
        code = {shape: at for at, shape in enumerate(shapes)}
        wide = self.vocabulary.wide
        none = 65535 if wide else 255
        columns: dict[str, Any] = {"video": [videos[node.video] for node in kept]}
        columns["form"] = [code[node.shape] for node in kept]
        for at in range(SLOTS):
            columns[f"s{at}"] = [node.words[at] if at < len(node.words) else none for node in kept]
        columns["answer"] = [node.answer for node in kept]
        columns["known"] = [UNKNOWN if node.answer is None else ASKED for node in kept]
        edges = [
            (parent, label, position, row[part])
            for parent, node in enumerate(kept)
            for position, (label, part) in enumerate(zip(node.shape.labels, node.parts, strict=True))
        ]
        made: dict[str, Any] = {
            "forms": {
                "program": [shape.program for shape in shapes],
                "type": [shape.type for shape in shapes],
                "parts": [len(shape.labels) for shape in shapes],
            },
            "nodes": columns,
            "edges": dict(zip(("parent", "label", "position", "child"), zip(*edges, strict=True), strict=False)),
            "tops": {
                "video": [videos[every[node].video] for node in tops.values()],
                "number": [own[id] for id in tops],
                "node": [row[node] for node in tops.values()],
            },
            "negatives": {"video": [videos[every[n].video] for n in loose], "node": [row[n] for n in loose]},
            "given": {"text": [node.text for node in kept], "key": [node.key for node in kept]},
        }
        tables = {table.name: table for table in (*DECOMPOSED, GIVEN)}
        return {name: pl.DataFrame(made[name], schema=dict(own.types(wide))) for name, own in tables.items()}


def reached(nodes: list[PackedNode], tops: list[int]) -> Iterator[int]:
    """These nodes and all below them, once."""
    found, waiting = set[int](), list(tops)
    while waiting:
        node = waiting.pop()
        if node not in found:
            found.add(node)
            yield node
            waiting += nodes[node].parts


def place(node: PackedNode, videos: Mapping[str, int]) -> tuple[Any, ...]:
    shape = node.shape
    return -shape.height, shape.program, shape.type, shape.labels, videos[node.video], node.words, node.key
