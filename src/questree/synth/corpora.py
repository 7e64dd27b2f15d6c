"""Made-up corpora of any size and vocabulary, as own JSON with a vocabulary beside it: many words, long videos."""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import msgspec

from questree.columns.draws import Draws
from questree.faults import Fault, refuse
from questree.progress import watch
from questree.tables.store import new_folder
from questree.vocabulary.words import Action, Object, Relation, Vocabulary
from questree.vocabulary.write import vocabulary_text

NAME = "made-up corpus"
VIDEOS, VOCABULARY = "videos.json", "vocabulary.toml"
SYLLABLES = [consonant + vowel for consonant in "bdfgklmnprstvz" for vowel in "aeiou"]
CELL, ACROSS, DOWN = 32, 20, 14  # pixels and cells of the grid on which things stand, each on a cell of its own
SCENERY = 6  # things of a video nobody does anything to


@dataclass(frozen=True)
class CorpusPlan:
    """How much of everything; a video has half to one and a half times the seconds and frames."""

    videos: int
    objects: int  # with the person
    relations: int  # with the two derived ones
    actions: int
    cast: int  # different actions in a video
    instances: int  # how often each of them happens
    seconds: float
    frames: int

    def faults(self) -> list[Fault]:
        least = {"videos": 1, "objects": 2, "relations": 5, "actions": 1, "cast": 1, "instances": 1, "frames": 1}
        found = [
            Fault(f"--{name}", f"expected {low} or more, got {getattr(self, name)}")
            for name, low in least.items()
            if getattr(self, name) < low
        ]
        if not 0 < self.seconds <= 90_000:
            found.append(Fault("--seconds", f"expected a length above 0 and at most 90000, got {self.seconds:g}"))
        if not found and self.actions > self.verbs * (self.objects - 1):
            most = self.verbs * (self.objects - 1)
            found.append(Fault("--actions", f"expected at most verbs x objects, {most:,}, got {self.actions:,}"))
        if not found and self.cast > self.actions:
            found.append(Fault("--cast", f"expected at most --actions, {self.actions}, got {self.cast}"))
        return found

    @property
    def places(self) -> int:
        return max(1, (self.relations - 2) // 6)

    @property
    def contacts(self) -> int:
        return max(1, (self.relations - 2) // 3)

    @property
    def verbs(self) -> int:
        return self.relations - 2 - self.places - self.contacts

    def pair(self, action: int) -> tuple[int, int]:
        """Verb and object (1, 2, ...) of an action: no two actions share both."""
        verb = action % self.verbs
        return verb, 1 + (action // self.verbs + 7 * verb) % (self.objects - 1)

    @cached_property
    def vocabulary(self) -> Vocabulary:
        objects = [Object("o0", "person", "a"), *(Object(f"o{n}", _word(n, "n"), "a") for n in range(1, self.objects))]
        places = [
            Relation(f"p{n}", f"{word} of", "spatial", f"go {word} of", f"went {word} of")
            for n, word in ((n, f"{_word(n, 'm')}ward") for n in range(self.places))
        ]
        contacts = [_verb(f"r{n}", _word(n, "t"), "contact") for n in range(self.contacts)]
        verbs = [_verb(f"v{n}", _word(n, "k"), "verb") for n in range(self.verbs)]
        derived = [
            Relation("d1", "annotated", "derived"),
            Relation("d2", "interacting with", "derived", "interact with", "interacted with"),
        ]
        actions = []
        for n in range(self.actions):
            verb, thing = self.pair(n)
            phrase, present, past = (f"{form} a {objects[thing].name}" for form in _forms(_word(verb, "k")))
            actions.append(Action(f"a{n}", phrase, present, past, verb=f"v{verb}", object=f"o{thing}"))
        relations = (*places, *contacts, *verbs, *derived)
        return Vocabulary(NAME, tuple(objects), relations, tuple(actions), person="o0")


def _word(number: int, end: str) -> str:
    """A word one can say; `end` keeps things, verbs and places apart."""
    high, low = divmod(number, len(SYLLABLES))
    return SYLLABLES[low] + (_word(high - 1, "") if high >= len(SYLLABLES) else SYLLABLES[high]) + end


def _forms(stem: str) -> tuple[str, str, str]:
    return f"{stem}ing", stem, f"{stem}ed"


def _verb(id: str, stem: str, group: str) -> Relation:
    name, present, past = _forms(stem)
    return Relation(id, name, group, present, past)


def write_corpus(out: Path, plan: CorpusPlan, seed: int) -> dict[str, int]:
    """Write OUT/videos.json and OUT/vocabulary.toml; a video depends on the seed and its own number only."""
    foreign = out.is_dir() and any(out.iterdir()) and not (out / VOCABULARY).is_file()
    refuse([Fault(str(out), "not empty and not a made-up corpus; choose a new folder")] if foreign else plan.faults())
    made = {"videos": plan.videos, "frames": 0, "annotations": 0, "actions": 0}
    with new_folder(out) as folder:
        (folder / VOCABULARY).write_text(vocabulary_text(plan.vocabulary))
        with (folder / VIDEOS).open("wb") as file:
            file.write(b'{"videos": [')
            for at in watch(range(plan.videos), "making videos", plan.videos):
                video = make_video(plan, seed, at)
                made["frames"] += len(video["frames"])
                made["annotations"] += sum(len(frame["objects"]) for frame in video["frames"])
                made["actions"] += len(video["actions"])
                file.write((b",\n" if at else b"\n") + msgspec.json.encode(video))
            file.write(b"\n]}\n")
    return made


def make_video(plan: CorpusPlan, seed: int, at: int) -> dict[str, Any]:
    """Actions one after another and over each other; a thing is touched while something is done to it."""
    draws, words = Draws("questree corpus", seed, at), plan.vocabulary
    scale = 0.5 + draws.random()
    seconds, frames = round(plan.seconds * scale, 2), max(1, round(plan.frames * scale))
    cast = _cast(draws, plan)
    spans = []
    for action in cast:
        for _ in range(plan.instances):
            length = seconds * (0.01 + 0.09 * draws.random())
            start = draws.random() * (seconds - length)
            spans.append((round(start, 2), round(start + length, 2), action))
    spans.sort()
    scenery = [1 + draws.below(plan.objects - 1) for _ in range(SCENERY)]
    things = dict.fromkeys([plan.pair(action)[1] for action in cast] + scenery)
    cell = {thing: place % (ACROSS * DOWN) for place, thing in enumerate(things)}
    place = {thing: words.relations[draws.below(plan.places)].name for thing in things}
    shown = []
    for number in range(frames):
        now = round((number + 0.5) * seconds / frames, 3)
        contacts: dict[int, set[int]] = {thing: set() for thing in scenery}
        for start, end, action in spans:
            if start <= now <= end:
                verb, thing = plan.pair(action)
                contacts.setdefault(thing, set()).add(verb % plan.contacts)
        objects = [
            {
                "class": words.objects[thing].name,
                "box": _box(cell[thing]),
                "relations": [place[thing], *(words.relations[plan.places + c].name for c in sorted(contacts[thing]))],
            }
            for thing in sorted(contacts)
        ]
        shown.append({"number": number, "seconds": now, "person": [0, DOWN * CELL, CELL, 480], "objects": objects})
    return {
        "id": f"video-{at:05}",
        "split": "test" if at % 4 == 3 else "train",
        "length": seconds,
        "width": ACROSS * CELL,
        "height": 480,
        "frames": shown,
        "actions": [{"class": words.actions[action].id, "start": a, "end": b} for a, b, action in spans],
    }


def _cast(draws: Draws, plan: CorpusPlan) -> list[int]:
    """Different actions; some are much more common than others, as everywhere."""
    found: dict[int, None] = {}
    while len(found) < plan.cast:
        common = int(plan.actions * draws.random() ** 2)
        found.setdefault(common if common not in found else draws.below(plan.actions))
    return list(found)


def _box(cell: int) -> list[int]:
    left, top = cell % ACROSS * CELL, cell // ACROSS * CELL
    return [left, top, left + CELL, top + CELL]
