"""Names of classes as files have them, read as English: signs, shorthand and brackets, and articles inside a name."""

import re

from questree.vocabulary.check import UNSPELLABLE
from questree.vocabulary.inflection import ENGLISH, PREPOSITIONS, article

SPATIAL, PARTICLES = (set(ENGLISH[name].split()) for name in ("spatial", "particles"))
DETERMINERS = {*ENGLISH["determiners"].split(), "one"}
BEFORE_NOUN = PREPOSITIONS | PARTICLES | DETERMINERS
NO_THING = {"something", "somewhere", "someone", "somebody", "anything", "himself", "herself", "themselves", "it"}
WITH_A = {"with", "without", "for"}  # what it has or lacks
SHORTHAND = {
    r"\bw/o(?=\s|$)": "without",
    r"\bw/\s*": "with ",
    r"\s&\s": " and ",
    r"^(stop|wait) 4(?=\s\w+$)": r"\1 for",
    r"\bhigh five(?=\s|$)": "high-five",
    r"\bright side up\b": "right-side-up",
    r"\b(push|pull|sit|chin|step) ups\b": r"\1-ups",
    r"\bclean and jerk\b": "clean-and-jerk",
}
PROPER = {name.lower(): name for name in ENGLISH["proper"].split()}
KEY = re.compile(r"[^:A-Z]*[^:A-Z\s](:[^:A-Z\s][^:A-Z]*)+")  # tap:water, which is a water tap
BRACKETS = re.compile(r"([^()]*[^\s()])\s*\(([^()]*)\)")


def cleaned(name: str, first: int | None = None) -> str:
    """As English: no underscores, no signs of programs, small letters; first: the word from which on nouns are said."""
    head, *more = name.split(":") if KEY.fullmatch(name) else (name,)
    plain = " ".join([*more, head]).replace("_", " ").lower()
    for short, long in SHORTHAND.items():
        plain = re.sub(short, long, plain)
    if first is not None:
        plain = BRACKETS.sub(lambda found: told_apart(found, first), plain)
    plain = "".join(" " if sign in UNSPELLABLE + '!?"\\:;' else sign for sign in plain)
    return " ".join(PROPER.get(word, word) for word in plain.split()) or "unnamed"


def told_apart(found: re.Match[str], first: int) -> str:
    """needle holder (large) -> large needle holder; cup(s) -> cup; pot (with lid), put (down) and verbs stay."""
    said, inside = found[1].split(), found[2].split()
    if inside in (["s"], ["es"]):
        return found[1]
    begin = max(first - len(found.string[: found.start()].split()), 0)
    begin = next((at + 1 for at in range(len(said) - 1, -1, -1) if said[at] in BEFORE_NOUN and at + 1 > begin), begin)
    stays = not inside or begin >= len(said) or inside[0] in BEFORE_NOUN | NO_THING
    return found[0] if stays else " ".join(["", *said[:begin], *inside, *said[begin:]])


def with_articles(name: str) -> str:
    """hole in plank -> hole in the plank, pot with lid -> pot with a lid; box of screws and pot with lids stay."""
    words, found = name.split(" "), list[str]()
    for at, word in enumerate(words):
        found.append(word)
        noun = up_to_preposition(words[at + 1 :])
        if at and word in PREPOSITIONS - {"of"} and noun and noun[0] not in DETERMINERS | NO_THING | SPATIAL:
            some = article(" ".join(noun))
            found += [{"a": "the", "an": "the"}.get(some, some) if word not in WITH_A else some] * (some != "some")
    return " ".join(found)


def without_articles(name: str) -> str:
    return " ".join(word for word in name.split(" ") if word not in ("a", "an", "the", "some"))


def up_to_preposition(words: list[str]) -> list[str]:
    end = next((at for at, word in enumerate(words) if word in PREPOSITIONS | PARTICLES | {"and"}), len(words))
    return words[:end]
