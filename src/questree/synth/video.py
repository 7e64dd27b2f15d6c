"""One made-up video with everything that is true of it, and as annotators see it, with every fault counted."""

from collections import Counter
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from questree.synth.contacts import Contacts, Props, choose_props, touch
from questree.synth.habits import Array, Habits, Rng, Role, habits
from questree.synth.scripts import Script, Span, write_script
from questree.synth.stage import SIZES, Stage, locate, person_boxes, set_stage, thing_boxes
from questree.synth.statistics import tables

RATES = ("24", "25", "29.97", "30")  # frames per second, as written
SAMPLES = 5  # frames per action
HIDDEN = {"thing": 0.15, "furniture": 0.06}  # chances not to be in sight while nobody cares for it
LETTERS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"
SCENES = (
    "Bedroom",
    "Kitchen",
    "Living room",
    "Bathroom",
    "Dining room",
    "Home Office / Study",
    "Hallway",
    "Laundry room",
)


@dataclass(frozen=True)
class SynthVideo:
    id: str
    split: str
    scene: str
    subject: str
    length: float
    rate: str  # frames per second
    size: tuple[int, int]  # width, height
    spans: tuple[Span, ...]
    numbers: Array  # [frame] index at the video's own rate
    objects: list[int]  # [object] positions in the vocabulary
    annotated: Array  # [frame, object] whether there is an entry at all
    visible: Array  # [frame, object]
    relations: Array  # [frame, object] bit k = relation k of the vocabulary; 0 where not visible
    boxes: Array  # [frame, object, 4] x1, y1, x2, y2
    person: Array  # [frame, 4]
    detected: Array  # [frame] whether the person was found

    @property
    def seconds(self) -> Array:  # [frame]
        return self.numbers / float(self.rate)


def make_video(seed: int, index: int) -> SynthVideo:
    """The same for the same seed and index, whatever else is made."""
    known, rng = habits(), np.random.default_rng((seed, index))
    statistics = tables(tuple(action.id for action in known.words.actions))
    rate, size = RATES[int(rng.integers(len(RATES)))], SIZES[int(rng.integers(len(SIZES)))]
    split = "train" if rng.random() < statistics.train_share else "test"
    scene, subject = SCENES[int(rng.integers(len(SCENES)))], "".join(LETTERS[i] for i in rng.integers(10, 36, 4))
    script = write_script(statistics, known, rng)
    numbers = frame_numbers(script, float(rate))
    seconds = numbers / float(rate)
    props = choose_props(script, known, rng)
    touched = touch(script, props, seconds, known, rng)
    stage = set_stage(script, props, touched, seconds, known, rng)
    person, boxes = person_boxes(stage, size, rng), thing_boxes(stage, touched, props, size, known, rng)
    relations = touched.masks | locate(stage, touched, props, boxes, person, known, rng)
    visible = _in_sight(touched, stage, props, known, rng)
    return SynthVideo(
        id=name(seed, index),
        split=split,
        scene=scene,
        subject=subject,
        length=script.length,
        rate=rate,
        size=size,
        spans=script.spans,
        numbers=numbers,
        objects=props.objects,
        annotated=np.ones(visible.shape, bool),
        visible=visible,
        relations=np.where(visible, relations, 0),
        boxes=boxes.round(2),
        person=person.round(2),
        detected=np.ones(len(numbers), bool),
    )


