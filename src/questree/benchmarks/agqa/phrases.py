"""The phrases that fill a frame's slots: nouns and references to them, relations, actions and time phrases.

Where something can be said in several ways, a number passed in decides (taken modulo the number of ways).
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from math import lcm

import numpy as np

from questree.benchmarks.agqa.frames import LEADS, LED, Forms, Phrase, fill, split
from questree.benchmarks.agqa.templates import AFTER, ALL, BEFORE, BETWEEN, FIRST, LAST, LONGEST, SHORTEST, WHILE, WHOLE
from questree.columns.hashing import Hashes, mix
from questree.columns.joins import Ints
from questree.readings.english import noun_phrase, relation_form
from questree.vocabulary.words import NONE, Vocabulary

# a time phrase inside a reference (edition 1.0) stands before the verb, so that it is never read as the question's
OBJECTS = {
    FIRST: ("the object{time} they were {relation} first", "the first thing{time} they {relation:past}"),
    LAST: ("the object{time} they were {relation} last", "the last thing{time} they {relation:past}"),
    WHOLE: ("the object{time} they were {relation}", "the thing{time} they {relation:past}"),
}
ACTIONS = {
    LONGEST: ("the longest action", "the thing they did for the longest time"),
    SHORTEST: ("the shortest action", "the thing they did for the shortest time"),
}
DO = {"": "doing", "present": "do", "past": "did"}
TIMES: dict[str, dict[str, tuple[str, ...]]] = {
    "2.0": {
        ALL: ("",),
        BEFORE: (" before {a}",),
        AFTER: (" after {a}",),
        WHILE: (" while {a}",),
        BETWEEN: (" between {a} and {b}", " before {b} but after {a}"),
    }
}
TIMES["1.0"] = {
    **TIMES["2.0"],
    BEFORE: (" before {a}", " before starting to {a:present}"),
    BETWEEN: (*TIMES["2.0"][BETWEEN], " before starting to {b:present} but after {a}"),
}
WHOLE_VIDEO = Phrase("In the video")
NOTHING = Phrase("")


def noun(at: int, vocabulary: Vocabulary) -> Forms:
    """An object by its name: "a blanket"."""
    return {"": Phrase(noun_phrase(at, True, vocabulary))}


def relation(at: int, vocabulary: Vocabulary) -> Forms:
    """A relation up to its object, what follows the object, and the word for an object that is not named."""
    word = vocabulary.relations[at]
    rest = f" {word.rest}" if word.rest else ""
    tenses = {form: relation_form(at, form, vocabulary).removesuffix(rest) for form in DO}
    leads = LEADS
    if word.present:
        leads, tenses = {lead: lead for lead in LEADS}, tenses | {"asked": tenses["present"], "told": tenses["past"]}
    return _relation(tenses, leads, word.something, rest)


def relation_reference(object: int, vocabulary: Vocabulary) -> Forms:
    """Edition 1.0: the relation named by what was done first to an object."""
    done = f"the first thing they did to the {vocabulary.objects[object].name} to"
    tenses = {form: f"{do} {done}" for form, do in DO.items()}
    return _relation(tenses | {"asked": tenses["present"], "told": tenses["past"]}, {lead: lead for lead in LEADS})


def _relation(
    tenses: Mapping[str, str], leads: Mapping[str, str], something: str = "something", rest: str = ""
) -> Forms:
    said = {**dict.fromkeys(LED.values(), tenses[""]), **tenses, **leads, "something": something, "rest": rest}
    return {form: Phrase(text) for form, text in said.items()}


def object_reference(kind: str, relation: Forms, wording: int, time: Forms | None = None) -> Forms:
    """An object by its relation: the first, the last, or the only one of the (whole) video."""
    ways = OBJECTS[kind]
    inner = {"": Phrase(f" that,{time[''].text}," if time else "")}
    found = fill(split(ways[wording % len(ways)]), {"relation": relation, "time": inner})
    return {"": Phrase(found.text)}


def action(at: int, vocabulary: Vocabulary) -> Forms:
    """An action by its phrase."""
    word = vocabulary.actions[at]
    return {"": Phrase(word.progressive or word.phrase), "present": Phrase(word.present), "past": Phrase(word.past)}


def action_reference(kind: str, wording: int) -> Forms:
    """An action by its length."""
    ways = ACTIONS[kind]
    return {form: Phrase(f"{do} {ways[wording % len(ways)]}") for form, do in DO.items()}


def indirect_action(at: int, reference: Forms, vocabulary: Vocabulary) -> Forms | None:
    """An action with a reference in place of its noun phrase; None where its phrase does not name its object.

    "Somewhere" would be read as part of the reference: then the verb is said as a relation ("putting down the object").
    """
    if vocabulary.noun_of[at] == NONE:
        return None
    word = vocabulary.actions[at]
    pattern = noun_pattern(vocabulary.objects[vocabulary.noun_of[at]].name)
    forms = {"": word.progressive or word.phrase, "present": word.present, "past": word.past}
    found = {form: pattern.search(text) for form, text in forms.items()}
    if not all(found.values()):
        return None
    if all(said and SOMEWHERE.fullmatch(said.string, said.end()) for said in found.values()):
        verb = relation(int(vocabulary.verb_of[at]), vocabulary)
        forms = {form: f"{verb[form].text} {said.group()}" for form, said in found.items() if said}
    return {form: _replaced(text, pattern, reference[""].text) for form, text in forms.items()}


SOMEWHERE = re.compile(" (?:from )?somewhere")


@cache
def noun_pattern(name: str) -> re.Pattern[str]:
    """A noun as action phrases say it: "a shoe", "shoes", "their paper", "bed", "a cup of something"."""
    return re.compile(rf"\b(?:(?:an?|some|the|their) )?{re.escape(name)}(?:e?s)?\b(?: of something)?")


def _replaced(text: str, pattern: re.Pattern[str], reference: str) -> Phrase:
    """The noun is said once and "it" afterwards: "watching the object ... or something on it"."""
    found = pattern.search(text)
    assert found
    before, after = text[: found.start()], pattern.sub("it", text[found.end() :])
    return Phrase(before + reference + after, {"object": (len(before), len(before) + len(reference))})


def time(kind: str, actions: Mapping[str, Forms], wording: int = 0, edition: str = "2.0") -> Forms:
    """A time phrase as it ends a question, with its space, and as it opens one; its actions are "a" and "b"."""
    ways = TIMES[edition][kind]
    found = fill(split(ways[wording % len(ways)]), actions)
    if not found.text:
        return {"": NOTHING, "leading": WHOLE_VIDEO}
    text = found.text[1:]
    spans = {name: (begin - 1, end - 1) for name, (begin, end) in found.spans.items()}
    return {"": found, "leading": Phrase(text[0].upper() + text[1:], spans)}


def runs_on(at: int, vocabulary: Vocabulary) -> bool:
    """Does the relation end in "in"? With "between" right behind it, it would be read as "in between"."""
    return any(form.text.split()[-1:] == ["in"] for form in relation(at, vocabulary).values())


def not_between(way: Ints, runs_on: Ints, edition: str) -> Ints:
    """Ways to word times between two actions; none that begins with "between" where the relation runs on."""
    return np.asarray(way + (runs_on & (way % time_ways(edition) % len(TIMES[edition][BETWEEN]) == 0)))


WAYS = 2  # of wording a reference


@dataclass(frozen=True)
class Choices:
    """Which way a question is said, by a keyed hash of its id: number of the frame (before taking it modulo the
    template's frames) and of each slot's wording."""

    frame: Ints
    first: Ints
    second: Ints
    time: Ints


def time_ways(edition: str) -> int:
    """Ways of wording a time phrase, without those of its actions: as many as divide among any kind's patterns."""
    return lcm(*map(len, TIMES[edition].values()))


def choices(seeds: Hashes, video: Ints, number: Ints, edition: str = "2.0") -> Choices:
    """seeds: per video, from the run's seed and the video's id."""
    key = mix(seeds[video], number)
    bits = (key >> 40).astype("int64")
    time = (bits >> 2) % (WAYS * time_ways(edition))
    return Choices((key & 0xFFFFFFFF).astype("int64"), bits & 1, bits >> 1 & 1, time)
