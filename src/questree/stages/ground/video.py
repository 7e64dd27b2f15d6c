"""What questions about videos are about: boxes on frames, from the evidence of their programs."""

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from questree.benchmarks.agqa.templates import Template
from questree.columns.joins import Ints, ranges
from questree.domains.video import Videos
from questree.domains.video.bits import Bits
from questree.domains.video.facts import ANY
from questree.program import ACTION, OBJECT, Node, slots, walk
from questree.readings.evidence import evidence
from questree.stages.ground.boxes import spot
from questree.stages.ground.frames import arguments, cores, reference_frames, slot_frames, windows
from questree.stages.questions import Named, Shard
from questree.vocabulary.words import NONE

OPEN = ("doing", "objects", "first", "last", "relation_order")  # operators given a relation, but no object


@dataclass
class Seen:
    """Rows (owner, video, class, frames): what an owner, a part of a question, is about."""

    world: Videos
    person: int
    rows: list[tuple[Ints, Ints, Ints, Bits]] = field(default_factory=list)

    def objects(self, owner: Ints, video: Ints, object: Ints, frames: Bits) -> None:
        """The objects (NONE: no object) and the person on these frames."""
        there = object != NONE
        self.rows.append((owner[there], video[there], object[there], frames[there]))
        self.rows.append((owner, video, np.full(len(owner), self.person), frames))

    def related(self, owner: Ints, video: Ints, relation: Ints, frames: Bits) -> None:
        """Whatever has the relation on these frames."""
        row, track = ranges(*self.world.ask(video).tracks_of(self.world.vocabulary.folded[relation]))
        held = self.world.bits[track] & frames[row]
        some = held.any(axis=1)
        row, held, found = row[some], held[some], self.world.key[track[some]] % (ANY + 1)
        self.objects(owner[row], video[row], found, held)

    def doing(self, owner: Ints, video: Ints, action: Ints, frames: Bits | None = None) -> None:
        """The object of an action on its frames (inside others)."""
        words, own = self.world.vocabulary, self.world.ask(video).doing(action)
        object = words.object_of[words.merged_action[action]]
        self.objects(owner, video, object, own if frames is None else own & frames)

    def on_boxes(self, key: Ints) -> tuple[Ints, Ints]:
        """(owner, box), by owner; key: [box] its spot, ascending."""
        owner, video, object, bits = (np.concatenate(part) for part in zip(*self.rows, strict=True))
        row, frame = np.nonzero(unpacked(bits))
        wanted = spot(video[row], frame, object[row])
        at, box = ranges(np.searchsorted(key, wanted), np.searchsorted(key, wanted, side="right"))
        both = np.unique(owner[row[at]] * max(1, len(key)) + box)
        return both // max(1, len(key)), both % max(1, len(key))

    def on_frames(self, owners: int) -> Bits:
        """[owner, word]"""
        found = np.zeros((owners, self.world.words), np.uint64)
        for owner, _, _, bits in self.rows:
            np.bitwise_or.at(found, owner, bits)
        return found


def unpacked(bits: Bits) -> NDArray[np.uint8]:
    """[row, frame]"""
    return np.unpackbits(np.ascontiguousarray(bits).view(np.uint8).reshape(len(bits), -1), axis=1, bitorder="little")


@dataclass(frozen=True)
class About:
    """(question, box) that are relevant, perhaps repeated, and [question, word] the relevant frames."""

    question: Ints
    box: Ints
    frames: Bits


def about(world: Videos, asked: Shard, key: Ints) -> About:
    """asked: questions of these videos, sorted; key: [box] its spot."""
    parts = Parts(world, asked.named)
    owner, core_count = parts.see_cores(asked)
    question, owners = parts.owners(asked, core_count)
    question, owners = np.append(np.arange(len(owner)), question), np.append(owner, owners)
    part, box = parts.seen.on_boxes(key)
    frames = np.zeros((len(owner), world.words), np.uint64)
    np.bitwise_or.at(frames, question, parts.seen.on_frames(core_count + parts.size)[owners])
    row, at = ranges(np.searchsorted(part, owners), np.searchsorted(part, owners, side="right"))
    return About(question[row], box[at], frames)


