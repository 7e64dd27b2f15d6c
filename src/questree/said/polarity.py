"""Yes or no, as people say it: a word, a short statement, a sentence that affirms or denies what was asked."""

import re
from functools import cache

from questree.said.lexicon import SynonymsFile, tokens
from questree.said.phrases import PHRASES, TURN, UNSURE, doubt, pattern
from questree.said.question import AskedQuestion

YES_AND_NO = pattern("yes_and_no")
LEAD_IN = pattern("lead_in", r"^(?:(?:{})(?:[\s,:]+|$))+")
DENIAL, NO_DENIAL = pattern("denial"), pattern("no_denial")
STATED = pattern("subject", r"^(?:{})\b")
SHORT = pattern("subject", r"^(?:{})\s+(?:did|do|does|were|was|are|is|has|have|had)(?:\s+so)?$")
EXPLAINS = pattern("explains", r"\b(?:{})\b.*$")
VAGUE_THINGS, TELLING = frozenset(PHRASES["vague_things"]), frozenset(PHRASES["telling"])
FILLER = frozenset(PHRASES["filler"])
CLAUSES = re.compile(r"(?<=[.!?;:\n])\s+|\n+|\s+-\s+|;|\.{3}")
TAIL = re.compile(
    r"(?:[,:]|\b(?:is|be|say|saying|think|believe|with|as|it's|so|was|answer|guess))\s*[\"']?([^\W_]+)[\"']?\s*[.!]*$",
    re.IGNORECASE,
)
THERE = re.compile(r"^(?:is|are) (?:there\b.*|.*\bthere) (?:before|after|while|between)\b", re.IGNORECASE)
THING = re.compile(r"^(?:no|an?|the|some|any)\s+\w", re.IGNORECASE)
SEEN = frozenset(PHRASES["seen"])
STARTS = frozenset(PHRASES["starts"])
LEADERS = {"yes": "yes", "yep": "yes", "yeah": "yes", "indeed": "yes", "no": "no", "nope": "no"}
SEEMS = re.compile(
    r"^(?:i (?:think|believe|guess|suppose)|(?:it|that) (?:seems|appears|looks)) (?:so|like it|that way)\b",
    re.IGNORECASE,
)
INNER = re.compile(r"(?:\b(?:and|so|but|then)|,)\s+(yes|no|yep|nope)\s*[,.!]", re.IGNORECASE)
NO_SIGN = re.compile(r"\bno (?:indication|evidence|sign|mention|trace)\b", re.IGNORECASE)
LISTED = re.compile(r"^\s*(?:\([a-h]\)|[a-h][.):])\s*(?=\S)", re.IGNORECASE)  # "(B) No"
TENSES = [set(forms.split()) for forms in PHRASES["tenses"]]


@cache
def _said(words: SynonymsFile) -> dict[tuple[str, ...], str]:
    found: dict[tuple[str, ...], str] = {}
    for answer in ("yes", "no"):
        for ways in getattr(words, answer).values():
            for way in ways:
                found.setdefault(tuple(way.lower().split()), answer)
    return found


def one_word(text: str, words: SynonymsFile) -> str:
    """yes, no or '' of a text that is nothing but a way to say it."""
    parts = tuple(re.findall(r"[^\W_]+(?:'[^\W_]+)?", text.lower()))
    if not parts or len(parts) > 6:
        return ""
    said = _said(words)
    if parts in said:
        return said[parts]
    once = {said.get((part,), "") for part in parts}  # "yes yes", "yes, correct"
    return once.pop() if len(once) == 1 else ""


def explicit(clause: str, words: SynonymsFile) -> str:
    """yes or no if the clause begins or ends with such a word: "Yes, they did", "I think yes"."""
    rest = NO_DENIAL.sub(" ", clause.strip().strip("\"'()[]"))
    for _ in range(3):
        shorter = LEAD_IN.sub("", rest, count=1).strip(" ,:\"'")
        if shorter == rest or not shorter:
            break
        if one_word(re.split(r"[,.:!;]", rest, maxsplit=1)[0], words):
            break
        rest = shorter
    head = re.split(r"[,.:!;(]|\s-\s", rest, maxsplit=1)[0].strip()
    if said := one_word(head, words):
        return said
    first = re.match(r"[^\W_]+", rest.lower())
    if first and (led := LEADERS.get(first[0])):
        follows = rest[first.end() :].split()
        if led == "yes" or not follows or follows[0].lower() in STARTS:
            return led
    tail = TAIL.search(rest)
    return one_word(tail[1], words) if tail else ""


def begins(text: str, words: SynonymsFile) -> str:
    """yes, no or '' of the first clause, where nobody knows what was asked."""
    clause = CLAUSES.split(text.strip(), maxsplit=1)[0]
    return "" if _only_doubt(clause) else explicit(clause, words)


