"""COVR's notation: rows {operation, arguments, dependencies}, the last one is the answer; each shape is read once."""

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any, TypeGuard

from questree.domains.images import IMAGES, answers, things
from questree.domains.images.kinds import ANY_WORD, CHOICES, COUNT, LINK_NAME, THINGS
from questree.terms import Kind, Node, Op, ProgramError, Slot, Term, Word, walk

Row = dict[str, Any]

# operations that one name stands for several operators of, told apart by the kinds of their arguments
SEVERAL: dict[str, tuple[Op, ...]] = {
    "find": (things.find, things.find_any),
    "filter": (things.only, things.only_any),
    "count": (answers.count, answers.count_images, answers.count_groups),
    "unique": (things.unique, answers.unique_link),
    "query_name": (answers.query_name, answers.query_link),
    "eq": (answers.eq, answers.same_attr, answers.same_name),
}
# operators that are no rows: they spell what a row leaves out, a list, or a program without rows
WITHOUT_ROW = (things.anything, things.any_link, things.any_choice, things.no_choice, things.either, answers.nothing)
OPTIONAL = {things.with_relation: 2, things.with_relation_object: 2, things.find_any: 1}  # last arguments
LEFT_OUT: dict[Kind, Op] = {THINGS: things.anything, LINK_NAME: things.any_link, CHOICES: things.any_choice}
SUB_PROGRAM = {(op, "condition") for op in (answers.every, answers.some, answers.none)}

_grouped = {op for ops in SEVERAL.values() for op in ops}
OPERATIONS: dict[str, tuple[Op, ...]] = SEVERAL | {
    name: (op,) for name, op in IMAGES.ops.items() if op not in _grouped and op not in WITHOUT_ROW
}
OPERATION_OF = {op: name for name, ops in OPERATIONS.items() for op in ops}


@dataclass(frozen=True)
class Blank:
    """In an argument, for a word or a number that is still open."""

    name: str
    words: str  # "text" or "number"


def read(rows: Sequence[Row]) -> Node:
    """The program of the last row. Rows it does not need are checked, then dropped; a row used twice is one node."""
    parts, wrong = in_order(rows)
    if wrong:
        raise wrong
    return parts[-1]


def in_order(rows: Sequence[Row]) -> tuple[list[Node], ProgramError | None]:
    """Every row as it is to be run, the rows of a sub-program before the row they belong to, the answer last;
    up to a malformed row, and what is wrong with it. A program without rows gives nothing."""
    parts: list[Node] = []
    try:
        _read(rows, parts)
    except ProgramError as error:
        return parts, error
    return parts or [answers.nothing()], None


def _read(rows: Sequence[Row], parts: list[Node]) -> list[Node]:
    nodes: list[Node] = []
    for at, row in enumerate(rows):
        try:
            nodes.append(_row(row, nodes, parts))
        except ProgramError as error:
            raise ProgramError(str(error), at) from None
        parts.append(nodes[-1])
    return nodes


def read_row(row: Row, before: Sequence[Slot]) -> Node:
    """One row, of which slots stand for the rows before and for the values of sub-programs."""
    return _row(row, before, [])


def _row(row: Row, before: Sequence[Node | Slot], parts: list[Node]) -> Node:
    operation, arguments, dependencies = _fields(row)
    if operation not in OPERATIONS:
        near = get_close_matches(operation, OPERATIONS, 3) or sorted(OPERATIONS)
        raise ProgramError(f"expected an operation, got {operation!r}; choose from {', '.join(near)}")
    for at in dependencies:
        if isinstance(at, bool) or not isinstance(at, int) or not 0 <= at < len(before):
            there = f"one of the rows 0 to {len(before) - 1} before it" if before else "no dependency in the first row"
            raise ProgramError(f"{operation}: expected {there}, got a dependency on {at!r}")
    wrong = []
    for op in OPERATIONS[operation]:
        try:
            return op(*_terms(op, [before[at] for at in dependencies], arguments, parts))
        except ProgramError as error:
            if error.position is not None:  # from inside a sub-program, which no other operator has
                raise ProgramError(f"{operation}: in its sub-program, {error}") from None
            wrong.append(str(error))
    raise ProgramError(f"{operation}: {', or '.join(dict.fromkeys(wrong))}")


def _fields(row: Any) -> tuple[str, list[Any], list[Any]]:
    if not isinstance(row, dict) or not isinstance(row.get("operation"), str):
        raise ProgramError(f"expected a row {{operation, arguments, dependencies}}, got {row!r:.60}")
    if extra := sorted(set(row) - {"operation", "arguments", "dependencies"}):
        raise ProgramError(f"expected operation, arguments and dependencies, got also {', '.join(extra)}")
    lists: dict[str, list[Any]] = {}
    for name in ("arguments", "dependencies"):
        lists[name] = [] if row.get(name) is None else row[name]
        if not isinstance(lists[name], list):
            raise ProgramError(f"expected a list of {name}, got {row[name]!r:.60}")
    return row["operation"], lists["arguments"], lists["dependencies"]


