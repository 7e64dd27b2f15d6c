"""Texts that mean one thing whatever was asked: they are read once, and their questions need not be looked at."""

from questree.said.cleaned import marked, plain
from questree.said.lexicon import normal
from questree.said.question import ACTION, COUNT, OBJECT, OPEN, RELATION, TIME, TIMES, YES_NO
from questree.said.reading import ReadAnswer, Reader

SHORT = 3  # words
WHOLE = ("as it stands", "yes or no")  # rules that read a text as a whole


def settled(reader: Reader, raw: str) -> ReadAnswer | None:
    """How a short text is read if every question would have it read so, or not at all; None if it takes the question.

    What a longer text marks as its answer is such a text too.
    """
    if "?" in raw:
        return None
    text = plain(raw)
    if part := next(marked(text), None):
        found = _settled(reader, part[1])
        return found._replace(rule=part[0]) if found and found.answer is not None else None
    return _settled(reader, text)


def _settled(reader: Reader, text: str) -> ReadAnswer | None:
    words = text.split()
    if len(words) > SHORT or reader.points(text):
        return None
    found = [reader.read(text, answer_type=kind) for kind in kinds(reader)]
    read = [each for each in found if each.answer is not None]
    reasons = {each.reason for each in found if each.answer is None} - {"none"}
    if read:
        (answer, *others), rules = {each.answer for each in read}, {each.rule for each in read}
        only = answer in ("yes", "no") or reader.claims.get(normal(text)) == 1
        return None if others or reasons or not only or not rules <= {*WHOLE} else read[0]
    if len(words) < 2 or {"refused", "unsure"} & reasons:
        return ReadAnswer(None, min(reasons, default="none"), "")
    return None


def kinds(reader: Reader) -> list[str]:
    """The kinds of questions that are answered with some of a reader's answers."""
    known = {*reader.answers}
    there = {YES_NO: bool({"yes", "no"} & known), TIME: bool({*TIMES} & known)}
    there[COUNT] = any(each.isdecimal() for each in known)
    return [kind for kind in (YES_NO, OBJECT, RELATION, ACTION, TIME, COUNT, OPEN) if there.get(kind, True)]
