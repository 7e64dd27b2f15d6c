"""One made-up video with everything that is true of it."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from questree.synth.camera import SIZES, locate, person_boxes, thing_boxes
from questree.synth.contacts import Contacts, Props, choose_props, touch
from questree.synth.habits import Habits, habits
from questree.synth.scripts import Script, write_script
from questree.synth.spans import Span
from questree.synth.stage import Stage, set_stage
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
    numbers: NDArray[Any]  # [frame] index at the video's own rate
    objects: list[int]  # [object] positions in the vocabulary
    annotated: NDArray[Any]  # [frame, object] whether there is an entry at all
    visible: NDArray[Any]  # [frame, object]
    relations: NDArray[Any]  # [frame, object] bit k = relation k of the vocabulary; 0 where not visible
    boxes: NDArray[Any]  # [frame, object, 4] x1, y1, x2, y2
    person: NDArray[Any]  # [frame, 4]
    detected: NDArray[Any]  # [frame] whether the person was found

    @property
    def seconds(self) -> NDArray[Any]:  # [frame]
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
    person, boxes = person_boxes(stage, size, rng), thing_boxes(stage, props, size, known, rng)
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


def frame_numbers(script: Script, rate: float) -> NDArray[Any]:
    """Five frames per action, evenly from its first to its last; every number once, in order."""
    found = []
    for span in script.spans:
        first, last = np.ceil(span.start * rate), np.floor(min(span.end, script.length) * rate)
        first += first / rate < span.start
        last -= last / rate > min(span.end, script.length)
        found.append(np.linspace(first, max(first, last), SAMPLES).round())
    return np.unique(np.concatenate(found).astype(np.int64)) if found else np.zeros(0, np.int64)


def _in_sight(touched: Contacts, stage: Stage, props: Props, known: Habits, rng: np.random.Generator) -> NDArray[Any]:
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
