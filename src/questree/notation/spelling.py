"""Words inside programs: found by name, label or id, kept and written under the name the vocabulary gives them."""

from difflib import get_close_matches

import numpy as np
from numpy.typing import NDArray

from questree.notation.own import Call, show, slot
from questree.program import Kind, Node, ProgramError, Slot, Term, Word
from questree.vocabulary.words import NONE, Vocabulary

LISTS = ("objects", "relations", "actions")  # of the vocabulary; words of other kinds are free text


def names(kind: Kind, vocabulary: Vocabulary) -> list[str]:
    """The name of every word of a kind, by position."""
    if kind.words == "objects":
        return [word.name for word in vocabulary.objects]
    if kind.words == "relations":
        return [word.name for word in vocabulary.relations]
    return [word.phrase for word in vocabulary.actions]


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
