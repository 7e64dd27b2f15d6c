"""English frames: wordings of a template taken apart, checked against its slots, and filled for one question."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from string import Formatter
from typing import Any

import msgspec

from questree.faults import UNREADABLE, BadInput, Fault, refuse

EDITIONS = ("2.0", "1.0")
SHIPPED = "frames.toml"
Kinds = Mapping[str, str]  # slot -> the name of its kind
FORMS = {  # kind of a slot -> the forms a frame may ask for
    "object": ("",),
    "relation": ("", "present", "past", "something", "rest"),
    "action": ("", "present", "past"),
    "window": ("", "leading"),
}
WITHOUT_VERB = {  # form of a relation -> what leads to it -> what does if it has no verb ("behind")
    "present": {
        "did they": "were they",
        "did the person": "was the person",
        "Did they": "Were they",
        "Did the person": "Was the person",
    },
    "past": {"they": "they were", "the person": "the person was"},
}
LEADS = WITHOUT_VERB["present"] | WITHOUT_VERB["past"]
LED = {
    "present": "asked",
    "past": "told",
}  # form -> that of a relation behind a lead, which is no verb where there is none
EXTRA = ("something", "rest", *LEADS)  # forms that accompany a relation and do not stand for it

Span = tuple[int, int]  # characters begin <= i < end


@dataclass(frozen=True)
class Phrase:
    """Words, and where the phrases inside them stand: "a" in " while holding a bag", "a.object" deeper down."""

    text: str
    spans: Mapping[str, Span] = field(default_factory=dict)


Forms = Mapping[str, Phrase]  # form -> phrase; what fills a slot


@dataclass(frozen=True)
class FramePiece:
    """A place in a frame: the phrase of a slot, in one of its forms."""

    slot: str
    form: str = ""


Pieces = tuple[str | FramePiece, ...]


@dataclass(frozen=True)
class Frame:
    text: str  # as written in frames.toml
    pieces: Pieces

    @property
    def leading(self) -> bool:
        """Does the time phrase open the question?"""
        return FramePiece("time", "leading") in self.pieces


@cache
def split(text: str) -> Pieces:
    """A pattern taken apart; the rest of a relation follows it directly where the pattern does not place it."""
    found: list[str | FramePiece] = []
    for literal, name, form, _ in Formatter().parse(text):
        leads = WITHOUT_VERB.get(form or "", {}) if name == "relation" else {}
        lead = next((lead for lead in leads if literal.endswith(f"{lead} ")), "")
        if name and form and lead:
            found += [literal.removesuffix(f"{lead} "), FramePiece(name, lead), " ", FramePiece(name, LED[form])]
            continue
        found.append(literal)
        if name is not None:
            found.append(FramePiece("time", "leading") if name == "Time" else FramePiece(name, form or ""))
    found = [piece for piece in found if piece]
    rest = FramePiece("relation", "rest")
    if rest not in found:
        found = [part for piece in found for part in ([piece, rest] if _is_relation(piece) else [piece])]
    return tuple(found)


def _is_relation(piece: str | FramePiece) -> bool:
    return isinstance(piece, FramePiece) and piece.slot == "relation" and piece.form not in EXTRA


def fill(pieces: Pieces, words: Mapping[str, Forms]) -> Phrase:
    """The pieces with their phrases, and the characters each slot's phrase (and what is inside it) ended up at."""
    text, spans = "", dict[str, Span]()
    for piece in pieces:
        if isinstance(piece, str):
            text += piece
            continue
        phrase, begin = words[piece.slot][piece.form], len(text)
        text += phrase.text
        if piece.form not in EXTRA:
            spans[piece.slot] = (begin + _margin(phrase.text), len(text))
            spans.update({f"{piece.slot}.{name}": (begin + i, begin + j) for name, (i, j) in phrase.spans.items()})
        elif piece.form == "rest" and spans.get(piece.slot, (0, -1))[1] == begin:
            spans[piece.slot] = (spans[piece.slot][0], len(text))
    return Phrase(text, spans)


def _margin(text: str) -> int:
    """The space a time phrase brings along is not part of it."""
    return len(text) - len(text.lstrip())


