"""The compositions AGQA holds out of training, and the marks by which a question is known to contain one."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from questree.vocabulary.words import Vocabulary

ACTIONS = ("c154", "c097", "c016", "c048", "c141", "c101")  # after "before" (nc_seq), and compared by length (nc_dur)
FIRSTS = ("behind", "in", "leaning on", "carrying", "on the side of", "holding")  # after "first" (nc_sup)
PAIRS = (  # (object, relation), asked, answered or inside a reference (nc_objrel)
    ("table", "wiping"),
    ("dish", "wiping"),
    ("table", "beneath"),
    ("dish", "beneath"),
    ("food", "in front of"),
    ("paper", "carrying"),
    ("chair", "leaning on"),
)

# marks: bits that are united over everything a question is made of, then read as flags
I_OBJ, I_REL, I_ACT, I_TEMP, NC_SEQ, NC_SUP, NC_DUR = (1 << bit for bit in range(7))
FLAGS = ("i_obj", "i_rel", "i_act", "i_temp", "nc_seq", "nc_sup", "nc_dur", "nc_objrel")  # bits of the released flags
NC_OBJREL = 1 << 7
INDIRECT, NOVEL = I_OBJ | I_REL | I_ACT | I_TEMP, NC_SEQ | NC_SUP | NC_DUR | NC_OBJREL
PIECES = 7  # first bit of the marks for objects and relations of PAIRS


@dataclass(frozen=True)
class HeldOut:
    """Marks per word, as columns to gather from."""

    action: NDArray[np.bool_]  # [action] is it one of ACTIONS?
    first: NDArray[np.bool_]  # [relation] is it one of FIRSTS?
    object: NDArray[Any]  # [object] mark of an object of PAIRS
    relation: NDArray[Any]  # [relation] mark of a relation of PAIRS
    supports: NDArray[np.uint64]  # [relation] objects with which it amounts to one of ACTIONS
    flags: NDArray[Any]  # [marks] -> released flags

    def pair(self, relation: Any, object: Any) -> NDArray[Any]:
        """Marks of an object and a relation that occur together."""
        return np.asarray(self.object[object] | self.relation[relation])


def held_out(vocabulary: Vocabulary) -> HeldOut:
    """A pair counts as soon as its object and its relation both occur in a question, as in the release (3.5)."""
    things = list(dict.fromkeys(thing for thing, _ in PAIRS))
    relations = list(dict.fromkeys(relation for _, relation in PAIRS))
    bit = {name: 1 << (PIECES + at) for at, name in enumerate(things + relations)}
    marks = np.arange(1 << (PIECES + len(bit)), dtype=np.uint32)
    novel = np.zeros(len(marks), bool)
    for thing, relation in PAIRS:
        both = bit[thing] | bit[relation]
        novel |= (marks & both) == both
    action = np.array([action.id in ACTIONS for action in vocabulary.actions])
    supports = np.zeros(len(vocabulary.relations), np.uint64)
    for at in np.flatnonzero(action & (vocabulary.object_of >= 0)):
        supports[vocabulary.verb_of[at]] |= np.uint64(1) << np.uint64(vocabulary.object_of[at])
    return HeldOut(
        action=action,
        first=np.array([relation.name in FIRSTS and relation.group != "verb" for relation in vocabulary.relations]),
        object=np.array([bit.get(thing.name, 0) for thing in vocabulary.objects], np.int64),
        relation=np.array(
            [0 if r.group == "verb" else bit.get(r.name, 0) for r in vocabulary.relations],
            np.int64,
        ),
        supports=supports,
        flags=((marks & (NC_OBJREL - 1)) | np.where(novel, NC_OBJREL, 0)).astype(np.uint8),
    )
