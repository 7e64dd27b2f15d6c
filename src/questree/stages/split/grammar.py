"""The grammar of predicates: names, brackets, `&`, `|` and `~`; what a name means is up to videos or images."""

import re
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import get_close_matches

from questree.stages.split.algebra import Both, Either, Not, Predicate

TOKEN = re.compile(
    r"""\s*(?:(?P<text>"[^"]*"|'[^']*')|(?P<name>[A-Za-z_][\w/-]*)|(?P<number>\d+)|(?P<sign>[<>=!]=|.))"""
)


class Wrong(Exception):
    """A predicate that cannot be read: what was expected, what was given."""


@dataclass(frozen=True)
class Token:
    kind: str  # text, name, number, sign, end
    text: str
    at: int


def tokens(text: str) -> Iterator[Token]:
    for match in TOKEN.finditer(text.rstrip()):
        kind = match.lastgroup or ""
        found = match[kind]
        yield Token(kind, found[1:-1] if kind == "text" else found, match.start(kind))
    yield Token("end", "the end", len(text))


def choices(value: str, valid: list[str]) -> str:
    near = get_close_matches(value, valid, 5, 0.5)
    return f"{', '.join(near)}, ..." if near and len(valid) > 30 else ", ".join(valid)


class PredicateReader(ABC):
    """Recursive descent: | binds least, then &, then ~."""

    known: tuple[str, ...]  # what a predicate may begin with

    def __init__(self, text: str):
        self.left = list(tokens(text))

    @abstractmethod
    def atom(self, name: str) -> Predicate:
        """The predicate that begins with this name, which has been taken."""

    @property
    def next(self) -> Token:
        return self.left[0]

    def take(self, text: str = "") -> Token:
        token = self.left[0]
        if text and (token.text != text or token.kind == "text"):
            raise Wrong(f"at {token.at}: expected {text!r}, got {token.text!r}")
        return self.left.pop(0) if token.kind != "end" else token

    def whole(self) -> Predicate:
        found = self.either()
        if self.next.kind != "end":
            raise Wrong(f"at {self.next.at}: expected & or | or the end, got {self.next.text!r}")
        return found

    def either(self) -> Predicate:
        found = self.both()
        while self.next.text == "|":
            self.take()
            found = Either(found, self.both())
        return found

    def both(self) -> Predicate:
        found = self.one()
        while self.next.text == "&":
            self.take()
            found = Both(found, self.one())
        return found

    def one(self) -> Predicate:
        token = self.take()
        if token.text == "~" and token.kind == "sign":
            return Not(self.one())
        if token.text == "(" and token.kind == "sign":
            found = self.either()
            self.take(")")
            return found
        if token.kind != "name" or token.text not in self.known:
            raise Wrong(f"at {token.at}: unknown {token.text!r}; choose from {', '.join(self.known)}")
        return self.atom(token.text)

    def arguments(self, name: str) -> tuple[tuple[str, ...], dict[str, str]]:
        """Plain values and named ones, between brackets."""
        plain: list[str] = []
        named: dict[str, str] = {}
        self.take("(")
        while True:
            token = self.take()
            if token.kind not in ("name", "text", "number"):
                raise Wrong(f"at {token.at}: expected a word in {name}(...), got {token.text!r}")
            if self.next.text == "=":
                self.take()
                named[token.text] = self.take().text
            else:
                plain.append(token.text)
            if self.next.text != ",":
                self.take(")")
                return tuple(plain), named
            self.take()


def check(what: str, values: tuple[str, ...], valid: list[str]) -> None:
    for value in values:
        if value not in valid:
            raise Wrong(f"no {what} {value!r}; choose from {choices(value, valid)}")
