"""Things in the name of a step: where they begin and end, the articles they leave out, amounts, the object meant."""

import re
from collections.abc import Collection, Mapping

from questree.vocabulary.class_names import BEFORE_NOUN, DETERMINERS, NO_THING, PARTICLES, up_to_preposition
from questree.vocabulary.drafted_words import DraftWords
from questree.vocabulary.inflection import (
    BARE,
    BODY,
    COMPOUNDS,
    ENGLISH,
    PAST,
    PREPOSITIONS,
    PROGRESSIVE,
    UNSAID,
    article,
    is_plural,
    plural,
    verb_forms,
)
from questree.vocabulary.step_spelling import PEOPLE as ROLES

ADVERBS, NO_ADVERBS, QUANTITIES, UNITS, TIMES = (
    set(ENGLISH[name].split()) for name in ("adverbs", "no_adverbs", "quantities", "units", "times")
)
STATES, OPENING, TELLING, ALONE = (set(ENGLISH[name].split()) for name in ("states", "opening", "telling", "alone"))
MEASURES = UNITS - {"cup", "cups", "slice", "slices", "piece", "pieces", "stalk", "stalks", "clove", "cloves"}
WITH_A_AFTER = {"without", "as", "like", "than"}
SPANS = {"a bit", "a little", "a lot", "a moment"}  # loosen it a bit
FIXED, LIMBS, WITH_LIMBS, THINGS = (
    set(ENGLISH[name].split()) for name in ("fixed", "limbs", "with_limbs", "things_too")
)
WITH_A, MADE_INTO, ACTIONS_TOO, HOLDERS, MOVES, SHOTS = (
    set(ENGLISH[name].split()) for name in ("with_a", "made_into", "actions_too", "holders", "moves", "shots")
)
EVENTS = {name: verb for verb, *names in map(str.split, ENGLISH["events"].strip().split("\n")) for name in names}
DONE = {*EVENTS, *MOVES, *SHOTS, *ACTIONS_TOO}
PEOPLE = ("person", "human", "actor")
POINTED = DETERMINERS | QUANTITIES | NO_THING | {"them", "him", "everything", "nothing"}  # need no article
OF_ITS_OWN = {"play", "do", "practice", "perform", "swim"}  # playing football, doing push-ups
MEASURED = {"thick", "long", "wide", "high", "deep", "tall", "old", "apart", "away", "more"}
TURNS, JOINED = {"left", "right"}, {"and", "or", "then"}
WEIGHT = "g|kg|ml|l|oz"  # 100g


