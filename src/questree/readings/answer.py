"""The answer of a program over columns: one question is a batch of one, a template's column a batch of many."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from questree.faults import BadInput
from questree.terms import (
    ACTION,
    BOOL,
    NOT_THERE,
    OBJECT,
    REASONS,
    UNDEFINED,
    UNKNOWN,
    Array,
    Kind,
    Node,
    Slot,
    Term,
    Word,
    fold,
)
from questree.vocabulary.words import Vocabulary

Words = Vocabulary | Sequence[str]  # of videos; of image sets, whose words are any text
WELL = -1  # in place of a reason: there is an answer


def position(word: Word, vocabulary: Vocabulary) -> int:
    """Where a word stands in its list of the vocabulary, or the number it spells."""
    if word.kind.words == "number":
        return int(word.name)
    at = {"objects": vocabulary.object_at, "relations": vocabulary.relation_at, "actions": vocabulary.action_at}
    found = at[word.kind.words].get(word.name)
    if found is None:
        raise BadInput.at("", f"{word.name!r} is no {word.kind.name} of the vocabulary {vocabulary.name}")
    return found


@dataclass(frozen=True)
class Outcome:
    reason: Array  # [row] position in REASONS of what went wrong first, WELL where all is defined
    values: dict[Term, Array] = field(default_factory=dict)  # of every sub-program; meaningless on undefined rows

    @property
    def defined(self) -> Array:  # [row]
        return np.asarray(self.reason == WELL)

    @property
    def reasons(self) -> list[str | None]:
        """[row] why there is no answer."""
        return [None if code == WELL else REASONS[code] for code in self.reason.tolist()]


def evaluate(
    program: Term | Sequence[Term],
    world: Any,
    rows: Mapping[str, Array] | None = None,
    known: Mapping[Term, Array] | None = None,
) -> Outcome:
    """The values of a program, or of its parts in the order they are to be run; slots take their columns from `rows`,
    what is `known` is not run."""
    outcome = Outcome(np.full(len(world), WELL, np.int64))

    def leaf(term: Slot | Word) -> Array:
        outcome.values[term] = (
            (rows or {})[term.name] if isinstance(term, Slot) else np.full(len(world), world.position(term))
        )
        return outcome.values[term]

    def run(node: Node, kids: dict[str, Array]) -> Array:
        for (name, arg), want in zip(node.named(), node.op.params.values(), strict=True):
            if arg.kind != want and arg.kind.yes:  # "when?" used where yes/no is wanted
                kids[name] = arg.kind.yes(kids[name])
        return settle(node, node.op.run(world, **kids))

    def settle(term: Term, value: Array) -> Array:
        outcome.values[term] = value = noted(term.kind, value, outcome.reason)
        return value

    for term, value in (known or {}).items():
        settle(term, value)
    for part in program if isinstance(program, Sequence) else (program,):
        fold(part, leaf, run, outcome.values)
    return outcome


def noted(kind: Kind, value: Array, reason: Array) -> Array:
    """The value; where it says that there is none, that is noted, and something harmless takes its place."""
    if value.dtype.kind != "i" or not value.shape[-1]:
        return value
    code = value if value.ndim == 1 else value[:, 0]  # [row]
    if not len(code) or code.min() > UNKNOWN:
        return value
    wrong = code <= NOT_THERE
    if value.ndim == 1 and not kind.absent:
        wrong |= code == UNKNOWN
    if not wrong.any():
        return value
    new = wrong & (reason == WELL)
    reason[new] = NOT_THERE - np.where(code[new] == UNKNOWN, UNDEFINED, code[new])
    return np.where(wrong if value.ndim == 1 else wrong[:, None], value.dtype.type(0), value)


def answer(node: Node, world: Any, rows: Mapping[str, Array], known: Mapping[Term, Array] | None = None) -> Array:
    """[row] the answer as a number: 0/1, a vocabulary position, a count; UNKNOWN where undefined."""
    outcome = evaluate(node, world, rows, known)
    value = outcome.values[node]
    return np.where(outcome.defined, node.kind.yes(value) if node.kind.yes else value, UNKNOWN)


def spell(kind: Kind, value: int, words: Words) -> str | None:
    """An answer as it is printed; None if undefined."""
    if value == UNKNOWN:
        return None
    if kind.yes or kind.answers:
        return (BOOL.answers if kind.yes else kind.answers)[value]
    if not isinstance(words, Vocabulary):
        return str(value) if kind.words == "number" else words[value]
    if kind == OBJECT:
        return words.objects[value].name
    return words.actions[value].phrase if kind == ACTION else str(value)


def answers_of(kind: Kind, words: Words, most: int = 0) -> list[str]:
    """All answers of a kind by their numbers, as they are printed; `most`: the largest count."""
    if kind.yes or kind.answers:
        size = len(BOOL.answers if kind.yes else kind.answers)
    elif isinstance(words, Vocabulary):
        size = len(words.objects if kind == OBJECT else words.actions)
    else:
        size = most + 1 if kind.words == "number" else len(words)
    return [spell(kind, at, words) or "" for at in range(size)]
