"""The answer of a program over columns: one question is a batch of one, a template's column a batch of many."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from questree.faults import BadInput
from questree.program import ACTION, BOOL, OBJECT, UNKNOWN, Array, Kind, Node, Slot, Term, Word, fold
from questree.vocabulary.words import Vocabulary


def position(word: Word, vocabulary: Vocabulary) -> int:
    """Where a word stands in its list of the vocabulary, or the number it spells."""
    if word.kind.words == "number":
        return int(word.name)
    at = {"objects": vocabulary.object_at, "relations": vocabulary.relation_at, "actions": vocabulary.action_at}
    found = at[word.kind.words].get(word.name)
    if found is None:
        raise BadInput.at("", f"{word.name!r} is no {word.kind.name} of the vocabulary {vocabulary.name}")
    return found


def values(
    term: Term, world: Any, rows: Mapping[str, Array], known: Mapping[Term, Array] | None = None
) -> tuple[dict[Term, Array], Array]:
    """The value of every sub-program, and the rows on which all of them are defined; `known` ones are not run."""
    found: dict[Term, Array] = {}
    defined = np.ones(len(world), bool)

    def leaf(term: Slot | Word) -> Array:
        if isinstance(term, Slot):
            found[term] = rows[term.name]
        else:
            found[term] = np.full(len(world), position(term, world.vocabulary))
        return found[term]

    def run(node: Node, kids: dict[str, Array]) -> Array:
        for (name, arg), want in zip(node.named(), node.op.params.values(), strict=True):
            if arg.kind != want and arg.kind.yes:  # "when?" used where yes/no is wanted
                kids[name] = arg.kind.yes(kids[name])
        return settle(node, node.op.run(world, **kids))

    def settle(term: Term, value: Array) -> Array:
        if term.kind.yes is None and value.ndim == 1:  # undefined is handled here, once
            unknown = value == UNKNOWN
            defined[unknown] = False
            value = np.where(unknown, 0, value)
        found[term] = value
        return value

    fold(term, leaf, run, {inner: settle(inner, value) for inner, value in (known or {}).items()})
    return found, defined


def answer(node: Node, world: Any, rows: Mapping[str, Array], known: Mapping[Term, Array] | None = None) -> Array:
    """[row] the answer as a number: 0/1, a vocabulary position, a count; UNKNOWN where undefined."""
    found, defined = values(node, world, rows, known)
    value = node.kind.yes(found[node]) if node.kind.yes else found[node]
    return np.where(defined, value, UNKNOWN)


def spell(kind: Kind, value: int, vocabulary: Vocabulary) -> str | None:
    """An answer as it is printed; None if undefined."""
    if value == UNKNOWN:
        return None
    if kind == OBJECT:
        return vocabulary.objects[value].name
    if kind == ACTION:
        return vocabulary.actions[value].phrase
    answers = BOOL.answers if kind.yes else kind.answers
    return answers[value] if answers else str(value)