class ThingReader:
    def __init__(self, objects: DraftWords, said: Mapping[str, str]):
        self.objects = objects
        self.names = said  # object as steps may say it, without articles inside -> its name

    def with_articles(self, words: list[str], verb: str, before: str, chained: bool) -> tuple[list[str], str]:
        """soup with spoon -> some soup with a spoon; and what the verb is done to, or one chained to it."""
        said, found = list[str](), ""
        at, pointed, mass, direct = 0, False, False, before not in PREPOSITIONS
        while at < len(words):
            word = words[at]
            further = words[at + 1] if words[at + 1 :] else ""
            if infinitive(words[at:]) or (chained and at == 0):
                said += words[at : at + 2]
                at, before, direct = at + 2, further, chained
            elif stops(words, at) and not (word in TURNS and before in ("on", "to", "from")):  # on the left
                said.append(word)
                at, before, direct = at + 1, word, direct and word not in PREPOSITIONS
            else:
                name, end = self.named(words, at)
                joined = said[-1:] != [] and said[-1] in JOINED
                as_said, noun = self.thing(words[at:end], name, verb, direct and not joined, before)
                mass = (joined and mass) or (article(noun) == "some" and not is_plural(noun))
                bare = joined and (pointed or (mass and as_said[0] == "the"))
                bare = bare or counts(words, at, HOLDERS)
                said += words[at:end] if bare else as_said  # the nuts and bolts; salt and cumin; a bowl of kimchi
                counted = noun.split(" ")[-1] in UNITS and words[end : end + 1] == ["of"]
                if not found and not counted and (direct or at == 0 or counts(words, at)):
                    found = noun
                pointed = word in DETERMINERS
                at, before = end, words[end - 1]
        return said, found

    def named(self, words: list[str], at: int) -> tuple[str, int]:
        """The thing that begins here, if files have it with a preposition inside; and where it ends."""
        begin = at + (words[at] in DETERMINERS)
        for end in range(len(words), begin, -1):
            name = self.names.get(" ".join(words[begin:end]), " ".join(words[begin:end]))
            if name in self.objects and {*words[begin:end]} & PREPOSITIONS:
                return name, end
        end = at + 1
        if words[at] in POINTED and end < len(words):  # the back board
            end += (not stops(words, end) and words[end] not in DETERMINERS) or (
                words[at] in DETERMINERS and words[end] in PARTICLES | TURNS
            )
        while end < len(words) and not (stops(words, end) or another(words, end)):
            end += 1
        return "", end

    def thing(self, words: list[str], name: str, verb: str, direct: bool, before: str) -> tuple[list[str], str]:
        """As it is said, and the object."""
        bare = words[words[0] in DETERMINERS :]
        if name:
            return (words if len(bare) < len(words) else self.articles(name) + name.split(" ")), name
        noun = self.noun(bare)
        if words[0] in POINTED - {"other"} or not noun:
            return words, "" if " ".join(words) in SPANS else noun
        if re.match(rf"\d[\d/.-]*({WEIGHT})?$", words[0]):
            return amount(words), noun
        doing = PROGRESSIVE in verb_forms(words[0]) and article(words[0]) != "some"
        if doing and words[1:] and (words[1] in POINTED or before in ("by", "before", "after", "without")):
            return [words[0], *self.thing(words[1:], "", verb, direct, words[0])[0]], ""  # by turning it
        alone = len(words) == 1 and (doing or participle(words))
        alone |= verb == "do" and PROGRESSIVE in verb_forms(words[-1])  # safe driving
        game = words[-1] in UNSAID and not (direct and words[-1].endswith("ball") and verb not in OF_ITS_OWN)
        fixed = {f"{before}-{words[-1]}", f"{verb}-{words[-1]}" if direct and not before else ""} & FIXED
        if alone or game or fixed or re.fullmatch(r"[A-Z]|\d+", words[-1]):  # by hand; panel A
            return words, "" if alone or fixed else noun
        some = self.articles(noun, verb, " ".join(words), before)
        if some == ["some"] and (not direct or verb in OF_ITS_OWN):
            some = []
        elif some == ["some"] and verb in ALONE and not is_plural(noun):
            some = ["the"]  # surfing the water
        return [*some, *words], noun

    def noun(self, words: list[str]) -> str:
        """The object that these words name: the longest end of them that is annotated, else all but amounts."""
        if re.match(r"\d+$", "".join(words[:1])) and len(words) > 2 and not {*words} & (UNITS | TIMES):
            return " ".join(words[is_plural(words[-1]) :])  # 2 wheel vehicle, red cups
        begin = 0
        while begin < len(words) - 1 and (
            re.match(rf"[\d/.]+($|-|({WEIGHT})$)", words[begin])
            or words[begin] in QUANTITIES | UNITS | DETERMINERS
            or (words[begin] == "little" and article(words[-1]) == "some")
        ):
            begin += 1
        cut = [at for at, word in enumerate(words) if at > begin and (participle(words[at:]) or is_adverb(word))]
        if begin and words[-1] in MEASURES:
            return ""  # 20 cm
        words = words[begin : min(cut, default=len(words))]
        if (
            not words
            or re.match(r"[\d/.]+(?!st|nd|rd|th)([a-z]|$)", words[0])
            or (words[-1] in TIMES and (begin or len(words) == 1))
        ):
            return ""
        ends = [" ".join(words[at:]) for at in range(len(words))]
        annotated = (end for end in ends if end in self.objects and self.objects[end].given)
        found = next(annotated, " ".join(words))  # eating peanut butter is not eating butter
        return "" if found in NO_THING | POINTED | {*PEOPLE} else found

    def articles(self, noun: str, verb: str = "", said: str = "", before: str = "") -> list[str]:
        word, last = self.objects.get(noun), noun.split(" ")[-1]
        limb = last in BODY and (last not in LIMBS or verb in WITH_LIMBS)
        if word and not word.fields.get("part_only") and (word.given or last not in BODY):
            some = str(word.fields["article"])
            some = article(said) if some in ("a", "an", "the") and said else some
        elif limb:
            some = "their"
        else:
            some = article(said or noun)
        known = word and word.fields["article"] in ("a", "an")
        some = "the" if some in ("a", "an") and not known and not is_one(noun, verb, before) else some
        return [some] if noun and some else []

    def place(self, words: list[str]) -> tuple[str, str]:
        """Putting something on a table: the noun, which is a place or a tool, and its role."""
        at = next((at for at, word in enumerate(words) if at and words[at - 1] in NO_THING and word in PREPOSITIONS), 0)
        rest = words[at + 1 :] if at else []
        noun = self.noun(up_to_preposition(rest[bool({*rest[:1]} & DETERMINERS) :]))
        return (noun, "tool" if words[at] == "with" else "place") if noun else ("", "")


