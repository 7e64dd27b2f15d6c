"""What English does to the words of scene graphs, as data: english.toml, read once."""

from importlib import resources

import msgspec


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


class Attributes(msgspec.Struct, frozen=True):
    before: dict[str, str]
    after_is: dict[str, str]
    behind: frozenset[str]
    made_of: frozenset[str]
    never_after_is: frozenset[str]


class PersonNouns(msgspec.Struct, frozen=True):
    names: frozenset[str]
    he: frozenset[str]
    she: frozenset[str]


class LinkWords(msgspec.Struct, frozen=True):
    """By which the name of a relation is told for what it is."""

    said: dict[str, str]
    without_article: frozenset[str]
    prepositions: frozenset[str]
    adjectives: frozenset[str]
    adverbs: frozenset[str]
    participles: frozenset[str]
    participle_with_particle: frozenset[str]
    verbs_in_ing: frozenset[str]
    verbs_in_ed: frozenset[str]
    verbs_in_s: frozenset[str]
    verbs_with_of: frozenset[str]
    verbs_in_ly: frozenset[str]
    nouns_without_article: frozenset[str]
    to_somebody: frozenset[str]


class Synonyms(msgspec.Struct, frozen=True):
    """Lists of words that mean the same."""

    nouns: list[list[str]]
    attributes: list[list[str]]
    relations: list[list[str]]
    not_plurals: frozenset[str]


class English(msgspec.Struct, frozen=True):
    plurals: dict[str, str]
    number: Plurality
    sound: Sound
    people: PersonNouns
    attributes: Attributes
    relations: LinkWords
    same: Synonyms


ENGLISH = msgspec.toml.decode(
    resources.files("questree.domains.images").joinpath("english.toml").read_bytes(), type=English
)
