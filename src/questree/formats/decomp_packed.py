"""Released DAGs as the decomposed questions of a run: programs as forms and words, with the texts and keys they came
with; equal nodes of a video are one."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import msgspec
import numpy as np

from questree.columns.joins import Ints
from questree.faults import UNREADABLE, BadInput
from questree.formats.agqa_packed import NO_NUMBER, NONE, Values
from questree.formats.decomp_files import ISOLATED, WholeDag, video_of
from questree.formats.decomp_left_out import DagPlace, OddDags
from questree.formats.decomp_tables import NodeShape, PackedDags, PackedNode, PlacedTop
from questree.notation import decomp
from questree.notation.grammar import names, positions
from questree.notation.own import show
from questree.readings.answer import answers_of
from questree.readings.forms import lifted
from questree.rules import VIDEO_DAGS
from questree.stages.decompose.forms import REPEATING
from questree.tables.hierarchies import Numbers
from questree.tables.nodes import SLOTS
from questree.terms import ACTION, OBJECT, RELATION, Kind, Node, ProgramError, Term, Word, fill, slots
from questree.vocabulary.words import Vocabulary


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
PROGRAMS = 1 << 16  # that are remembered
Records = TypeVar("Records")
DAGS_OF = msgspec.json.Decoder(dict[str, msgspec.Raw])


class Unreadable(Exception):
    """Why a DAG is none of the run."""


class ReadProgram(NamedTuple):
    node: Node
    form: str
    words: tuple[int, ...]


class PlacedId(NamedTuple):
    id: str
    at: DagPlace


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
    tops: dict[str, PlacedTop] = field(default_factory=dict)  # id of a question -> its node
    loose: dict[str, PlacedTop] = field(default_factory=dict)  # key of a question without a DAG -> its node
    asked: dict[str, AskedTop] = field(default_factory=dict)  # id of a question -> what is said about it
    left: OddDags = field(default_factory=OddDags)
    _programs: dict[str, ReadProgram | str] = field(default_factory=dict)
    _answers: dict[Kind, dict[str, int]] = field(default_factory=dict)
    _meant: dict[tuple[str, Node], int] = field(default_factory=dict)  # video, program -> its answer

    def empty(self) -> "DagPacker":
        """One that knows the programs this one has read, and no DAGs."""
        return DagPacker(self.vocabulary, _programs=self._programs, _answers=self._answers)

    def file(self, folder: int, path: Path) -> list[PlacedId]:
        """All DAGs of a video in a folder; those that were read."""
        video, found = video_of(path), list[PlacedId]()
        for number, (id, raw) in enumerate(decoded(path, DAGS_OF).items()):
            found += self.kept(DagPlace(folder, False, path.name, number), id, self.dag, raw, video)
        return found

    def isolated(self, folder: int, questions: Mapping[int, bytes]) -> list[PlacedId]:
        """Some of the isolated questions of a folder, by their numbers."""
        found = list[PlacedId]()
        for number, raw in questions.items():
            found += self.kept(DagPlace(folder, True, "", number), f"{ISOLATED}, question {number}", self.alone, raw)
        return found

    def kept(self, at: DagPlace, named: str, work: Callable[..., str], *given: Any) -> list[PlacedId]:
        """The id, or nothing if what is there cannot be read; then nothing of it stays."""
        before = len(self.nodes)
        try:
            return [PlacedId(work(named, at, *given), at)]
        except (Unreadable, *UNREADABLE) as why:
            while len(self.nodes) > before:
                self.nodes.popitem()
            del self.heights[before:]
            self.left.note(str(why), at, named)
            return []

    def packed(self) -> PackedDags:
        return PackedDags(list(self.nodes), self.tops, self.loose)

    def dag(self, id: str, at: DagPlace, raw: msgspec.Raw, video: str) -> str:
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

        top = node(dag.question)
        if id.rpartition("-")[0] != video:
            raise Unreadable(NO_NUMBER)
        self.tops[id] = PlacedTop.of(top, at, self.tops.get(id))
        self.asked[id] = AskedTop(video, dag.question, dag.answer, dag.old_program)
        return id

    def alone(self, _: str, at: DagPlace, raw: bytes) -> str:
        one = LOOSE.decode(raw)
        if one.question is None:
            raise Unreadable("a question without a text")
        video, _, number = one.key.rpartition("-")
        node = self.node(video, one.question, one, (), ())
        if not number.isdecimal():  # asked only because its answer is no
            self.loose[one.key] = PlacedTop.of(node, at, self.loose.get(one.key))
            return one.key
        self.tops[one.key] = PlacedTop.of(node, at, self.tops.get(one.key))
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
        found = self._programs.get(text)
        if found is None:
            if len(self._programs) >= PROGRAMS:
                self._programs.clear()
            self._programs[text] = found = self._read(text)
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
            known = dict[str, int]()
            for at, word in enumerate(answers_of(kind, self.vocabulary, 1)):
                known.setdefault((word or "").lower(), at)
            self._answers[kind] = known  # complete: other threads may look it up
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
