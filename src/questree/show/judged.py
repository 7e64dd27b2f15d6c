"""A model's answers to one DAG: what is wrong, the way an error takes, and where the model contradicts itself."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from questree.metrics.answered import Answered, beside
from questree.rules import sentence
from questree.show.dag import Dag
from questree.show.opened import Opened
from questree.tables.hierarchies import NOTHING

Edge = tuple[int, int]  # parent, sub-question


@dataclass(frozen=True)
class Broken:
    """A consistency rule that the model's own answers break."""

    rule: str
    composition: str
    parent: int
    parts: tuple[int, ...]  # sub-questions whose answers do not go with the parent's

    @property
    def meaning(self) -> str:
        return sentence(self.rule)


@dataclass(frozen=True)
class Judged:
    model: str
    said: list[str | None]  # [node] None without a prediction
    right: list[bool | None]  # [node] None without a prediction or a truth
    broken: list[Broken]
    edges: list[Edge]

    @cached_property
    def error_path(self) -> set[Edge]:
        """Edges between wrong answers."""
        return {(a, b) for a, b in self.edges if self.right[a] is False and self.right[b] is False}

    @cached_property
    def contradiction(self) -> set[Edge]:
        return {(each.parent, part) for each in self.broken for part in each.parts}

    @cached_property
    def origins(self) -> list[int]:
        """Wrong answers none of whose sub-questions is wrong: where errors begin."""
        passed = {parent for parent, _ in self.error_path}
        return [node for node, right in enumerate(self.right) if right is False and node not in passed]


def judged(dag: Dag, shard: Opened, model: str, said: Sequence[str | None]) -> Judged:
    """`shard` is the DAG alone (Opened.only), `said` its predictions [node]."""
    number = dict(shard.number)
    spoken = np.array([NOTHING if word is None else number.setdefault(word, len(number)) for word in said], np.int32)
    right = [
        None if word is None or row["answer"] is None else word == row["answer"]
        for word, row in zip(said, dag.rows, strict=True)
    ]
    edges = [(node, child) for node, parts in dag.edges.items() for _, child in parts]
    return Judged(model, list(said), right, list(broken_in(beside(shard.hierarchies(), spoken, number))), edges)


def broken_in(model: Answered) -> Iterator[Broken]:
    """Every rule broken by the answers of one DAG."""
    found = model.hierarchies
    child = found.edges["child"].to_numpy()
    for rule, rows in broken_rules(model):
        for parent, composition, first, count in found.composed[rows].iter_rows():
            name = found.compositions[composition]
            yield Broken(rule, name, parent, against(model, name, child[first : first + count].tolist()))


def against(model: Answered, composition: str, parts: list[int]) -> tuple[int, ...]:
    """Of the parts of a broken rule those that break it: where all should be yes, the ones that are not."""
    if model.scheme.rules[composition].parts == "yes or no":
        said = model.prediction[parts]
        not_yes = [part for part, word in zip(parts, said, strict=True) if word != model.words["yes"]]
        return tuple(part for part in not_yes or parts if model.yes_no[part])
    return tuple(parts)


def broken_rules(model: Answered) -> Iterator[tuple[str, NDArray[np.int64]]]:
    """(rule, rows in `composed` whose answers break it)."""
    for rule, rows, case in model.read:
        for name, (applies, passes) in rule.checks(case).items():
            yield name, rows[applies & ~passes]
