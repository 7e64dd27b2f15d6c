"""The language of predicates: `has(before, action="standing up") & ~has(first)`, read with all its faults."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from difflib import get_close_matches

from questree.benchmarks.agqa import held_out
from questree.benchmarks.agqa.templates import TEMPLATES, TIMES, Template
from questree.domains.video import VIDEO
from questree.meanings.answer import spell
from questree.stages.split import predicates as p
from questree.vocabulary.words import Vocabulary

TOKEN = re.compile(
    r"""\s*(?:(?P<text>"[^"]*"|'[^']*')|(?P<name>[A-Za-z_][\w-]*)|(?P<number>\d+)|(?P<sign>[<>=!]=|.))"""
)
FLAGS = {name: 1 << bit for bit, name in enumerate(held_out.FLAGS)}
FLAGS |= {"novel": held_out.NOVEL, "indirect": held_out.INDIRECT}
OF_TEMPLATE: dict[str, Callable[[Template], tuple[str, ...]]] = {
    "template": lambda t: (t.name,),
    "structure": lambda t: (t.categories.structural,),
    "semantic": lambda t: (t.categories.semantic,),
    "reasoning": lambda t: t.categories.reasoning,
    "type": lambda t: (t.answer_type,),
}
WORDS = ("action", "object", "relation")
KNOWN = ("has", "uses", *OF_TEMPLATE, "time", "answer", "steps", "more_steps", *FLAGS)


class Wrong(Exception):
    """A predicate that cannot be read: what was wanted, what came."""


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


class Reader:
    """Recursive descent: | binds least, then &, then ~."""

    def __init__(self, text: str, vocabulary: Vocabulary, most_steps: tuple[int, ...]):
        self.left = list(tokens(text))
        self.vocabulary = vocabulary
        self.most_steps = most_steps

    @property
    def next(self) -> Token:
        return self.left[0]

    def take(self, text: str = "") -> Token:
        token = self.left[0]
        if text and (token.text != text or token.kind == "text"):
            raise Wrong(f"at {token.at}: wanted {text!r}, found {token.text!r}")
        return self.left.pop(0) if token.kind != "end" else token

    def whole(self) -> p.Predicate:
        found = self.either()
        if self.next.kind != "end":
            raise Wrong(f"at {self.next.at}: wanted & or | or the end, found {self.next.text!r}")
        return found

    def either(self) -> p.Predicate:
        found = self.both()
        while self.next.text == "|":
            self.take()
            found = p.Either(found, self.both())
        return found

    def both(self) -> p.Predicate:
        found = self.one()
        while self.next.text == "&":
            self.take()
            found = p.Both(found, self.one())
        return found

    def one(self) -> p.Predicate:
        token = self.take()
        if token.text == "~" and token.kind == "sign":
            return p.Not(self.one())
        if token.text == "(" and token.kind == "sign":
            found = self.either()
            self.take(")")
            return found
        if token.kind != "name" or token.text not in KNOWN:
            raise Wrong(f"at {token.at}: unknown {token.text!r}; there are {', '.join(KNOWN)}")
        return self.atom(token.text)

    def atom(self, name: str) -> p.Predicate:
        if name in FLAGS:
            return p.Flags(name, FLAGS[name])
        if name == "more_steps":
            return p.MoreSteps(self.most_steps)
        if name == "steps":
            return self.steps()
        plain, named = self.arguments(name)
        if name in ("has", "uses"):
            return self.program(name, plain, named)
        if named or not plain:
            raise Wrong(f"{name}(...) takes one or more values")
        if name == "time":
            check("time", plain, list(TIMES))
            return p.Time(plain, tuple(TIMES.index(kind) for kind in plain))
        if name == "answer":
            return self.answer(plain)
        valid = list(dict.fromkeys(value for t in TEMPLATES for value in OF_TEMPLATE[name](t)))
        check(name, plain, valid)
        return p.OfTemplate(name, plain, tuple(bool(set(plain) & set(OF_TEMPLATE[name](t))) for t in TEMPLATES))

    def steps(self) -> p.Steps:
        relation = self.take().text
        number = self.take()
        if relation not in p.COMPARE or number.kind != "number":
            raise Wrong(f"at {number.at}: steps are compared with a number, as in (steps > 4)")
        return p.Steps(relation, int(number.text))

    def arguments(self, name: str) -> tuple[tuple[str, ...], dict[str, str]]:
        """Plain values and named ones, between brackets."""
        plain: list[str] = []
        named: dict[str, str] = {}
        self.take("(")
        while True:
            token = self.take()
            if token.kind not in ("name", "text", "number"):
                raise Wrong(f"at {token.at}: wanted a word in {name}(...), found {token.text!r}")
            if self.next.text == "=":
                self.take()
                named[token.text] = self.take().text
            else:
                plain.append(token.text)
            if self.next.text != ",":
                self.take(")")
                return tuple(plain), named
            self.take()

    def program(self, name: str, plain: tuple[str, ...], named: dict[str, str]) -> p.Has:
        if len(plain) != (name == "has") or (name == "uses" and not named):
            usage = "has(operator, action=..., object=..., relation=...)" if name == "has" else 'uses(action="...")'
            raise Wrong(f"{name}: wanted {usage}")
        check("operator", plain, list(VIDEO.ops))
        check("kind of word", tuple(named), list(WORDS))
        return p.Has(plain[0] if plain else "", tuple(self.word(kind, name) for kind, name in named.items()))

    def word(self, kind: str, name: str) -> p.Word:
        at = getattr(self.vocabulary, f"{kind}_at")
        check(kind, (name,), list(at))
        return p.Word(kind, at[name], name)

    def answer(self, values: tuple[str, ...]) -> p.Answer:
        spelled = [{a: code for code, a in self.spellings(template)} for template in TEMPLATES]
        check("answer", values, sorted({answer for own in spelled for answer in own}))
        return p.Answer(values, tuple(frozenset(own[v] for v in values if v in own) for own in spelled))

    def spellings(self, template: Template) -> Iterator[tuple[int, str]]:
        kind = template.node.kind
        count = len(getattr(self.vocabulary, kind.words)) if kind.words else 2
        return ((code, spell(kind, code, self.vocabulary) or "") for code in range(count))


def check(what: str, values: tuple[str, ...], valid: list[str]) -> None:
    for value in values:
        if value not in valid:
            raise Wrong(f"no {what} {value!r}; there are {choices(value, valid)}")


def read(text: str, vocabulary: Vocabulary, most_steps: tuple[int, ...] = ()) -> p.Predicate:
    """The predicate a text says; most_steps: per template, for `more_steps`."""
    return Reader(text, vocabulary, most_steps).whole()
