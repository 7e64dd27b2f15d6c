"""What the words of a question mean, for people who ask: definitions, and what else a word counts for."""

import re
import tomllib
from collections.abc import Iterable, Iterator
from functools import cache
from importlib.resources import files

from questree.tables.images import THINGS, WORDS
from questree.tables.run import Run
from questree.vocabulary.words import Vocabulary

TIMES = ("before", "after", "while", "between", "first", "last", "longest", "longer", "shortest", "shorter")


@cache
def definitions() -> dict[str, str]:
    found: dict[str, str] = tomllib.loads((files("questree.people") / "terms.toml").read_text("utf-8"))
    return found


def listed(words: list[str]) -> str:
    return ", ".join(words[:-1]) + " and " + words[-1] if len(words) > 1 else "".join(words)


class Terms:
    """The words of a vocabulary, by every form in which a question may have them."""

    def __init__(self, words: Vocabulary | None, nouns: Iterable[str] = ()):
        self.notes: dict[str, tuple[str, list[str]]] = {}  # form -> what it is called, notes
        for called, forms, notes in _of(words) if words else ():
            for form in forms:
                if form and notes:
                    self.notes.setdefault(form.lower(), (called, notes))
        self.names = [_names(words, at) for at in range(len(words.objects))] if words else [[noun] for noun in nouns]
        longest = sorted(self.notes, key=len, reverse=True)
        self.pattern = re.compile(rf"\b({'|'.join(map(re.escape, longest))})\b", re.IGNORECASE) if longest else None

    def of(self, *texts: str) -> dict[str, list[str]]:
        """Word -> its notes, of all that these texts name, in their order."""
        found: dict[str, list[str]] = {}
        for text in texts if self.pattern else ():
            assert self.pattern is not None
            for match in self.pattern.finditer(text):
                called, notes = self.notes[match[0].lower()]
                found.setdefault(called, notes)
        return found

    def things(self, text: str) -> list[list[str]]:
        """Of every object that a text names, what it may be called."""
        return [names for names in self.names if named(names[0], text)]


def terms_of(run: Run) -> Terms:
    """Words of the vocabulary, or the names of things in images."""
    if run.vocabulary_file.is_file():
        return Terms(run.vocabulary())
    if not run.images.is_dir():
        return Terms(None)
    names, words = THINGS.read(run.images)["name"].unique(maintain_order=True), WORDS.read(run.images)["word"]
    return Terms(None, words.gather(names))


def named(thing: str, text: str) -> bool:
    """Is it there, alone or as several?"""
    return re.search(rf"\b{re.escape(thing)}(?:s|es)?\b", text, re.IGNORECASE) is not None


def _names(words: Vocabulary, at: int) -> list[str]:
    """What an object may be called, its own name first."""
    counted = words.merged_object.tolist()
    same = [one.name for other, one in enumerate(words.objects) if counted[other] == counted[at] and other != at]
    thing = words.objects[at]
    run_together = {name.replace("/", "") for name in thing.labels if "/" in name}
    plain = [name for name in thing.labels if "/" not in name and name not in run_together]
    return list(dict.fromkeys([thing.name, *same, *plain]))


def _of(words: Vocabulary) -> Iterator[tuple[str, list[str], list[str]]]:
    """What a word is called, its forms, its notes."""
    known, counted = definitions(), words.merged_object.tolist()
    for word in TIMES:
        yield word, [word], [known[word]]
    for at, thing in enumerate(words.objects):
        others = [one.name for other, one in enumerate(words.objects) if counted[other] == at != other]
        names = [name for name in _names(words, at)[1:] if name in (*others, *thing.labels)]
        yield thing.name, [thing.name], [f"Also said of: {', '.join(names)}."] if names else []
    for at, action in enumerate(words.actions):
        names, verb = [action.phrase, *action.labels], words.verb_of[at]
        own = _defined(known, *names) or (_defined(known, words.relations[verb].name) if verb >= 0 else [])
        yield action.phrase, [*names, action.present, action.past], own
    for relation in words.relations:
        notes = _defined(known, relation.name)
        if implied := words.entailments.get(relation.name):
            notes.append(f"Whoever is {relation.name} something is also {listed(list(implied))} it.")
        yield relation.name, [relation.name, relation.present, relation.past, relation.progressive], notes


def _defined(known: dict[str, str], *names: str) -> list[str]:
    return [known[name] for name in names if name in known]
