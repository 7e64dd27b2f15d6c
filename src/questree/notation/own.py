"""Our own notation, `doing($relation)`: operators by name, words as they are or in quotes, slots with a dollar sign."""

from dataclasses import dataclass
from difflib import get_close_matches

from questree.columns.quoting import ESCAPE, QUOTE, SPECIAL, quoted, unquoted
from questree.terms import Kind, Language, Node, ProgramError, Slot, Term, Word

DEEPEST = 100  # calls inside each other; no question comes near


@dataclass(frozen=True)
class Call:
    """name(argument, ...); a word is a call without brackets, a list a call without a name."""

    name: str
    args: "tuple[Call, ...] | None"
    at: int  # character where it begins
    is_quoted: bool = False  # a word in quotes is no slot

    @property
    def is_word(self) -> bool:
        return self.args is None

    def __str__(self) -> str:
        if self.args is None:
            return quoted(self.name) if self.is_quoted else self.name
        inner = ", ".join(map(str, self.args))
        return f"{self.name}({inner})" if self.name else f"[{inner}]"

    def wanted(self, what: str) -> ProgramError:
        return ProgramError(f"expected {what}, got {str(self)[:60]!r}", self.at)


def scan(text: str) -> Call:
    """The one call the text consists of."""
    call, end = _call(text, _skip(text, 0))
    if end < len(text):
        raise ProgramError(f"expected the end, got {text[end : end + 20]!r}", end)
    return call


def _skip(text: str, at: int) -> int:
    while at < len(text) and text[at].isspace():
        at += 1
    return at


def _call(text: str, begin: int, depth: int = 0) -> tuple[Call, int]:
    if depth > DEEPEST:
        raise ProgramError(f"calls inside each other more than {DEEPEST} deep", begin)
    if text[begin : begin + 1] == QUOTE:
        end = _closing(text, begin)
        return Call(unquoted(text[begin:end]), None, begin, is_quoted=True), _skip(text, end)
    at = begin
    while at < len(text) and text[at] not in SPECIAL:
        at += 1
    name = text[begin:at].strip()
    bracket = text[at : at + 1]
    if bracket == "(" and name:
        args, at = _arguments(text, at + 1, ")", depth)
        return Call(name, args, begin), at
    if bracket == "[" and not name:
        args, at = _arguments(text, at + 1, "]", depth)
        return Call("", args, begin), at
    if not name:
        found = repr(text[at : at + 20]) if at < len(text) else "the end"
        raise ProgramError(f"expected a word or a call, got {found}", at)
    return Call(name, None, begin), at


def _closing(text: str, begin: int) -> int:
    """The place behind the quote that ends a word."""
    at = begin + 1
    while at < len(text) and text[at] != QUOTE:
        at += 2 if text[at] == ESCAPE else 1
    if at >= len(text):
        raise ProgramError("expected a quote that ends the word, got the end", begin)
    return at + 1


def _arguments(text: str, at: int, close: str, depth: int) -> tuple[tuple[Call, ...], int]:
    """Arguments up to the closing bracket, and the place behind it."""
    args: list[Call] = []
    at = _skip(text, at)
    if text[at : at + 1] == close:
        return (), _skip(text, at + 1)
    while True:
        arg, at = _call(text, _skip(text, at), depth + 1)
        args.append(arg)
        at = _skip(text, at)
        if text[at : at + 1] == close:
            return tuple(args), _skip(text, at + 1)
        if text[at : at + 1] != ",":
            found = repr(text[at : at + 20]) if at < len(text) else "the end"
            raise ProgramError(f"expected ',' or {close!r}, got {found}", at)
        at += 1


ALONE = "!"  # a slot for an action without an object, or a noun that is not counted: `$action!`
OPTION = "?"  # a slot for the option of a choice that the program confirms: `$color?`


def show(term: Term) -> str:
    if isinstance(term, Slot):
        return f"${term.name}{ALONE if term.alone else ''}{OPTION if term.option else ''}"
    if isinstance(term, Word):
        return quoted(term.name)
    return f"{term.op.name}({', '.join(map(show, term.args))})"


def parse(text: str, language: Language) -> Node:
    """The program a text spells; the kinds of its words follow from the operators they are given to."""
    return _node(scan(text), language)


def _node(call: Call, language: Language) -> Node:
    if call.args is None or not call.name:
        raise call.wanted("a call of an operator")
    op = language.ops.get(call.name)
    if op is None:
        near = get_close_matches(call.name, language.ops, 3) or sorted(language.ops)
        raise ProgramError(f"no operator {call.name!r} for {language.name}; choose from {', '.join(near)}", call.at)
    if len(call.args) != len(op.params):
        wanted = ", ".join(f"{name}: {kind.name}" for name, kind in op.params.items())
        raise ProgramError(f"{op.name}({wanted}) takes {len(op.params)} arguments, got {len(call.args)}", call.at)
    args = [_term(arg, kind, language) for arg, kind in zip(call.args, op.params.values(), strict=True)]
    try:
        return Node(op, tuple(args))
    except ProgramError as error:
        raise ProgramError(str(error), call.at) from None


def _term(call: Call, kind: Kind, language: Language) -> Term:
    if not call.is_word:
        return _node(call, language)
    if call.name.startswith("$") and not call.is_quoted:
        return slot(call, kind)
    if not kind.words:
        raise call.wanted(f"a program of kind {kind.name}")
    return Word(call.name, kind)


def slot(call: Call, kind: Kind) -> Slot:
    text = call.name[1:].removesuffix(OPTION)
    name = text.removesuffix(ALONE)
    if not name:
        raise call.wanted(f"a slot with a name, like ${kind.name}")
    return Slot(name, kind, alone=text.endswith(ALONE), option=call.name.endswith(OPTION))
