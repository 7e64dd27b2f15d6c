"""Reading text that is calls, words and brackets, and saying where it goes wrong."""

from dataclasses import dataclass

from questree.program import ProgramError

SPECIAL = "(),[]"
DEEPEST = 100  # calls inside each other; no question comes near


@dataclass(frozen=True)
class Call:
    """name(argument, ...); a word is a call without brackets, a list a call without a name."""

    name: str
    args: "tuple[Call, ...] | None"
    at: int  # character where it begins

    @property
    def is_word(self) -> bool:
        return self.args is None

    def __str__(self) -> str:
        if self.args is None:
            return self.name
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
