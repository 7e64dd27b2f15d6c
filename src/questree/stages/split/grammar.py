"""The grammar of predicates: names, brackets, `&`, `|` and `~`, and what all benchmarks say of programs."""

import re
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches

from questree.stages.split.predicates import Both, Either, Has, Not, Predicate, PredicateWord

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


Atom = Callable[["PredicateReader", str], Predicate]  # reads a predicate whose name has been taken


@dataclass(frozen=True)
class PredicateLanguage:
    """What may be said about the questions of a benchmark."""

    called: str  # what an operator is called there
    operators: Collection[str]
    kinds: tuple[str, ...]  # of words
    position: Callable[[str, str], int]  # of a word of a kind
    own: Mapping[str, Atom]  # predicates of the benchmark alone


class PredicateReader:
    """Recursive descent: | binds least, then &, then ~."""

    def __init__(self, text: str, language: PredicateLanguage):
        self.left, self.language = list(tokens(text)), language
        words = f"{'=..., '.join(language.kinds)}=..."
        self.usage = {
            "has": f"has({language.called}, {words})",
            "uses": f'uses({language.kinds[0]}="...")',
            "row": f"row({language.called}, {words})",
            "over": f"over({language.called}, one it depends on, ...), ~ before one that it must not be",
            "last": f"last({language.called})",
        }

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
        if token.kind == "name" and token.text in self.usage:
            return self.program(token.text)
        if token.kind != "name" or token.text not in self.language.own:
            known = ", ".join([*self.usage, *self.language.own])
            raise Wrong(f"at {token.at}: unknown {token.text!r}; choose from {known}")
        return self.language.own[token.text](self, token.text)

    def program(self, name: str) -> Has:
        """has, uses, row, over and last: an operator, and words of it or operators below it."""
        plain, named = self.arguments(name)
        fits = len(plain) > 1 if name == "over" else len(plain) == (name != "uses") and (name != "uses" or named)
        if not fits or (named and name in ("over", "last")):
            raise Wrong(f"{name}: expected {self.usage[name]}")
        for at, op in enumerate(plain):
            check(self.language.called, (op.removeprefix("~") if at else op,), list(self.language.operators))
        check("kind of word", tuple(named), list(self.language.kinds))
        words = [PredicateWord(kind, self.language.position(kind, word), word) for kind, word in named.items()]
        return Has(plain[0] if plain else "", tuple(words), name if plain else "has", plain[1:])

    def arguments(self, name: str) -> tuple[tuple[str, ...], dict[str, str]]:
        """Plain values, of `over` with their signs, and named ones, between brackets."""
        plain: list[str] = []
        named: dict[str, str] = {}
        self.take("(")
        while True:
            sign = self.take().text if name == "over" and plain and self.next.text == "~" else ""
            token = self.take()
            if token.kind not in ("name", "text", "number"):
                raise Wrong(f"at {token.at}: expected a word in {name}(...), got {token.text!r}")
            if self.next.text == "=":
                self.take()
                named[token.text] = self.take().text
            else:
                plain.append(sign + token.text)
            if self.next.text != ",":
                self.take(")")
                return tuple(plain), named
            self.take()

    def values(self, name: str) -> tuple[str, ...]:
        plain, named = self.arguments(name)
        if named or not plain:
            raise Wrong(f"{name}(...) takes one or more values")
        return plain


def read(text: str, language: PredicateLanguage) -> Predicate:
    """The predicate a text says."""
    return PredicateReader(text, language).whole()


def check(what: str, values: tuple[str, ...], valid: list[str]) -> None:
    for value in values:
        if value not in valid:
            raise Wrong(f"no {what} {value!r}; choose from {choices(value, valid)}")
