"""What functions of plugins return, checked on the way back: one line with the file and the name of the thing."""

from collections.abc import Callable, Sequence
from contextvars import ContextVar
from functools import wraps
from typing import Any

import numpy as np

from questree.extensions import blamed
from questree.faults import BadInput
from questree.readings.parts import decompose
from questree.rules import Case, Members
from questree.terms import BOOL, NOT_THERE, UNDEFINED, UNKNOWN, Array, Kind, Language, Node, Slot, Term, Word

DEEPEST = 40  # questions of plugins below each other
BITS = ("frames", "things", "groups")  # kinds whose values are bits of frames or things
FREE = ("links", "choices")  # [row, place]: as many places as there are
# operators of plugins and their arguments whose sub-questions are being listed
_asking: ContextVar[tuple[tuple[str, tuple[Term, ...]], ...]] = ContextVar("_asking", default=())


def operator_value(place: str, kind: Kind, run: Callable[..., Any]) -> Callable[..., Any]:
    """The meaning of an operator, refused where it is no column of its kind."""

    @wraps(run)
    def checked(world: Any, *values: Any, **named: Any) -> Any:
        found = run(world, *values, **named)
        wrong = _not_a_column(found, world, kind)
        if wrong:
            raise BadInput.at(place, wrong)
        return found

    return checked


