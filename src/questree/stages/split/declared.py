"""Splits as data: AGQA's own, and those of a user's YAML file."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import msgspec

from questree.benchmarks.agqa import held_out as h
from questree.benchmarks.agqa.editions import Edition
from questree.extensions import Registry
from questree.faults import UNREADABLE, BadInput, Fault, refuse
from questree.stages.split.compositions import LISTS, Says
from questree.stages.split.grammar import PredicateLanguage, Wrong, read
from questree.stages.split.language import flag, more_steps, of_templates
from questree.stages.split.predicates import Either, Has, Not, Predicate, PredicateWord, parts
from questree.tables.store import content, shallow
from questree.vocabulary.words import Vocabulary

VIDEOS, NOVEL, MORE, INDIRECT = "videos", "novel-compositions", "more-steps", "indirect"


@dataclass(frozen=True)
class HeldOutComposition:
    """What must not be in train, and what it is made of, which should."""

    held_out: Predicate
    parts: tuple[Predicate, ...]


@dataclass(frozen=True)
class Split:
    """Questions of training videos that are in train, of test videos that are in test; None: all of them."""

    name: str
    compositions: tuple[HeldOutComposition, ...] = ()
    train: Predicate | None = None
    test: Predicate | None = None
    drawn: list[Any] | None = None  # what was drawn to be held out
    warnings: tuple[str, ...] = ()
    lenient: bool = False  # what is held out and still in train is told, not refused


def held_out(
    name: str, compositions: list[HeldOutComposition], train: Predicate | None = None, test: Predicate | None = None
) -> Split:
    """Train keeps questions without any of the compositions, test those with one, unless said otherwise."""
    any_of = compositions[0].held_out
    for other in compositions[1:]:
        any_of = Either(any_of, other.held_out)
    return Split(name, tuple(compositions), train or Not(any_of), test or any_of)


def agqa(
    vocabulary: Vocabulary, most_steps: tuple[int, ...], edition: Edition, as_released: bool = False
) -> list[Split]:
    """The splits of the paper (section 10 of the sheet); what a question contains is read off its program.

    As released, its flags say what is novel. Without a composition to hold out that split is left out."""
    known, missing = h.known(vocabulary)
    lists = {
        "nc_seq": ("before", [("action", a) for a in known.actions]),
        "nc_sup": ("first", [("relation", r) for r in known.first]),
        "nc_dur": ("longer", [("action", a) for a in known.actions]),
        "nc_objrel": ("", [w for o, r in known.pairs for w in (("object", o), ("relation", r))]),
    }
    novel, held = [], h.held_out(vocabulary)
    for name, (op, named) in lists.items():
        words = [Has("", (word(vocabulary, kind, said),)) for kind, said in dict.fromkeys(named)]
        if words:
            novel.append(HeldOutComposition(Says(LISTS[name], held), (*([Has(op)] if op else []), *words)))
    lacking = (f"not held out, as the vocabulary does not have them: {', '.join(missing)}",) if missing else ()
    sides = (Not(flag("novel")), flag("novel")) if as_released else ()
    found = [replace(held_out(NOVEL, novel, *sides), warnings=lacking, lenient=as_released)] if novel else []
    every = tuple(  # a template with questions of more steps should be known from its easier ones
        of_templates(f"template({t.name})", [t is other for other in edition.by_code])
        for t, most in zip(edition.by_code, most_steps, strict=True)
        if most < edition.most_steps
    )
    return [
        Split(VIDEOS),
        *found,
        held_out(MORE, [HeldOutComposition(more_steps(most_steps), every)]),
        Split(INDIRECT),
    ]


def left_out(vocabulary: Vocabulary) -> dict[str, str]:
    """The splits of the paper that there are no words for, and why."""
    known, missing = h.known(vocabulary)
    if known.actions or known.first or known.pairs:
        return {}
    why = f"the vocabulary has none of: {', '.join(missing)}" if missing else "nothing is held out"
    return {NOVEL: f"left out, {why}; name compositions in the vocabulary under held_out"}


def word(vocabulary: Vocabulary, kind: str, name: str) -> PredicateWord:
    """A word as questions have it: under the class it is counted as."""
    targets = {"object": vocabulary.merged_object, "relation": vocabulary.folded, "action": vocabulary.merged_action}
    at = int(targets[kind][getattr(vocabulary, f"{kind}_at")[name]])
    found = getattr(vocabulary, f"{kind}s")[at]
    return PredicateWord(kind, at, found.phrase if kind == "action" else found.name)


class Given(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One split of a user's file, as written."""

    held_out: str | list[str] = msgspec.field(name="held out")
    train: str = ""
    test: str = ""


PLUGGED = {domain: Registry[Given]("split") for domain in ("video", "images")}  # of plugins


class File(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    splits: dict[str, Given] = {}
    more_steps: dict[str, int] = msgspec.field(name="more steps", default_factory=dict)  # template -> most in train


def read_file(path: Path | None, templates: Collection[str] = ()) -> File:
    """The splits of a file, none without one; `templates` may have a number of steps."""
    return File() if path is None else file_of(path, shallow(path, content(path)), templates)


def file_of(path: Path, text: bytes, templates: Collection[str] = ()) -> File:
    """The splits that a text of a file says."""
    try:
        found = msgspec.yaml.decode(text, type=File)
    except UNREADABLE as error:
        raise BadInput.at(path, f"{' '.join(str(error).split())}; expected `splits:` and `more steps:`") from error
    wrong = [name for name in found.more_steps if name not in templates]
    choices = f"choose from {', '.join(templates)}" if templates else "only videos have steps"
    refuse([Fault(f"{path}, more steps", f"expected a template, got {name!r}; {choices}") for name in wrong])
    return found


def added(domain: str, file: File, path: Path | None, language: PredicateLanguage, taken: set[str]) -> list[Split]:
    """The splits of plugins, then those of the user's file; `taken` are names of the benchmark's own."""
    plugged = PLUGGED[domain]
    found = own(plugged, plugged.places.__getitem__, language, taken)
    return found + own(file.splits, lambda name: f"{path}, {name}", language, {*taken, *plugged})


def own(
    splits: Mapping[str, Given], place_of: Callable[[str], str], language: PredicateLanguage, taken: set[str]
) -> list[Split]:
    """The splits of a file or of plugins; all faults of all predicates at once."""
    faults: list[Fault] = []
    found = []

    def predicate(text: str, place: str) -> Predicate | None:
        try:
            return read(text, language) if text else None
        except Wrong as wrong:
            faults.append(Fault(place, f"{text!r}: {wrong}"))
            return None

    for name, given in splits.items():
        place = place_of(name)
        texts = [given.held_out] if isinstance(given.held_out, str) else given.held_out
        held = [predicate(text, f"{place}, held out") for text in texts if text]
        train, test = predicate(given.train, f"{place}, train"), predicate(given.test, f"{place}, test")
        compositions = [HeldOutComposition(each, tuple(parts(each))) for each in held if each]
        if name in taken or not all(part.isalnum() for part in name.replace("_", "-").split("-")):
            wanted = f"expected a name of letters, digits and -, and none of {', '.join(sorted(taken))}"
            faults.append(Fault(place, wanted))
        if not texts:
            faults.append(Fault(place, "expected a predicate to hold out, got none"))
        if compositions:
            found.append(held_out(name, compositions, train, test))
    refuse(faults)
    return found