def statement(clause: str, asked: AskedQuestion) -> str:
    """yes or no of a sentence about what was asked: "They didn't", "They were holding the phone"."""
    if SEEMS.match(clause.strip()):
        return "yes"
    said = LEAD_IN.sub("", clause.strip().strip("\"'.!"), count=1).strip()
    lowered = NO_DENIAL.sub(" ", said.lower()).strip(" ,")
    main = EXPLAINS.sub("", lowered).strip() or lowered
    if re.match(r"^i (?:do not|don't) think so\b", lowered) or re.match(r"^(?:not|never)\b", lowered):
        return "no"
    if not (STATED.match(main) or SHORT.match(main)):
        whole = NO_DENIAL.sub(" ", clause.strip().strip("\"'.!").lower())  # with the article that leads in, too
        return about_a_thing(EXPLAINS.sub("", whole).strip(), asked)
    if DENIAL.search(main) or (re.search(r"\bonly\b", main) and {"both", "and"} & set(asked.words)):
        return "no"
    if SHORT.match(main.rstrip(" .!,").removesuffix(" there") if THERE.match(asked.text) else main.rstrip(" .!,")):
        return "yes"
    return "yes" if affirms([word for word in tokens(lowered) if word not in FILLER], asked) else ""


def about_a_thing(main: str, asked: AskedQuestion) -> str:
    """yes or no of "A blanket exists", "No phone was held": only if nothing but what was asked is said of the thing."""
    if not THING.match(main) or "not only" in main:
        return ""
    words = [word for word in tokens(main) if word not in FILLER]
    there = THERE.match(asked.text) is not None
    said = [word for word in words if word not in SEEN and not DENIAL.fullmatch(word)]
    said = [word for word in said if not (there and same_stem(word, "exist"))]
    asks_for_it = there or any(same_stem(word, "exist") for word in asked.words)
    if len(said) < 2 and not (said and asks_for_it and (len(words) > len(said) or "there" in main)):
        return ""
    if not (affirms(said, asked) or _passive(said, asked)):
        return ""
    return "no" if DENIAL.search(main) else "yes"


def _passive(said: list[str], asked: AskedQuestion) -> bool:
    """ "A phone was held", of "hold a phone": two words that are neighbours in the question."""
    pairs = zip(asked.words, asked.words[1:], strict=False)
    return len(said) == 2 and any(same_stem(said[1], a) and same_stem(said[0], b) for a, b in pairs)


def affirms(said: list[str], asked: AskedQuestion) -> bool:
    """Does a sentence say what was asked: its words in its order, and nothing else but what "something" stands for?

    "They held it after standing up" does not affirm "Did they hold it before standing up?".
    """
    if not said or not any(same_stem(word, other) for word in said for other in asked.words):
        return False
    vague, at = VAGUE_THINGS & set(asked.words), 0
    for word in said:
        place = next((i for i in range(at, len(asked.words)) if same_stem(word, asked.words[i])), None)
        if place is not None:
            at = place + 1
        elif not vague or word in TELLING:
            return False
    return True


def same_stem(one: str, other: str) -> bool:
    """Of one stem, more or less: held, holding."""
    return (
        one == other
        or (len(one) > 3 and len(other) > 3 and one[:4] == other[:4])
        or any({one, other} <= own for own in TENSES)
    )


def yes_or_no(text: str, asked: AskedQuestion, words: SynonymsFile) -> tuple[str | None, str, str]:
    """The answer, or none and the reason; and the rule."""
    text = LISTED.sub("", text)
    if said := one_word(text, words):
        return said, "", "yes or no"
    if YES_AND_NO.search(text) and not TURN.search(text):
        after = YES_AND_NO.split(text)[-1]
        last = explicit(after.strip(" .,:;"), words) if after.strip(" .,:;") else ""
        return (last, "", "yes or no") if last else (None, "both", "")
    clauses = [clause.strip() for clause in CLAUSES.split(text) if clause.strip()]
    told = [said for clause in clauses if not _only_doubt(clause) and (said := explicit(clause, words))]
    if told:
        at_once = explicit(clauses[0], words) and not TURN.search(text)  # what follows explains
        return told[0 if at_once else -1], "", "yes or no"
    if inner := INNER.findall(text):
        return one_word(inner[-1], words), "", "yes or no"
    for part in (piece for clause in clauses for piece in re.split(r",\s*(?:but|so|and)\s+", clause)[1:]):
        if said := explicit(part, words):
            return said, "", "yes or no"
    if NO_SIGN.search(text):
        return "no", "", "statement"
    if reason := doubt(text):
        return None, reason, ""
    for clause in reversed(clauses) if TURN.search(text) else clauses:
        if said := statement(clause, asked):
            return said, "", "statement"
    return None, "none", ""


def _only_doubt(clause: str) -> bool:
    """ "No idea." begins with no, and says nothing."""
    return bool(UNSURE.match(clause.strip()))
