"""Vocabularies of many words: the same words spread over a big list, and a world of more objects than a mask holds."""

from random import Random

import msgspec
import numpy as np
import polars as pl
from numpy.typing import NDArray

from questree.tables.facts import TABLES, Facts
from questree.tables.table import WORD
from questree.vocabulary import Action, Object, Relation, Vocabulary

STEPS = {"objects": 110, "relations": 17, "actions": 52}  # one word in so many is used
KINDS = {"object": "objects", "relation": "relations", "action": "actions"}


def spread(words: Vocabulary) -> Vocabulary:
    """The words with others between them that nobody may ask about and no fact names."""

    def among(kind: str) -> tuple[msgspec.Struct, ...]:
        found: list[msgspec.Struct] = []
        for word in getattr(words, kind):
            found += [unused(kind, len(found) + at) for at in range(STEPS[kind] - 1)]
            found.append(word)
        return tuple(found)

    return msgspec.structs.replace(words, **{kind: among(kind) for kind in STEPS})


def unused(kind: str, number: int) -> msgspec.Struct:
    if kind == "objects":
        return Object(f"x-o{number}", f"thing {number}", "a", part_only=True)
    if kind == "relations":
        return Relation(f"x-r{number}", f"minding {number}", "verb", f"mind {number}", f"minded {number}")
    return Action(f"x-a{number}", f"dreaming {number}", f"dream {number}", f"dreamt {number}", "x-r0")


def places(few: Vocabulary, many: Vocabulary, kind: str) -> NDArray[np.int64]:
    """[position among few words] the same word's position among many; the last: no word."""
    at = {word.id: number for number, word in enumerate(getattr(many, KINDS[kind]))}
    return np.array([*(at[word.id] for word in getattr(few, KINDS[kind])), 65535])


def renumbered(facts: Facts, few: Vocabulary, many: Vocabulary) -> Facts:
    """The facts in the other vocabulary."""
    moved = {}
    for name in TABLES:
        table: pl.DataFrame = getattr(facts, name)
        columns = [column for column in KINDS if column in table.columns]
        new = [pl.Series(c, places(few, many, c)[table[c].to_numpy()]).cast(WORD[many.wide]) for c in columns]
        moved[name] = table.with_columns(new)
    return Facts(**moved)


MORE = 90  # objects besides those of a vocabulary


def crowded(words: Vocabulary) -> Vocabulary:
    """A vocabulary with more objects than a mask has bits, all of them to be asked about."""
    more = [Object(f"m{number}", f"gadget {number}", "a") for number in range(MORE)]
    return msgspec.structs.replace(words, objects=(*words.objects, *more))


def crowd(seed: int) -> str:
    """A video as `small.py` reads it: most of the objects, more than a mask holds, in a few relations."""
    random = Random(seed)
    lines = [f"video V{seed}", "frames 0 2 4 6 8 10 20 30", "action c015 2 10"]
    for number in random.sample(range(MORE), 66):
        first = random.randrange(8)
        frames = f"{first}-{random.randrange(first, 8)}"
        ties = random.sample(["touching", "holding", "in front of", "wiping", "looking at"], 1 + (number % 4 == 0))
        lines.append(f"m{number} {frames}: {', '.join(ties)}")
    lines += ["phone 1-2: holding, touching", "dish 5-7: holding", "light 3: touching"]
    return "\n".join(lines)
