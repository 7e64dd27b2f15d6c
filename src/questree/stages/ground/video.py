"""What questions about videos are about: boxes on frames, from the evidence of their programs."""

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import polars as pl
from numpy.typing import NDArray

from questree.benchmarks.agqa.templates import TEMPLATES
from questree.columns.joins import Ints, ranges, starts
from questree.domains.video import Videos
from questree.domains.video.bits import Bits
from questree.domains.video.facts import ANY
from questree.program import ACTION, OBJECT, Array, Node, slots, walk
from questree.readings.evidence import evidence
from questree.stages.generate.spans import INDIRECT, NOTHING
from questree.stages.ground.boxes import spot
from questree.stages.ground.frames import COLUMN, cores, reference_frames, slot_frames, windows
from questree.vocabulary.words import NONE

OPEN = ("doing", "objects", "first", "last", "relation_order")  # operators given a relation, but no object
SIDE = {"object": "first", "first": "first", "a": "first", "second": "second", "b": "second"}  # slot -> of its wording


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


def about(world: Videos, sides: dict[str, pl.DataFrame], questions: pl.DataFrame, first_video: int, key: Ints) -> About:
    """questions of these videos, sorted; key: [box] its spot."""
    columns = {name: questions[name].to_numpy().astype(np.int64) for name in questions.columns}
    video = columns["video"] - first_video
    parts = Parts(world, sides, first_video)
    owner, core_count = parts.see_cores(columns, video)
    question, owners = parts.owners(columns, video, core_count)
    question, owners = np.append(np.arange(len(video)), question), np.append(owner, owners)
    part, box = parts.seen.on_boxes(key)
    frames = np.zeros((len(video), world.words), np.uint64)
    np.bitwise_or.at(frames, question, parts.seen.on_frames(core_count + parts.size)[owners])
    row, at = ranges(np.searchsorted(part, owners), np.searchsorted(part, owners, side="right"))
    return About(question[row], box[at], frames)


@dataclass(frozen=True)
class Parts:
    """The parts of questions: cores (what is asked about which direct arguments), references and named actions."""

    world: Videos
    sides: dict[str, pl.DataFrame]
    first_video: int

    @cached_property
    def seen(self) -> Seen:
        return Seen(self.world, self.world.vocabulary.object_at[self.world.vocabulary.person])

    @cached_property
    def local(self) -> dict[str, Ints]:
        return {n: table["video"].to_numpy().astype(np.int64) - self.first_video for n, table in self.sides.items()}

    @cached_property
    def start(self) -> dict[str, Ints]:
        return {name: starts(video, len(self.world.length)) for name, video in self.local.items()}

    @property
    def size(self) -> int:
        """References, then named actions."""
        return len(self.sides["references"]) + len(self.sides["action_references"])

    @cached_property
    def window(self) -> Ints:
        """[phrase, 2]"""
        acts = self.sides["action_references"]["action"].to_numpy().astype(np.int64)
        base = self.start["action_references"][self.local["phrases"]]
        return windows(self.world, self.sides["phrases"], acts, self.local["phrases"], base)

    def see_cores(self, columns: dict[str, Ints], video: Ints) -> tuple[Ints, int]:
        """([question] its core, how many cores there are), and what the cores, references and actions are about."""
        core, count = np.zeros(len(video), np.int64), 0
        for template in np.unique(columns["template"]).tolist():
            at = np.flatnonzero(columns["template"] == template)
            own = {name: column[at] for name, column in columns.items()}
            first, inverse = cores(own, video[at])
            few = {name: column[first] for name, column in own.items()}
            see_core(self, template, few, video[at][first], count + np.arange(len(first)))
            core[at] = count + inverse
            count += len(first)
        self.see_sides(count)
        return core, count

    def see_sides(self, first: int) -> None:
        references, acts = self.sides["references"], self.sides["action_references"]
        object = self.world.vocabulary.merged_object[references["object"].to_numpy()]
        frames = reference_frames(self.world, references, self.local["references"])
        self.seen.objects(first + np.arange(len(references)), self.local["references"], object, frames)
        owner = first + len(references) + np.arange(len(acts))
        self.seen.doing(owner, self.local["action_references"], acts["action"].to_numpy().astype(np.int64))

    def owners(self, columns: dict[str, Ints], video: Ints, first: int) -> tuple[Ints, Ints]:
        """(question, owner): the references and named actions of every question, and references inside those."""
        questions, owners = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]

        def reference(at: Ints, row: Ints) -> None:
            questions.append(at)
            owners.append(first + self.start["references"][video[at]] + row)

        def action(at: Ints, row: Ints) -> None:
            place = self.start["action_references"][video[at]] + row
            questions.append(at)
            owners.append(first + len(self.sides["references"]) + place)
            indirect = self.sides["action_references"]["kind"].to_numpy()[place] == INDIRECT
            reference(at[indirect], self.sides["action_references"]["reference"].to_numpy()[place[indirect]])

        for template in np.unique(columns["template"]).tolist():
            at = np.flatnonzero(columns["template"] == template)
            for name, slot in slots(TEMPLATES[template].node).items():
                if name in SIDE and not TEMPLATES[template].every_object:
                    (reference if slot.kind == OBJECT else action)(at, columns[SIDE[name]][at])
        phrase = self.start["phrases"][video] + columns["phrase"]
        for side in "ab":
            row = self.sides["phrases"][side].to_numpy().astype(np.int64)[phrase]
            at = np.flatnonzero(row != NOTHING)
            action(at, row[at])
        return np.concatenate(questions), np.concatenate(owners)


def see_core(parts: Parts, template: int, columns: dict[str, Ints], video: Ints, owner: Ints) -> None:
    """Objects where they bear on the answer, or else where they are seen; objects of a relation; the action that is
    the answer."""
    node, world, seen = TEMPLATES[template].node, parts.world.ask(video), parts.seen
    wanted = {name: slot.kind for name, slot in slots(node).items()}
    rows: dict[str, Array] = {name: columns[COLUMN.get(name, name)] for name in wanted if name != "time"}
    rows["time"] = parts.window[parts.start["phrases"][video] + columns["phrase"]]
    grounds, window = evidence(node, world, rows), world.span(rows["time"])
    for name, frames in slot_frames(node, grounds, rows, columns["answer"]).items():
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
        seen.doing(owner, video, columns["answer"], window)
