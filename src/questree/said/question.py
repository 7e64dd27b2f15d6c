"""What a question may be answered with, as its words tell it: yes or no, one of its options, a thing, an action."""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from questree.said.lexicon import SMALL, Lexicon, Mention, tokens

KINDS = ("yes_no", "choice", "object", "relation", "action", "time", "count", "open")
YES_NO, CHOICE, OBJECT, RELATION, ACTION, TIME, COUNT, OPEN = KINDS
ALSO = {
    **dict.fromkeys(("yes/no", "yesno", "bool", "boolean", "verify"), YES_NO),
    **dict.fromkeys(("number", "numeric", "int"), COUNT),
    **dict.fromkeys(("choose", "multiple choice", "multiple_choice", "mcq", "compare"), CHOICE),
}
ASKS_YES = re.compile(
    r"^(?:is|was|were|are|did|does|do|has|have|had|can|could|will|would|should)(?:n't)?\b", re.IGNORECASE
)
LEADING = re.compile(r"^(?:[^,?]*,\s*)+")
ASKS_COUNT = re.compile(r"\bhow many\b|\bwhat (?:is|was) the (?:total )?number of\b", re.IGNORECASE)
ASKS_ACTION = re.compile(
    r"\b(?:what|which)\b[^?]*\b(?:do|doing)\b"
    r"(?=\s*(?:\?|,|$|first|last|next|before|after|while|between|in|for|when|during|the most))"
    r"|\bwhat (?:was|is) the (?:\w+ )?thing (?:that )?(?:they|he|she|someone|the person) did\b"
    r"|\b(?:what|which)\b(?:\s+\w+){0,4}?\s+(?:activity|action)s?\b"
    r"|\bwhat\b[^?]*\bspen[dt]\b[^?]*\btime on\b",
    re.IGNORECASE,
)
WHAT = re.compile(r"\b(?:what|which)\b", re.IGNORECASE)
BEFORE_AFTER = re.compile(r"\bbefore or after\b|\bafter or before\b", re.IGNORECASE)
OF_TWO = re.compile(r"^\s*(?:of|out of)\s+(.+?)\s+and\s+([^,?]+),\s*(?:which|what)\b", re.IGNORECASE)
OR = re.compile(r"\bor\b", re.IGNORECASE)
STOPS = re.compile(r"[,:;?.!]")
TIMES = ("before", "after")


@dataclass(frozen=True)
class AskedQuestion:
    """What reading an answer needs to know of a question."""

    kind: str
    options: tuple[str, ...] = ()
    text: str = ""
    words: tuple[str, ...] = ()  # of its text
    event: frozenset[str] = frozenset()  # of "EVENT before or after REFERENCE"
    reference: frozenset[str] = frozenset()


def understood(
    text: str, answer_type: str, options: Iterable[str], lexicons: Iterable[Lexicon], known: frozenset[str]
) -> AskedQuestion:
    """Kind and options as given, otherwise as the text tells them."""
    kind, words = ALSO.get(answer_type.lower(), answer_type.lower()), tuple(tokens(text))
    given = tuple(each if each in known else without_article(each) for each in options)
    if {each.lower() for each in given} == {"yes", "no"}:
        return AskedQuestion(YES_NO, tuple(each.lower() for each in given), text, words)
    if BEFORE_AFTER.search(text) and kind in ("", TIME, CHOICE, OPEN):
        event, reference = BEFORE_AFTER.split(text, maxsplit=1)
        if not event.strip():  # "Before or after REFERENCE: when did EVENT?"
            reference, _, event = reference.partition(":")
        first, last = frozenset(tokens(event)), frozenset(tokens(reference))
        return AskedQuestion(TIME, given or TIMES, text, words, first - last, last - first)
    if kind == TIME:
        return AskedQuestion(TIME, given or (*TIMES, "while"), text, words)
    if not given and (OR.search(text) or OF_TWO.match(text)) and kind not in (YES_NO, COUNT):
        given = named_options(text, lexicons)
    if given and kind != YES_NO:
        return AskedQuestion(CHOICE, given, text, words)
    return AskedQuestion(kind if kind in KINDS and kind != CHOICE else told_by(text), given, text, words)


def without_article(text: str) -> str:
    """ "a table" -> "table" """
    first, _, rest = text.strip().partition(" ")
    return rest if rest and first.lower() in SMALL else text.strip()


def named_options(text: str, lexicons: Iterable[Lexicon]) -> tuple[str, ...]:
    """ "A or B" in the text: two answers of one kind, or whatever stands beside "or"; the last such place."""
    lexicons = list(lexicons)
    if of := OF_TWO.match(text):
        return without_article(of[1]), without_article(of[2])
    for found in reversed(list(OR.finditer(text))):
        left = STOPS.split(text[: found.start()].rstrip(" ,"))[-1]
        right = STOPS.split(text[found.end() :])[0]
        one, other = tokens(left), tokens(right)
        for lexicon in lexicons:
            a, b = _ending(one, lexicon), _starting(other, lexicon)
            if a and b and a != b:
                return a, b
        for lexicon in lexicons:
            if (a := _ending(one, lexicon)) and len(other) > 1:
                return a, " ".join(other[: len(tokens(a))])
        if one and other:
            phrase = other if len(other) <= 2 else other[:1]
            return " ".join(one[-1:] if len(phrase) == 1 else _parallel(left, phrase)), " ".join(phrase)
    return ()


def _parallel(left: str, phrase: list[str]) -> list[str]:
    """The words from the last article on, at most as many as on the other side."""
    words = left.split()
    at = max((place for place, word in enumerate(words) if word.lower() in SMALL), default=len(words) - 1)
    return tokens(" ".join(words[at:]))[-len(phrase) :]


def _ending(words: list[str], lexicon: Lexicon) -> str:
    """The longest answer at the end."""
    sizes = range(min(len(words), lexicon.longest), 0, -1)
    return next((answer for size in sizes if (answer := lexicon.named.get(tuple(words[-size:])))), "")


def _starting(words: list[str], lexicon: Lexicon) -> str:
    sizes = range(min(len(words), lexicon.longest), 0, -1)
    return next((answer for size in sizes if (answer := lexicon.named.get(tuple(words[:size])))), "")


def told_by(text: str) -> str:
    """The kind of answer the words of a question ask for."""
    asked = text.strip()
    if ASKS_COUNT.search(asked):
        return COUNT
    if ASKS_YES.match(asked) or ASKS_YES.match(LEADING.sub("", asked)):
        return YES_NO
    if ASKS_ACTION.search(asked):
        return ACTION
    return OBJECT if WHAT.search(asked) else OPEN


def repeated(mention: Mention, words: list[str], asked: AskedQuestion) -> bool:
    """Is it named as the question names it, in front of the same word? ("the white shelf" of "orange or white")"""
    if mention.end >= len(words):
        return False
    pair = (words[mention.end - 1], words[mention.end])
    return pair in zip(asked.words, asked.words[1:], strict=False) and pair[1] != "or"
