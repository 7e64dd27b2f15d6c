"""The words of questions: a vocabulary read, counted, looked through for empty lists, proposed from videos."""

from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from questree.benchmarks.agqa.held_out import NAME as AGQA
from questree.faults import BadInput
from questree.places import path_of
from questree.vocabulary import Vocabulary as Vocabulary
from questree.vocabulary import default, load
from questree.vocabulary.notes import NOTES
from questree.vocabulary.words import GROUPS

if TYPE_CHECKING:
    from questree.api.runs import StrPath

SAMPLE = 4  # words of each kind that are named


def read_vocabulary(file: "StrPath | None" = None) -> Vocabulary:
    """A vocabulary file with everything checked, or AGQA's words.

    >>> from questree.api.vocabularies import read_vocabulary
    >>> len(read_vocabulary().objects)
    39
    """
    return default() if file is None else load(path_of(file))


class Draft(NamedTuple):
    words: Vocabulary
    look: list[tuple[str, str]]  # words a person should look at, and why; the file says it beside them
    shared: list[str]  # what was done about words that share a wording


def draft_vocabulary(facts: "StrPath", *, out: "StrPath", name: str | None = None) -> Draft:
    """Propose a vocabulary with every class name of somebody's own videos, as `questree vocabulary draft` does."""
    from questree.sources.used_words import used_words
    from questree.tables.store import new_file
    from questree.vocabulary.drafted_file import drafted
    from questree.vocabulary.load import parse

    place, source = path_of(out), path_of(facts)
    if place.exists():
        raise BadInput.at(place, "expected a new file, got one that is there; remove it or choose another name")
    used = used_words(source)
    if not (used.objects or used.relations or used.actions):
        raise BadInput.at(source, "expected class names of objects, relations or actions, got none")
    called = f"own {AGQA}" if place.stem == AGQA else place.stem  # AGQA's name stands for its lists
    text, look, shared = drafted(used, name or called, source.name)
    words = parse(text, place)
    with new_file(place) as work:
        work.write_text(text, "utf-8")
    return Draft(words, look, shared)


def empty_lists(words: Vocabulary) -> dict[str, str]:
    """Special list without an entry -> what that lets through."""
    lists = msgspec.structs.asdict(words.lists)
    return {name: note.empty for name, note in NOTES.items() if not lists[name]}


def counts(words: Vocabulary) -> list[dict[str, Any]]:
    """One row per kind of word; those `counted as another` are merged (objects, actions) or folded (verbs)."""
    kinds = {  # kind -> (name, id of the word it is counted as)
        "objects": [(word.name, word.merged) for word in words.objects if not word.part_only],
        "objects of sub-questions only": [(word.name, word.merged) for word in words.objects if word.part_only],
        **{f"relations, {group}": [(w.name, w.folds) for w in words.relations if w.group == group] for group in GROUPS},
        "actions": [(word.phrase, word.merged) for word in words.actions],
        "special lists": [(name, "") for name, entries in msgspec.structs.asdict(words.lists).items() if entries],
        "relations that entail others": [(name, "") for name in words.entailments],
    }
    return [
        {
            "kind": kind,
            "words": len(found),
            "counted as another": sum(bool(target) for _, target in found),
            "first": ", ".join(name for name, _ in found[:SAMPLE]),
        }
        for kind, found in kinds.items()
    ]
