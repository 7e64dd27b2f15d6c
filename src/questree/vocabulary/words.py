"""The shape of a vocabulary: what is said about each word, and look-ups by position, id, name or label."""

from functools import cached_property
from typing import Annotated, Any

import msgspec
import numpy as np
from numpy.typing import NDArray

GROUPS = ("attention", "spatial", "contact", "verb", "derived")
NARROW = {"objects": 63, "relations": 63, "actions": 255}  # words whose positions the narrow tables hold
EXISTENCE = ("there", "exist")  # how sub-questions ask whether something is there
DONE_TO, PLACE, TOOL = ROLES = ("done to", "place", "tool")
NONE = -1  # position of a word that is not there


class Object(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    id: str  # "o4"
    name: str  # "blanket": bare class name, also the answer
    article: str  # "a", "an", "some", "the", "their"; may be ""
    merged: str = ""  # id of the class it is counted as ("o23" for book)
    labels: tuple[str, ...] = ()  # other spellings in source files ("closet/cabinet", "closetcabinet")
    plural: bool = False  # "Do their fingers exist?"
    part_only: bool = False  # hair, hands: object of verbs and sub-questions, never fills a question slot


class Relation(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    id: str  # "r15", "v023"
    name: str  # progressive: "holding"
    group: str  # one of GROUPS
    present: str = ""  # bare: "hold"
    past: str = ""  # "held"
    progressive: str = ""  # "walking through", where the name is only how programs spell it
    rest: str = ""  # end of the forms that follows the object: "have a bag | on their back"
    something: str = "something"  # the missing object: "Is the person laughing at some object?"
    folds: str = ""  # a verb that is counted as this contact relation ("r15" for v008 holding)
    labels: tuple[str, ...] = ()


class Action(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    id: str  # "c076"
    phrase: str  # progressive: "holding a pillow"; also the answer, and how programs spell it
    present: str  # "hold a pillow"
    past: str  # "held a pillow"
    verb: str  # id of its verb relation, before folding: "v008"
    object: str = ""  # id of its object class, before merging; "" if it has none
    noun: str = ""  # id of the object its phrase names where that is another one of the same merged class
    role: str = DONE_TO  # one of ROLES: what its object is to its verb
    progressive: str = ""  # "sneezing", where the phrase ("sneezing somewhere") does not read well in a question
    merged: str = ""  # id of the action it is counted as
    labels: tuple[str, ...] = ()


# names of words of a kind; pairs have one kind per place
Objects = Annotated[tuple[str, ...], "object"]
Relations = Annotated[tuple[str, ...], "relation"]
Actions = Annotated[tuple[str, ...], "action"]


class Lists(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Special lists, by name of the word (spec of the benchmark, section 1.4)."""

    single_object_verbs: Relations = ()
    transition_verbs: Relations = ()
    transition_actions: Actions = ()  # ids
    commonsense_pairs: Annotated[tuple[tuple[str, str], ...], "object", "relation"] = ()  # never asked
    similar_objects: Annotated[tuple[tuple[str, ...], ...], "object"] = ()
    forbidden_pairs: Annotated[tuple[tuple[str, str], ...], "object", "object"] = ()  # never together in one question
    object_existence_ban: Objects = ()
    relation_existence_ban: Relations = ()
    relation_time_ban: Relations = ()
    obvious_relations: Relations = ()  # wearing, standing on: true of anybody, so never asked to be verified
    never_asked_relations: Relations = ()  # not contacting, not looking at, unsure, other relationship
    not_touching_contacts: Relations = ()  # contacts that are no interaction: not contacting, other relationship
    never_localised_actions: Actions = ()  # ids: c044
    always_there: Objects = ()  # objects nearly every video shows: nobody is asked whether they are absent
    take_verbs: Relations = ()  # order priors: taking < holding < putting, throwing
    hold_verbs: Relations = ()
    put_verbs: Relations = ()
    heights: Annotated[tuple[tuple[str, str], ...], "relation", "relation"] = ()  # above, beneath: what boxes show
    opposite_relations: Annotated[tuple[tuple[str, str], ...], "relation", "relation"] = ()  # never hold together
    vague_relations: Relations = ()  # other relationship: nothing follows from it, and it is never copied
    plain_contacts: Relations = ()  # touching: whoever has another contact has it
    always_named_objects: Objects = ()  # picture: no reference stands for it in an action


class HeldOutWords(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Compositions that training questions do not contain, by name of the words."""

    actions: Actions = ()  # after "before", and compared by length
    first: Relations = ()  # after "first"
    pairs: Annotated[tuple[tuple[str, str], ...], "object", "relation"] = ()  # asked, answered or inside a reference


class Vocabulary(msgspec.Struct, frozen=True, forbid_unknown_fields=True, dict=True):
    name: str
    objects: tuple[Object, ...]
    relations: tuple[Relation, ...]
    actions: tuple[Action, ...]
    lists: Lists = Lists()
    entailments: dict[str, tuple[str, ...]] = {}  # relation name -> relation names that hold with it
    held_out: HeldOutWords | None = None  # None: those of the benchmark whose words are here
    person: str = "o1"
    annotated: str = "d1"  # derived relation: the object is annotated in the frame
    interacting: str = "d2"  # derived relation: any contact but those of `not_touching_contacts`
    other: str = ""  # object that stands for everything annotators had no class for
    other_action: str = ""  # and the action that does
    other_relation: str = ""  # and the relation
    existence: str = "there"  # one of EXISTENCE: "Is there a bag before ...", "Does a bag exist before ..."
    unnamed: str = ""  # object that stands for what an action is done to that names its place or tool

    @cached_property
    def wide(self) -> bool:
        """Are there too many words for columns of one byte?"""
        return any(len(getattr(self, kind)) > most for kind, most in NARROW.items())

    @cached_property
    def object_at(self) -> dict[str, int]:
        """Position of an object by id, name or label; programs may call whoever the questions are about `person`."""
        found = _positions((word.id, word.name, *word.labels) for word in self.objects)
        return _also(found, {"person": self.person})

    @cached_property
    def relation_at(self) -> dict[str, int]:
        """Position of a relation by id, name or label; contact and spatial names win over verbs of the same name."""
        found = _positions((word.id, word.name, *word.labels) for word in self.relations)
        return _also(found, {"annotated": self.annotated, "interacting with": self.interacting})

    @cached_property
    def action_at(self) -> dict[str, int]:
        return _positions((word.id, word.phrase, *word.labels) for word in self.actions)

    @cached_property
    def merged_object(self) -> NDArray[Any]:  # [object] position it is counted as
        return _targets([(word.id, word.merged) for word in self.objects], self.object_at)

    @cached_property
    def merged_action(self) -> NDArray[Any]:  # [action] position it is counted as
        return _targets([(word.id, word.merged) for word in self.actions], self.action_at)

    @cached_property
    def folded(self) -> NDArray[Any]:  # [relation] position its facts are stored under
        return _targets([(word.id, word.folds) for word in self.relations], self.relation_at)

    @cached_property
    def verb_of(self) -> NDArray[Any]:  # [action] relation its facts are stored under, also for actions without object
        return self.folded[[self.relation_at[word.verb] for word in self.actions]]

    @cached_property
    def noun_of(self) -> NDArray[Any]:  # [action] object its phrase names, NONE without one
        nouns = [word.noun or word.object for word in self.actions]
        return np.array([self.object_at[noun] if noun else NONE for noun in nouns], np.int64)

    @cached_property
    def object_of(self) -> NDArray[Any]:  # [action] class of the object its phrase names, NONE without one
        return np.where(self.noun_of == NONE, NONE, self.merged_object[self.noun_of])

    @cached_property
    def done_to(self) -> NDArray[Any]:  # [action] object its verb is a fact about, NONE without one
        unnamed = np.array([word.role != DONE_TO for word in self.actions], bool)
        return np.where(unnamed, self.unnamed_at, self.object_of)

    @property
    def unnamed_at(self) -> int:
        return self.object_at.get(self.unnamed, NONE)

    @property
    def other_at(self) -> int:
        return self.object_at.get(self.other, NONE)

    @property
    def other_action_at(self) -> int:
        return self.action_at.get(self.other_action, NONE)

    @property
    def other_relation_at(self) -> int:
        return self.relation_at.get(self.other_relation, NONE)

    @cached_property
    def never_localised(self) -> list[int]:
        """Actions that stand in no time phrase and whose object no reference replaces."""
        return [self.action_at[name] for name in (*self.lists.never_localised_actions, self.other_action) if name]

    def as_released(self) -> "Vocabulary":
        """With the pairs of released graphs: every verb is done to the object the action names."""
        return msgspec.structs.replace(
            self, actions=tuple(msgspec.structs.replace(word, role=DONE_TO) for word in self.actions)
        )

    def group(self, *names: str) -> NDArray[Any]:
        """Positions of the relations of these groups."""
        return np.array([i for i, word in enumerate(self.relations) if word.group in names], np.int64)

    def relations_named(self, names: tuple[str, ...]) -> NDArray[Any]:
        return np.array([self.relation_at[name] for name in names], np.int64)

    def objects_named(self, names: tuple[str, ...]) -> NDArray[Any]:
        return np.array([self.object_at[name] for name in names], np.int64)


def _positions(spellings: Any) -> dict[str, int]:
    """Every spelling -> position; ids first, then names, then labels, earlier words first."""
    rows = [tuple(row) for row in spellings]
    found: dict[str, int] = {}
    for rank in range(max(map(len, rows), default=0)):
        for at, row in enumerate(rows):
            if rank < len(row):
                found.setdefault(row[rank], at)
    return found


def _also(found: dict[str, int], meant: dict[str, str]) -> dict[str, int]:
    """Names that programs use whatever a vocabulary calls the word with that id."""
    return {name: found[id] for name, id in meant.items() if id in found} | found


def _targets(pairs: list[tuple[str, str]], at: dict[str, int]) -> NDArray[Any]:
    return np.array([at[target or own] for own, target in pairs], np.int64)
