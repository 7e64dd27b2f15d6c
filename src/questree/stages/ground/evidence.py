"""What questions are about: boxes on frames of a video, things in images, from the evidence of their programs."""

from dataclasses import dataclass, field
from functools import cached_property, reduce

import numpy as np
from numpy.typing import NDArray

from questree.benchmarks.agqa.templates import TIMES, Template
from questree.columns.joins import Ints, ranges
from questree.domains.images.batches import CHUNK
from questree.domains.images.corpus import Corpus, ImageSets
from questree.domains.video import VIDEO, Videos
from questree.domains.video.facts import ANY, KEY, Bits
from questree.progress import watch
from questree.readings.evidence import evidence
from questree.readings.forms import ProgramShapes
from questree.stages.ground.boxes import spot
from questree.stages.named import Named
from questree.stages.question_forms import reference
from questree.stages.questions import Shard
from questree.tables.questions import STANDS
from questree.terms import ACTION, OBJECT, RELATION, Array, Node, Slot, slots, walk
from questree.vocabulary.words import NONE

OP = VIDEO.ops


def slot_frames(node: Node, grounds: dict[Node, Bits], rows: dict[str, Array], answer: Ints) -> dict[str, Bits]:
    """[row, word] per object or relation slot: the frames on which what fills it bears on the answer.

    A slot has the frames of the operator it is given to, or (equals) of what it is compared with. An object that
    is offered as an answer has frames only if it is the answer. `grounds` is the evidence of the node.
    """
    found: dict[str, Bits] = {}
    for inner in dict.fromkeys(walk(node)):
        if not isinstance(inner, Node):
            continue
        target = dict(inner.named()).get(inner.op.target)
        own = grounds.get(inner, grounds.get(target) if isinstance(target, Node) else None)
        for arg in inner.args:
            if isinstance(arg, Slot) and arg.kind in (OBJECT, RELATION) and own is not None:
                option = inner.kind == OBJECT == arg.kind
                kept = np.where((answer == rows[arg.name])[:, None], own, np.uint64(0)) if option else own
                found[arg.name] = found.get(arg.name, np.uint64(0)) | kept
    return found


def reference_frames(world: Videos, named: Named) -> Bits:
    """[reference, word] the deciding frame of a first or last reference; every frame of a relation with one object."""
    shapes, video = named.shapes["references"][:-1], named.video("references")
    frames = np.zeros((len(video), world.words), np.uint64)
    for shape in np.unique(shapes).tolist():
        at = np.flatnonzero(shapes == shape)
        target = reference("r", shape, {})
        if isinstance(target, Node) and target.op.name == "only":
            target = target.args[0]
        if isinstance(target, Node):
            words = {name: named.words[name.removeprefix("r.")][at] for name in slots(target)}
            frames[at] = evidence(target, world.ask(video[at]), words)[target]
    return frames


def windows(world: Videos, named: Named) -> Ints:
    """[phrase, 4] what a time phrase opens."""
    kind, video = named.column("phrases", "kind"), named.video("phrases")
    found, acts = np.zeros((len(kind), 4), np.int64), named.column("action_references", "action")
    for number, name in enumerate(TIMES):
        op = OP["whole" if name == TIMES[0] else name]
        at = np.flatnonzero(kind == number)
        actions = [acts[named.actions_of(side)[at]] for side in "ab"[: len(op.params)]]
        found[at] = op.run(world.ask(video[at]), *actions)
    return found


def arguments(asked: Shard, template: Template, window: Ints) -> dict[str, Array]:
    """What the slots of a template stand for in these questions; window: [phrase, 4]."""
    rows = {name: asked.column(STANDS.get(name, name)) for name in slots(template.node) if name != "time"}
    return rows | {"time": window[asked.row("time")]}


def cores(asked: Shard) -> tuple[Ints, Ints]:
    """(first question of each core, [question] its core): a core is video, direct arguments and time."""
    key, wide = asked.video.astype(np.uint64), asked.vocabulary.wide
    for name, bits in (("relation", 8), ("x", 8), ("y", 8), ("time", 24)):
        column = asked.column(name).astype(np.uint64)
        if wide:  # numbers of what is there fit where the words do not
            key, column = (np.unique(own, return_inverse=True)[1].astype(np.uint64) for own in (key, column))
        key = (key << np.uint64(24 if wide else bits)) | column
    _, first, core = np.unique(key, return_index=True, return_inverse=True)
    return first, core


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
        row, held, found = row[some], held[some], self.world.key[track[some]] % KEY
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
    octets = np.ascontiguousarray(bits).view(np.uint8)  # [row, 8 * word]
    return np.unpackbits(octets, axis=1, bitorder="little")


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
        """[phrase, 4]"""
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


def visited(programs: ProgramShapes, images: Ints, corpus: Corpus) -> tuple[Ints, Ints]:
    """(question, thing), by both: every thing some part of the question's program found; images: [question, image]."""
    found = [np.zeros((0, 2), np.int64)]
    for node, every in watch(programs.by_shape, "visiting things", len(programs.by_shape)):
        for at in np.split(every, range(CHUNK, len(every), CHUNK)):
            world = ImageSets(corpus, images[at])
            grounds = evidence(node, world, programs.columns(node, at, corpus.positions))
            row, thing = world.members(reduce(np.bitwise_or, grounds.values(), world.everything * 0))
            found.append(np.stack([at[row], thing], axis=1))
    both = np.concatenate(found)
    both = both[np.lexsort((both[:, 1], both[:, 0]))]
    return both[:, 0], both[:, 1]