def is_one(noun: str, verb: str, before: str) -> bool:
    """Is it said with "a": as what is done, made of a thing or lacking, a person or a unit?"""
    ends = {noun.split(" ")[-1], "_".join(noun.split(" ")[-2:])}
    done = before not in PREPOSITIONS and (verb in WITH_A or not DONE.isdisjoint(ends))
    made = before in WITH_A_AFTER or (before == "into" and verb in MADE_INTO)
    return done or made or not ends.isdisjoint(ROLES | UNITS - {"cup"})


def amount(words: list[str]) -> list[str]:
    """2 tbsp butter -> 2 tbsp of butter; 1/4 onion -> 1/4 of an onion; a 2 wheel vehicle."""
    number, *rest = words
    if not rest or {*rest} & MEASURED:
        return words
    if rest[0] in TIMES:
        many = plural(rest[0])
        return [number, many if many in TIMES and number != "1" and "/" not in number else rest[0], *rest[1:]]
    if not number[-1].isdigit():
        return [number, "of", *rest]
    if rest[0] in UNITS:
        return [number, rest[0], "of", *rest[1:]] if rest[1:] else words
    one = not is_plural(" ".join(rest))
    if "/" in number and one:
        return [number, "of", *filter(None, [article(" ".join(rest))]), *rest]
    return ["a", *words] if one and number != "1" and len(rest) > 1 else words


def is_adverb(word: str) -> bool:
    return word in ADVERBS or (len(word) > 4 and word.endswith(("ly", "wise", "wards")) and word not in NO_ADVERBS)


def infinitive(words: list[str]) -> bool:
    """to cross, to taste; not to work, to a board."""
    if len(words) < 2 or words[0] != "to" or BARE not in verb_forms(words[1]) or "_".join(words[1:3]) in COMPOUNDS:
        return False
    return words[1] not in THINGS or (len(words) > 2 and words[2] in POINTED) or words[1] in ("taste", "test", "check")


def unclear_to(words: list[str]) -> bool:
    """to test light: is it to test a light, or up to a test light?"""
    begins = len(words) > 2 and words[0] == "to" and BARE in verb_forms(words[1]) and words[1] not in TELLING
    begins = begins and words[2] not in BEFORE_NOUN | JOINED and "_".join(words[1:3]) not in COMPOUNDS
    return begins and not infinitive(words)


def stops(words: list[str], at: int) -> bool:
    """Does a thing end before this word, or none begin with it?"""
    word = words[at]
    last = at == len(words) - 1 or words[at + 1] in PREPOSITIONS | JOINED
    turn = word in TURNS and last and (at == 0 or words[at - 1] not in DETERMINERS)
    if word in TELLING and not last and words[at + 1] not in BEFORE_NOUN and not is_adverb(words[at + 1]):
        return words[at + 1].isdigit()  # back panel; straight 5 meters
    ends = word in PREPOSITIONS | PARTICLES | JOINED | {"using", "as"}
    return ends or is_adverb(word) or turn or (word in STATES and (last or is_adverb(words[at + 1])))


def another(words: list[str], at: int) -> bool:
    """Does something else begin here: the man, a cup; a sheet, 90 degrees; spice, all over?"""
    measured = (words[at].isdigit() or words[at] in QUANTITIES) and bool({*words[at + 1 : at + 2]} & TIMES)
    return measured or (words[at] in DETERMINERS | {"all"} and words[at - 1] not in DETERMINERS | QUANTITIES)


def participle(words: list[str]) -> bool:
    """A chicken coated; not a perforated bar, nor a flower bed."""
    return len(words) == 1 and (PAST in verb_forms(words[0]) or bool(re.search(r"(at|iz|is|ish|en|er)ed$", words[0])))


def counts(words: list[str], at: int, more: Collection[str] = QUANTITIES) -> bool:
    """Is this what an amount is of: two slices of bread?"""
    return at > 1 and words[at - 1] == "of" and words[at - 2] in UNITS.union(more)
