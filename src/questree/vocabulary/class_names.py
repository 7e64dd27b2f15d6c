"""Names of classes as files have them, read as English: signs, shorthand and brackets, and articles inside a name."""

import re

from questree.vocabulary.check import UNSPELLABLE
from questree.vocabulary.inflection import ENGLISH, PREPOSITIONS, article

SPATIAL, PARTICLES = (set(ENGLISH[name].split()) for name in ("spatial", "particles"))
DETERMINERS = {"a", "an", "the", "some", "their", "his", "her", "its", "my", "your", "one", "any"}
NO_THING = {"something", "somewhere", "someone", "somebody", "anything", "himself", "herself", "themselves", "it"}
SHORTHAND = {r"\bw/o(?=\s|$)": "without", r"\bw/\s*": "with ", r"\s&\s": " and "}
BRACKETS = re.compile(r"([^\s()]+)\s*\(([^()]*)\)")


def cleaned(name: str, first: int | None = None) -> str:
    """As English: no underscores, no signs of programs, small letters; first: the word from which on nouns are said."""
    plain = name.replace("_", " ").lower()
    for short, long in SHORTHAND.items():
        plain = re.sub(short, long, plain)
    if first is not None:
        plain = BRACKETS.sub(lambda found: told_apart(found, first), plain)
    plain = "".join(" " if sign in UNSPELLABLE + '!?"\\:;' else sign for sign in plain)
    return " ".join(plain.split()) or "unnamed"


def told_apart(found: re.Match[str], first: int) -> str:
    """drill (cordless) -> cordless drill; cup(s) -> cup; pot (with lid), put (down) and verbs stay as they are."""
    noun, inside = found[1], found[2].split()
    if inside in (["s"], ["es"]):
        return noun
    before = len(found.string[: found.start()].split())
    stays = not inside or before < first or inside[0] in PREPOSITIONS | PARTICLES | DETERMINERS | NO_THING
    return found[0] if stays else " ".join([*inside, noun])


def with_articles(name: str) -> str:
    """hole in plank -> hole in a plank; box of screws and pot with lids stay as they are."""
    words, found = name.split(" "), list[str]()
    for at, word in enumerate(words):
        found.append(word)
        noun = up_to_preposition(words[at + 1 :])
        if at and word in PREPOSITIONS - {"of"} and noun and noun[0] not in DETERMINERS | NO_THING | SPATIAL:
            found += [said for said in (article(" ".join(noun)),) if said != "some"]
    return " ".join(found)


def up_to_preposition(words: list[str]) -> list[str]:
    end = next((at for at, word in enumerate(words) if word in PREPOSITIONS | PARTICLES | {"and"}), len(words))
    return words[:end]