def name(seed: int, index: int) -> str:
    """Five letters and digits, different for every index below 36^5."""
    number = (index * 7_368_787 + seed * 104_729 + 46_655) % 36**5  # the factor and 36 have no common divisor
    return "".join(LETTERS[number // 36**place % 36] for place in reversed(range(5)))


def frame_numbers(script: Script, rate: float) -> Array:
    """The frames of all actions; every number once, in order."""
    found = [sampled(span, script.length, rate) for span in script.spans]
    return np.unique(np.concatenate(found)) if found else np.zeros(0, np.int64)


def sampled(span: Span, length: float, rate: float) -> Array:
    """Five frames of an action, evenly from its first to its last."""
    first, last = np.ceil(span.start * rate), np.floor(min(span.end, length) * rate)
    first += first / rate < span.start
    last -= last / rate > min(span.end, length)
    return np.linspace(first, max(first, last), SAMPLES).round().astype(np.int64)


def _in_sight(touched: Contacts, stage: Stage, props: Props, known: Habits, rng: Rng) -> Array:
    """[frame, object]; what is used is seen, other things may be hidden before, after or from some place."""
    visible = touched.busy.copy()
    frames = np.arange(len(visible))
    for column, o in enumerate(props.objects):
        busy = np.flatnonzero(touched.busy[:, column])
        if o in known.movable:
            stretch = np.where(frames < (busy[0] if len(busy) else 0), 0, 1)  # before it is first used, and since
        else:
            stretch = stage.place
        hidden = rng.random(stretch.max(initial=0) + 1) < HIDDEN["thing" if o in known.movable else "furniture"]
        visible[:, column] |= ~hidden[stretch]
    return visible


MISSED_PERSONS = 0.01  # share of frames in which the person is not detected
RIGHT_AFTER = 1.0  # seconds within which holding follows on taking, putting on holding
LEAST = 4  # frames of an object that is labelled twice
NARROWER = 0.06  # a second box is smaller on each side by up to this part
HURRIED, UNPLACED = 0.33, 0.4  # share of videos whose annotators were in a hurry, and of things they give no place
SHORT_LISTS = 0.06  # share of things not entered before they are first seen and after they are last seen


@dataclass(frozen=True)
class Rates:
    missing_relations: float = 0.25
    """Share of relation annotations left out."""
    overlapping_stamps: float = 0.10
    """Share of takings next to holdings, and holdings next to puttings, whose stamps overlap."""
    double_labels: float = 0.05
    """Share of objects that are also annotated as a similar class."""
    flipped_heights: float = 0.05
    """Share of "above" and "beneath" that are the wrong way round."""
    missing_takes: float = 0.10
    """Share of takings left out although a holding follows."""
    unasked_objects: float = 0.92
    """Share of objects left out on the frames of other things' actions; hurried annotators leave out places too."""


Counts = Counter[str]  # "missing takes" changed, "missing takes of" out of


def observe(video: SynthVideo, rates: Rates, seed: int, index: int) -> tuple[SynthVideo, Counts]:
    """Every kind of noise has its own random numbers: changing one rate leaves the others' faults as they are."""
    known, counts = habits(), Counter[str]()
    draws = [np.random.default_rng((seed, index, kind)) for kind in range(1, 10)]
    spans = _miss_takes(list(video.spans), rates.missing_takes, known, counts, draws[0])
    spans = _overlap(spans, rates.overlapping_stamps, known, counts, draws[1])
    noticed = _notice(video, rates.unasked_objects, known, counts, draws[6])
    relations = np.where(noticed, name_the_closest(video.relations, known), 0)
    relations = _hurry(relations, rates.unasked_objects, known, counts, draws[7])
    relations = _drop(relations, rates.missing_relations, counts, draws[2])
    relations = _flip(relations, rates.flipped_heights, known, counts, draws[3])
    detected = draws[4].random(len(video.detected)) >= MISSED_PERSONS
    _count(counts, "missed persons", (~detected).sum(), len(detected))
    spans.sort(key=lambda s: (s.start, s.end, s.action))
    visible = video.visible & noticed
    entered = _enter(visible, SHORT_LISTS * rates.unasked_objects, draws[8])
    seen = replace(
        video, spans=tuple(spans), relations=relations, detected=detected, visible=visible, annotated=entered
    )
    return _label_twice(seen, rates.double_labels, known, counts, draws[5]), counts


def _notice(video: SynthVideo, rate: float, known: Habits, counts: Counts, rng: Rng) -> Array:
    """[frame, object] what annotators look for: on the frames of an action its object, other things now and then, and
    then on all frames up to the next on which they were asked for them. The rest is entered as not visible. Some
    annotators see more than others; `rate` is the mean."""
    asked: Array = np.zeros(video.visible.shape, bool)
    at = {o: column for column, o in enumerate(video.objects)}
    for span in video.spans:
        column = at.get(int(known.words.noun_of[span.action]))
        if column is not None:
            asked[np.isin(video.numbers, sampled(span, video.length, float(video.rate))), column] = True
    if not len(asked):
        return asked
    own = rng.random() ** ((1 - rate) / rate) if rate else 0.0
    stretch = np.cumsum(np.vstack([asked[:1], asked[1:] != asked[:-1]]), axis=0)  # [frame, object] numbered per object
    lost = np.take_along_axis(rng.random((len(asked) + 1, len(video.objects))) < own, stretch, axis=0) & ~asked
    _count(counts, "unasked objects", lost.sum(), (~asked).sum())
    return ~lost


def _enter(visible: Array, rate: float, rng: Rng) -> Array:
    """[frame, object] where things are entered at all: on every frame, a few only from the first to the last on which
    somebody sees them."""
    seen_until, seen_since = np.logical_or.accumulate(visible), np.logical_or.accumulate(visible[::-1])[::-1]
    return np.asarray((seen_until & seen_since) | (rng.random(visible.shape[1]) >= rate))


def _hurry(relations: Array, rate: float, known: Habits, counts: Counts, rng: Rng) -> Array:
    """Who is in a hurry says of many things not where they are: AGQA finds three videos in ten with too few places."""
    there = (relations & known.groups["spatial"]) != 0
    lost = there & (rng.random(there.shape) < UNPLACED) & (rng.random() < HURRIED * rate)
    _count(counts, "unasked places", lost.sum(), there.sum())
    return np.where(lost, relations & ~known.groups["spatial"], relations)


def _count(counts: Counts, kind: str, changed: Any, out_of: Any) -> None:
    counts.update({kind: int(changed), f"{kind} of": int(out_of)})


def name_the_closest(relations: Array, known: Habits) -> Array:
    """Annotators name the closest contact and leave out what follows: carrying, not also holding and touching."""
    closest = relations.copy()
    for at, implied in enumerate(known.implied):
        if implied and known.words.relations[at].group == "contact":
            closest[(relations & (1 << at)) != 0] &= ~implied
    return closest


def _miss_takes(spans: list[Span], rate: float, known: Habits, counts: Counts, rng: Rng) -> list[Span]:
    takes = dict.fromkeys(one for one, _ in _following(spans, known, Role.TAKE, Role.HOLD))
    lost = [take for take in takes if rng.random() < rate]
    _count(counts, "missing takes", len(lost), len(takes))
    return [span for span in spans if span not in lost]


def _overlap(spans: list[Span], rate: float, known: Habits, counts: Counts, rng: Rng) -> list[Span]:
    copies = {id(span): Span(span.action, span.start, span.end) for span in spans}
    pairs = _following(spans, known, Role.TAKE, Role.HOLD) + _following(spans, known, Role.HOLD, Role.PUT)
    for first, second in pairs:
        changed, shift, which = rng.random() < rate, rng.uniform(0.25, 0.5), rng.random() < 0.5
        step = round(first.length * shift if which else second.length * shift, 2)
        if changed and which:
            copies[id(second)].start = round(first.end - step, 2)
        elif changed:
            copies[id(first)].end = round(second.start + step, 2)
        counts["overlapping stamps"] += changed
    counts["overlapping stamps of"] += len(pairs)
    return [copies[id(span)] for span in spans]


def _following(spans: list[Span], known: Habits, role: Role, next_role: Role) -> list[tuple[Span, Span]]:
    """Pairs of one object where the second begins right after the first has ended."""
    noun = known.words.noun_of
    return [
        (one, two)
        for one in spans
        if known.role[one.action] == role
        for two in spans
        if known.role[two.action] == next_role
        and noun[one.action] == noun[two.action]
        and 0 <= two.start - one.end < RIGHT_AFTER
    ]


def _drop(relations: Array, rate: float, counts: Counts, rng: Rng) -> Array:
    bits = np.arange(26)
    there = (relations[..., None] >> bits) & 1  # [frame, object, relation]
    lost = there & (rng.random(there.shape) < rate)
    _count(counts, "missing relations", lost.sum(), there.sum())
    return np.asarray(relations & ~(lost << bits).sum(-1))


def _flip(relations: Array, rate: float, known: Habits, counts: Counts, rng: Rng) -> Array:
    both = known.bit("above") | known.bit("beneath")
    there = (relations & both) != 0
    flipped = there & (rng.random(there.shape) < rate)
    _count(counts, "flipped heights", flipped.sum(), there.sum())
    return np.where(flipped, relations ^ both, relations)


def _label_twice(video: SynthVideo, rate: float, known: Habits, counts: Counts, rng: Rng) -> SynthVideo:
    """A second label covers some of the object's frames, its box nearly the same, its relations those of the first."""
    for column, o in enumerate(video.objects):
        others = [s for s in known.similar.get(o, []) if s not in video.objects]
        frames = np.flatnonzero(video.visible[:, column])
        draw, part, begin, pick = rng.random(4)
        if not others or len(frames) < LEAST:
            continue
        counts["double labels of"] += 1
        if draw < rate:
            counts["double labels"] += 1
            size = max(2, int(len(frames) * (0.3 + 0.3 * part)))
            first = int(begin * (len(frames) - size + 1))
            video = _add(video, column, others[int(pick * len(others))], frames[first : first + size], rng)
    return video


def _add(video: SynthVideo, column: int, label: int, frames: Array, rng: Rng) -> SynthVideo:
    there = np.zeros(len(video.numbers), bool)
    there[frames] = True
    box = video.boxes[:, column].copy()
    less = rng.uniform(0, NARROWER, box.shape) * np.tile(box[:, 2:] - box[:, :2], 2)
    box += less * (1, 1, -1, -1)
    relations = np.where(there, video.relations[:, column], 0)
    return replace(
        video,
        objects=[*video.objects, label],
        annotated=np.column_stack([video.annotated, there]),
        visible=np.column_stack([video.visible, there]),
        relations=np.column_stack([video.relations, relations]),
        boxes=np.concatenate([video.boxes, box[:, None].round(2)], 1),
    )
