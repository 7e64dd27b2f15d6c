"""What is known about words: which say nothing, which exclude each other, which may be true together."""

import gzip
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any

import yaml

from questree.faults import BadInput, Fault, refuse

Pairs = Mapping[str, frozenset[str]]  # word -> the words that stand to it in some way

IGNORE, ONTOLOGY, GROUPS = "ignore.yaml", "ontology.yaml", "adversarial_groups.yaml"
CONTRADICTING, ENTAILING, ENTAILING_NOUNS, DISJOINT, NOT_DISJOINT = (
    "contradicting_predicted_attributes",
    "entailing_attributes",
    "entailing_predicted_nouns",
    "disjoint_predicted_relations",
    "not_disjoint_relations",
)
BOTH_WAYS = (CONTRADICTING, ENTAILING, ENTAILING_NOUNS)  # each pair is listed once
UNUSED = ("contradicting_attributes", "contradicting_nouns", "disjoint_relations", "entailing_nouns")  # no rule asks


@dataclass(frozen=True)
class Words:
    ignored_nouns: frozenset[str]
    ignored_relations: frozenset[str]
    ignored_pairs: frozenset[tuple[str, str]]  # (relation, name of its target)
    attribute_group: Mapping[str, str]  # red -> color
    noun_classes: Mapping[str, tuple[str, ...]]  # animal -> (dog, cat, ...)
    contradicting_attributes: Pairs
    entailing_attribute_words: Pairs
    entailing_noun_words: Pairs
    disjoint_relations: Pairs
    not_disjoint_relations: Pairs

    @classmethod
    def read(cls, folder: Path) -> "Words":
        """A folder with ignore.yaml, ontology.yaml and adversarial_groups.yaml, each perhaps with .gz behind."""
        if not folder.is_dir():
            raise BadInput.at(folder, f"no such folder; wanted one with {IGNORE}, {ONTOLOGY} and {GROUPS}")
        faults: list[Fault] = []
        ignore = _lists(folder, IGNORE, ("nouns", "relations", "pairs"), (), faults)
        ontology = _ontology(folder, faults)
        groups = _lists(folder, GROUPS, (*BOTH_WAYS, DISJOINT, NOT_DISJOINT), UNUSED, faults)
        ignored = _split(ignore["pairs"], f"{folder / IGNORE}, pairs", faults)
        pairs = {name: _split(groups[name], f"{folder / GROUPS}, {name}", faults) for name in groups}
        refuse(faults)
        table = {name: _table(pairs[name], name in BOTH_WAYS) for name in pairs}
        return cls(
            ignored_nouns=frozenset(ignore["nouns"]),
            ignored_relations=frozenset(ignore["relations"]),
            ignored_pairs=frozenset(ignored),
            attribute_group={word: group for group, words in ontology["attributes"].items() for word in words},
            noun_classes={group: tuple(words) for group, words in ontology["objects"].items()},
            contradicting_attributes=table[CONTRADICTING],
            entailing_attribute_words=table[ENTAILING],
            entailing_noun_words=table[ENTAILING_NOUNS],
            disjoint_relations=table[DISJOINT],
            not_disjoint_relations=table[NOT_DISJOINT],
        )

    def contradicting(self, attribute: str) -> frozenset[str]:
        """Attributes a thing with this one cannot have; empty for a word in no list."""
        return self.contradicting_attributes.get(attribute, frozenset())

    def entailing_attributes(self, attribute: str) -> frozenset[str]:
        """Other attributes of which this one may be said too."""
        return self.entailing_attribute_words.get(attribute, frozenset())

    def entailing_nouns(self, noun: str) -> frozenset[str]:
        """Other names of things that may be called by this one."""
        return self.entailing_noun_words.get(noun, frozenset())

    def disjoint(self, relation: str) -> frozenset[str]:
        """Relations that exclude this one, so they may stand in for it in a distractor."""
        return self.disjoint_relations.get(relation, frozenset())

    def not_disjoint(self, relation: str) -> frozenset[str]:
        """Other relations of which this one may be true as well."""
        return self.not_disjoint_relations.get(relation, frozenset())


@cache
def default_words() -> Words:
    """The tables shipped with the package."""
    with as_file(files("questree.benchmarks.covr") / "words") as folder:
        return Words.read(folder)


def _table(pairs: Iterable[tuple[str, str]], both_ways: bool) -> Pairs:
    found: dict[str, set[str]] = defaultdict(set)
    for a, b in pairs:
        found[a].add(b)
        if both_ways:
            found[b].add(a)
    return {word: frozenset(others) for word, others in found.items()}


def _lists(
    folder: Path, name: str, wanted: tuple[str, ...], unused: tuple[str, ...], faults: list[Fault]
) -> dict[str, list[str]]:
    """{heading: words} for every heading; a heading that is not there has no words."""
    content = _mapping(folder, name, (*wanted, *unused), faults)
    found = {heading: content.get(heading) or [] for heading in wanted}
    for heading, words in found.items():
        if not _is_words(words):
            faults.append(Fault(f"{folder / name}, {heading}", "wanted a list of words"))
            found[heading] = []
    return found


def _ontology(folder: Path, faults: list[Fault]) -> dict[str, dict[str, list[str]]]:
    content = _mapping(folder, ONTOLOGY, ("attributes", "objects"), faults)
    found = {heading: content.get(heading) or {} for heading in ("attributes", "objects")}
    for heading, groups in found.items():
        wrong = groups if not isinstance(groups, dict) else [g for g, words in groups.items() if not _is_words(words)]
        if wrong:
            faults.append(Fault(f"{folder / ONTOLOGY}, {heading}", "wanted groups, each with a list of words"))
            found[heading] = {}
    return found


def _is_words(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(word, str) for word in value)


def _mapping(folder: Path, name: str, headings: tuple[str, ...], faults: list[Fault]) -> dict[str, Any]:
    path = next((p for p in (folder / name, folder / f"{name}.gz") if p.is_file()), None)
    if path is None:
        faults.append(Fault(str(folder), f"no {name} (or {name}.gz) in this folder of word tables"))
        return {}
    try:
        data = path.read_bytes()
        content = _parsed(gzip.decompress(data) if path.suffix == ".gz" else data)
    except (OSError, EOFError, yaml.YAMLError) as error:
        faults.append(Fault(str(path), f"cannot be read as YAML ({' '.join(str(error).split())})"))
        return {}
    if not isinstance(content, dict):
        faults.append(Fault(str(path), f"wanted the headings {', '.join(headings)}"))
        return {}
    unknown = [key for key in content if key not in headings]
    faults += [Fault(str(path), f"unknown heading {key!r}; known are {', '.join(headings)}") for key in unknown]
    return content


def _parsed(data: bytes) -> Any:
    """Every scalar a string: "on", "off" and "no" are words here."""
    return yaml.load(data, Loader=getattr(yaml, "CBaseLoader", yaml.BaseLoader)) or {}


def _split(pairs: list[str], place: str, faults: list[Fault]) -> list[tuple[str, str]]:
    found = []
    for pair in pairs:
        a, comma, b = pair.partition(",")
        if not (comma and a.strip() and b.strip()) or "," in b:
            faults.append(Fault(place, f"wanted two words with one comma between, found {pair!r}"))
        else:
            found.append((a.strip(), b.strip()))
    return found
