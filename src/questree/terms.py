"""The language: kinds, words and slots, operators declared once, nodes over them, and one fold."""

import inspect
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, TypeVar, get_type_hints

from numpy.typing import NDArray

Array = NDArray[Any]
Value = TypeVar("Value")
# the value of what is undefined, whatever its kind; a value from NOT_THERE down says why it is.
# Handled in readings/answer.py and nowhere else
UNKNOWN = -1
REASONS = ("does not exist", "not unique", "several attributes", "no common attribute", "neither option", "undefined")
NOT_THERE, NOT_UNIQUE, SEVERAL, NO_COMMON, NEITHER, UNDEFINED = range(-10, -10 - len(REASONS), -1)


class ProgramError(ValueError):
    """A program that cannot be read or built; the position is the character (or row) where reading stopped."""

    def __init__(self, message: str, position: int | None = None):
        super().__init__(message if position is None else f"at {position}: {message}")
        self.position = position


@dataclass(frozen=True)
class Kind:
    """A type of the language. Axis 0 of every value is the rows (questions)."""

    name: str
    words: str = ""  # where plain words of this kind come from: a list of the vocabulary, "text" or "number"
    askable: bool = False  # may a program of this kind be a question?
    yes: Callable[[Array], Array] | None = None  # how to read it as yes/no, if it can be
    answers: tuple[str, ...] = ()  # spelling of the values 0, 1, ... if they are not vocabulary words
    say: Callable[[str, str], str] | None = None  # (word, form) -> its English, if the vocabulary does not tell
    absent: bool = False  # is UNKNOWN one of its values? COVR: two attributes that are not there are equal
    evidence: Callable[[Any, Array], Array] | None = None  # (world, value) -> what of the world a value names
    opens: bool = False  # does it say where to look, and not what is seen there?
    narrows: bool = False  # is it, inside another of its kind, only a step on the way to that?


Bool = Annotated[Array, Kind("bool", askable=True, yes=lambda value: value, answers=("no", "yes"))]  # [row]
Object = Annotated[Array, Kind("object", "objects", askable=True)]  # [row] position in the vocabulary
Relation = Annotated[Array, Kind("relation", "relations")]  # [row] position in the vocabulary
Action = Annotated[Array, Kind("action", "actions", askable=True)]  # [row] position in the vocabulary


def kind(annotation: Any) -> Kind:
    found = annotation.__metadata__[0]
    assert isinstance(found, Kind)
    return found


BOOL, OBJECT, RELATION, ACTION = kind(Bool), kind(Object), kind(Relation), kind(Action)


@dataclass(frozen=True)
class Slot:
    """A hole of a template, to be filled by a column."""

    name: str
    kind: Kind
    alone: bool = False  # of an action: it has no object; of a noun: it is not counted; so sub-questions differ
    option: bool = False  # of a choice, that this program confirms


@dataclass(frozen=True)
class Word:
    """A plain word: a name from the vocabulary, a text or a number."""

    name: str
    kind: Kind


@dataclass(frozen=True)
class Categories:
    """The labels a benchmark reports scores by; "" and () are filled from the arguments."""

    reasoning: tuple[str, ...] = ()
    structural: str = ""
    semantic: str = ""


@dataclass(frozen=True, eq=False)
class Op:
    name: str
    doc: str
    run: Callable[..., Array]  # the meaning, over columns: run(world, **values) -> value
    params: Mapping[str, Kind]
    result: Kind
    ask: tuple[str, ...] | Callable[..., tuple[str, ...]] = ()  # English when it is the question, several frames
    # English inside another, by form ("", "past"); or (node, form) -> text, where frames do not suffice
    phrase: Mapping[str, tuple[str, ...]] | Callable[["Node", str], str] = field(default_factory=dict)
    steps: int = 0  # reasoning steps when it is (part of) the question
    reference_steps: int = 1  # reasoning steps when it stands for a word
    target: str = ""  # the parameter that is computed, not referred to (equals: the object to find)
    categories: Categories = Categories()
    type: str | Callable[..., str] = ""  # type as a node of a decomposition, or (vocabulary, *args) -> type
    label: str = ""  # composition label of the edges it causes
    parts: Callable[..., list[tuple[str, Any]]] | None = None  # (vocabulary, *args) -> [(label, sub-question)]
    options: tuple[str, ...] = ()  # parameters a choice is between: a node of its own confirms each, in this order
    given: tuple[str, ...] = ()  # parameters whose plain word rules compare an answer with, the first that has one
    focus: Callable[..., Array] | None = None  # (world, value, **values) -> evidence its arguments' evidence lies in
    rests: Callable[..., Array] | None = None  # (world, value, **values) -> evidence: frames or things it rests on

    def __call__(self, *args: "Term") -> "Node":
        return Node(self, args)