def render_spans(frame: Frame, words: Mapping[str, Forms]) -> tuple[str, dict[str, Span]]:
    """The question, and the characters of every slot's phrase: "time", and inside it "time.a", "time.a.object"."""
    found = fill(frame.pieces, words)
    return found.text[:1].upper() + found.text[1:], dict(found.spans)


def render(frame: Frame, words: Mapping[str, Forms]) -> str:
    return render_spans(frame, words)[0]


def shipped() -> str:
    return resources.files("questree.benchmarks.agqa").joinpath(SHIPPED).read_text("utf-8")


def parse(text: str, place: str, known: Mapping[str, Kinds], edition: str = "2.0") -> dict[str, tuple[str, ...]]:
    """The wordings of every known template, in the words of an edition."""
    try:
        raw = msgspec.toml.decode(text)
    except UNREADABLE as error:
        raise BadInput.at(place, f"not TOML: {error}") from error
    editions = {edition: raw.pop(edition, {}) for edition in EDITIONS}
    refuse([Fault(f"{place}, {where}", message) for where, message in _faults(raw, known)])
    return {name: tuple(_reworded(text, editions[edition]) for text in texts) for name, texts in raw.items()}


def _reworded(text: str, instead: Mapping[str, str]) -> str:
    for old, new in instead.items():
        text = text.replace(old, new)
    return text


Found = Iterator[tuple[str, str]]  # where, message


def _faults(raw: Mapping[str, Any], known: Mapping[str, Kinds]) -> Found:
    for name in sorted(known.keys() - raw.keys()):
        yield name, "template has no frames"
    for name, texts in raw.items():
        if name not in known:
            yield name, f"no such template; choose from {', '.join(known)}"
        elif not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
            yield name, "expected a list of texts"
        else:
            yield from faults(name, texts, known[name])


def faults(name: str, texts: Sequence[str], slots: Kinds, called: str = "frame") -> Found:
    """What is wrong with the wordings of one template, as its file calls them; without a name if that is said."""
    for number, text in enumerate(texts, 1):
        for message in _wrong(name, text, slots):
            yield f"{name} {called} {number}".strip(), f'{message}: "{text}"'
    for text, count in Counter(texts).items():
        if count > 1:
            yield name, f'{called} given {count} times: "{text}"'
    for placeholder in ("{time}", "{Time}"):  # a template with a time slot says it at the end and at the beginning
        if "time" in slots and not any(placeholder in text for text in texts):
            yield name, f"no {called} with {placeholder}"


def _wrong(template: str, text: str, wanted: Kinds) -> Iterator[str]:
    try:
        pieces = split(text)
    except ValueError as error:
        yield f"braces do not match ({error})"
        return
    asked = [piece for piece in pieces if isinstance(piece, FramePiece)]
    for piece in asked:
        if piece.slot not in wanted:
            yield f"{template or 'the program'} has no slot {piece.slot}, only {', '.join(wanted) or 'none'}"
        elif piece.form not in (*FORMS[wanted[piece.slot]], *LED.values(), *LEADS):
            kind = wanted[piece.slot]
            forms = [f"{{{piece.slot}:{form}}}" if form else f"{{{piece.slot}}}" for form in FORMS[kind]]
            listed = "{time}, {Time}" if kind == "window" else ", ".join(forms)
            yield f"a slot of kind {kind} has no form {piece.form}; choose from {listed}"
    counts = Counter(piece.slot for piece in asked if piece.form not in EXTRA)
    for slot in wanted:
        if counts[slot] != 1:
            yield f"expected slot {slot} once, got it {counts[slot]} times"
    yield from _untidy(text)


def _untidy(text: str) -> Iterator[str]:
    plain = text.replace("{relation:rest}", "").replace("{time}", "")
    if "  " in text or " {time}" in text or " {relation:rest}" in text or plain != plain.strip():
        yield "a space too many"
    if not text.endswith("?"):
        yield "does not end in a question mark"
    if "{Time}" in text and not text.startswith("{Time}, "):
        yield "{Time} must open the question, followed by a comma"
