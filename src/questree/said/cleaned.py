"""What a model said without its wrapping: chat tokens, thoughts, Markdown; and the answer it marks as such."""

import html
import re
import unicodedata
from collections.abc import Iterator
from typing import Any

import msgspec

# letters of other scripts that look like Latin ones, in words that have no other letters
ALIKE = str.maketrans("аеорсухіѕјԁոքԛԝҮΑΒΕΖΗΙΚΜΝΟΡΤΥΧВНКМТ", "aeopcyxisjdnpqwYABEZHIKMNOPTYXBHKMT")
QUOTES = str.maketrans("‘’‚‛“”„‟´`«»–—‐‑−", "''''\"\"\"\"''\"\"-----")
ENDS = re.compile(r"<\|(?:endoftext|im_end|eot_id|end|eom_id)\|>|</s>|<(?:eos|end_of_turn)>")
GOES_ON = re.compile(
    r"\n\s*(?:(?:Question|Q|User|Human)\s*\d*\s*:|(?:Which|What|Did|Was|Were|Is|Are|Does|Do|How)\b[^\n?]*\?\s*\n)",
    re.IGNORECASE,
)
TOKENS = re.compile(r"<\|[^|<>]*\|>|</?s>|\[/?INST\]|<</?SYS>>|<(?:bos|eos|pad|unk|end_of_turn|start_of_turn)>")
ROLE = re.compile(r"^\s*(?:assistant|model|a|ans|answer|gpt|bot|ai)\s*:\s*(?=\S)|^\s*assistant\s*\n", re.IGNORECASE)
TOLD = re.compile(r"\bUSER:.*?\bASSISTANT:", re.DOTALL)
THOUGHT = re.compile(
    r"[<◁](think|thinking|thought|reasoning|analysis|scratchpad)[>▷].*?[<◁]/\1[>▷]"
    r"|^.*?[<◁]/(?:think|thinking|thought|reasoning)[>▷]"
    r"|[<◁](?:think|thinking|thought)[>▷].*$",
    re.IGNORECASE | re.DOTALL,
)
MARKDOWN = re.compile(r"\*\*|__|~~|`+|^\s{0,3}#{1,6}\s+|^\s*>\s+|^\s*[-*•]\s+", re.MULTILINE)
HTML = re.compile(r"</?(?:b|i|em|strong|p|br|span|u|code|div|mark)\s*/?>", re.IGNORECASE)
EMPHASIS = re.compile(r"(?<![\w*])[*_]([^*_\n]+)[*_](?![\w*])")
BOXED = re.compile(r"\\boxed\s*\{((?:[^{}]|\{[^{}]*\})*)\}")
LATEX = re.compile(r"\\(?:text|mathrm|textbf|mathbf|mbox)\s*\{([^{}]*)\}|\\[()\[\],;! ]|\$")
TAGGED = re.compile(r"<(?:final_?)?answer>\s*(.*?)\s*(?:</(?:final_?)?answer>|$)", re.IGNORECASE | re.DOTALL)
FIELDS = (
    "answer|final_answer|finalanswer|final answer|prediction|predicted_answer|response|choice|label|result|output"
    "|count|number|total"
)
FIELD = re.compile(rf"[\"']?\b(?:{FIELDS})[\"']\s*:\s*(?:\"([^\"]*)\"|'([^']*)'|([\w.-]+))", re.IGNORECASE)
MARKED = re.compile(
    r"\b(?:answer|choice|prediction|conclusion|response|verdict|result)s?\b"
    r"(?:\s+(?:to|for|here)\b[^\n]{0,200}?)??"
    r"\s*(?:\b(?:is|was|would be|should be|must be|will be|has to be|seems to be|appears to be)\b|[:=]|->|=>|→)"
    r"[\s:]*",
    re.IGNORECASE,
)


def plain(raw: str) -> str:
    """One way of writing letters, quotes and blanks; no chat tokens, no thoughts, no Markdown."""
    text = (
        unicodedata.normalize("NFKC", html.unescape(raw)).translate(QUOTES).replace("\u200b", "").replace("\ufeff", "")
    )
    text = " ".join(map(_latin, text.split(" "))) if not text.isascii() else text
    text = next((made for each in ENDS.split(text) if (made := _said_in(each)).strip()), "")
    text = EMPHASIS.sub(r"\1", MARKDOWN.sub("", HTML.sub(" ", text)))
    return ROLE.sub("", text).strip()


def _said_in(turn: str) -> str:
    """One turn of a chat, without questions a model goes on to ask itself."""
    text = THOUGHT.sub(" ", TOKENS.sub(" ", TOLD.sub(" ", turn)))
    said = GOES_ON.split(text, maxsplit=1)[0]
    return said if said.strip() else text


def _latin(word: str) -> str:
    """The word in Latin letters if every letter of it looks like one."""
    if word.isascii():
        return word
    made = word.translate(ALIKE)
    return made if made.isascii() else word


def marked(text: str) -> Iterator[tuple[str, str]]:
    """Parts of a text that it calls its answer, the last of a kind first: the rule, the part."""
    for found in reversed(BOXED.findall(text)):
        yield "boxed", LATEX.sub(lambda part: part[1] or "", found).strip()
    for found in reversed(TAGGED.findall(text)):
        yield "tagged", found
    if "{" in text:
        yield from (("field", value) for value in _fields(text))
    for found in reversed(list(MARKED.finditer(text))):
        line = text[found.end() :].lstrip().partition("\n")[0].strip()
        if line:
            yield "marked", line


def _fields(text: str) -> Iterator[str]:
    opened, closed = text.find("{"), text.rfind("}")
    try:
        record = msgspec.json.decode(text[opened : closed + 1].encode())
    except msgspec.DecodeError:
        for groups in reversed(FIELD.findall(text)):
            yield next((group for group in groups if group), "")
        return
    if isinstance(record, dict):
        by_name = {str(name).lower(): value for name, value in record.items()}
        yield from (_written(by_name[name]) for name in FIELDS.split("|") if name in by_name)
        if len(by_name) == 1:
            yield _written(next(iter(by_name.values())))


def _written(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return " and ".join(map(_written, value))
    return "" if value is None else str(value)