@dataclass(frozen=True)
class Parts:
    """The parts of questions: cores (what is asked about which direct arguments), references and named actions."""

    world: Videos
    named: Named

    @cached_property
    def seen(self) -> Seen:
        return Seen(self.world, self.world.vocabulary.object_at[self.world.vocabulary.person])

    @property
    def size(self) -> int:
        """References, then named actions."""
        return len(self.named.sides["references"]) + len(self.named.inner)

    @cached_property
    def window(self) -> Ints:
        """[phrase, 2]"""
        return windows(self.world, self.named)

    def see_cores(self, asked: Shard) -> tuple[Ints, int]:
        """([question] its core, how many cores there are), and what the cores, references and actions are about."""
        template = asked.column("template")
        core, count = np.zeros(len(template), np.int64), 0
        for number in np.unique(template).tolist():
            at = np.flatnonzero(template == number)
            own = asked.where(asked.questions[at])
            first, inverse = cores(own)
            see_core(
                self, asked.edition.by_code[number], own.where(own.questions[first]), count + np.arange(len(first))
            )
            core[at] = count + inverse
            count += len(first)
        self.see_sides(count)
        return core, count

    def see_sides(self, first: int) -> None:
        named = self.named
        object = self.world.vocabulary.merged_object[named.column("references", "object")]
        frames = reference_frames(self.world, named)
        self.seen.objects(first + np.arange(len(object)), named.video("references"), object, frames)
        owner = first + len(object) + np.arange(len(named.inner))
        self.seen.doing(owner, named.video("action_references"), named.column("action_references", "action"))

    def owners(self, asked: Shard, first: int) -> tuple[Ints, Ints]:
        """(question, owner): the references and named actions of every question, and references inside those."""
        questions, owners = list[Ints](), list[Ints]()

        def add(row: Ints, base: int, wanted: Ints | bool = True) -> None:
            at = np.flatnonzero((row >= 0) & wanted)
            questions.append(at)
            owners.append(base + row[at])

        for place in ("first", "second", "time.a", "time.b"):
            row = asked.row(place)
            actions = asked.names_action(place) if place in ("first", "second") else np.ones(len(row), bool)
            add(row, first, ~actions)
            add(row, first + len(self.named.sides["references"]), actions)
            add(np.append(self.named.inner, -1)[np.where(actions, row, -1)], first)
        return np.concatenate(questions), np.concatenate(owners)


def see_core(parts: Parts, template: Template, asked: Shard, owner: Ints) -> None:
    """Objects where they bear on the answer, or else where they are seen; objects of a relation; the action that is
    the answer."""
    node, video, world, seen = template.node, asked.video, parts.world.ask(asked.video), parts.seen
    wanted = {name: slot.kind for name, slot in slots(node).items()}
    rows = arguments(asked, template, parts.window)
    grounds, window = evidence(node, world, rows), world.span(rows["time"])
    for name, frames in slot_frames(node, grounds, rows, asked.column("answer")).items():
        if wanted[name] == OBJECT:
            object = world.vocabulary.merged_object[rows[name]]
            there = world.track(ANY, object) & window
            seen.objects(owner, video, object, np.where(frames.any(axis=1, keepdims=True), frames, there))
    for inner in dict.fromkeys(walk(node)):
        if isinstance(inner, Node) and (inner.op.name in OPEN or inner.op.name == "annotated"):
            present = np.full(len(video), world.vocabulary.relation_at[world.vocabulary.annotated])
            relation = rows["relation"] if inner.op.name in OPEN else present
            seen.related(owner, video, relation, grounds[inner])
    if node.kind == ACTION:
        seen.doing(owner, video, asked.column("answer"), window)
