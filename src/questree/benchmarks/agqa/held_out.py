"""The compositions AGQA holds out of training, and the marks by which a question is known to contain one."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from questree.columns.sets import Sets, has, sets_of
from questree.vocabulary.words import HeldOutWords, Vocabulary

RELEASED = HeldOutWords(
    actions=(
        "standing up",
        "walking through a doorway",
        "playing with a phone",
        "opening a laptop",
        "grasping onto a doorknob",
        "throwing a broom somewhere",
    ),
    first=("behind", "in", "leaning on", "carrying", "on the side of", "holding"),
    pairs=(
        ("table", "wiping"),
        ("dish", "wiping"),
        ("table", "beneath"),
        ("dish", "beneath"),
        ("food", "in front of"),
        ("paper", "carrying"),
        ("chair", "leaning on"),
    ),
)

# what a question says by its program: the list it is held out by, its operators, the kind of word it is said of
SEQUENCING, SUPERLATIVE, DURATION, PAIR = "sequencing", "superlative", "duration", "object-relationship"
SAID_BY = {
    SEQUENCING: (("before", "between", "action_order", "instance_order", "relation_order", "object_order"), "action"),
    SUPERLATIVE: (("first", "choose_first", "first_done_to"), "relation"),
    DURATION: (("longer", "shorter", "longer_in", "shorter_in", "longest", "shortest"), "action"),
}

# marks: bits that are united over everything a question is made of, then read as flags
I_OBJ, I_REL, I_ACT, I_TEMP, NC_SEQ, NC_SUP, NC_DUR = (1 << bit for bit in range(7))
FLAGS = ("i_obj", "i_rel", "i_act", "i_temp", "nc_seq", "nc_sup", "nc_dur", "nc_objrel")  # bits of the released flags
NC_OBJREL = 1 << 7
INDIRECT, NOVEL = I_OBJ | I_REL | I_ACT | I_TEMP, NC_SEQ | NC_SUP | NC_DUR | NC_OBJREL
PIECES = 7  # first bit of the marks for objects and relations of pairs


@dataclass(frozen=True)
class HeldOut:
    """Marks per word, as columns to gather from."""

    action: NDArray[np.bool_]  # [action] is it held out? The last entry: no action
    first: NDArray[np.bool_]  # [relation] is it held out after "first"?
    object: NDArray[Any]  # [object] mark of an object of a pair
    relation: NDArray[Any]  # [relation] mark of a relation of a pair
    supports: Sets  # [relation] objects with which it amounts to a held-out action
    paired: Sets  # [relation] objects it is held out with
    pair_done: NDArray[np.bool_]  # [action] is what is done a held-out pair?
    flags: NDArray[Any]  # [marks] -> released flags

    def pair(self, relation: Any, object: Any) -> NDArray[Any]:
        """Marks of an object and a relation that occur together."""
        return np.asarray(self.object[object] | self.relation[relation])


NAME = "agqa"  # of its vocabulary


def is_agqas(vocabulary: Vocabulary) -> bool:
    """Is it AGQA's vocabulary, by the name it has?"""
    return vocabulary.name == NAME


def known(vocabulary: Vocabulary) -> tuple[HeldOutWords, list[str]]:
    """What is held out of questions in these words, and which words of the benchmark's lists are missing; of another
    vocabulary what it says."""
    if vocabulary.held_out is not None or not is_agqas(vocabulary):
        return vocabulary.held_out or HeldOutWords(), []
    there = {"object": vocabulary.object_at, "relation": vocabulary.relation_at, "action": vocabulary.action_at}
    words = [("action", name) for name in RELEASED.actions] + [("relation", name) for name in RELEASED.first]
    words += [word for thing, relation in RELEASED.pairs for word in (("object", thing), ("relation", relation))]
    found = HeldOutWords(
        actions=tuple(name for name in RELEASED.actions if name in there["action"]),
        first=tuple(name for name in RELEASED.first if name in there["relation"]),
        pairs=tuple(pair for pair in RELEASED.pairs if pair[0] in there["object"] and pair[1] in there["relation"]),
    )
    return found, [name for kind, name in dict.fromkeys(words) if name not in there[kind]]


def held_out(vocabulary: Vocabulary) -> HeldOut:
    """A pair counts as soon as its object and its relation both occur in a question, as in the release (3.5)."""
    words, _ = known(vocabulary)
    actions = vocabulary.merged_action[[vocabulary.action_at[name] for name in words.actions]]
    pairs = [
        (("object", vocabulary.merged_object[vocabulary.object_at[thing]]), ("relation", _stored(vocabulary, relation)))
        for thing, relation in words.pairs
    ]
    pieces = dict.fromkeys([thing for thing, _ in pairs] + [relation for _, relation in pairs])
    bit = {piece: 1 << (PIECES + at) for at, piece in enumerate(pieces)}
    marks = np.arange(1 << (PIECES + len(bit)), dtype=np.uint32)
    novel = np.zeros(len(marks), bool)
    for thing, relation in pairs:
        both = bit[thing] | bit[relation]
        novel |= (marks & both) == both
    action = np.isin(np.arange(len(vocabulary.actions)), actions)
    deeds = vocabulary.verb_of[action], vocabulary.done_to[action]
    supports = sets_of(*deeds, len(vocabulary.relations), len(vocabulary.objects))
    relations = range(len(vocabulary.relations))
    things, links = (np.array([pair[side][1] for pair in pairs], np.int64) for side in (0, 1))
    paired = sets_of(links, things, len(relations), len(vocabulary.objects))
    done_to = vocabulary.done_to
    return HeldOut(
        action=np.append(action, False),
        first=np.isin(relations, [_stored(vocabulary, name) for name in words.first]),
        object=np.array([bit.get(("object", at), 0) for at in range(len(vocabulary.objects))], np.int64),
        relation=np.array([bit.get(("relation", at), 0) for at in relations], np.int64),
        supports=supports,
        paired=paired,
        pair_done=has(paired[vocabulary.verb_of], np.maximum(done_to, 0)) & (done_to >= 0),
        flags=((marks & (NC_OBJREL - 1)) | np.where(novel, NC_OBJREL, 0)).astype(np.uint8),
    )


def _stored(vocabulary: Vocabulary, relation: str) -> int:
    """The position under which facts of a relation are stored."""
    return int(vocabulary.folded[vocabulary.relation_at[relation]])
