"""Predicates over questions about videos: what is known from their columns alone."""

from dataclasses import dataclass

import numpy as np

from questree.stages.split.rows import QuestionRows, Truth
from questree.tables.questions import time_kind


@dataclass(frozen=True)
class OfTemplate:
    """What is known from the template alone."""

    name: str
    values: tuple[str, ...]
    holds_for: tuple[bool, ...]  # [template]

    def __str__(self) -> str:
        return f"{self.name}({', '.join(self.values)})"

    def holds(self, rows: QuestionRows) -> Truth:
        return np.asarray(np.array(self.holds_for)[rows.questions["template"].to_numpy()])


@dataclass(frozen=True)
class Answer:
    """The answer is one of these words."""

    values: tuple[str, ...]
    codes: tuple[frozenset[int], ...]  # [template] the answers these words are

    def __str__(self) -> str:
        return "answer(" + ", ".join(f'"{value}"' for value in self.values) + ")"

    def holds(self, rows: QuestionRows) -> Truth:
        table = np.zeros((len(self.codes), 256), bool)  # [template, answer]
        for template, codes in enumerate(self.codes):
            table[template, list(codes)] = True
        return np.asarray(table[rows.questions["template"].to_numpy(), rows.questions["answer"].to_numpy()])


@dataclass(frozen=True)
class Flags:
    """At least one of these flags is set."""

    name: str
    bits: int

    def __str__(self) -> str:
        return self.name

    def holds(self, rows: QuestionRows) -> Truth:
        return np.asarray((rows.questions["flags"].to_numpy() & np.uint8(self.bits)) > 0)


@dataclass(frozen=True)
class Time:
    """The time phrase is of one of these kinds."""

    kinds: tuple[str, ...]
    codes: tuple[int, ...]

    def __str__(self) -> str:
        return f"time({', '.join(self.kinds)})"

    def holds(self, rows: QuestionRows) -> Truth:
        return np.isin(time_kind(rows.questions["time"].to_numpy()), self.codes)


@dataclass(frozen=True)
class Steps:
    """Reasoning steps compared with a number."""

    relation: str
    number: int

    def __str__(self) -> str:
        return f"(steps {self.relation} {self.number})"

    def holds(self, rows: QuestionRows) -> Truth:
        steps = rows.questions["steps"].to_numpy().astype(np.int64)
        return np.asarray(COMPARE[self.relation](steps, self.number))


COMPARE = {
    ">": np.greater,
    "<": np.less,
    ">=": np.greater_equal,
    "<=": np.less_equal,
    "==": np.equal,
    "!=": np.not_equal,
}


@dataclass(frozen=True)
class MoreSteps:
    """More steps than the template's threshold."""

    most: tuple[int, ...]  # [template]

    def __str__(self) -> str:
        return "more_steps"

    def holds(self, rows: QuestionRows) -> Truth:
        steps, template = (rows.questions[name].to_numpy() for name in ("steps", "template"))
        return np.asarray(steps > np.array(self.most)[template])
