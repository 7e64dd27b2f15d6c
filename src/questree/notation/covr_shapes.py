"""COVR's row programs by shape: programs that differ only in their words are read once."""

from collections.abc import Hashable, Iterator
from dataclasses import dataclass, field
from typing import Any

from questree.domains.images.kinds import CHOICES
from questree.notation.covr import Blank, in_order
from questree.program import Node, ProgramError, Slot, walk

FIELDS = ("operation", "arguments", "dependencies")


@dataclass(frozen=True)
class Shape:
    parts: tuple[Node, ...]  # in the order they are run, up to a malformed row; slots "0", "1", ... stand for words
    slots: tuple[Slot, ...]  # of the parts
    wrong: ProgramError | None  # of the malformed row


class _Irregular(Exception):
    """A program that is malformed, or so odd that it is read by itself."""


@dataclass
class Shapes:
    """Shapes as they come, each read once."""

    known: dict[Hashable, Shape] = field(default_factory=dict)

    def of(self, program: Any) -> tuple[Shape, list[str | int]]:
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


def read_alone(program: Any) -> Shape:
    """The shape of a program, its words where they are."""
    if not isinstance(program, list):
        return Shape((), (), ProgramError(f"expected a list of rows, found {program!r:.60}"))
    try:
        parts, wrong = in_order(program)
    except RecursionError:
        return Shape((), (), ProgramError("sub-programs inside sub-programs, too deep to be read"))
    return Shape(tuple(parts), tuple({slot.name: slot for part in parts for slot in _open(part)}.values()), wrong)


def _open(part: Node) -> Iterator[Slot]:
    """The slots of a row; what its dependencies have left open are slots of their rows."""
    for arg in part.args:
        if isinstance(arg, Slot):
            yield arg
        elif arg.kind == CHOICES:
            yield from (inner for inner in walk(arg) if isinstance(inner, Slot))


def _key(program: Any, words: list[str | int]) -> Iterator[Hashable]:
    """What makes programs read alike, row by row; the words are put aside."""
    if type(program) is not list:
        raise _Irregular
    for row in program:
        if type(row) is not dict or any(name not in FIELDS for name in row) or type(row.get("operation")) is not str:
            raise _Irregular
        arguments, dependencies = row.get("arguments"), row.get("dependencies")
        if (
            not _is_list(arguments)
            or not _is_list(dependencies)
            or any(type(at) is not int for at in dependencies or ())
        ):
            raise _Irregular
        yield row["operation"], *(dependencies or ()), *(_argument(each, words) for each in arguments or ())


def _is_list(value: Any) -> bool:
    return type(value) is list or value is None


def _argument(value: Any, words: list[str | int]) -> Hashable:
    kind = type(value)
    if kind is str or kind is int:
        words.append(value)
        return "text" if kind is str else "number"
    if kind is list:
        if value and type(value[0]) is dict:
            return tuple(_key(value, words))
        if any(type(word) is not str for word in value):
            raise _Irregular
        words.extend(value)
        return len(value), "words"
    if value is None:
        return None
    raise _Irregular


def _blanked(row: dict[str, Any], numbers: Iterator[int]) -> dict[str, Any]:
    """The row with blanks for its words, numbered as `_key` puts them aside."""

    def blank(value: Any) -> Any:
        if isinstance(value, list):
            return [_blanked(each, numbers) if isinstance(each, dict) else blank(each) for each in value]
        if isinstance(value, str | int):
            return Blank(str(next(numbers)), "text" if isinstance(value, str) else "number")
        return value

    return row | {"arguments": blank(row.get("arguments") or [])}
