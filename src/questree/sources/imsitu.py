"""imSitu's frames and the abstract sentences of its verbs -> scenes of one relation, perhaps with prepositions."""

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from questree.faults import BadInput, Fault
from questree.progress import watch
from questree.sources.scenes import GqaObject, GqaPreposition, GqaRelation, GqaScene, SceneReading, split_of
from questree.tables.images import Images
from questree.tables.store import read_json

SPACE = "imsitu_space.json"
NAMES = f"{SPACE} and train.json, dev.json, test.json"
UNSAID = "place"  # where something happens is not told
NO_OBJECT = "images of verbs that relate the agent to nothing"
NO_NOUNS = "images without a frame that names both who and what"
LITTLE = {"a", "an", "the", "his", "her", "its", "their", "some", "s"}


class Noun(msgspec.Struct):
    gloss: list[str]


class Verb(msgspec.Struct):
    abstract: str  # "an AGENT drinks a LIQUID from a CONTAINER in a PLACE"
    order: list[str] = []  # of the roles


class Space(msgspec.Struct):
    nouns: dict[str, Noun]
    verbs: dict[str, Verb]


class ImsituSituation(msgspec.Struct):
    verb: str
    frames: list[dict[str, str]]  # role -> WordNet id, "" if nobody knows; one frame per annotator


@dataclass(frozen=True)
class Pattern:
    """A verb's roles in the order of its sentence, and what leads to each."""

    relation: str  # the verb and its particle: "complaining to"
    subject: str
    object: str
    more: tuple[tuple[str, str], ...]  # (preposition, role): ("complaining to:_about", "topic")


def read_imsitu(folder: Path) -> tuple[Images, Counter[str]]:
    """The images of a folder, and how many were left out and why."""
    if not folder.is_dir():
        raise BadInput.at(folder, f"no such folder; expected one with {NAMES}")
    present = {path.name: path for path in sorted(folder.iterdir())}
    splits = {name: split for name in present if (split := split_of(name))}
    if SPACE not in present or not splits:
        raise BadInput.at(folder, f"expected {NAMES}, got {', '.join(present) or 'nothing'}")
    space: Space = read_json(present[SPACE], Space, "{nouns: {id: {gloss}}, verbs: {verb: {order, abstract}}}")
    taking = _Taking(space, {verb: pattern_of(verb, each) for verb, each in space.verbs.items()})
    for name, split in splits.items():
        shape = "{image: {verb, frames: [{role: noun}]}}"
        situations: dict[str, ImsituSituation] = read_json(present[name], dict[str, ImsituSituation], shape)
        for image, situation in watch(sorted(situations.items()), f"reading {name}", len(situations)):
            taking.image(image, situation, split, name)
    return taking.reading.done(), taking.skipped + taking.reading.skipped


def pattern_of(verb: str, said: Verb) -> Pattern | None:
    """None if its sentence relates the agent to nothing but a place."""
    roles = set(said.order)
    leading: list[str] = []
    steps: list[tuple[list[str], str]] = []  # (words that lead to a role, role)
    for token in re.findall(r"[\w-]+", said.abstract):
        if token.isupper() and token.lower() in roles:
            steps.append((leading, token.lower()))
            leading = []
        elif token.lower() not in LITTLE:
            leading.append(token.lower())
    if len(steps) > 1:
        steps[1] = (steps[1][0][1:], steps[1][1])  # the verb itself comes first there
    told = [(words, role) for words, role in steps if role != UNSAID]
    if len(told) < 2:
        return None
    (_, subject), (particle, target), *more = told
    relation = " ".join([verb, *particle])
    return Pattern(
        relation, subject, target, tuple((f"{relation}:_{' '.join(words)}", role) for words, role in more if words)
    )


@dataclass
class _Taking:
    space: Space
    patterns: Mapping[str, Pattern | None]
    reading: SceneReading = field(default_factory=SceneReading)
    skipped: Counter[str] = field(default_factory=Counter)

    def image(self, file_name: str, situation: ImsituSituation, split: str, file: str) -> None:
        image, place = file_name.rsplit(".", 1)[0], f"{file}, image {file_name}"
        if situation.verb not in self.patterns:
            self.reading.faults.append(Fault(place, f"the verb {situation.verb!r} is not in {SPACE}"))
            return
        pattern = self.patterns[situation.verb]
        if pattern is None:
            self.skipped[NO_OBJECT] += 1
            return
        frame = next((f for f in situation.frames if f.get(pattern.subject) and f.get(pattern.object)), None)
        if frame is None:
            self.skipped[NO_NOUNS] += 1
            return
        more = [(name, role) for name, role in pattern.more if frame.get(role)]
        nouns = [self.noun(frame[role], place) for role in (pattern.subject, pattern.object, *(r for _, r in more))]
        objects = {f"{image}_{at}": GqaObject(noun) for at, noun in enumerate(nouns)}
        prepositions = [GqaPreposition(name, f"{image}_{at}") for at, (name, _) in enumerate(more, 2)]
        objects[f"{image}_0"].relations = [GqaRelation(pattern.relation, f"{image}_1", prepositions)]
        self.reading.scene(image, GqaScene(objects), split, file)

    def noun(self, id: str, place: str) -> str:
        """The first of its glosses."""
        known = self.space.nouns.get(id)
        if known is None or not known.gloss:
            self.reading.faults.append(Fault(place, f"the noun {id!r} has no gloss in {SPACE}"))
            return "unread"
        return known.gloss[0]
