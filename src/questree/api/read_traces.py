"""Reasoning that a model wrote, step by step, read as its answer and its answers to sub-questions."""

import re
from typing import Any

ANSWER = re.compile(r"<answer>(.*?)</answer>|^\s*(?:final )?answer:(.*)$|\bthe answer is:?(.*)$", re.I | re.M | re.S)
STEP = re.compile(  # "3. From 1 and 2: Is it so? yes (1.0-2.5 s)", or the same as a sentence
    r"(?:^[ \t]*(?:[-*]|\d+[.)])[ \t]*|^[ \t]*|(?<=\.)[ \t]+)"
    r"(?:from \d[\d, and]*:[ \t]*)?(?P<question>[^?\n]+\?)[ \t]*(?P<answer>[^\n?]*?)[ \t]*(?:\([^()\n]*\))?"
    r"(?:\.(?=\s|$)|(?=\n)|\Z)",
    re.I | re.M,
)
TAGS = re.compile(r"</?think>", re.I)


def read_trace(text: str) -> dict[str, Any]:
    """answer, steps: {sub-question: answer}. What marks no answer is an answer as a whole, without its steps."""
    marked = [match for match in ANSWER.finditer(text) if any(match.groups())]
    end = marked[-1].start() if marked else len(text)
    reasoning = TAGS.sub("", text[:end])
    steps = {match["question"].strip(): match["answer"].strip() for match in STEP.finditer(reasoning)}
    said = next(filter(None, marked[-1].groups())) if marked else STEP.sub("", reasoning)
    return {"answer": without_stop(said), "steps": {question: own for question, own in steps.items() if own} or None}


def without_stop(text: str) -> str:
    return text.strip().split("\n")[0].strip().removesuffix(".").strip()
