"""The data of habits.toml in terms of the vocabulary: roles of actions, contacts as bit masks, company, sizes."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import IntEnum
from functools import cache
from importlib import resources
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from questree.vocabulary import Vocabulary, default
from questree.vocabulary.words import DONE_TO, NONE

Array = NDArray[Any]
Rng = np.random.Generator
GROUPS = ("attention", "spatial", "contact")  # relations of an annotation; bit k of a mask is relation k
Alternatives = list[int]  # masks, one of them is drawn


class Role(IntEnum):
    FREE = 0  # happens whenever
    TAKE = 1
    HOLD = 2
    USE = 3  # between taking and putting, if there is such
    PUT = 4  # also throwing
    SEAT = 5  # sitting, lying, standing on something
    DOWN = 6  # from standing to sitting
    UP = 7
    WALK = 8  # needs a person on their feet
    AWAKEN = 9


@dataclass(frozen=True)
class Habits:
    words: Vocabulary
    role: list[Role]  # [action]
    family: list[int]  # [action] object its taking, holding and putting are ordered with, NONE without one
    contacts: list[Alternatives]  # [action]
    looked_at: list[bool]  # [action]
    implied: list[int]  # [relation bit] mask of what follows from it
    whereabouts: list[tuple[int, list[tuple[int, bool]]]]  # contact bit, alternatives of (spatial mask, height too)
    company: dict[int, list[tuple[int, float]]]
    anywhere: list[tuple[int, float]]
    seats: list[tuple[int, float]]
    scenery: list[int]
    places: list[list[int]]  # objects that stand together at a place of their own
    partners: dict[int, int]  # another action with the same verb and object
    movable: frozenset[int]
    on_body: int  # mask of contacts of what is where the person is
    kind: dict[int, str]
    size: Array  # [object, 2] width and height in metres
    rest: Array  # [object] height of the middle
    similar: dict[int, list[int]]  # classes an annotator may confuse it with
    ids: dict[str, int]  # action id -> position
    lists: dict[str, Any]  # of habits.toml
    groups: dict[str, int]  # mask of all relations of a group

    def bit(self, name: str) -> int:
        return 1 << self.words.relation_at[name]

    def mask(self, names: Iterable[str]) -> int:
        return mask(self.words, names)


def mask(words: Vocabulary, names: Iterable[str]) -> int:
    """The set of these relations."""
    return sum(1 << words.relation_at[name] for name in names)


@cache
def habits() -> Habits:
    raw = msgspec.toml.decode(resources.files("questree.synth").joinpath("habits.toml").read_bytes())
    words = default()
    lists, things = raw["lists"], raw["things"]
    role = [_role(words, at, lists) for at in range(len(words.actions))]
    at = words.object_at
    moved = {int(words.noun_of[a]) for a, r in enumerate(role) if r in (Role.TAKE, Role.HOLD, Role.PUT)}
    size, rest = np.zeros((len(words.objects), 2)), np.zeros(len(words.objects))
    for name, thing in things.items():
        size[at[name]], rest[at[name]] = thing["size"], thing["rest"]
    implied = _implied(words)
    return Habits(
        words=words,
        role=role,
        family=_families(words, role),
        contacts=[_contacts(words, a, raw["contacts"], implied) for a in range(len(words.actions))],
        looked_at=[action.verb in lists["looked_at"] for action in words.actions],
        implied=implied,
        whereabouts=[
            (mask(words, [name]), [(mask(words, {*each} - {"height"}), "height" in each) for each in which])
            for name, which in raw["whereabouts"].items()
        ],
        company={at[name]: _chances(words, others) for name, others in raw["company"].items()},
        anywhere=_chances(words, raw["anywhere"]),
        seats=_chances(words, lists["seats"]),
        scenery=[at[name] for name in lists["scenery"]],
        places=[[at[name] for name in group] for group in lists["together"]],
        partners={words.action_at[a]: words.action_at[b] for x, y in lists["partners"] for a, b in ((x, y), (y, x))},
        movable=frozenset(moved),
        on_body=mask(words, lists["on_body"]),
        kind={at[name]: thing["kind"] for name, thing in things.items()},
        size=size,
        rest=rest,
        similar={at[n]: [at[m] for m in group if m != n] for group in words.lists.similar_objects for n in group},
        ids=words.action_at,
        lists=lists,
        groups={name: sum(1 << int(k) for k in words.group(name)) for name in GROUPS},
    )


def _role(words: Vocabulary, at: int, lists: dict[str, Any]) -> Role:
    action = words.actions[at]
    verb = words.relations[words.verb_of[at]].name
    for name, role in (("down", Role.DOWN), ("up", Role.UP), ("walk", Role.WALK)):
        if action.id in lists[name]:
            return role
    if action.verb in lists["awaken"]:
        return Role.AWAKEN
    if not action.object or words.objects[words.noun_of[at]].part_only:
        return Role.FREE
    for verbs, role in (("take", Role.TAKE), ("hold", Role.HOLD), ("put", Role.PUT)):
        if verb in getattr(words.lists, f"{verbs}_verbs") and action.id not in lists["elsewhere"]:
            return role
    if verb in ("sitting on", "lying on", "standing on"):
        return Role.SEAT
    held = any(other.object == action.object and other.verb in lists["in_hand"] for other in words.actions)
    return Role.USE if held and action.verb not in lists["not_in_hand"] else Role.FREE


def _families(words: Vocabulary, role: list[Role]) -> list[int]:
    """Things whose takings, holdings and puttings are counted as one action (towel and blanket) are one family."""
    chief = {NONE: NONE}
    for action, noun in enumerate(map(int, words.noun_of)):
        if role[action] in (Role.TAKE, Role.HOLD, Role.PUT):
            chief.setdefault(noun, int(words.noun_of[words.merged_action[action]]))
    return [chief.get(int(noun), int(noun)) for noun in words.noun_of]


def _implied(words: Vocabulary) -> list[int]:
    masks = [0] * len(words.relations)
    for name, others in words.entailments.items():
        for at, relation in enumerate(words.relations):
            if relation.name == name:
                masks[at] = mask(words, others)
    return masks


def _contacts(words: Vocabulary, at: int, table: dict[str, list[list[str]]], implied: list[int]) -> Alternatives:
    """The action's contacts, with the one its verb is counted as and all that follows."""
    action = words.actions[at]
    verb = int(words.verb_of[at])
    if words.noun_of[at] == NONE:
        return [0]
    is_contact = words.relations[verb].group == "contact" and action.role == DONE_TO
    sure = implied[verb] | (1 << verb if is_contact else 0)
    alternatives = table.get(action.id, table[action.verb])
    found = [sure | mask(words, names) for names in alternatives]
    touched = ~mask(words, words.lists.not_touching_contacts)
    return [each & touched or each for each in found]  # no "not contacting" beside a contact


def _chances(words: Vocabulary, table: dict[str, float]) -> list[tuple[int, float]]:
    return [(words.object_at[name], chance) for name, chance in table.items()]
