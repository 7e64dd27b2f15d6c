"""English forms by rule: verbs (hold, holding, held), plurals, articles; what no rule gives is in small tables."""

import re
from importlib.resources import files

import msgspec

ENGLISH: dict[str, str] = msgspec.toml.decode(files("questree.vocabulary").joinpath("english.toml").read_bytes())


def _pairs(name: str) -> dict[str, str]:
    return {one: other for one, _, other in (pair.partition("-") for pair in ENGLISH[name].split())}


IRREGULAR, STEMS, PLURALS = map(_pairs, ("irregular", "stems", "plurals"))
SINGULAR = {many: one for one, many in PLURALS.items()}
ONE_IN_S, UNCOUNTED, BODY = (set(ENGLISH[name].split()) for name in ("singular_in_s", "uncounted", "body"))
PREPOSITIONS = set(ENGLISH["prepositions"].split())
THE = {"floor", "ground", "sky", "sun", "ceiling"}
VOWELS = "aeiou"
SOUNDS_A = ("uni", "use", "usu", "eu", "one", "ure", "ute")  # begin with a vowel, sound like a consonant
SOUNDS_AN = ("hour", "heir", "honest")


def syllables(word: str) -> int:
    """Groups of vowels, a last e not counted: cut 1, open 2, use 1."""
    return len(re.findall(r"[aeiouy]+", re.sub(r"e$", "", word)))


def doubles(verb: str) -> bool:
    """Does its last letter double before -ing and -ed? cut, stir, not pour, open, fix."""
    short = re.search(r"[^aeiou][aeiou][^aeiouwxy]$", verb) or re.fullmatch(r"[aeiou][^aeiouwxy]", verb)
    return bool(short) and (syllables(verb) == 1 or verb in ("begin", "forget", "unzip", "unplug", "unwrap", "unpin"))


def progressive(verb: str) -> str:
    """hold -> holding, take -> taking, cut -> cutting, tie -> tying."""
    if verb.endswith("ie"):
        return verb[:-2] + "ying"
    if verb.endswith("e") and not verb.endswith(("ee", "oe", "ye")) and verb != "be":
        return verb[:-1] + "ing"
    return verb + verb[-1:] * doubles(verb) + "ing"


def past(verb: str) -> str:
    """hold -> held, taste -> tasted, dry -> dried, stir -> stirred."""
    if verb in IRREGULAR:
        return IRREGULAR[verb]
    if verb.startswith(("un", "re")) and verb[2:] in IRREGULAR:
        return verb[:2] + IRREGULAR[verb[2:]]
    if verb.endswith("e"):
        return verb + "d"
    if re.search(r"[^aeiou]y$", verb):
        return verb[:-1] + "ied"
    return verb + verb[-1:] * doubles(verb) + "ed"


BY_PROGRESSIVE = {progressive(verb): verb for verb in IRREGULAR}


def base(word: str) -> str:
    """The verb of an -ing form, or of a finite one: holding, holds -> hold."""
    if word in BY_PROGRESSIVE:
        return BY_PROGRESSIVE[word]
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
    return word in BY_PROGRESSIVE or (word.endswith("ing") and len(word) > 4 and bool(re.search("[aeiouy]", word[:-3])))


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
    first, last = noun.split(" ")[0], headed(noun)[1]
    if last in THE:
        return "the"
    if is_plural(noun) or last in UNCOUNTED:
        return "some"
    vowel = first.startswith(tuple(VOWELS)) and not first.startswith(SOUNDS_A)
    return "an" if vowel or first.startswith(SOUNDS_AN) else "a"
