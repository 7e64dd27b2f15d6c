"""A model's answers to one DAG: what is wrong, the way of an error, contradictions, and all that in words."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from questree.metrics.answered import Answered, Missing, beside
from questree.rules import sentence
from questree.show.dag import Dag, Opened
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


def judged(dag: Dag, shard: Opened, model: str, said: Sequence[str | None], missing: Missing = "error") -> Judged:
    """`shard` is the DAG alone (Opened.only), `said` its predictions [node]."""
    answers = answered(shard, said, missing)
    right = [
        None if word is None or row["answer"] is None else word == row["answer"]
        for word, row in zip(said, dag.rows, strict=True)
    ]
    edges = [(node, child) for node, parts in dag.edges.items() for _, child in parts]
    return Judged(model, list(said), right, list(broken_in(answers)), edges)


def answered(shard: Opened, said: Sequence[str | None], missing: Missing) -> Answered:
    """Answers to the nodes of one DAG, as rules read them; with `skip` they do not look at what was not answered."""
    number = dict(shard.number)
    spoken = np.array([NOTHING if word is None else number.setdefault(word, len(number)) for word in said], np.int32)
    return beside(shard.read, spoken, number, missing)


def broken_in(model: Answered) -> Iterator[Broken]:
    """Every rule broken by the answers of one DAG."""
    found = model.hierarchies
    child, columns = found.edges["child"].to_numpy(), [each.to_numpy() for each in found.composed.get_columns()]
    for rule, rows in broken_rules(model):
        for parent, composition, first, count in zip(*(each[rows].tolist() for each in columns), strict=True):
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
    for name, rows, applies, passes in checks(model):
        yield name, rows[applies & ~passes]


def checks(model: Answered) -> Iterator[tuple[str, NDArray[np.int64], NDArray[np.bool_], NDArray[np.bool_]]]:
    """(rule, rows in `composed`, [row] does it apply, [row] is it kept)."""
    for rule, rows, case in model.read:
        for name, (applies, passes) in rule.checks(case).items():
            yield name, rows, applies, passes


def reason(dag: Dag, found: Judged) -> str:
    return " ".join(filter(None, [error(dag, found), contradiction(dag, found)]))


def error(dag: Dag, found: Judged) -> str:
    """How the answer to the question comes about, then every origin of an error that was not named."""
    parts = [child for _, child in dag.edges.get(0, ())]
    wrong = [child for child in dict.fromkeys(parts) if found.right[child] is False]
    if found.right[0] is None:
        return _more("There is no prediction for the question.", dag, found, [])
    if found.right[0]:
        told = f"Right for the wrong reasons: {listed(dag, found, wrong)}." if wrong else "The answer is right."
        return _more(told, dag, found, wrong)
    if not wrong:
        return _more(_last_step(dag, found), dag, found, [0])
    way = path(dag, found)
    begin = way[-1][1]
    labels = [label for label, _ in reversed(way)]
    told = f"The error begins at {quoted(dag, found, begin)} and reaches the question by {', then '.join(labels)}."
    return _more(told, dag, found, [begin])


def _more(told: str, dag: Dag, found: Judged, named: list[int]) -> str:
    others = [node for node in found.origins if node not in named]
    also = "also " if len(others) < len(found.origins) else ""
    return f"{told} Errors {also}begin at {listed(dag, found, others)}." if others else told


def _last_step(dag: Dag, found: Judged) -> str:
    """No part is wrong; one without a truth is not said to be right."""
    parts = {child for _, child in dag.edges.get(0, ())}
    known = sum(found.right[part] is True for part in parts)
    steps = ", ".join(dict.fromkeys(label for label, _ in dag.edges.get(0, ())))
    if not known:
        return f"The question is answered wrong, and no part of it can be judged ({steps})."
    whose = {1: "The part is", 2: "Both parts are"}.get(known, f"All {known} parts are")
    if known < len(parts):
        whose = f"{known} of {len(parts)} parts can be judged and {'is' if known == 1 else 'are'}"
    return f"{whose} right and the whole is not: it fails in the last step ({steps})."


def path(dag: Dag, found: Judged) -> list[tuple[str, int]]:
    """The shortest way down from the question to where an error begins: (composition, sub-question)."""
    ways: list[list[tuple[str, int]]] = [[]]
    seen = {0}
    for way in ways:  # grows while it is walked
        node = way[-1][1] if way else 0
        if node in found.origins:
            return way
        for label, child in dag.edges.get(node, ()):
            if (node, child) in found.error_path and child not in seen:
                seen.add(child)
                ways.append([*way, (label, child)])
    return ways[-1]


def contradiction(dag: Dag, found: Judged) -> str:
    """The clash nearest to the question."""
    if not found.broken:
        return ""
    first = min(found.broken, key=lambda each: (each.parent, each.rule))
    return f"The model contradicts itself ({first.composition}: {first.meaning}): {clash(dag, found, first)}."


def clash(dag: Dag, found: Judged, broken: Broken) -> str:
    said = [f"“{found.said[node]}” to {text(dag, node)}" for node in dict.fromkeys([broken.parent, *broken.parts])]
    return f"it says {', '.join(said[:-1])} and {said[-1]}"


def listed(dag: Dag, found: Judged, nodes: list[int]) -> str:
    return ", ".join(quoted(dag, found, node) for node in nodes)


def quoted(dag: Dag, found: Judged, node: int) -> str:
    return f"{text(dag, node)} (“{found.said[node]}” instead of “{dag.rows[node]['answer']}”)"


def text(dag: Dag, node: int) -> str:
    return "the question" if node == 0 else f"“{dag.rows[node]['text']}”"
