"""A notation as a table: each rule pairs a text with the program it spells, in both directions; spelling of words."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from questree.domains.video import VIDEO
from questree.notation.own import Call, parse, scan, show, slot
from questree.terms import RELATION, Kind, Node, ProgramError, Slot, Term, Word, fill, walk
from questree.vocabulary.words import NONE, Vocabulary

LISTS = ("objects", "relations", "actions")  # of the vocabulary; words of other kinds are free text


def names(kind: Kind, vocabulary: Vocabulary) -> list[str]:
    """The name of every word of a kind, by position."""
    return [name(kind, at, vocabulary) for at in range(len(getattr(vocabulary, kind.words)))]


def name(kind: Kind, at: int, vocabulary: Vocabulary) -> str:
    """The name of a word by its position."""
    if kind.words == "objects":
        return vocabulary.objects[at].name
    return vocabulary.relations[at].name if kind.words == "relations" else vocabulary.actions[at].phrase


def positions(kind: Kind, vocabulary: Vocabulary) -> dict[str, int]:
    return {"objects": vocabulary.object_at, "relations": vocabulary.relation_at, "actions": vocabulary.action_at}[
        kind.words
    ]


def numbers(words: list[str], kind: Kind, vocabulary: Vocabulary) -> NDArray[np.int64]:
    """[word] its position."""
    known = positions(kind, vocabulary)
    return np.array([known[word] for word in words], np.int64)


def read_word(call: Call, kind: Kind, vocabulary: Vocabulary, alone: bool = False) -> Slot | Word:
    """The word or slot a text names; `alone`: an action without an object is wanted."""
    what = f"{kind.name} without an object" if alone else kind.name
    if call.name.startswith("$"):
        return slot(call, kind)
    at = positions(kind, vocabulary).get(call.name)
    if at is None:
        raise ProgramError(f"no {what} {call.name!r} in the vocabulary; {near(call.name, kind, vocabulary)}", call.at)
    if alone and vocabulary.noun_of[at] != NONE:
        noun = vocabulary.objects[vocabulary.noun_of[at]].name
        raise ProgramError(f"expected an {what}, got {call.name!r}, which is done to {noun!r}", call.at)
    return Word(names(kind, vocabulary)[at], kind)


def near(name: str, kind: Kind, vocabulary: Vocabulary) -> str:
    """Names like it, or where all of them can be seen."""
    at, called = positions(kind, vocabulary), names(kind, vocabulary)
    close = dict.fromkeys(called[at[spelling]] for spelling in get_close_matches(name, at, 3))
    return f"near: {', '.join(close)}" if close else "`questree vocabulary show --json FILE` lists them"


def is_plain(term: Term, vocabulary: Vocabulary, alone: bool = False) -> bool:
    """Is it a word or a slot, not a program?"""
    if isinstance(term, Slot):
        return not alone or term.alone
    if not isinstance(term, Word) or not alone:
        return isinstance(term, Word)
    at = vocabulary.action_at.get(term.name)
    return at is None or bool(vocabulary.noun_of[at] == NONE)


def write_word(term: Term, vocabulary: Vocabulary) -> str:
    if isinstance(term, Word):
        return read_word(Call(term.name, None, 0), term.kind, vocabulary).name
    return show(term)


def with_names(call: Call, node: Node, vocabulary: Vocabulary) -> Node:
    """The program with its words under their names; the first one the vocabulary does not have is refused where
    it stands in the text."""
    args: list[Term] = []
    for inner, arg in zip(call.args or (), node.args, strict=True):
        if isinstance(arg, Word) and arg.kind.words in LISTS:
            arg = read_word(inner, arg.kind, vocabulary)
        args.append(with_names(inner, arg, vocabulary) if isinstance(arg, Node) else arg)
    return Node(node.op, tuple(args))


HOLE = "$"
WORD, ALONE = "word", "alone"  # what stands in a hole: a plain word; the word of an action without an object


@dataclass(frozen=True)
class GrammarRule:
    """`text` has holes `$name` or `$name:form`; the slots of `term` are the same holes.

    The form names the rules for what stands there; left out, it is the kind of the slot.
    """

    text: Call
    term: Term
    note: str = ""  # a rule with a note is for reading only: another one writes this program

    @cached_property
    def head(self) -> str | None:
        """The name a text must begin with; None if it is a hole."""
        return None if self.text.name.startswith(HOLE) else self.text.name

    @cached_property
    def kinds(self) -> dict[str, Kind]:
        return {slot.name: slot.kind for slot in walk(self.term) if isinstance(slot, Slot)}

    @cached_property
    def forms(self) -> dict[str, str]:
        return {name: form or self._default(name) for name, form in _holes(self.text)}

    def _default(self, name: str) -> str:
        kind = self.kinds[name]
        return WORD if kind == RELATION else kind.name


def _holes(pattern: Call) -> Iterator[tuple[str, str]]:
    if pattern.args is None:
        if pattern.name.startswith(HOLE):
            name, _, form = pattern.name[1:].partition(":")
            yield name, form
        return
    for arg in pattern.args:
        yield from _holes(arg)


def rule(text: str, term: str | Slot, note: str = "") -> GrammarRule:
    return GrammarRule(scan(text), term if isinstance(term, Slot) else parse(term, VIDEO), note)


def rules(table: Mapping[str, str], note: str = "") -> tuple[GrammarRule, ...]:
    return tuple(rule(text, term, note) for text, term in table.items())


class Mismatch(NamedTuple):
    """Where a text stops being what a rule wants."""

    call: Call
    wanted: Call
    rule: GrammarRule

    @property
    def reached(self) -> tuple[int, bool]:
        """How far the rule went; the right name with the wrong number of arguments is further than a wrong name."""
        return self.call.at, self.wanted.name == self.call.name

    def __str__(self) -> str:
        """What was wanted, for people: holes are named by what stands in them, words are quoted."""
        pattern, rule = self.wanted, self.rule
        if pattern.args and pattern.name and pattern.name != self.call.name:
            return f"{pattern.name}(..)"
        if pattern.is_word and not pattern.name.startswith(HOLE):
            return repr(pattern.name)
        kinds = {
            name: "action without object" if form == ALONE else rule.kinds[name].name
            for name, form in rule.forms.items()
        }
        return str(filled(pattern, {name: Call(f"<{kind}>", None, 0) for name, kind in kinds.items()}))


@dataclass(frozen=True)
class Notation:
    name: str
    rules: Mapping[
        str, tuple[GrammarRule, ...]
    ]  # form -> its rules; for reading and for writing, the first that fits is used

    def read(self, text: str, vocabulary: Vocabulary) -> tuple[Node, list[str]]:
        """The question a text spells, and what there is to say about the way it is spelled."""
        reader = NotationReader(self, vocabulary)
        node = reader.read(scan(text), "question")
        assert isinstance(node, Node)
        return node, list(dict.fromkeys(reader.notes))

    def write(self, node: Node, vocabulary: Vocabulary) -> str:
        return str(self._written(node, "question", vocabulary))

    def find(self, call: Call, form: str) -> tuple[GrammarRule, dict[str, list[Call]]]:
        """The rule a text is an instance of, with what stands in its holes (unread)."""
        for rule in self.rules[form]:
            holes: dict[str, list[Call]] = {}
            if rule.head in (None, call.name) and match(rule.text, call, rule, holes) is None:
                return rule, holes
        raise self._unfit(call, form)

    def _unfit(self, call: Call, form: str) -> ProgramError:
        """No rule fits: the ones that came furthest say best what is wrong."""
        misses = [miss for rule in self.rules[form] if (miss := match(rule.text, call, rule, {}))]
        best = max(miss.reached for miss in misses)
        furthest = [miss for miss in misses if miss.reached == best]
        return furthest[0].call.wanted(alternatives(list(map(str, furthest))))

    def _written(self, term: Term, form: str, vocabulary: Vocabulary) -> Call:
        for rule in self.rules[form]:
            found: dict[str, Term] = {}
            if rule.note or not bind(rule.term, term, rule, found, vocabulary):
                continue
            holes = {
                name: Call(write_word(value, vocabulary), None, 0)
                if rule.forms[name] in (WORD, ALONE)
                else self._written(value, rule.forms[name], vocabulary)
                for name, value in found.items()
            }
            call = filled(rule.text, holes)
            if self.find(call, form)[0] is rule:
                return call
            raise ProgramError(f"{self.name} would read {show(term)} as something else: {call}")
        raise ProgramError(f"{self.name} has no form for {show(term)}")


@dataclass
class NotationReader:
    notation: Notation
    vocabulary: Vocabulary
    notes: list[str] = field(default_factory=list)

    def read(self, call: Call, form: str) -> Term:
        rule, holes = self.notation.find(call, form)
        if rule.note:
            self.notes.append(rule.note)
        values = {name: self._agreed(calls, rule, name) for name, calls in holes.items()}
        return fill(rule.term, values)

    def _agreed(self, calls: list[Call], rule: GrammarRule, name: str) -> Term:
        """A hole that occurs several times says the same everywhere."""
        value = self._hole(calls[0], rule, name)
        for call in calls[1:]:
            if self._hole(call, rule, name) != value:
                raise call.wanted(f"{str(calls[0])!r} again (as at {calls[0].at})")
        return value

    def _hole(self, call: Call, rule: GrammarRule, name: str) -> Term:
        form = rule.forms[name]
        if form not in (WORD, ALONE):
            return self.read(call, form)
        return read_word(call, rule.kinds[name], self.vocabulary, alone=form == ALONE)


def match(pattern: Call, call: Call, rule: GrammarRule, holes: dict[str, list[Call]]) -> Mismatch | None:
    """Compare all but the holes; what stands in them is collected."""
    if pattern.args is None and pattern.name.startswith(HOLE):
        name = pattern.name[1:].partition(":")[0]
        if rule.forms[name] in (WORD, ALONE) and not call.is_word:
            return Mismatch(call, pattern, rule)
        holes.setdefault(name, []).append(call)
        return None
    if pattern.name != call.name or pattern.is_word != call.is_word:
        return Mismatch(call, pattern, rule)
    if pattern.args is None or call.args is None:
        return None
    if len(pattern.args) != len(call.args):
        return Mismatch(call, pattern, rule)
    misses = (match(want, arg, rule, holes) for want, arg in zip(pattern.args, call.args, strict=True))
    return next((miss for miss in misses if miss), None)


def bind(pattern: Term, term: Term, rule: GrammarRule, found: dict[str, Term], vocabulary: Vocabulary) -> bool:
    """Is the term an instance of the pattern? Its holes are collected."""
    if isinstance(pattern, Slot):
        form = rule.forms[pattern.name]
        if form in (WORD, ALONE) and not is_plain(term, vocabulary, alone=form == ALONE):
            return False
        return found.setdefault(pattern.name, term) == term
    if isinstance(pattern, Word) or not isinstance(term, Node):
        return pattern == term
    return pattern.op is term.op and all(
        bind(want, arg, rule, found, vocabulary) for want, arg in zip(pattern.args, term.args, strict=True)
    )


def filled(pattern: Call, holes: Mapping[str, Call]) -> Call:
    if pattern.args is not None:
        return Call(pattern.name, tuple(filled(arg, holes) for arg in pattern.args), 0)
    return holes[pattern.name[1:].partition(":")[0]] if pattern.name.startswith(HOLE) else pattern


def alternatives(wanted: list[str]) -> str:
    *others, last = dict.fromkeys(wanted)
    return f"{', '.join(others)} or {last}" if others else last
