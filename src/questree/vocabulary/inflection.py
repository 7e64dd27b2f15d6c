"""English forms by rule: verbs (hold, holding, held), plurals, articles; what no rule gives is in small tables."""

import re
from collections.abc import Callable
from importlib.resources import files

import msgspec

ENGLISH: dict[str, str] = msgspec.toml.decode(files("questree.vocabulary").joinpath("english.toml").read_bytes())


def _pairs(name: str) -> dict[str, str]:
    return {one: other for one, _, other in (pair.partition("-") for pair in ENGLISH[name].split())}


IRREGULAR, STEMS, PLURALS = map(_pairs, ("irregular", "stems", "plurals"))
SINGULAR = {many: one for one, many in PLURALS.items()}
ONE_IN_S, UNCOUNTED, BODY = (set(ENGLISH[name].split()) for name in ("singular_in_s", "uncounted", "body"))
PREPOSITIONS = set(ENGLISH["prepositions"].split())
THE = {"floor", "ground", "sky", "sun", "ceiling", *ENGLISH["measures"].split()}
ORDINALS, PARTS, UNITS, TIMES, PREFIXES, COMPOUNDS, DOUBLED, UNSAID = (
    set(ENGLISH[name].split())
    for name in ("ordinals", "parts", "units", "times", "prefixes", "compounds", "doubled", "bare")
)
VOWELS = "aeiou"
SOUNDS_A = ("u ", *ENGLISH["sounds_a"].split())
SOUNDS_AN = ("hour", "heir", "honest")
SPELLED_AN = re.compile(
    r"(8|11|18)(\D|$)|[AEFHILMNORSX](\d|-|$)|[FHLMNRSX][^AEIOUa-z]([^AEIOUa-z]|$)"
)  # an M6 bolt, an SSD
NO_ARTICLE = {*ENGLISH["quantities"].split(), *ENGLISH["determiners"].split()}


def syllables(word: str) -> int:
    """Groups of vowels, a last e not counted: cut 1, open 2, use 1, layer 2."""
    return len(re.findall(r"([aeiou]|y(?![aeiou]))+", re.sub(r"e$", "", word)))


def doubles(verb: str) -> bool:
    """Does its last letter double before -ing and -ed? cut, stir, not pour, open, fix."""
    short = re.search(r"([^aeiou]|qu)[aeiou][^aeiouwxy]$", verb) or re.fullmatch(r"[aeiou][^aeiouwxy]", verb)
    return bool(short) and (syllables(verb) == 1 or verb in DOUBLED)


def progressive(verb: str) -> str:
    """hold -> holding, take -> taking, cut -> cutting, tie -> tying, re-cut -> re-cutting."""
    if "-" in verb:
        return inflected_last(progressive, verb)
    if verb.endswith("ie"):
        return verb[:-2] + "ying"
    if verb.endswith("e") and not verb.endswith(("ee", "oe", "ye")) and verb not in ("be", "saute"):
        return verb[:-1] + "ing"
    return verb + verb[-1:] * doubles(verb) + "ing"


def past(verb: str) -> str:
    """hold -> held, taste -> tasted, dry -> dried, stir -> stirred."""
    if "-" in verb:
        return inflected_last(past, verb)
    if verb in IRREGULAR:
        return IRREGULAR[verb]
    if (prefix := re.match("un|re|over|out|mis", verb)) and verb[prefix.end() :] in IRREGULAR:
        return prefix[0] + IRREGULAR[verb[prefix.end() :]]
    if verb.endswith("e"):
        return verb + "d"
    if re.search(r"[^aeiou]y$", verb):
        return verb[:-1] + "ied"
    return verb + verb[-1:] * doubles(verb) + "ed"


def inflected_last(form: Callable[[str], str], verb: str) -> str:
    head, _, last = verb.rpartition("-")
    return f"{head}-{form(last)}" if last else verb


def third(verb: str) -> str:
    """hold -> holds, wash -> washes, carry -> carries."""
    if re.search(r"[^aeiou]y$", verb):
        return verb[:-1] + "ies"
    return verb + ("es" if verb.endswith(("s", "x", "z", "ch", "sh", "o")) else "s")


NOUNS_TOO = set(ENGLISH["things_too"].split())
PREFIXED = re.compile(rf"({'|'.join(PREFIXES)})-|re|un")  # re-tighten, hand-tighten, reattach
BARE, THIRD, PAST, PROGRESSIVE = "base", "third", "past", "progressive"
VERBS = {*ENGLISH["verbs"].split(), *IRREGULAR} - {"be"}
PASTS = {past(verb): verb for verb in VERBS if past(verb).endswith("ed")}  # found, ground and left are other words too
FORMS = {
    PROGRESSIVE: {progressive(verb): verb for verb in VERBS},
    PAST: PASTS,
    THIRD: {third(verb): verb for verb in VERBS},
    BARE: {verb: verb for verb in VERBS},
}


