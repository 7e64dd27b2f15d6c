"""How many, as people say it: a digit, a word, a total after a list, none."""

import re

from questree.said.phrases import PHRASES, TURN, doubt, pattern

NUMBERS = {word: str(number) for number, word in enumerate(PHRASES["numbers"])} | {"single": "1", "twice": "2"}
WORDS = re.compile(rf"\b(?:{'|'.join(NUMBERS)})\b")
LABELS = pattern(
    "numbered", r"\b(?:{})\s*#?\d+(?:\s*(?:,|and|&)\s*#?\d+)*\b|(?:^|\n)\s*\d+[.)]\s+(?=\D)"
)  # of images, of lines
OUT_OF = re.compile(r"\bout of (?:the |these |all )?(?:the )?\d+\b")
SHARE = re.compile(r"\b(\d+)\s*(?:out of|of|/)\s*(?:the |these |all )?\d+\b")
TOTAL = pattern("total", r"(?:\b(?:{})\b\D{{0,60}}?|=\s*)(\d+)")
ZERO = pattern("no_number", "{}")
VAGUE = pattern("vague_number")


ONE = re.compile(r"\b(?:the|this|that|which|another|no) 1\b|\b1 (?=of|in|is|might|may|could|looks|seems|was)\b")
OR = re.compile(r"\b\d+ or \d+\b")


BOUND = re.compile(r"\b(?:exactly|at least|at most|more than|fewer than|less than) \d+\b")


def how_many(text: str, question: str = "") -> tuple[str | None, str, str]:
    """The number, or none and the reason; and the rule."""
    said = WORDS.sub(lambda found: NUMBERS[found[0]], re.sub(r"(?<=\d),(?=\d{3}\b)", "", text.lower()))
    said = OUT_OF.sub(" ", SHARE.sub(r"\1", LABELS.sub(" ", said)))
    for bound in BOUND.findall(WORDS.sub(lambda found: NUMBERS[found[0]], question.lower())):
        said = said.replace(bound, " ")
    why = doubt(text)
    if BOUND.search(said):
        return None, why or "unsure", ""
    if why != "refused" and ZERO.match(said) and not TOTAL.search(said):
        return "0", "", "none of them"
    for part in (TURN.split(said)[-1], said):
        for kept in (part, ONE.sub(" ", part)):
            numbers = list(dict.fromkeys(str(int(each)) for each in re.findall(r"\d+", kept)))
            if len(numbers) == 1:
                return numbers[0], "", "number"
    if why:
        return None, why, ""
    if not numbers:
        if ZERO.search(said):
            return "0", "", "none of them"
        return None, "unsure" if VAGUE.search(said) else "none", ""
    if totals := TOTAL.findall(said):
        return str(int(totals[-1])), "", "total"
    first = re.match(r"\W*(\d+)\b(?=\W|$)", said)
    if first and len(said.split()) > 1 and not OR.search(said):
        return str(int(first[1])), "", "number"
    return None, "both", ""
