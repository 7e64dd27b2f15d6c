"""A step's name read as verbs and what is done to what: its forms, and what the rules are not sure of."""

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from itertools import pairwise

from questree.vocabulary.class_names import BEFORE_NOUN, DETERMINERS, NO_THING, PARTICLES, up_to_preposition
from questree.vocabulary.inflection import (
    BARE,
    BODY,
    COMPOUNDS,
    ENGLISH,
    FORMS,
    PAST,
    PREPOSITIONS,
    PROGRESSIVE,
    THIRD,
    UNSAID,
    article,
    base,
    is_plural,
    past,
    progressive,
    verb_forms,
)
from questree.vocabulary.step_spelling import INTO_WITH, MANY, NOT_SAID, PLACING, RUN_ON, spelled_out, without_subject
from questree.vocabulary.step_spelling import PEOPLE as ROLES
from questree.vocabulary.step_things import (
    ADVERBS,
    ALONE,
    EVENTS,
    FIXED,
    JOINED,
    MOVES,
    OF_ITS_OWN,
    OPENING,
    PEOPLE,
    POINTED,
    SHOTS,
    STATES,
    THINGS,
    ThingReader,
    infinitive,
    is_adverb,
    unclear_to,
)

SUBJECTS = (*PEOPLE, "someone", "somebody", "man", "woman", "he", "she", "they")  # before an action's verb
NEGATIONS = {"not", "no", "never", "don't", "without"}
CLAUSES, AFTER_ING, BEGIN, PHRASAL = (
    set(ENGLISH[name].split()) for name in ("clauses", "after_ing", "begin", "phrasal")
)
QUALITIES, PERFORMING, WITH_OF, WITH_BACK = (
    set(ENGLISH[name].split()) for name in ("qualities", "performing", "with_of", "with_back")
)
STAGES = {"keep", "stop", "finish", "practice", "resume"}
BEFORE_SPORT = PERFORMING | STAGES | BEGIN | {"go", "help"}
WHEN = {"before", "after", "during", "per", "than", "via"}
INTO = {"in", "into", "on", "onto", "to", "from"}
NEEDS_THING = {"to", "at", "with", "of", "for", "from", "into", "onto", "toward", "towards", "against"}
AUXILIARY = PARTICLES | STATES | {"help", "let"}
NEEDS_THING_AFTER = {"lean", "sit", "stand", "lie", "step", "press", "knock", "sleep", "climb"}  # with "on"
NO_VERB, NEW_VERB, OPEN = "no verb that is known", "a verb that is not known", "ends in a preposition"
EITHER, TWO, STATE = "a verb or a thing", "two verbs", "a state said as an action"


@dataclass
class Step:
    """An action's forms, and what it does to what."""

    verb: str = "do"
    particle: str = ""
    phrase: str = "doing something else"
    present: str = "do something else"
    past: str = "did something else"
    noun: str = ""
    pattern: str = ""  # its words without articles and noun
    role: str = ""
    odd: list[str] = field(default_factory=list)


@dataclass
class Clause:
    verb: str
    adverbs: list[str]
    words: list[str]  # what follows
    link: str = ""  # and, or: to the clause before
    particle: str = ""
    noun: str = ""
    deed: str = ""  # continue to chop: chop

    def said(self, verb: str) -> list[str]:
        return [*filter(None, [self.link, *self.adverbs, verb, self.particle, *self.words])]


