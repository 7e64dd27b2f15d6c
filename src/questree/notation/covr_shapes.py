"""COVR's row programs by shape: programs that differ only in their words are read once."""

from collections.abc import Hashable, Iterator
from dataclasses import dataclass, field
from typing import Any

from questree.domains.images.kinds import CHOICES
from questree.notation.covr import Blank, in_order
from questree.program import Node, ProgramError, Slot, walk

PLAIN = (str, int, type(None))  # types of arguments


@dataclass(frozen=True)
class CovrShape:
    parts: tuple[Node, ...]  # in the order they are run, up to a malformed row; slots "0", "1", ... stand for words
    slots: tuple[Slot, ...]  # of the parts
    wrong: ProgramError | None  # of the malformed row


class _Irregular(Exception):
    """A program that is malformed, or so odd that it is read by itself."""


@dataclass
class CovrShapes:
    """Shapes as they come, each read once."""

    known: dict[Hashable, CovrShape] = field(default_factory=dict)

    def of(self, program: Any) -> tuple[CovrShape, list[str | int]]:
        """A program's shape, and its words: the word of slot "3" is the fourth."""
        words: list[str | int] = []
        try:
            key = tuple(_key(program, words))
            if key not in self.known:
                numbers = iter(range(len(words)))
                self.known[key] = read_alone([_blanked(row, numbers) for row in program])
            return self.known[key], words
        except (_Irregular, RecursionError):
            return read_alone(program), []


def read_alone(program: Any) -> CovrShape:
    """The shape of a program, its words where they are."""
    if not isinstance(program, list):
        return CovrShape((), (), ProgramError(f"expected a list of rows, got {program!r:.60}"))
    try:
        parts, wrong = in_order(program)
    except RecursionError:
        return CovrShape((), (), ProgramError("sub-programs inside sub-programs, too deep to be read"))
    return CovrShape(tuple(parts), tuple({slot.name: slot for part in parts for slot in _open(part)}.values()), wrong)


def _open(part: Node) -> Iterator[Slot]:
    """The slots of a row; what its dependencies have left open are slots of their rows."""
    for arg in part.args:
        if isinstance(arg, Slot):
            yield arg
        elif arg.kind == CHOICES:
            yield from (inner for inner in walk(arg) if isinstance(inner, Slot))


def _key(program: Any, words: list[str | int]) -> list[Any]:
    """What makes programs read alike: operations, numbers of rows, types of arguments. The words are put aside."""
    key: list[Any] = []
    if type(program) is not list:
        raise _Irregular
    for row in program:
        if type(row) is not dict or type(row.get("operation")) is not str:
            raise _Irregular
        if len(row) > 1 + ("arguments" in row) + ("dependencies" in row):
            raise _Irregular
        key.append(row["operation"])
        for at in _listed(row.get("dependencies")):
            if type(at) is not int:  # True and 1.0 are equal to 1, but no numbers of rows
                raise _Irregular
            key.append(at)
        for value in _listed(row.get("arguments")):
            kind = type(value)
            if kind is str or kind is int:
                words.append(value)
            key.append(kind if kind in PLAIN else _list_key(value, words))
    return key


def _listed(value: Any) -> Any:
    if type(value) is list:
        return value
    if value is None:
        return ()
    raise _Irregular


def _list_key(value: Any, words: list[str | int]) -> Hashable:
    """Of a sub-program, or of a list of words."""
    if type(value) is not list:
        raise _Irregular
    if value and type(value[0]) is dict:
        return tuple(_key(value, words))
    if any(type(word) is not str for word in value):
        raise _Irregular
    words.extend(value)
    return (list, len(value))


def _blanked(row: dict[str, Any], numbers: Iterator[int]) -> dict[str, Any]:
    """The row with blanks for its words, numbered as `_key` puts them aside."""

    def blank(value: Any) -> Any:
        if isinstance(value, list):
            return [_blanked(each, numbers) if isinstance(each, dict) else blank(each) for each in value]
        if isinstance(value, str | int):
            return Blank(str(next(numbers)), "text" if isinstance(value, str) else "number")
        return value

    return row | {"arguments": blank(row.get("arguments") or [])}