@dataclass(frozen=True)
class Node:
    op: Op
    args: "tuple[Term, ...]"
    _hash: int = field(init=False, repr=False, compare=False)  # programs share parts: hash each part once

    def __post_init__(self) -> None:
        object.__setattr__(self, "_hash", hash((id(self.op), self.args)))
        if len(self.args) != len(self.op.params):
            wanted = ", ".join(f"{name}: {want.name}" for name, want in self.op.params.items())
            raise ProgramError(f"{self.op.name}({wanted}) takes {len(self.op.params)} arguments, got {len(self.args)}")
        for (name, want), arg in zip(self.op.params.items(), self.args, strict=True):
            if arg.kind != want and not (want == BOOL and arg.kind.yes):
                raise ProgramError(f"{self.op.name}: {name} must be of kind {want.name}, got {arg.kind.name}")

    def __hash__(self) -> int:
        return self._hash

    @property
    def kind(self) -> Kind:
        return self.op.result

    def named(self) -> Iterator[tuple[str, "Term"]]:
        return zip(self.op.params, self.args, strict=True)


Term = Node | Slot | Word


class Language:
    """The operators of one domain; another domain may use the same names."""

    def __init__(self, name: str, *shared: Op):
        self.name = name
        self.ops: dict[str, Op] = {op.name: op for op in shared}

    def operator(
        self, name: str = "", ask: Any = (), phrase: str | Mapping[str, Any] | Callable[..., str] = "", **rest: Any
    ) -> Callable[[Callable[..., Any]], Op]:
        """Declare an operator: its signature is its type, its body its meaning, the keywords the rest."""

        def declare(run: Callable[..., Any]) -> Op:
            hints = get_type_hints(run, include_extras=True)
            params = {p: kind(hints[p]) for p in list(inspect.signature(run).parameters)[1:]}
            forms = {"": phrase} if isinstance(phrase, str) else phrase
            said = forms if callable(forms) else {form: _several(text) for form, text in forms.items()}
            op = Op(
                name=name or run.__name__,
                doc=(run.__doc__ or "").strip(),
                run=run,
                params=params,
                result=kind(hints["return"]),
                ask=ask if callable(ask) else _several(ask),
                phrase=said,
                **rest,
            )
            return self.add(op)

        return declare

    def add(self, op: Op) -> Op:
        """An operator declared elsewhere: one that domains share."""
        assert op.name not in self.ops, f"operator {op.name} is declared twice in {self.name}"
        self.ops[op.name] = op
        return op


def _several(texts: str | tuple[str, ...]) -> tuple[str, ...]:
    return (texts,) if isinstance(texts, str) else texts


def fold(
    term: Term,
    leaf: Callable[[Slot | Word], Value],
    combine: Callable[[Node, dict[str, Value]], Value],
    known: Mapping[Term, Value] | None = None,
) -> Value:
    """One traversal for every reading; a sub-program that occurs twice, or is known already, is not visited again."""
    return _visit(term, leaf, combine, dict(known or {}))


def _visit(
    term: Term,
    leaf: Callable[[Slot | Word], Value],
    combine: Callable[[Node, dict[str, Value]], Value],
    seen: dict[Term, Value],
) -> Value:
    """Not a function inside `fold`: one that calls itself refers to itself, and would keep its columns in memory."""
    if term not in seen:
        if isinstance(term, Node):
            kids = {name: _visit(arg, leaf, combine, seen) for name, arg in term.named()}
            seen[term] = combine(term, kids)
        else:
            seen[term] = leaf(term)
    return seen[term]


def walk(term: Term) -> Iterator[Term]:
    """The term and everything inside it, parents first, repeats included."""
    yield term
    if isinstance(term, Node):
        for arg in term.args:
            yield from walk(arg)


def slots(term: Term) -> dict[str, Slot]:
    return {inner.name: inner for inner in walk(term) if isinstance(inner, Slot)}


def fill(term: Term, words: Mapping[str, Term]) -> Term:
    """The term with its slots replaced."""
    return fold(
        term,
        lambda leaf: words.get(leaf.name, leaf) if isinstance(leaf, Slot) else leaf,
        lambda node, kids: Node(node.op, tuple(kids.values())),
    )
