"""AGQA's program strings as shapes with words: a million strings have a few hundred shapes, each read once."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import NamedTuple

from questree.notation.agqa import AGQA, read
from questree.notation.grammar import positions
from questree.notation.own import Call, show
from questree.program import ACTION, OBJECT, RELATION, Kind, Node, ProgramError, Slot, fold, walk
from questree.vocabulary.words import Vocabulary


class AgqaProgram(NamedTuple):
    form: str | None  # in our notation, slots $0, $1, ... for words; None if the string cannot be read
    words: list[str] | None  # of the slots
    fault: str | None


class AgqaShape(NamedTuple):
    text: str
    order: tuple[int, ...]  # [slot] which word of the pattern
    kinds: tuple[Kind, ...]  # [slot]


@cache
def keywords() -> frozenset[str]:
    """What AGQA's notation says itself, between the words of the vocabulary."""
    return frozenset(name for rules in AGQA.rules.values() for rule in rules for name in _names(rule.text))


def _names(call: Call) -> Iterator[str]:
    if not call.name.startswith("$"):
        yield call.name
    for arg in call.args or ():
        yield from _names(arg)


@cache
def word() -> re.Pattern[str]:
    """A word of the vocabulary inside a program string: what stands between brackets and commas and is no keyword."""
    names = "|".join(re.escape(name) for name in sorted(keywords()) if name)
    return re.compile(rf"(^|[(\[,])\s*(?!(?:{names})\s*(?:[(),\[\]]|$))([^\s(),\[\]][^(),\[\]]*)")


@dataclass
class AgqaShapes:
    vocabulary: Vocabulary
    _known: dict[str, AgqaShape | str] = field(default_factory=dict)  # pattern -> its shape, or what is wrong with it

    def program(self, text: str) -> AgqaProgram:
        words: dict[str, int] = {}

        def blank(match: re.Match[str]) -> str:
            return f"{match[1]}$w{words.setdefault(match[2].rstrip(), len(words))}"

        pattern = word().sub(blank, text)
        shape = self._known.get(pattern)
        if shape is None:
            shape = self._known[pattern] = self._shape(pattern)
        if isinstance(shape, str):
            return AgqaProgram(None, None, f"program: {shape}")
        spelled = list(words)
        found = [spelled[at] for at in shape.order]
        for name, kind in zip(found, shape.kinds, strict=True):
            if name not in self._words[kind.words]:
                return AgqaProgram(None, None, f"program: no {kind.name} {name!r} in the vocabulary")
        return AgqaProgram(shape.text, found, None)

    @cached_property
    def _words(self) -> dict[str, dict[str, int]]:
        return {kind.words: positions(kind, self.vocabulary) for kind in (OBJECT, RELATION, ACTION)}

    def _shape(self, pattern: str) -> AgqaShape | str:
        try:
            node = read(pattern, self.vocabulary)
        except ProgramError as error:
            return str(error)
        slots = tuple(dict.fromkeys(leaf for leaf in walk(node) if isinstance(leaf, Slot)))
        number = {slot: at for at, slot in enumerate(slots)}  # one word may stand for two kinds of thing
        renamed = fold(
            node,
            lambda leaf: Slot(str(number[leaf]), leaf.kind) if isinstance(leaf, Slot) else leaf,
            lambda node, kids: Node(node.op, tuple(kids.values())),
        )
        return AgqaShape(show(renamed), tuple(int(s.name[1:]) for s in slots), tuple(s.kind for s in slots))
