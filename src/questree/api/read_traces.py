"""Reasoning that a model wrote, step by step, read as its answer and its answers to sub-questions."""

import re
from typing import Any

from questree.said.cleaned import MARKDOWN, TAGGED, TOKENS, marked

STEP = re.compile(  # "3. From 1 and 2: Is it so? yes (1.0-2.5 s)", or the same as a sentence
    r"(?:^[ \t]*(?:\d+[.)])?[ \t]*|(?<=\.)[ \t]+)(?:from \d[\d, and]*:[ \t]*)?"
    r"(?P<question>[^?\n]+\?)[ \t]*(?P<answer>[^\n?]*?)[ \t]*(?:\([^()\n]*\))?(?:\.(?=\s|$)|(?=\n)|\Z)",
    re.IGNORECASE | re.MULTILINE,
)
THINK = re.compile(r"</?think>", re.IGNORECASE)


def read_trace(text: str) -> dict[str, Any]:
    """answer, steps: {sub-question: answer}. What marks no answer says it without its steps, or in the last of them."""
    said = MARKDOWN.sub("", TOKENS.sub(" ", text))
    reasoning = THINK.sub("", TAGGED.sub("", said))
    told = {match["question"].strip(): match["answer"].strip() for match in STEP.finditer(reasoning)}
    steps = {question: own for question, own in told.items() if own}
    answer = next((part for _, part in marked(said)), STEP.sub("", reasoning).strip() or ["", *steps.values()][-1])
    return {"answer": answer.strip().removesuffix(".").strip(), "steps": steps or None}
