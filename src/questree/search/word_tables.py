"""What is known about words: which say nothing, which exclude each other, which may be true together."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any

import yaml  # type: ignore[import-untyped]

from questree.faults import BadInput, Fault, refuse
from questree.tables.store import content, shallow


class Pairs(dict[str, frozenset[str]]):
    """Word -> the words that stand to it in some way; none for a word in no list."""

    def __missing__(self, word: str) -> frozenset[str]:
        return frozenset()


IGNORE, ONTOLOGY, GROUPS = "ignore.yaml", "ontology.yaml", "adversarial_groups.yaml"
CONTRADICTING, ENTAILING, ENTAILING_NOUNS, DISJOINT, NOT_DISJOINT = (
    "contradicting_predicted_attributes",
    "entailing_attributes",
    "entailing_predicted_nouns",
    "disjoint_predicted_relations",
    "not_disjoint_relations",
)
BOTH_WAYS = (CONTRADICTING, ENTAILING, ENTAILING_NOUNS)  # each pair is listed once
# pairs annotated by hand: no rule asks for them, but tables are built from them
ANNOTATED_ATTRIBUTES, ANNOTATED_RELATIONS, ANNOTATED_NOUNS, ANNOTATED_OTHER_NOUNS = (
    "contradicting_attributes",
    "disjoint_relations",
    "entailing_nouns",
    "contradicting_nouns",
)
ANNOTATED = (ANNOTATED_ATTRIBUTES, ANNOTATED_RELATIONS, ANNOTATED_NOUNS, ANNOTATED_OTHER_NOUNS, ENTAILING, NOT_DISJOINT)
HEADINGS = tuple(dict.fromkeys((*BOTH_WAYS, DISJOINT, NOT_DISJOINT, *ANNOTATED)))


@dataclass(frozen=True)
class WordTables:
    ignored_nouns: frozenset[str]
    ignored_relations: frozenset[str]
    ignored_pairs: frozenset[tuple[str, str]]  # (relation, name of its target)
    attribute_group: Mapping[str, str]  # red -> color
    noun_classes: Mapping[str, tuple[str, ...]]  # animal -> (dog, cat, ...)
    contradicting: Pairs  # attributes a thing with this one cannot have
    entailing_attributes: Pairs  # other attributes of which this one may be said too
    entailing_nouns: Pairs  # other names of things that may be called by this one
    disjoint: Pairs  # relations that exclude this one, so they may stand in for it in a distractor
    not_disjoint: Pairs  # other relations of which this one may be true as well

    @classmethod
    def read(cls, folder: Path) -> "WordTables":
        """A folder with ignore.yaml, ontology.yaml and adversarial_groups.yaml, each perhaps with .gz behind."""
        if not folder.is_dir():
            raise BadInput.at(folder, f"no such folder; expected one with {IGNORE}, {ONTOLOGY} and {GROUPS}")
        faults: list[Fault] = []
        ignore = _lists(folder, IGNORE, ("nouns", "relations", "pairs"), faults)
        ontology = _ontology(folder, faults)
        groups = _lists(folder, GROUPS, HEADINGS, faults)
        ignored = _split(ignore["pairs"], f"{folder / IGNORE}, pairs", faults)
        pairs = {name: _split(groups[name], f"{folder / GROUPS}, {name}", faults) for name in groups}
        refuse(faults)
        table = {name: _table(pairs[name], name in BOTH_WAYS) for name in (*BOTH_WAYS, DISJOINT, NOT_DISJOINT)}
        return cls(
            ignored_nouns=frozenset(ignore["nouns"]),
            ignored_relations=frozenset(ignore["relations"]),
            ignored_pairs=frozenset(ignored),
            attribute_group={word: group for group, words in ontology["attributes"].items() for word in words},
            noun_classes={group: tuple(words) for group, words in ontology["objects"].items()},
            contradicting=table[CONTRADICTING],
            entailing_attributes=table[ENTAILING],
            entailing_nouns=table[ENTAILING_NOUNS],
            disjoint=table[DISJOINT],
            not_disjoint=table[NOT_DISJOINT],
        )


@cache
def default_words() -> WordTables:
    """The tables shipped with the package."""
    with folder_of_words(None) as folder:
        return WordTables.read(folder)


def words_of(folder: Path | None) -> WordTables:
    """The tables of a folder, or the shipped ones."""
    return default_words() if folder is None else WordTables.read(folder)


@contextmanager
def folder_of_words(folder: Path | None) -> Iterator[Path]:
    """The folder, or that of the shipped tables."""
    with as_file(files("questree.benchmarks.covr") / "words") as shipped:
        yield shipped if folder is None else folder


def _table(pairs: Iterable[tuple[str, str]], both_ways: bool) -> Pairs:
    found: dict[str, set[str]] = defaultdict(set)
    for a, b in pairs:
        found[a].add(b)
        if both_ways:
            found[b].add(a)
    return Pairs({word: frozenset(others) for word, others in found.items()})


def annotations(folder: Path) -> dict[str, set[tuple[str, str]]]:
    """Heading -> the pairs that people annotated."""
    faults: list[Fault] = []
    groups = _lists(folder, GROUPS, HEADINGS, faults)
    found = {name: set(_split(groups[name], f"{folder / GROUPS}, {name}", faults)) for name in ANNOTATED}
    refuse(faults)
    return found


def content_of(folder: Path, name: str) -> bytes:
    """The text of one of the files, which may be there as .gz."""
    path = next((p for p in (folder / name, folder / f"{name}.gz") if p.is_file()), None)
    if path is None:
        raise BadInput.at(folder, f"no {name} (or {name}.gz) in this folder of word tables")
    return content(path)


def _lists(folder: Path, name: str, wanted: tuple[str, ...], faults: list[Fault]) -> dict[str, list[str]]:
    """{heading: words} for every heading; a heading that is not there has no words."""
    given = _mapping(folder, name, wanted, faults)
    found = {heading: given.get(heading) or [] for heading in wanted}
    for heading, words in found.items():
        if not _is_words(words):
            faults.append(Fault(f"{folder / name}, {heading}", "expected a list of words"))
            found[heading] = []
    return found


def _ontology(folder: Path, faults: list[Fault]) -> dict[str, dict[str, list[str]]]:
    given = _mapping(folder, ONTOLOGY, ("attributes", "objects"), faults)
    found = {heading: given.get(heading) or {} for heading in ("attributes", "objects")}
    for heading, groups in found.items():
        wrong = groups if not isinstance(groups, dict) else [g for g, words in groups.items() if not _is_words(words)]
        if wrong:
            faults.append(Fault(f"{folder / ONTOLOGY}, {heading}", "expected groups, each with a list of words"))
            found[heading] = {}
    return found


def _is_words(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(word, str) for word in value)


def _mapping(folder: Path, name: str, headings: tuple[str, ...], faults: list[Fault]) -> dict[str, Any]:
    try:
        # every scalar a string: "on", "off" and "no" are words here
        text = shallow(folder / name, content_of(folder, name))
        found = yaml.load(text, Loader=getattr(yaml, "CBaseLoader", yaml.BaseLoader)) or {}
    except BadInput as bad:
        faults += bad.faults
        return {}
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        faults.append(Fault(str(folder / name), f"cannot be read as YAML ({' '.join(str(error).split())})"))
        return {}
    if not isinstance(found, dict):
        faults.append(Fault(str(folder / name), f"expected the headings {', '.join(headings)}"))
        return {}
    for key in (key for key in found if key not in headings):
        faults.append(Fault(str(folder / name), f"unknown heading {key!r}; known are {', '.join(headings)}"))
    return found


def _split(pairs: list[str], place: str, faults: list[Fault]) -> list[tuple[str, str]]:
    found = []
    for pair in pairs:
        a, comma, b = pair.partition(",")
        if not (comma and a.strip() and b.strip()) or "," in b:
            faults.append(Fault(place, f"expected two words with one comma between, got {pair!r}"))
        else:
            found.append((a.strip(), b.strip()))
    return found