def verb_forms(word: str) -> dict[str, str]:
    """Form -> verb, of a word that is one of a verb that is known: holds, third person of hold."""
    known = {form: verbs[word] for form, verbs in FORMS.items() if word in verbs}
    begun = None if known else PREFIXED.match(word)
    if begun and not (begun[0] in ("re", "un") and word[begun.end() :] in NOUNS_TOO):
        return {form: begun[0] + verb for form, verb in verb_forms(word[begun.end() :]).items()}
    return known


def base(word: str) -> str:
    """The verb of an -ing form, or of a finite one: holding, holds -> hold."""
    if known := [*verb_forms(word).values()]:
        return known[-1]
    if word.endswith("ing") and len(word) > 4 and re.search("[aeiouy]", word[:-3]):
        return _of_stem(word[:-3])
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    if word.endswith(("ches", "shes", "sses", "xes", "zzes", "oes")):
        return word[:-2]
    return word[:-1] if word.endswith("s") and not word.endswith(("ss", "us")) and len(word) > 2 else word


def _of_stem(stem: str) -> str:
    if stem in STEMS:
        return STEMS[stem]
    if len(stem) > 2 and stem[-1] == stem[-2] and stem[-1] not in "lsfze":
        return stem[:-1]
    if re.search(r"([cvu]|[^s]s|[aeiou]z|[rd]g|[^aeiouwrl]l)$", stem) and not stem.endswith("ous"):
        return stem + "e"
    one = re.search(r"[^aeiou][aeiou][^aeiouwxyhl]$", stem) or re.search(r"(^|[^aeiou])[aeiou][l]$", stem)
    if one and (syllables(stem) == 1 or re.search(r"(at|iz|is|ur|ut|par|plet|quir|clin)$", stem)):
        return stem + "e"
    return stem + "e" if re.fullmatch(r"[aeiou][^aeiouwxy]", stem) and stem not in ("eat", "add") else stem


def is_progressive(word: str) -> bool:
    return word in FORMS[PROGRESSIVE] or (
        word.endswith("ing") and len(word) > 4 and bool(re.search("[aeiouy]", word[:-3]))
    )


def headed(noun: str) -> tuple[list[str], str, list[str]]:
    """What is before the word that is counted, that word, and what follows it: kitchen, knife; box, of screws."""
    words = noun.split(" ")
    end = next((at for at, word in enumerate(words) if at and word in PREPOSITIONS), len(words))
    return words[: end - 1], words[end - 1], words[end:]


def plural(noun: str) -> str:
    """cup -> cups, dish -> dishes, kitchen knife -> kitchen knives, box of screws -> boxes of screws."""
    rest, last, more = headed(noun)
    if last in PLURALS:
        made = PLURALS[last]
    elif re.search(r"[^aeiou]y$", last):
        made = last[:-1] + "ies"
    else:
        made = last + ("es" if last.endswith(("s", "x", "z", "ch", "sh")) or last in ("potato", "tomato") else "s")
    return " ".join([*rest, made, *more])


def is_plural(noun: str) -> bool:
    last = headed(noun)[1]
    return last in SINGULAR or (last.endswith("s") and not last.endswith(("ss", "us", "is")) and last not in ONE_IN_S)


def article(noun: str) -> str:
    """a cup, an apple, some food, some scissors, the floor."""
    words = noun.split(" ")
    first, last = words[0], headed(noun)[1]
    ordinal = first in ORDINALS or (first == "other" and not is_plural(noun))
    if "_".join(words) in UNSAID and not noun.endswith("ball"):  # golf, first base
        return ""
    if {*words} <= PARTS or (ordinal and words[1:] and "_".join(words[:2]) not in COMPOUNDS):
        return "the"
    if re.fullmatch(r"[2-9]|1\d", first) and len(words) > 2 and not is_plural(noun) and words[1] not in UNITS | TIMES:
        return "an" if SPELLED_AN.match(first) else "a"  # a 4 wheel vehicle
    if first in NO_ARTICLE or re.match(r"[\d/.-]+$", first) or re.fullmatch(r"\d+|[A-Z]", last):  # step 3, panel A
        return ""
    if last in THE:
        return "the"
    if is_plural(noun) or last.split("-")[-1] in UNCOUNTED:
        return "some"
    vowel = first.lower().startswith(tuple(VOWELS)) and not noun.lower().startswith(SOUNDS_A)
    return "an" if vowel or first.startswith(SOUNDS_AN) or SPELLED_AN.match(first) else "a"
