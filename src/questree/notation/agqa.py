"""AGQA release strings: `Exists(blanket, Iterate(Localize(while, holding a pillow), Filter(frame, [objects])))`."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import NamedTuple

from questree.notation.grammar import GrammarRule, Notation, positions, rule, rules
from questree.notation.own import Call, show
from questree.readings.forms import lifted
from questree.terms import ACTION, OBJECT, RELATION, Kind, Node, ProgramError, Slot
from questree.vocabulary.words import Vocabulary

OBJECTS = "Filter(frame, [relations, $r, objects])"
ONLY = f"Query(class, OnlyItem(Iterate($t, {OBJECTS})))"
LENGTH = "Subtract(Query(end, action), Query(start, action))"


def until(way: str) -> str:
    """The objects of a relation where it first (or last) holds."""
    return f"IterateUntil({way}, $t, Exists($r, Filter(frame, [relations])), {OBJECTS})"


def until_either(way: str) -> str:
    return f"IterateUntil({way}, $t, XOR(Exists($a, {OBJECTS}), Exists($b, {OBJECTS})), {OBJECTS})"


def until_action(way: str) -> str:
    return f"IterateUntil({way}, $t, HasItem(Filter(frame, [actions])), Filter(frame, [actions]))"


def of_all(end: str) -> str:
    return f"Superlative({end}, Filter(video, [actions]), {LENGTH})"


def of_two(end: str, time: str = "video") -> str:
    return f"Superlative({end}, [Filter({time}, [actions, $a]), Filter({time}, [actions, $b])], {LENGTH})"


def order(item: str, key: str) -> str:
    return f"Compare([before, after], Exists({item}, Iterate(Localize(temporal tag, $b), Filter(frame, [{key}]))))"


WINDOWS = {
    "video": "whole()",
    "Localize(before, $a)": "before($a)",
    "Localize(after, $a)": "after($a)",
    "Localize(while, $a)": "while($a)",
    "Localize(between, [$a, $b])": "between($a, $b)",
}
REFERENCES = {
    f"Query(class, OnlyItem({until('forward')}))": "first($r, $t)",
    f"Query(class, OnlyItem({until('backward')}))": "last($r, $t)",
    ONLY: "only(objects($r, $t))",
}
LENGTHS = {of_all("max"): "longest()", of_all("min"): "shortest()"}
EVENTS = {  # over the whole video an event stands for itself, otherwise inside `within`
    "Exists($o, Iterate($t, Filter(frame, [objects])))": "interacting($o)",
    f"Exists($o, Iterate($t, {OBJECTS}))": "interaction($r, $o)",
    "Exists($r, Iterate($t, Filter(frame, [relations])))": "doing($r)",
    "Exists($a, Iterate($t, Filter(frame, [actions])))": "happening($a)",  # edition 1.0 only
}
SIDES = {"Exists($o, Iterate($t, Filter(frame, [relation, $r, objects])))": "interaction($r, $o)"}  # of AND and XOR
# as Figure 5 of AGQA-Decomp prints a program of AGQA
PRINTED = {"Exists($o, Iterate($t, Filter(frames, [relations, $r, objects])))": "interaction($r, $o)"}
FRAMES = "frames is read as frame, which AGQA writes"
QUESTIONS = {
    "AND($a, $b)": "both($a, $b)",
    "XOR($a, $b)": "but_not($a, $b)",
    "Query(class, OnlyItem(Iterate($t, Filter(frame, [objects]))))": "only(annotated($t))",
    f"Choose($a, $b, {ONLY})": "choose($r, $t, $a, $b)",
    f"Choose($a, $b, {until_either('forward')})": "choose_first($r, $t, $a, $b)",
    f"Choose($a, $b, {until_either('backward')})": "choose_last($r, $t, $a, $b)",
    f"Equals($o, OnlyItem({until('forward')}))": "equals($o, first($r, $t))",
    f"Equals($o, OnlyItem({until('backward')}))": "equals($o, last($r, $t))",
    "Query(class, OnlyItem(Iterate(Localize(before, $a), Filter(frame, [actions]))))": "action_before(before($a))",
    "Query(class, OnlyItem(Iterate($t, Filter(frame, [actions]))))": "action_after($t)",
    f"Query(class, OnlyItem({until_action('forward')}))": "first_action($t)",
    f"Query(class, OnlyItem({until_action('backward')}))": "last_action($t)",
    of_two("max"): "longer($a, $b)",
    of_two("min"): "shorter($a, $b)",
    f"Equals($x, {of_two('max')})": "same_action($x, longer($a, $b))",
    f"Equals($x, {of_two('min')})": "same_action($x, shorter($a, $b))",
    order("$a", "actions"): "action_order($a, $b)",
    order("$r", "relations"): "relation_order($r, $b)",
    order("$o", "objects"): "object_order($o, $b)",
}


def events(table: dict[str, str], note: str = "") -> tuple[GrammarRule, ...]:
    """Each event over the whole video, and inside a window."""
    return rules(
        {text.replace("$t", "video"): term for text, term in table.items()}
        | {text: f"within({term}, $t)" for text, term in table.items()},
        note,
    )


def notation(
    name: str, questions: tuple[GrammarRule, ...], sides: tuple[GrammarRule, ...], **more: tuple[GrammarRule, ...]
) -> Notation:
    return Notation(
        name,
        {
            "question": questions,
            "bool": sides,
            "object": (rule("$o:word", Slot("o", OBJECT)), *rules(REFERENCES)),
            "action": (
                rule("$a:word", Slot("a", ACTION)),
                *rules({"ToAction($r, $o)": "to_action($r, $o)"} | LENGTHS),
            ),
            "window": rules(WINDOWS),
            **more,
        },
    )


# Edition 1.0: the relation of a question may be a reference, the order of actions goes by their own frames, and lengths
# are compared in times (no string of that is published)
DONE_TO = (
    "Query(class, OnlyItem(IterateUntil(forward, video, Exists($o:word, Filter(frame, [objects])), "
    "Filter(frame, [objects, $o:word, relations]))))"
)


IN_TIMES = {
    of_two("max", "$t"): "longer_in($a, $b, $t)",
    of_two("min", "$t"): "shorter_in($a, $b, $t)",
    f"Equals($x, {of_two('max', '$t')})": "same_action($x, longer_in($a, $b, $t))",
    f"Equals($x, {of_two('min', '$t')})": "same_action($x, shorter_in($a, $b, $t))",
}


def first_edition(table: dict[str, str]) -> dict[str, str]:
    return {
        text.replace("$r", "$r:relation"): term.replace("action_order", "instance_order")
        for text, term in table.items()
    }


AGQA = notation(
    "AGQA", events(EVENTS) + events(PRINTED, FRAMES) + rules(REFERENCES | LENGTHS | QUESTIONS), events(SIDES)
)
NOTATIONS = {
    "2.0": AGQA,
    "1.0": notation(
        "AGQA 1.0",
        events(first_edition(EVENTS))
        + events(first_edition(PRINTED), FRAMES)
        + rules(first_edition(REFERENCES | LENGTHS | QUESTIONS | IN_TIMES)),
        events(first_edition(SIDES)),
        relation=(rule("$r:word", Slot("r", RELATION)), *rules({DONE_TO: "first_done_to($o)"})),
    ),
}


def read(text: str, vocabulary: Vocabulary, edition: str = "2.0") -> Node:
    """The program a release string spells; words become the vocabulary's names."""
    return NOTATIONS[edition].read(text, vocabulary)[0]


