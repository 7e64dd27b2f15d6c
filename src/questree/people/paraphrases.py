"""Is what somebody wrote the same question in other words, as far as a program can tell?"""

import re

from questree.people.task import WrongReply
from questree.people.terms import Terms, named

WORD = re.compile(r"\w+")


def plain(text: str) -> list[str]:
    return WORD.findall(text.lower())


def stem(word: str) -> str:
    """Without the endings of plurals, however many: a glass and glasses are the same."""
    for ending, least in (("ies", 5), ("es", 5), ("s", 4)):
        if word.endswith(ending) and len(word) >= least:
            return stem(word.removesuffix(ending) + ("y" if ending == "ies" else ""))
    return word


def must_change(original: str, text: str, terms: Terms) -> None:
    """Refused if it is the same text, leaves out a thing that the original names, or is much too long or short."""
    before, after = plain(original), plain(text)
    if before == after:
        raise WrongReply("This is the same question in the same words; please say it in your own.")
    if len(after) < 3 or len(after) > 3 * len(before) + 5:
        raise WrongReply("Please ask the whole question, in about as many words.")
    there = {stem(word) for word in after}
    missing = [
        names[0]
        for names in terms.things(original)
        if not any(named(name, text) or {stem(part) for part in plain(name)} <= there for name in names)
    ]
    if missing:
        raise WrongReply(f"Please name what the question names: {', '.join(missing)}.")
