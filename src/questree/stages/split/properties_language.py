"""The language of predicates over COVR's questions: `has(all) & ~has(filter)`, `template(COUNT)`, `number(3)`."""

from questree.benchmarks.covr.splits import PATTERNS, PROPERTIES, WORDS
from questree.notation.covr import OPERATIONS
from questree.stages.split import row_predicates as p
from questree.stages.split.algebra import Has, NamedPredicate, Predicate, PredicateWord
from questree.stages.split.grammar import PredicateReader, Wrong, check
from questree.stages.split.program_rows import NUMBER, ImageRows

UNKNOWN = -2  # a word that occurs nowhere
KINDS = (*dict.fromkeys(WORDS.values()), NUMBER)
USAGE = {
    "has": f"has(operation, {'=..., '.join(KINDS)}=...)",
    "row": f"row(operation, {'=..., '.join(KINDS)}=...)",
    "uses": 'uses(noun="...")',
    "over": "over(operation, operation of a dependency, ...), ~ before one that it must not be",
    "last": "last(operation)",
}


class ImageReader(PredicateReader):
    """Words are checked against those of the questions, unless the predicate is one of ours."""

    known = (*USAGE, "number", "numeric", "template", "answer", *PROPERTIES)

    def __init__(self, text: str, rows: ImageRows, checked: bool = True):
        super().__init__(text)
        self.rows = rows
        self.checked = checked

    def atom(self, name: str) -> Predicate:
        if name in PROPERTIES:
            return NamedPredicate(name, ImageReader(PROPERTIES[name], self.rows, False).whole())
        if name == "numeric":
            return p.Numeric()
        if name == "number" and self.next.text != "(":
            return p.HasNumber("", ())
        if name == "over":
            return self.over()
        plain, named = self.arguments(name)
        if name in USAGE:
            return self.program(name, plain, named)
        if named or not plain or (name == "number" and not (len(plain) == 1 and plain[0].isdecimal())):
            raise Wrong(f"{name}(...) takes {'one number' if name == 'number' else 'one or more values'}")
        if name == "number":
            return Has("", (PredicateWord(NUMBER, self.rows.position.get(plain[0], UNKNOWN), plain[0]),))
        if self.checked:
            there = self.rows.questions[name].unique().to_list()
            check(name, plain, list(PATTERNS) if name == "template" else sorted(there))
        return p.OneOf(name, plain)

    def over(self) -> p.Over:
        self.take("(")
        found = [self.operation()]
        while self.next.text == ",":
            self.take()
            sign = self.take().text if self.next.text == "~" else ""
            found.append(sign + self.operation())
        self.take(")")
        if len(found) == 1:
            raise Wrong(f"over: expected {USAGE['over']}")
        return p.Over(found[0], (), tuple(found[1:]))

    def operation(self) -> str:
        name = self.take().text
        check("operation", (name,), list(OPERATIONS))
        return name

    def program(self, name: str, plain: tuple[str, ...], named: dict[str, str]) -> Has:
        if len(plain) != (name != "uses") or (name == "uses" and not named) or (name == "last" and named):
            raise Wrong(f"{name}: expected {USAGE[name]}")
        check("operation", plain, list(OPERATIONS))
        check("kind of word", tuple(named), list(KINDS))
        words = tuple(self.word(kind, word) for kind, word in named.items())
        made = {"has": Has, "uses": Has, "row": p.HasRow, "last": p.Last}[name]
        return made(plain[0] if plain else "", words)

    def word(self, kind: str, name: str) -> PredicateWord:
        if self.checked:
            check(kind, (name,), self.rows.words_of(kind))
        return PredicateWord(kind, self.rows.position.get(name, UNKNOWN), name)


def read(text: str, rows: ImageRows) -> Predicate:
    """The predicate a text says, about questions like these."""
    return ImageReader(text, rows).whole()
