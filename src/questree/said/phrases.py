"""Phrases that say how a text is meant: a refusal, a doubt, a turn, a conclusion."""

import re
from importlib.resources import files

import msgspec

PHRASES: dict[str, list[str]] = msgspec.toml.decode(
    files("questree.said").joinpath("phrases.toml").read_bytes(), type=dict[str, list[str]]
)


def pattern(name: str, form: str = r"\b(?:{})\b") -> re.Pattern[str]:
    """One expression for all phrases of a kind."""
    return re.compile(form.format("|".join(PHRASES[name])), re.IGNORECASE | re.DOTALL)


REFUSED, UNSURE, TURN = map(pattern, ("refused", "unsure", "turn"))


def doubt(text: str) -> str:
    """`refused`, `unsure`, or '' of a text that knows."""
    return "refused" if REFUSED.search(text) else "unsure" if UNSURE.search(text) else ""
