"""What a relation's name is, told by its words: what follows "is" (on, holding, parked on, the edge of) or a verb of
its own, in any inflection (has, wears, sit on), and how either is said of a subject."""

from functools import cache
from typing import NamedTuple

from questree.domains.images.english_words import ENGLISH

KNOWN = ENGLISH.relations
TERNARY = ":_"  # in the name of a preposition: "pouring:_into"
HAVE = {"have": "has", "do": "does", "go": "goes"}  # that the rules of spelling do not make
BASE = {"has": "have", "does": "do", "goes": "go", "dies": "die", "lies": "lie", "ties": "tie"}


class Verb(NamedTuple):
    """A verb of its own: "partially", "cover", "with"."""

    before: str
    base: str
    rest: str

    def __str__(self) -> str:
        return " ".join(filter(None, self))


@cache
def verb_of(name: str) -> Verb | None:
    """None if the name is what follows "is"."""
    words = spoken(name).split(" ")
    before = next((at for at, word in enumerate(words) if not _is_adverb(word)), 0)
    first, rest = words[before], " ".join(words[before + 1 :])
    if TERNARY in name or not _is_finite(first, rest):
        return None
    return Verb(" ".join(words[:before]), _base(first), rest)


def spoken(name: str) -> str:
    """ "stand next" is "stand next to", "is looking at" and "are on" leave out what is said anyway."""
    said = KNOWN.said.get(name) or name.rpartition(TERNARY)[2]
    first, _, rest = said.partition(" ")
    said = rest if rest and first in ("is", "are") else said
    return f"{said} to" if said.endswith(" next") else said


def _is_adverb(word: str) -> bool:
    return word in KNOWN.adverbs or (word.endswith("ly") and word not in KNOWN.verbs_in_ly)


def _is_finite(first: str, rest: str) -> bool:
    """By the form of the first word, and what follows it; a word that nothing is known about is a verb."""
    if first in KNOWN.prepositions or first in KNOWN.adjectives or first in KNOWN.participles:
        return False
    if len(first) < 2 or not first.isalpha() or rest.endswith("than") or _is_noun(first, rest):
        return False
    if first.endswith("ing"):
        return first in KNOWN.verbs_in_ing
    if first.endswith("ed"):
        return first.endswith("eed") or first in KNOWN.verbs_in_ed
    return not (first in KNOWN.participle_with_particle and rest)


def _is_noun(first: str, rest: str) -> bool:
    """ "edge of", "left side of"; not "rest on the top of"."""
    second = rest.split(" ")[0]
    before = second != "of" and second in KNOWN.prepositions
    return rest.split(" ")[-1] == "of" and not before and _base(first) not in KNOWN.verbs_with_of


def _base(word: str) -> str:
    if word in BASE or word in KNOWN.verbs_in_s or not word.endswith("s") or word.endswith(("ss", "us")):
        return BASE.get(word, word)
    if word.endswith("ies"):
        return word[:-3] + "y"
    return word[:-2] if word.endswith(("sses", "xes", "zzes", "ches", "shes", "oes")) else word[:-1]


def _third(base: str) -> str:
    if base in HAVE:
        return HAVE[base]
    if base.endswith("y") and base[-2:-1] not in "aeiou":
        return base[:-1] + "ies"
    return base + ("es" if base.endswith(("s", "x", "z", "ch", "sh", "o")) else "s")


@cache
def relation(name: str) -> str:
    """As it follows "is" or, if it is a verb of its own, "does"; of a preposition, "pouring:_into", what follows the
    object."""
    verb, said = verb_of(name), spoken(name)
    if verb is not None:
        return str(verb)
    first, _, rest = said.partition(" ")
    known = first in KNOWN.prepositions | KNOWN.adjectives | KNOWN.participles | KNOWN.nouns_without_article
    return f"the {said}" if rest and not known and not first.endswith(("ing", "ed")) and _is_noun(first, rest) else said


@cache
def said_of(name: str, are: str) -> str:
    """ "is on", "are on", "wears", "wear": by what the subject would have, "is" or "are"."""
    verb = verb_of(name)
    if verb is None:
        return f"{are} {relation(name)}"
    return str(verb._replace(base=_third(verb.base)) if are == "is" else verb)


def auxiliary(name: str, are: str) -> str:
    """What asks: "is", "are", "does" or "do"."""
    return are if verb_of(name) is None else {"is": "does", "are": "do"}[are]


def asked_together(x: str, y: str) -> bool:
    """Is "is the man near or behind a dog" English? Not with "near" and "riding", nor with "near" and "rides"."""
    return (is_verb(x), verb_of(x) is None) == (is_verb(y), verb_of(y) is None)


@cache
def brings_article(name: str) -> bool:
    return relation(name).rpartition(" ")[2] in KNOWN.without_article


@cache
def asks_for(name: str) -> str:
    """ "What" is somebody holding, but "Who" is she talking to."""
    return "Who" if relation(name) in KNOWN.to_somebody else "What"


@cache
def is_verb(name: str) -> bool:
    """ "holding", "sitting on", "wears"; not "near"."""
    return verb_of(name) is not None or relation(name).split(" ")[0].endswith("ing")
