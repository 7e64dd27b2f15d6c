"""Slot values for the shapes of AGQA's templates: what it would ask about a video, and some of what is not there."""

from collections.abc import Mapping
from random import Random

import numpy as np

from judges.facts import RELATIONS, UNNAMED, Video, counted, merged, pair, seen
from questree.terms import RELATION, Array, Node, Slot, slots
from worlds.random_worlds import ASKED, POSITIONS

NEVER_A_SLOT = {"o1", "h1", "h3"}  # person, hair, something
USED = {name for name, word in RELATIONS.items() if word.group in ("contact", "spatial", "verb") and not word.folds}
USED -= {"r18", "r19"}  # not contacting, other relationship

Words = Mapping[str, list[str]]


def rows(random: Random, node: Node, words: list[Words], count: int) -> dict[str, Array]:
    """Columns for the slots of a shape, and for `video`, a position in the list of `words_of` videos; no row twice."""
    blanks = sorted(slots(node).items(), key=lambda item: item[1].kind != RELATION)
    found: set[tuple[int, ...]] = set()
    for number in random.choices(range(len(words)), k=count):
        row: dict[str, str] = {}
        for name, slot in blanks:
            row[name] = choose(random, slot, node, words[number], row.get("relation", ""))
        if all(row.values()):
            found.add((number, *(POSITIONS[slot.kind.name][row[name]] for name, slot in blanks)))
    table = np.array(sorted(found), np.int64).reshape(len(found), 1 + len(blanks))
    return {name: table[:, at] for at, name in enumerate(("video", *(name for name, _ in blanks)))}


def choose(random: Random, slot: Slot, node: Node, words: Words, relation: str) -> str:
    """A word for a slot, "" if there is none; an object mostly goes with the relation of the question."""
    kind = "alone" if slot.alone else "verb" if slot.name.startswith("verb") else slot.kind.name
    pool = words[kind]
    if random.randrange(8) == 0 and not slot.name.startswith(("verb", "of")):
        any_class = kind == "object" and node.op.name == "interacting"  # objExists may ask about a merged-away class
        pool = [word for word in ASKED["object"] if word not in NEVER_A_SLOT] if any_class else words["no " + kind]
    elif kind == "object" and random.randrange(4) and words.get(relation):
        pool = words[relation]
    return random.choice(pool) if pool else ""


def alike(video: Video, deed: str) -> bool:
    """Is something seen that reads like the action: its verb with its object, or with any if it does not name it?"""
    about = pair(deed)
    return bool(about and seen(video, about[0], None if about[1] == UNNAMED else about[1]))


def words_of(video: Video) -> Words:
    """What AGQA asks about a video: relations it uses, classes and actions that are there; and some that are not.

    An action that does not occur is only asked about if its pair is not seen either (13.8).
    """
    ties = {(r, o) for facts in video.facts for r, o in facts if o not in NEVER_A_SLOT}
    deeds = {instance.action for instance in video.instances}
    missing = {deed for deed in ASKED["action"] if counted(deed) == deed} - deeds
    missing = {deed for deed in missing if not alike(video, deed)}
    found = {
        "relation": {r for r, _ in ties} & USED,
        "no relation": set(ASKED["relation"]) & USED,
        "object": {o for _, o in ties},
        "no object": {merged(o) for o in ASKED["object"]} - NEVER_A_SLOT,
        "verb": {about[0] for about in map(pair, deeds) if about},
        "action": {deed for deed in deeds if pair(deed)},
        "no action": {deed for deed in missing if pair(deed)},
        "alone": {deed for deed in deeds if not pair(deed)},
        "no alone": {deed for deed in missing if not pair(deed)},
    } | {relation: {o for r, o in ties if r == relation} for relation, _ in ties}
    return {kind: sorted(pool) for kind, pool in found.items()}