def write(node: Node, vocabulary: Vocabulary, edition: str = "2.0") -> str:
    return NOTATIONS[edition].write(node, vocabulary)


def written(node: Node, vocabulary: Vocabulary, edition: str = "2.0") -> str | None:
    """None if AGQA has no form for the program, as it may be with templates and operators from outside."""
    try:
        return write(node, vocabulary, edition)
    except ProgramError:
        return None


class AgqaProgram(NamedTuple):
    form: str | None  # in our notation, slots $0, $1, ... for words; None if the string cannot be read
    words: list[str] | None  # of the slots
    fault: str | None


class SlotWords(NamedTuple):
    form: str | None
    words: list[int]  # [slot] position among the words of its kind, 0 where the form has no such slot
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
        shape, spelled = self.shape(text)
        if isinstance(shape, str):
            return AgqaProgram(None, None, f"program: {shape}")
        found = [spelled[at] for at in shape.order]
        for name, kind in zip(found, shape.kinds, strict=True):
            if name not in self.words[kind.words]:
                return AgqaProgram(None, None, f"program: no {kind.name} {name!r} in the vocabulary")
        return AgqaProgram(shape.text, found, None)

    def slot_words(self, text: str, slots: int) -> SlotWords:
        """The same with the position of every word among those of its kind, in as many slots."""
        shape, spelled = self.shape(text)
        found: list[int] = []
        if isinstance(shape, AgqaShape) and len(shape.order) <= slots:
            tables = self.words
            found = [tables[kind.words].get(spelled[at], -1) for at, kind in zip(shape.order, shape.kinds, strict=True)]
            if -1 not in found:
                return SlotWords(shape.text, [*found, *[0] * (slots - len(found))], None)
        nothing, fault = [0] * slots, self.program(text).fault
        most = len(shape.order) if isinstance(shape, AgqaShape) else 0
        return SlotWords(None, nothing, fault or f"program: expected at most {slots} words, got {most}")

    def shape(self, text: str) -> tuple[AgqaShape | str, list[str]]:
        """The shape of a string, or what is wrong with it; and its words, each once."""
        words: dict[str, int] = {}
        parts = word().split(text)  # what stands between words, a bracket, a word, ...
        parts[2::3] = [f"$w{words.setdefault(name.rstrip(), len(words))}" for name in parts[2::3]]
        pattern = "".join(parts)
        shape = self._known.get(pattern)
        if shape is None:
            shape = self._known[pattern] = self._shape(pattern)
        return shape, list(words)

    @cached_property
    def words(self) -> dict[str, dict[str, int]]:
        return {kind.words: positions(kind, self.vocabulary) for kind in (OBJECT, RELATION, ACTION)}

    def _shape(self, pattern: str) -> AgqaShape | str:
        try:
            node = read(pattern, self.vocabulary)
        except ProgramError as error:
            return str(error)
        form, slots = lifted(node, "", once=True)  # one word may stand for two kinds of thing
        order = tuple(int(slot.name[1:]) for slot in slots if isinstance(slot, Slot))
        return AgqaShape(show(form), order, tuple(slot.kind for slot in slots))
