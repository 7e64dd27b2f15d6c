"""Programs in any notation: read, written, and all that follows from a program alone, as data."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

import msgspec

from questree.domains.video import VIDEO
from questree.faults import UNREADABLE, BadInput
from questree.notation import agqa, decomp, own
from questree.notation.grammar import positions, with_names
from questree.notation.own import Call, scan
from questree.readings.categories import answer_type, categories, steps
from questree.readings.english import english, wordings
from questree.readings.parts import node_type, nodes
from questree.terms import ACTION, OBJECT, RELATION, Language, Node, Op, ProgramError
from questree.vocabulary import Vocabulary, default, load

Notation = Literal["own", "agqa", "decomp", "covr"]
OF_VIDEOS: tuple[Notation, ...] = ("own", "agqa", "decomp")
OF_IMAGES: tuple[Notation, ...] = ("own", "covr")
AROUND = 60  # characters of a text shown on either side of a fault


def read_program(
    text: str, notation: Notation, to: list[Notation] | None = None, vocabulary: Path | None = None
) -> tuple[list[str], dict[str, Any]]:
    """A program as the lines of a tree, and all that follows from it, with its notations, as data."""
    from questree.show.trees import tree

    words = default() if vocabulary is None else load(vocabulary)
    with pointing_at(text, notation):
        node, notes = parsed(text, notation, words)
        found = {**readings(node, words), "notations": written(node, to, words), "notes": notes}
    return list(tree(node)), found


def operators() -> dict[str, list[dict[str, str]]]:
    """Domain -> every operator: what it takes and gives, what it means, how it is asked."""
    from questree.domains.images import IMAGES

    return {language.name: [described(op) for op in language.ops.values()] for language in (VIDEO, IMAGES)}


def described(op: Op) -> dict[str, str]:
    takes = ", ".join(f"{name}: {kind.name}" for name, kind in op.params.items())
    phrase = () if callable(op.phrase) else op.phrase.get("", ())
    says = () if callable(op.ask) else op.ask or phrase
    return {
        "operator": f"{op.name}({takes}) -> {op.result.name}",
        "meaning": op.doc,
        "English": says[0].strip() if says else "",
    }


@contextmanager
def pointing_at(text: str, notation: Notation) -> Iterator[None]:
    """What cannot be read is bad input, with the place where reading stopped."""
    try:
        yield
    except ProgramError as error:
        raise BadInput.at("", f"{error}{_pointed_at(text, error.position, notation)}") from None
    except RecursionError:
        raise BadInput.at("", "the program is nested too deeply to be read") from None


def parsed(text: str, notation: Notation, words: Vocabulary) -> tuple[Node, list[str]]:
    """The program, and what its notation leaves to be said."""
    if notation == "agqa":
        return agqa.read(text, words), []
    if notation == "decomp":
        reading = decomp.read(text, words)
        return reading.node, reading.notes
    if notation == "covr":
        from questree.notation import covr

        try:
            return covr.read(msgspec.json.decode(text, type=list[Any])), []
        except UNREADABLE as error:
            raise ProgramError(f"expected a JSON list of rows: {error}") from None
    return _own(text, words), []


def _own(text: str, words: Vocabulary) -> Node:
    """Our own notation does not say its domain: it is the first one with these operators."""
    from questree.domains.images import IMAGES

    call = scan(text)
    wrong: list[tuple[int, int, ProgramError]] = []  # how much was understood, as far as where
    near = max((VIDEO, IMAGES), key=lambda each: _operators(call, each))  # of equals the first: a video's
    for language in [each for each in (VIDEO, IMAGES) if call.name in each.ops] or [near]:
        try:
            node = own.parse(text, language)
        except ProgramError as error:
            wrong.append((_sense(call, language, words), error.position or 0, error))
            continue
        return _a_question(node, call, words) if language is VIDEO else node
    raise max(wrong, key=lambda each: each[:2])[2]  # of equals the first: a video's


def _operators(call: Call, language: Language) -> int:
    inside = call.args or ()
    return (call.args is not None and call.name in language.ops) + sum(_operators(arg, language) for arg in inside)


def _sense(call: Call, language: Language, words: Vocabulary) -> int:
    """How many operators and words of a text this language knows; slots and words about images are free."""
    if call.args is not None:
        return (call.name in language.ops) + sum(_sense(arg, language, words) for arg in call.args)
    if language is not VIDEO or call.name.startswith("$"):
        return 1
    return int(any(call.name in positions(kind, words) for kind in (OBJECT, RELATION, ACTION)))


def _a_question(node: Node, call: Call, words: Vocabulary) -> Node:
    if not node.kind.askable:
        raise ProgramError(f"expected a question, got {node.op.name}(..), which gives {node.kind.name}", call.at)
    return with_names(call, node, words)


def written(node: Node, to: list[Notation] | None, words: Vocabulary) -> dict[str, Any]:
    """The program in each notation; where all are wanted, None for one that cannot say it."""
    made: dict[str, Any] = {}
    for name in to or (OF_VIDEOS if is_video(node) else OF_IMAGES):
        try:
            made[name] = _in(name, node, words)
        except ProgramError:
            if to:
                raise
            made[name] = None
    return made


def is_video(node: Node) -> bool:
    return VIDEO.ops.get(node.op.name) is node.op


def _in(name: Notation, node: Node, words: Vocabulary) -> Any:
    if name == "own":
        return own.show(node)
    if name == "covr":
        if is_video(node):
            raise ProgramError("COVR's rows are about images, this program is about videos")
        return _rows(node)
    if not is_video(node):
        raise ProgramError(f"{name} is about videos, this program is about images")
    return agqa.write(node, words) if name == "agqa" else decomp.write(node, words)


def _rows(node: Node) -> Any:
    from questree.notation import covr

    try:
        return covr.write(node)
    except (AssertionError, KeyError):  # an operator that is no row, where COVR has a word
        raise ProgramError(f"COVR's rows have no form for {own.show(node)}") from None


def readings(node: Node, words: Vocabulary) -> dict[str, Any]:
    """Everything that follows from the program alone, as data; what a domain does not say is left empty."""
    labels = categories(node)
    return {
        "program": own.show(node),
        "kind": node.kind.name,
        "english": said(node, words),
        "steps": steps(node) if labels.structural else None,
        **msgspec.to_builtins(labels),
        "answer_type": answer_type(node) if labels.structural else "",
        **(taken_apart(node, words) or {"type": "", "parts": None}),
    }


def said(node: Node, words: Vocabulary) -> list[str]:
    try:
        return wordings(node, words)
    except TypeError:  # an operator inside has no English where it stands
        return []


def taken_apart(node: Node, words: Vocabulary) -> dict[str, Any] | None:
    """Its type and its sub-questions, each once. Operators name these for the shapes questions have; a program
    of another shape (a slot for a time, a word to compare a word with) is well typed, but not taken apart."""
    try:
        parts = [
            {"type": node_type(part, words), "question": english(part, words), "program": own.show(part)}
            for part in nodes(node, words)[1:]
        ]
        return {"type": node_type(node, words), "parts": parts}
    except (ProgramError, AttributeError, IndexError, AssertionError, TypeError):
        return None


def _pointed_at(text: str, position: int | None, notation: Notation) -> str:
    """The piece of the text around a fault with a caret under it; the row if the program is rows."""
    if position is None or not text:
        return ""
    if notation == "covr":
        return f"\n  row {position}: {msgspec.json.encode(msgspec.json.decode(text)[position]).decode()}"
    start = max(0, position - AROUND)
    before = ".." if start else ""
    after = ".." if len(text) > position + AROUND else ""
    piece = "".join(" " if char.isspace() else char for char in text[start : position + AROUND])
    return f"\n  {before}{piece}{after}\n  {' ' * (len(before) + position - start)}^"