class StepReader:
    def __init__(self, things: ThingReader):
        self.things = things

    def read(self, given: str) -> Step:
        words, odd = spelled_out(given)
        words = without_subject(words or ["unnamed"], odd, SUBJECTS)
        adverbs, words = begun(words, odd)
        named, words = words, with_verb(words, odd)
        clauses = [*self.clauses(words, adverbs, odd)]
        first, role = clauses[0], ""
        whose = next((each for each in clauses if each.noun), first)
        noun = whose.noun
        elsewhere = PREPOSITIONS - PARTICLES if first.particle else PREPOSITIONS  # bow at the waist, land in the sand
        lost = {*whose.particle.split(" ")[-1:]} <= elsewhere and first.particle not in PREPOSITIONS
        if words[1:] == named or (whose is not first and (lost or first.verb in ALONE)):
            noun = ""
        elif not noun:
            noun, role = self.things.place(first.words)
        last = first.particle.split(" ")[-1]
        odd += [EITHER] * any(by == "by" and {*verb_forms(done)} == {PAST} for done, by in pairwise(words))  # caught by
        odd += [EITHER] * any(unclear_to(words[at:]) for at in range(1, len(words)))
        beside = BARE in verb_forms("".join(words[1:2])) and {*words[2:3]} & DETERMINERS
        odd += [TWO] * bool(beside and not {*words[:2]} & AUXILIARY)  # wash rinse the plate
        odd += [OPEN] * (len(clauses) == 1 and not first.words and last in PREPOSITIONS)
        phrase, present, did = (
            " ".join(word for each in clauses for word in each.said(form(each.verb)))
            for form in (progressive, str, past)
        )
        pattern = [w for each in clauses for w in each.said(each.verb) if w not in {*DETERMINERS, *noun.split()}]
        behind = whose is first and noun and not first.particle and " ".join(first.words[:-1]).endswith(noun)
        particle = first.words[-1] if behind and first.words[-1] in PARTICLES else first.particle  # turn the light on
        return Step(first.deed or first.verb, particle, phrase, present, did, noun, " ".join(pattern), role, odd)

    def clauses(self, words: list[str], adverbs: list[str], odd: list[str]) -> Iterator[Clause]:
        """take out and wash lettuce: two verbs, each with what it is done to."""
        forms, link, begin, at = verb_forms(words[0]).keys() or {BARE}, "", 0, 0
        end = next((at for at, word in enumerate(words) if at and word in CLAUSES), len(words))
        odd += [MANY] * (end < len(words))
        while (at := at + 1) < end:
            if words[at] not in JOINED:
                continue
            more = at + 1
            while more < end - 1 and (words[more] in NOT_SAID | JOINED or is_adverb(words[more])):
                more += 1
            before = {*words[begin + 1 : at]} - PARTICLES - PREPOSITIONS
            if more == end or not begins(words[more : more + 3], forms, bool(before) and words[at] != "then"):
                verb = {*verb_forms(words[more])} & {*forms} if more < end else set[str]()
                odd += [EITHER] * bool(
                    verb
                    and (THIRD in verb or article(words[more]) != "some")
                    and may_begin(words[more + 1 : end], {*words[begin + 1 : at]})
                )
                continue
            earlier = self.clause(words[begin:at], adverbs, link, odd)
            yield earlier
            adverbs = [word for word in words[at + 1 : more] if word not in NOT_SAID | JOINED]
            link, begin = "or" if words[at] == "or" else "and", more
            odd += [MANY] * (words[at] == "then")
            if earlier.noun and base(words[more]) in PLACING and {*words[more + 1 : more + 2]} & INTO:
                words = [*words[: more + 1], "them" if is_plural(earlier.noun) else "it", *words[more + 1 :]]
                end += 1
            at = more
        last = self.clause(words[begin:end], adverbs, link, odd)
        last.words += words[end:]
        yield last

    def clause(self, words: list[str], adverbs: list[str], link: str, odd: list[str]) -> Clause:
        verb, rest = base(words[0]), words[1:]
        known = verb_forms(rest[0]) if rest else {}
        if verb in BEGIN and PROGRESSIVE in known:
            rest = ["to", known[PROGRESSIVE], *rest[1:]]
        alone = verb in STAGES or (
            verb != "go" and {*rest[1:2]} <= BEFORE_NOUN and article("".join(rest[:1])) != "some"
        )
        odd += [TWO] * (alone and PROGRESSIVE in known and not {*rest[1:2]} & AFTER_ING)
        if PROGRESSIVE in verb_forms(words[0]) and rest[:1] == ["of"] and verb not in WITH_OF:
            rest = rest[1:]  # boiling of water
        found = Clause(verb, adverbs, rest, link)
        state, then = (rest[0], rest[1]) if rest[1:] else ("", "")
        becomes = state in OPENING or (state in STATES and (then in DETERMINERS or f"{verb}-{state}" in FIXED))
        if verb in BEGIN and rest[1:] and rest[0] == "to" and BARE in verb_forms(rest[1]):
            found.deed = rest[1]
        elif becomes and verb != "do" and f"{state}_{then}" not in EVENTS:
            found.particle, *rest = rest  # crack open an egg
        elif (
            rest
            and rest[0] in (PARTICLES | PREPOSITIONS) - WHEN
            and not infinitive(rest)
            and not tells_apart(verb, rest)
        ):
            found.particle, *rest = rest
            if found.particle in PARTICLES and rest and rest[0] in PREPOSITIONS - WHEN and not infinitive(rest):
                found.particle, rest = f"{found.particle} {rest[0]}", rest[1:]  # looking out of a window
        rest, bare = split_bare(verb, rest)
        odd += [TWO] * (verb == "let" and bool(rest) and not bare and not found.particle)
        last = found.particle.split(" ")[-1]
        found.words, found.noun = self.things.with_articles(rest, verb, last, bool(found.deed))
        found.words += bare
        found.noun = "" if bare and verb == "let" else found.noun
        if not found.words and (last in NEEDS_THING or (last == "on" and verb in NEEDS_THING_AFTER)):
            found.words = ["something"]
            odd.append(OPEN)
        if not found.noun and last in PREPOSITIONS and found.words and found.words[0] not in NO_THING:
            found.words, found.particle = [found.particle, *found.words], ""  # stirring, for a minute
        return found


