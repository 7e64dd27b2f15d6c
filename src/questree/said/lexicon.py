"""Every way to say an answer: as it is written, synonyms, plurals, verb forms, with other small words."""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import NamedTuple

import msgspec

from questree.faults import UNREADABLE, BadInput
from questree.said.phrases import PHRASES
from questree.vocabulary.inflection import base, is_plural, plural
from questree.vocabulary.words import Action, Vocabulary

ARTICLES = re.compile(r"\b(a|an|the)\b")
PUNCTUATION = re.compile(r"[^\w\s'/-]|_")
TO_TEN = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
NUMBERS = {word: str(number) for number, word in enumerate(TO_TEN)}
SMALL = frozenset(PHRASES["small"])
WORD = re.compile(r"[^\W_]+(?:['-][^\W_]+)*")
IN_OR_ON = {"in": "on", "on": "in"}
PARTICLES = frozenset(PHRASES["particles"])
POSTURES = frozenset(PHRASES["postures"])


VAGUE = re.compile(r" (?:of something|something|somewhere)$")


class SynonymsFile(msgspec.Struct, frozen=True, eq=False, forbid_unknown_fields=True):
    """Other ways to say an answer; yes and no by language."""

    yes: dict[str, tuple[str, ...]] = {}
    no: dict[str, tuple[str, ...]] = {}
    words: dict[str, tuple[str, ...]] = {}
    foreign: dict[str, tuple[str, ...]] = {}

    def and_also(self, other: "SynonymsFile") -> "SynonymsFile":
        """With the words of another file, its own first."""

        def joined(name: str) -> dict[str, tuple[str, ...]]:
            mine, theirs = getattr(self, name), getattr(other, name)
            return {key: (*theirs.get(key, ()), *mine.get(key, ())) for key in {**theirs, **mine}}

        return SynonymsFile(**{name: joined(name) for name in SynonymsFile.__struct_fields__})


@cache
def shipped() -> SynonymsFile:
    return msgspec.toml.decode(files("questree.said").joinpath("said.toml").read_bytes(), type=SynonymsFile)


def read_synonyms(path: Path) -> SynonymsFile:
    """A user's file beside the shipped words."""
    try:
        return shipped().and_also(msgspec.toml.decode(path.read_bytes(), type=SynonymsFile))
    except OSError as error:
        raise BadInput.at(path, "no such file of synonyms") from error
    except UNREADABLE as error:
        form = "[words] ANSWER = [OTHER, ...]; [yes] and [no] LANGUAGE = [WORD, ...]"
        raise BadInput.at(path, f"expected {form}, got {error}") from error


def normal(text: str) -> str:
    """As the VQA evaluation compares answers: lower case, no punctuation or articles, number words as digits."""
    words = ARTICLES.sub(" ", PUNCTUATION.sub(" ", text.lower())).split()
    return " ".join(NUMBERS.get(word, word) for word in words)


def tokens(text: str) -> list[str]:
    """The words that matter, in lower case."""
    return [word for word in map(str.lower, WORD.findall(text)) if word not in SMALL]


class Mention(NamedTuple):
    """An answer named in a text."""

    answer: str
    start: int  # in the text's words
    end: int


@dataclass(frozen=True)
class Lexicon:
    """Ways to say some answers."""

    exact: Mapping[str, str]  # normal form -> answer
    spoken: Mapping[tuple[str, ...], str]  # words -> answer
    named: Mapping[tuple[str, ...], str]  # the same without synonyms of the answers: how questions name them
    longest: int = 1

    def mentions(self, words: list[str]) -> list[Mention]:
        """From left to right, the longest at each place."""
        found, at = list[Mention](), 0
        while at < len(words):
            for size in range(min(self.longest, len(words) - at), 0, -1):
                answer = self.spoken.get(tuple(words[at : at + size]))
                if answer is not None:
                    found.append(Mention(answer, at, at + size))
                    at += size - 1
                    break
            at += 1
        return found


def lexicon(answers: Iterable[str], other_ways: Mapping[str, Iterable[str]]) -> Lexicon:
    """The answers themselves come before synonyms, synonyms before forms of words."""
    known = list(dict.fromkeys(answers))
    ways = {answer: [answer, *other_ways.get(answer, ())] for answer in known}
    exact = {normal(answer): answer for answer in reversed(known)}
    named = {words: answer for answer in reversed(known) if (words := tuple(tokens(answer)))}
    for answer in known:  # "throwing a pillow" of "throwing a pillow somewhere"
        short = tuple(tokens(VAGUE.sub("", answer)))
        if len(short) > 1:
            named.setdefault(short, answer)
    spoken = dict(named)
    for say in (_itself, forms):
        for answer, all in ways.items():
            for way in (made for each in all for made in say(each)):
                exact.setdefault(normal(way), answer)
                if words := tuple(tokens(way)):
                    spoken.setdefault(words, answer)
    return Lexicon(exact, spoken, named, max(map(len, spoken), default=1))


