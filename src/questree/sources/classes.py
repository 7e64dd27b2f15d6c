"""Names of classes in source files -> positions in the vocabulary, with one line for each name it does not know."""

from collections import Counter
from collections.abc import Callable, Sequence
from difflib import get_close_matches
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from questree.faults import Fault
from questree.vocabulary.words import Vocabulary

UNKNOWN = -1
SHORT = 40  # so many valid choices are listed, more are only hinted at


def known(vocabulary: Vocabulary, kind: str) -> dict[str, int]:
    """Every spelling of an object, relation or action that a source may use; derived relations come by themselves."""
    if kind == "relation":
        words = vocabulary.relations
        return {name: at for name, at in vocabulary.relation_at.items() if words[at].group != "derived"}
    return vocabulary.object_at if kind == "object" else vocabulary.action_at


def positions(
    names: Sequence[str], kind: str, vocabulary: Vocabulary, faults: list[Fault], place: Callable[[int], str]
) -> NDArray[np.int64]:
    """Position of each name, UNKNOWN with one fault per unknown name; `place(row)` says where its first use is."""
    at = known(vocabulary, kind)
    found = np.fromiter((at.get(name, UNKNOWN) for name in names), np.int64, len(names))  # [name]
    rows = np.flatnonzero(found == UNKNOWN)
    uses = Counter(names[row] for row in rows.tolist())
    first = {names[row]: row for row in reversed(rows.tolist())}
    for name, count in uses.items():
        faults.append(Fault(place(first[name]), unknown(kind, name, vocabulary, count)))
    return found


def unknown(kind: str, name: str, vocabulary: Vocabulary, times: int = 1) -> str:
    """What to say about a name that is not in the vocabulary."""
    near = _nearest(str(name), tuple(known(vocabulary, kind)))
    names = _names(vocabulary, kind)
    valid = ", ".join(names) if len(names) <= SHORT else f"{len(names)} {kind}s, see the vocabulary {vocabulary.name!r}"
    often = f" ({times:,} times)" if times > 1 else ""
    return f"unknown {kind} {name!r}{often}{f'; did you mean {near!r}?' if near else ';'} known: {valid}"


@lru_cache(maxsize=1000)
def _nearest(name: str, spellings: tuple[str, ...]) -> str:
    return next(iter(get_close_matches(name, spellings, n=1)), "")


def _names(vocabulary: Vocabulary, kind: str) -> list[str]:
    if kind == "action":
        return [word.id for word in vocabulary.actions]
    if kind == "object":
        return [word.name for word in vocabulary.objects]
    return list(dict.fromkeys(word.name for word in vocabulary.relations if word.group != "derived"))