def begun(words: list[str], odd: list[str]) -> tuple[list[str], list[str]]:
    """carefully cut -> carefully, cut; still stirring -> stirring; tighten-leg -> tighten leg."""
    adverbs = list[str]()
    joined = "-".join(words[:2])
    done = {*words[1:2]} & (MOVES | SHOTS) and {*words[2:3]} & DETERMINERS and BARE in verb_forms(words[0])
    prefixed = words[2:] and verb_forms(joined) and base(words[1]) not in THINGS  # hand tighten the nut
    if done or prefixed or any(joined in verbs for verbs in FORMS.values()):  # stir fry, slide tackle the attacker
        words = [joined, *words[2:]]
    head, *tail = words[0].split("-", 1)
    begins_so = head in NEGATIONS or bool({*tail} & BEFORE_NOUN or verb_forms(head))
    one = done or not tail or words[0] in EVENTS or bool(verb_forms(words[0]))
    if begins_so and not one and "".join(tail).removesuffix("s") not in BEFORE_NOUN - {*tail}:  # run-up; not sit-ups
        odd += [RUN_ON] * (PROGRESSIVE in verb_forms(head) or not words[1:])  # run-up
        words = [head, *filter(None, tail[0].split("-")), *words[1:]]
    while len(words) > 1:
        negated = 2 if words[:2] == ["do", "not"] else int(words[0] in NEGATIONS)
        if negated and verb_forms("".join(words[negated : negated + 1])):
            odd.append("says what is not done")
            adverbs, words = [*adverbs, "not"], words[negated:]
        elif {words[0]} & ADVERBS - NOT_SAID and BARE in verb_forms(words[1]):
            break  # a backward roll
        elif is_adverb(words[0]) and not verb_forms(words[0]):
            adverbs, words = [*adverbs, words[0]], words[1:]
        elif words[0] in NOT_SAID and verb_forms(words[1]):
            words = words[1:]
        else:
            break
    return adverbs, words