def _itself(way: str) -> tuple[str, ...]:
    return (way,)


@cache
def forms(way: str) -> tuple[str, ...]:
    """Other forms of its words: phone, phones; holding a phone, holds a phone."""
    first, _, rest = way.partition(" ")
    if first.endswith("ing") and base(first) != first:
        present = f"{base(first)} {rest}".strip()
        return present, _third(present)
    if is_plural(way):
        return (way[:-1],) if way.endswith("s") and not way.endswith(("ss", "oes")) else ()
    return (plural(way),) if re.fullmatch(r"[a-z -]+", way) else ()


def possible_answers(vocabulary: Vocabulary) -> list[str]:
    """What questions about videos are answered with: words that are counted as another are not among them."""
    objects = [word.name for word in vocabulary.objects if not word.merged]
    actions = [word.phrase for word in vocabulary.actions if not word.merged]
    return ["yes", "no", "before", "after", *objects, *actions, *(word.name for word in vocabulary.relations)]


def vocabulary_ways(vocabulary: Vocabulary) -> dict[str, list[str]]:
    """Answer -> other ways to say it: labels of the word, words counted as it, its other tenses, its noun phrase."""
    found: dict[str, list[str]] = {}
    more = shipped().words
    for at, thing in enumerate(vocabulary.objects):
        name = vocabulary.objects[vocabulary.merged_object[at]].name
        parts = [part for label in thing.labels for part in label.split("/")]
        own = found.setdefault(thing.name, [])
        own.extend([f"{thing.article} {thing.name}".strip(), *thing.labels, *parts])
        if name != thing.name:
            found.setdefault(name, []).extend([thing.name, *own, *more.get(thing.name, ())])
    names = {thing.name for thing in vocabulary.objects}
    tenses = {action.phrase: list(_tenses(action, names, found, more)) for action in vocabulary.actions}
    taken = {tuple(tokens(way)) for ways in tenses.values() for way in ways}
    for at, action in enumerate(vocabulary.actions):
        ways = (*_with_verb(vocabulary, at, more), *_with_preposition(tenses[action.phrase]))
        other = [way for way in ways if tuple(tokens(way)) not in taken]
        for phrase in {action.phrase, vocabulary.actions[vocabulary.merged_action[at]].phrase}:
            found.setdefault(phrase, []).extend([*tenses[action.phrase], *other])
    for relation in vocabulary.relations:
        forms_of = (relation.progressive, relation.present, relation.past, *relation.labels)
        found.setdefault(relation.name, []).extend(filter(None, forms_of))
    return found


def _tenses(
    action: Action, names: Collection[str], found: Mapping[str, Sequence[str]], more: Mapping[str, Sequence[str]]
) -> Iterator[str]:
    """An action in every tense, with other words for its things, the particle of its verb before or after them."""
    tenses = filter(None, (action.phrase, action.progressive, action.present, action.past, _third(action.present)))
    ways = [short for way in tenses for short in {way, VAGUE.sub("", way)} if " " in short or short == way]
    for way in ways:
        nouns = [word for word in way.split() if word in names]
        said = [way]
        for noun in nouns:
            others = (plural(noun), *found.get(noun, ()), *more.get(noun, ()))
            said += [re.sub(rf"\b{re.escape(noun)}\b", other.replace("\\", ""), way) for other in others]
        for each in said:
            yield each
            verb, *rest = each.split()
            if len(rest) > 1 and rest[0] in PARTICLES:
                yield " ".join([verb, *rest[1:], rest[0]])
            if len(rest) > 1 and verb in POSTURES:
                yield " ".join([verb, "down", *rest])
    yield from action.labels


def _with_verb(vocabulary: Vocabulary, at: int, more: Mapping[str, Sequence[str]]) -> Iterator[str]:
    """Other words for its verb before the name of its object."""
    if (noun := int(vocabulary.noun_of[at])) >= 0:
        verb, thing = (
            vocabulary.relations[vocabulary.relation_at[vocabulary.actions[at].verb]],
            vocabulary.objects[noun],
        )
        for other in filter(None, (*more.get(verb.name, ()), verb.progressive, verb.present, verb.past)):
            yield from (f"{other} {name}" for name in (thing.name, *more.get(thing.name, ())))


def _with_preposition(ways: Iterable[str]) -> Iterator[str]:
    """ "sitting on a chair" of "sitting in a chair" """
    for way in ways:
        verb, _, rest = way.partition(" ")
        place, _, thing = rest.partition(" ")
        if thing and place in IN_OR_ON:
            yield f"{verb} {IN_OR_ON[place]} {thing}"


def _third(present: str) -> str:
    """hold a bag -> holds a bag"""
    verb, _, rest = present.partition(" ")
    if re.search(r"[^aeiou]y$", verb):
        return f"{verb[:-1]}ies {rest}".strip()
    return f"{verb}{'es' if verb.endswith(('s', 'x', 'z', 'ch', 'sh', 'o')) else 's'} {rest}".strip()