def evidence(place: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """What an answer rests on, or where arguments are looked for, refused where it is no frames or things."""

    @wraps(function)
    def checked(world: Any, *values: Any, **named: Any) -> Any:
        found = function(world, *values, **named)
        if wrong := _not_an_array(found, world.everything.shape, (world.everything.dtype.kind,)):
            raise BadInput.at(place, wrong)
        return found

    return checked


def _not_a_column(found: Any, world: Any, kind: Kind) -> str | None:
    """What is wrong with a value of a kind."""
    rows = (len(world),)
    if kind.name in BITS:
        return _not_an_array(found, world.everything.shape, (world.everything.dtype.kind,))
    if kind.name == "scenes":
        return _not_an_array(found, world.everything.shape, ("b",))
    if kind.name in FREE:
        return _not_an_array(found, (*rows, *np.shape(found)[1:2]), ("i", "u"))
    if kind.name == "window":
        return _not_an_array(found, (*rows, 2), ("i", "u"))
    wrong = _not_an_array(found, rows, ("b", "i", "u") if kind == BOOL else ("i", "u"))
    return wrong or (None if kind.name == "objects" else _not_a_word(found, world, kind))


def _not_an_array(found: Any, shape: tuple[int, ...], types: Sequence[str]) -> str | None:
    names = {"b": "bool", "i": "int", "u": "unsigned int"}
    wanted = f"expected a numpy array of shape {shape} of {names[types[0]]}"
    if not isinstance(found, np.ndarray):
        return f"{wanted}, got {'None' if found is None else type(found).__name__}"
    if found.shape != shape or found.dtype.kind not in types:
        return f"{wanted}, got one of shape {found.shape} of {found.dtype}"
    return None


def _not_a_word(found: Array, world: Any, kind: Kind) -> str | None:
    """A number that is no answer of its kind; negative ones say that there is none, or of texts which word is not."""
    if found.dtype.kind == "b" or not len(found):
        return None
    most = _words(world, kind) - 1
    below = found.astype(np.int64)
    missing = (below == UNKNOWN) | ((below <= NOT_THERE) & (below >= UNDEFINED))
    fine = (below <= most) & ((below >= 0) | missing | ((kind.words == "text") & (below > NOT_THERE)))
    if fine.all():
        return None
    spelled = f" ({', '.join(kind.answers)})" if kind.answers else ""
    return f"expected values of kind {kind.name}, 0 to {most:,}{spelled}, got {below[~fine][0]:,}"


def _words(world: Any, kind: Kind) -> int:
    """How many values there are of a kind."""
    if kind.answers:
        return len(kind.answers)
    if kind.words in ("objects", "relations", "actions"):
        return len(getattr(world.vocabulary, kind.words))
    return len(world.corpus.words) if kind.words == "text" else 1 << 62


def sub_questions(
    place: str, language: Language, compositions: Sequence[str], parts: Callable[..., Any]
) -> Callable[..., Any]:
    """The sub-questions of an operator, refused if one is none, if nobody declared its composition, or without end."""
    ended = set[tuple[Term, ...]]()

    def checked(vocabulary: Any, *arguments: Term) -> Any:
        found = _listed(place, language, compositions, _ran(parts, vocabulary, *arguments))
        above, own = _asking.get(), (place, arguments)
        if own in above:
            raise BadInput.at(
                place, "parts: expected smaller questions, got some that lead back to the question itself"
            )
        if len(above) > DEEPEST:
            raise BadInput.at(place, "parts: expected smaller questions, got some without end")
        if arguments not in ended:
            token = _asking.set((*above, own))
            try:
                for _, part in found:
                    decompose(part, vocabulary)
            finally:
                _asking.reset(token)
            ended.add(arguments)
        return found

    return checked


def _ran(function: Callable[..., Any], *arguments: Any) -> Any:
    """What it returns; an error of its own is one line, wherever others are taken for a shape nobody asks in."""
    try:
        return function(*arguments)
    except Exception as error:
        if own := blamed(error):
            raise own from error
        raise


def _listed(place: str, language: Language, compositions: Sequence[str], found: Any) -> list[tuple[str, Node]]:
    wanted = "parts: expected a list of pairs (composition, program)"
    if not isinstance(found, list | tuple):
        raise BadInput.at(place, f"{wanted}, got {'None' if found is None else type(found).__name__}")
    for each in found:
        if not isinstance(each, tuple | list) or len(each) != 2:
            raise BadInput.at(place, f"{wanted}, got {_said(each)} in it")
        label, part = each
        if label not in compositions:
            known = ", ".join(compositions)
            raise BadInput.at(place, f"parts: expected a composition, got {label!r}; choose from {known}")
        if not isinstance(part, Node):
            raise BadInput.at(place, f"parts: expected a program that is a question, got {_said(part)}")
        if language.ops.get(part.op.name) is not part.op:
            raise BadInput.at(place, f"parts: expected an operator of {language.name}, got {part.op.name}(..)")
        if not part.kind.askable:
            got = f"{part.op.name}(..), which gives {part.kind.name}"
            raise BadInput.at(place, f"parts: expected a program that is a question, got {got}")
    return [(label, part) for label, part in found]


def _said(value: Any) -> str:
    if isinstance(value, Node):
        return f"{value.op.name}(..)"
    return "a word" if isinstance(value, Slot | Word) else f"{value!r:.60}"


def rule_case(place: str, reads: Callable[[Members], Any]) -> Callable[[Members], Case]:
    """What a rule reads, refused where it is no Case of a bool for every row."""

    @wraps(reads)
    def checked(members: Members) -> Case:
        found = reads(members)
        if not isinstance(found, Case):
            got = "None" if found is None else type(found).__name__
            raise BadInput.at(place, f"expected a Case, as members.case(..) gives it, got {got}")
        for name in ("yes", "no", "holds", "fails", *(["torn"] if found.torn is not None else [])):
            if wrong := _not_an_array(getattr(found, name), (len(members.nodes[0]),), ("b",)):
                raise BadInput.at(place, f"{name}: {wrong}")
        return found

    return checked


def left_out(place: str, fails: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Which candidates a rule of generation leaves out."""

    @wraps(fails)
    def checked(core: Any) -> Any:
        found = fails(core)
        if wrong := _not_an_array(found, (len(core.row),), ("b",)):
            raise BadInput.at(place, wrong)
        return found

    return checked


def a_text(place: str, function: Callable[..., Any]) -> Callable[..., str]:
    @wraps(function)
    def checked(*arguments: Any) -> str:
        found = _ran(function, *arguments)
        if not isinstance(found, str):
            raise BadInput.at(place, f"expected a text, got {found!r:.60}")
        return found

    return checked