def with_verb(words: list[str], odd: list[str]) -> list[str]:
    """Beginning with a verb: coffee making -> making coffee; what names no verb is done."""
    if words[1:] and "_".join(words) in COMPOUNDS | UNSAID:
        return event(words, odd)  # balance beam, water polo
    part = words[0] in BODY and not {*words[1:2]} & (BEFORE_NOUN | NO_THING)  # hand shake, not hand it over
    known = {} if part else verb_forms(words[0])
    if len(words) == 2 and known.get(PROGRESSIVE) in ALONE and is_plural(words[1]) and not is_adverb(words[1]):
        return event(words, odd)
    if known:
        done = verb_forms(words[1]) if words[1:] else {}
        of_first = len(words) == 2 and words[0] in THINGS and article(words[1]) != "some"
        if of_first and done.get(PROGRESSIVE) not in {None, *ALONE}:
            odd.append(EITHER)
            return [words[1], words[0]]  # rock climbing
        end = next(
            (at for at, word in enumerate(words) if at and (word in PREPOSITIONS or is_adverb(word))), len(words)
        )
        called = BARE in known and end > 1 and not {*words[1:end]} & (POINTED | BEFORE_NOUN)
        called = called and known[BARE] not in PERFORMING and words[end - 1] in MOVES | SHOTS
        either = words[0] in THINGS | QUALITIES and BARE in done and len(words) == 2  # slide tackle, slow approach
        still = BEFORE_NOUN | NO_THING | ADVERBS | {"and", "or"}
        either |= words[0] in BODY and THIRD in known  # hands off the wheel
        either |= PROGRESSIVE in known and end > 2 and words[1] in AFTER_ING  # parking lot entry
        either |= words[0] in ALONE - {"walk", "run"} and len(words) == 2 and words[1] not in still  # jump ball
        move = called and words[end - 1] in MOVES
        sport = BARE in known and end > 1 and verb_forms(words[end - 1]).get(PROGRESSIVE) in ALONE
        if sport and known[BARE] not in BEFORE_SPORT and not {*words[:end]} & (POINTED | BEFORE_NOUN):
            move, either = end == 2, True  # ice skating, cross country skiing
        odd += [STATE] * (len(words) == 1 and {*known} == {PAST})  # parked
        either |= words[0] in {"push", "pull"} and words[1:] == ["up"]  # an exercise
        either |= words[0] in THINGS and {*words[1:2]} <= {"with", "without"} and words[-1] in ROLES  # cycle with rider
        odd += [NO_VERB if move else EITHER] * (called or either)
        if move:
            return event(words, odd)  # split leap
        return words
    if words[0] == "being" and words[1:] and words[1].endswith(("ed", "en")):
        return ["getting", *words[1:]]
    last = verb_forms(words[-1]).get(PROGRESSIVE)
    game = words[-2:-1] != [] and words[-2] in UNSAID and not words[-2].endswith("ball") and last not in OF_ITS_OWN
    named = game or "_".join(words[-2:]) in EVENTS or last in ALONE  # golf driving, sword fighting, ski jumping
    if len(words) > 1 and last and not named and not {*words} & BEFORE_NOUN and words[-2] not in QUALITIES:
        return [words[-1], *words[:-1]]
    new = re.fullmatch(r"[a-z]{3,}ing", words[0]) or (words[1:] and words[1] in DETERMINERS)
    if new and words[0] not in BEFORE_NOUN | POINTED and re.fullmatch(r"[a-z][a-z'’-]+", words[0]):
        odd.append(NEW_VERB)
        return words
    return event(words, odd)


def event(words: list[str], odd: list[str]) -> list[str]:
    """corner -> take corner, left turn -> make left turn; what else names no verb is done."""
    name = up_to_preposition(words)
    verb = next((EVENTS[end] for end in ("_".join(name[-2:]), *name[-1:]) if end in EVENTS), "do")
    odd += [NO_VERB] * (verb == "do" or len(name) > 2 + ("_".join(name[-2:]) in EVENTS))
    return [verb, *words]


def tells_apart(verb: str, words: list[str]) -> bool:
    """Attach the back panel; not put back a cup, lean back in a chair."""
    return words[0] == "back" and bool(words[1:]) and words[1] not in BEFORE_NOUN and verb not in WITH_BACK


def begins(words: list[str], forms: Collection[str], said_before: bool) -> bool:
    """Is this a further verb, of the form of the first, or another thing: peel and cut it, a fork and knife?"""
    known = verb_forms(words[0])
    after = words[1] if words[1:] else ""
    if not {*known} & {*forms}:
        return False
    if PROGRESSIVE in known and BARE not in known:
        return after not in AFTER_ING
    phrasal = after in PARTICLES - PREPOSITIONS and bool({*words[2:3]} & DETERMINERS)  # and roll up the sleeves
    if (base(words[0]) in PLACING and after in INTO) or phrasal or f"{base(words[0])}-{after}" in PHRASAL:
        return True
    return not said_before or [*known.values()][-1] not in THINGS or after in POINTED or is_adverb(after)


def may_begin(after: list[str], before: set[str]) -> bool:
    """Is it a verb or a thing: reduce the heat and cover; the edge, and mark with a pencil?"""
    return not after or bool(before & BEFORE_NOUN and after[0] in INTO_WITH)


def split_bare(verb: str, words: list[str]) -> tuple[list[str], list[str]]:
    """let the dough rest -> the dough, rest."""
    if verb not in ("let", "help", "watch", "see"):
        return words, []
    verbs = [at for at, word in enumerate(words) if BARE in verb_forms(word)]
    sure = [at for at in verbs if words[at] not in THINGS]
    at = next(iter(sure or [at for at in verbs if at and verb == "let"]), len(words))
    return words[:at], words[at:]
