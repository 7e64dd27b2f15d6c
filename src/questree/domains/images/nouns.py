"""Names in English: their number, their plurals, their articles, and how attributes and relations are said."""

from functools import cache
from importlib import resources

import msgspec

SINGULAR, PLURAL, MASS = "singular", "plural", "mass"


class Plurality(msgspec.Struct, frozen=True):
    plural: frozenset[str]
    singular: frozenset[str]
    not_men: tuple[str, ...]
    mass: frozenset[str]
    counted: frozenset[str]
    the: frozenset[str]


class Sound(msgspec.Struct, frozen=True):
    an: frozenset[str]
    a: tuple[str, ...]
    but_an: tuple[str, ...]


class Relations(msgspec.Struct, frozen=True):
    said: dict[str, str]
    without_article: frozenset[str]


class Attributes(msgspec.Struct, frozen=True):
    before: dict[str, str]
    after_is: dict[str, str]
    behind: frozenset[str]
    made_of: frozenset[str]
    never_after_is: frozenset[str]


class People(msgspec.Struct, frozen=True):
    names: frozenset[str]


class English(msgspec.Struct, frozen=True):
    plurals: dict[str, str]
    number: Plurality
    sound: Sound
    people: People
    relations: Relations
    attributes: Attributes


ENGLISH = msgspec.toml.decode(
    resources.files("questree.domains.images").joinpath("english.toml").read_bytes(), type=English
)
PLURALS = frozenset(ENGLISH.plurals.values()) - ENGLISH.plurals.keys()  # "men", but not "sheep"
MADE_OF = "made of "
OF = " of "  # "chest of drawers": its number is that of "chest"


def head(name: str) -> str:
    """The word that bears the number."""
    return name.split(OF)[0].split(" ")[-1]


@cache
def number(name: str) -> str:
    last, known = head(name), ENGLISH.number
    if name in known.plural or last in known.plural or last in PLURALS:
        return PLURAL
    if name in known.singular or last in known.singular or name in known.counted:
        return SINGULAR
    if name in known.mass or (OF not in name and last in known.mass):
        return MASS
    return PLURAL if last.endswith("s") and not last.endswith(("ss", "us", "is")) else SINGULAR


@cache
def plural(name: str) -> str:
    """Of a name in the singular; other names stay as they are."""
    if number(name) != SINGULAR:
        return name
    first, of, rest = name.partition(OF)
    before, space, last = first.rpartition(" ")
    return before + space + _plural(last) + of + rest


def _plural(word: str) -> str:
    if word in ENGLISH.plurals:
        return ENGLISH.plurals[word]
    if word.endswith("man") and word not in ENGLISH.number.not_men:
        return word[:-2] + "en"
    if word.endswith("is") and len(word) > 4:
        return word[:-2] + "es"
    if word.endswith(("s", "x", "z", "ch", "sh")):
        return word + "es"
    if word.endswith("y") and word[-2:-1] not in "aeiou":
        return word[:-1] + "ies"
    return word + "s"


@cache
def article(phrase: str) -> str:
    """By sound: a cup, an umbrella, a uniform, an hour."""
    first, sound = phrase.split(" ")[0].lower(), ENGLISH.sound
    if first in sound.an or first.split("-")[0] in sound.an:
        return "an"
    if first.startswith(sound.a) and not first.startswith(sound.but_an):
        return "a"
    return "an" if first[:1] in "aeiou" else "a"


@cache
def is_person(name: str) -> bool:
    last = head(name)
    known = last.endswith(("man", "woman", "person", "men")) and not last.endswith(ENGLISH.number.not_men)
    return known or name in ENGLISH.people.names or last in ENGLISH.people.names


@cache
def with_attribute(attribute: str | None, noun: str) -> str:
    """ "red cup", "man looking up"."""
    if attribute is None:
        return noun
    if attribute in ENGLISH.attributes.behind:
        return f"{noun} {after_is(attribute)}"
    return f"{ENGLISH.attributes.before.get(attribute, attribute)} {noun}"


@cache
def after_is(attribute: str) -> str:
    """ "red", "made of wood", "turned on"."""
    if attribute in ENGLISH.attributes.made_of:
        return MADE_OF + attribute
    return ENGLISH.attributes.after_is.get(attribute, attribute)


def can_follow_is(attribute: str) -> bool:
    return attribute not in ENGLISH.attributes.never_after_is


@cache
def relation(name: str) -> str:
    """As it follows "is"; of a preposition, "pouring:_into", what follows the object."""
    return ENGLISH.relations.said.get(name) or name.rpartition(":_")[2]


@cache
def brings_article(name: str) -> bool:
    return relation(name).rpartition(" ")[2] in ENGLISH.relations.without_article


@cache
def is_verb(name: str) -> bool:
    """ "holding", "sitting on"; not "near"."""
    return relation(name).split(" ")[0].endswith("ing")
