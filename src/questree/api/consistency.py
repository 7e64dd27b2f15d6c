"""Which rules a set of answers to one DAG breaks, as values: no run of a benchmark, no file."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

import polars as pl

from questree.api.dags import Dag
from questree.faults import Fault, refuse
from questree.show import cards
from questree.show.judged import Broken, Judged, answered, checks, judged, reason

Answers = Mapping[Any, str | None] | Sequence[str | None]  # by number or text of the question, or in order


def consistency(dag: Dag, answers: Answers) -> "Consistency":
    """Check answers to a question and its sub-questions against the rules that hold between them.

    Parameters
    ----------
    dag
        Of a question: `run[id].dag`.
    answers
        By number of the node, by text of the question, or in the order of `dag.nodes`; what is left out or None is
        not answered, and no rule is about it.

    >>> dag = run["07QFE-0"].dag
    >>> found = questree.consistency(dag, ["yes", "yes", "yes", "no"])
    >>> found
    <Consistency: 0 of 2 checks kept, 2 broken>
    >>> found.share, found.right
    (0.0, [False, True, True, True])
    >>> found.frame().select("rule", "composition", "parts", "meaning")
    shape: (2, 4)
    ┌─────────────────┬─────────────┬───────────┬─────────────────────────────────┐
    │ rule            ┆ composition ┆ parts     ┆ meaning                         │
    │ ---             ┆ ---         ┆ ---       ┆ ---                             │
    │ str             ┆ str         ┆ list[u32] ┆ str                             │
    ╞═════════════════╪═════════════╪═══════════╪═════════════════════════════════╡
    │ Interaction Yes ┆ Interaction ┆ [3]       ┆ a yes needs every sub-question… │
    │ Interaction No  ┆ Interaction ┆ [3]       ┆ a sub-question that is no make… │
    └─────────────────┴─────────────┴───────────┴─────────────────────────────────┘
    """
    said = in_order(dag, answers)
    verdict = judged(dag.said, dag.opened, "answers", said, "skip")
    applied = sum(int(applies.sum()) for _, _, applies, _ in checks(answered(dag.opened, said, "skip")))
    return Consistency(dag, verdict, applied)


def in_order(dag: Dag, answers: Answers) -> list[str | None]:
    """[node] what was said."""
    if isinstance(answers, str) or not isinstance(answers, Mapping | Sequence | pl.Series):
        refuse([Fault("answers", f"expected a dict or a list, got {type(answers).__name__}")])
    if not isinstance(answers, Mapping):
        given = list(answers)
        refuse([Fault("answers", f"expected {len(dag)} answers, got {len(given)}")] * (len(given) != len(dag)))
        return [None if each is None else str(each) for each in given]
    place: dict[int | str, int] = {node.question: node.number for node in reversed(dag.nodes)}
    place |= {node.number: node.number for node in dag.nodes}
    strange = [Fault("answers", f"no question {name!r} in this DAG") for name in answers if name not in place]
    refuse(strange)
    found: list[str | None] = [None] * len(dag)
    for name, said in answers.items():
        found[place[name]] = None if said is None else str(said)
    return found


@dataclass(frozen=True, repr=False)
class Consistency:
    """What answers to a DAG say about each other and about the truth.

    >>> found = questree.consistency(run["07QFE-0"].dag, {0: "no", 3: "no"})
    >>> bool(found), found.checked, found.kept
    (True, 1, 1)
    """

    dag: Dag
    verdict: Judged
    checked: int  # checks of rules that apply

    @property
    def broken(self) -> list[Broken]:
        """Every rule that is broken: rule, composition, parent and parts (numbers of nodes), meaning."""
        return self.verdict.broken

    @property
    def kept(self) -> int:
        """Number of checks that pass."""
        return self.checked - len(self.broken)

    @property
    def share(self) -> float | None:
        """Share of the checks that pass, from 0 to 1; None if no rule applies."""
        return self.kept / self.checked if self.checked else None

    @property
    def right(self) -> list[bool | None]:
        """[node] is its answer right? None without an answer or a truth."""
        return self.verdict.right

    @property
    def reason(self) -> str:
        """In words: where an error begins, and how the answers contradict each other."""
        return reason(self.dag.said, self.verdict)

    def frame(self) -> pl.DataFrame:
        """A row per broken rule: parent, question, rule, composition, parts, meaning.

        >>> questree.consistency(run["07QFE-0"].dag, ["yes", "yes", "yes", "no"]).frame()["rule"].to_list()
        ['Interaction Yes', 'Interaction No']
        """
        rows = [
            (one.parent, self.dag[one.parent].question, one.rule, one.composition, list(one.parts), one.meaning)
            for one in self.broken
        ]
        schema = {"parent": pl.UInt32, "question": pl.String, "rule": pl.String, "composition": pl.String}
        return pl.DataFrame(rows, schema=schema | {"parts": pl.List(pl.UInt32), "meaning": pl.String}, orient="row")

    def __bool__(self) -> bool:
        return not self.broken

    def __repr__(self) -> str:
        return f"<Consistency: {self.kept} of {self.checked} checks kept, {len(self.broken)} broken>"

    def _repr_html_(self) -> str:
        return f"<div><p>{escape(self.reason)}</p>{cards.notebook(self.dag.said, self.verdict, self.dag.kinds)}</div>"