def _terms(op: Op, nodes: list[Node | Slot], arguments: list[Any], parts: list[Node]) -> Iterator[Term]:
    """Dependencies, then arguments, then what may be left out."""
    given, most = len(nodes) + len(arguments), len(op.params)
    least = most - OPTIONAL.get(op, 0)
    if not least <= given <= most:
        counts = f"{most}" if least == most else f"{least} to {most}"
        named = ", ".join(f"{name}: {kind.name}" for name, kind in op.params.items())
        raise ProgramError(f"expected {counts} dependencies and arguments ({named}), got {given}")
    for at, (name, kind) in enumerate(op.params.items()):
        if at >= len(nodes):
            value = arguments[at - len(nodes)] if at < given else None
            if (op, name) in SUB_PROGRAM and isinstance(value, list):
                yield _condition(name, kind, value, parts)
            elif (op, name) in SUB_PROGRAM and isinstance(value, Slot) and value.kind == kind:
                yield value
            else:
                yield _argument(name, kind, value, optional=at >= least)
        elif (op, name) in SUB_PROGRAM:
            raise ProgramError(f"expected {name} as a sub-program among the arguments, got a dependency")
        elif nodes[at].kind != kind:
            raise ProgramError(f"expected {name} of kind {kind.name}, got {nodes[at].kind.name}")
        else:
            yield nodes[at]


def _condition(name: str, kind: Kind, rows: list[Any], parts: list[Node]) -> Node:
    condition = [answers.nothing(), *_read(rows, parts)][-1]
    if condition.kind != kind:
        raise ProgramError(f"expected {name} to give {kind.name}, got {condition.kind.name}")
    return condition


def _argument(name: str, kind: Kind, value: Any, optional: bool) -> Term:
    if value is None and optional:
        return LEFT_OUT[kind]()
    if isinstance(value, Blank) and value.words == kind.words:
        return Slot(value.name, kind)
    if kind == CHOICES and isinstance(value, list) and all(isinstance(word, str | Blank) for word in value):
        return _choices(value)
    if kind == COUNT and isinstance(value, int) and not isinstance(value, bool):
        return Word(str(value), kind)
    if kind.words == "text" and isinstance(value, str):
        return Word(value, kind)
    wanted = {"text": "a word", "number": "a number"}.get(
        kind.words, "a list of words" if kind == CHOICES else kind.name
    )
    raise ProgramError(f"expected {name} as {wanted}, got {value!r:.60}")


def _choices(words: list[Any]) -> Node:
    node = things.no_choice()
    for word in reversed(words):
        node = things.either(_argument("word", ANY_WORD, word, optional=False), node)
    return node


def write(node: Node) -> list[Row]:
    """The rows of a program; the related things come before what they are related to, as COVR writes them."""
    rows: list[Row] = []
    place: dict[int, int] = {}  # id of a node -> its row: only the same node is the same row, an equal one is not

    def emit(node: Node) -> None:
        if id(node) in place:
            return
        for part in _before(node, place):
            emit(part)
        place[id(node)] = len(rows)
        rows.append(_written(node, place))

    if node.op is not answers.nothing:
        emit(node)
    return rows


def _before(node: Node, place: dict[int, int]) -> list[Node]:
    """The rows a node needs, in the order they are written."""
    if node.op is not things.with_relation:
        return [arg for name, arg in node.named() if _is_row(arg, node.op, name)]
    inner, others, _ = node.args
    targets: list[tuple[str, Term]] = [("others", others), ("things", inner)]
    while isinstance(inner, Node) and inner.op is things.with_relation and id(inner) not in place:
        targets.insert(0, ("others", inner.args[1]))
        inner = inner.args[0]
    return [part for name, part in targets if _is_row(part, node.op, name)]


def _is_row(arg: Term, op: Op, name: str) -> TypeGuard[Node]:
    if isinstance(arg, Slot):
        raise ProgramError(f"the slot ${arg.name} has no spelling in COVR's rows; fill it first")
    return isinstance(arg, Node) and arg.op not in WITHOUT_ROW and (op, name) not in SUB_PROGRAM


def _written(node: Node, place: dict[int, int]) -> Row:
    is_row = [_is_row(arg, node.op, name) for name, arg in node.named()]
    dependencies = [place[id(arg)] for arg, row in zip(node.args, is_row, strict=True) if row]
    if not all(is_row[: len(dependencies)]):
        raise ProgramError(f"{node.op.name}: a word before a sub-program has no spelling in COVR's rows")
    arguments = [_literal(arg) for arg in node.args[len(dependencies) :]]
    if node.op is not things.find_any:
        while arguments and arguments[-1] is None:
            arguments.pop()
    row: Row = {"operation": OPERATION_OF[node.op]}
    if len(dependencies) < len(node.args):
        row["arguments"] = arguments
    if dependencies:
        row["dependencies"] = dependencies
    return row


def _literal(arg: Term) -> Any:
    if isinstance(arg, Word):
        return int(arg.name) if arg.kind == COUNT else arg.name
    assert isinstance(arg, Node)
    if arg.op in LEFT_OUT.values():
        return None
    if arg.kind == CHOICES:
        return list(_listed(arg))
    return write(arg)


def _listed(choices: Node) -> Iterator[str]:
    while choices.op is things.either:
        word, rest = choices.args
        assert isinstance(word, Word)
        assert isinstance(rest, Node)
        yield word.name
        choices = rest


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
        for at in _items(row.get("dependencies")):
            if type(at) is not int:  # True and 1.0 are equal to 1, but no numbers of rows
                raise _Irregular
            key.append(at)
        for value in _items(row.get("arguments")):
            kind = type(value)
            if kind is str or kind is int:
                words.append(value)
            key.append(kind if kind in PLAIN else _list_key(value, words))
    return key


def _items(value: Any) -> Any:
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
