"""Verifiable rewards: what a model answers to questions and their sub-questions as numbers from 0 to 1, by columns."""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from os import PathLike
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from questree.api.asked_dags import AskedDags
from questree.api.read_traces import read_trace
from questree.columns.joins import listed, starts
from questree.faults import BadInput, Fault, refuse
from questree.metrics.answered import Answered, Missing, beside
from questree.metrics.cells import Floats, share
from questree.metrics.dags import checked, reasons, usable_parts
from questree.models.policies import POLICIES, Policy, understood
from questree.models.predictions import PREDICTION
from questree.rules import scheme_of
from questree.scoring.compared import Scoring, run_reader
from questree.tables.hierarchies import NOTHING
from questree.tables.run import Run

Ints = NDArray[Any]
StrPath = str | PathLike[str]
Answers = pl.DataFrame | Iterable[Mapping[str, Any]] | Mapping[str, Any]  # the last: id -> whole answer
GIVEN: dict[str, Any] = {"id": pl.String, "answer": pl.String, "steps": pl.List(pl.String)}
COUNTS = ("steps_right", "steps_counted", "rules_kept", "rules_checked", "wrongly_right", "right")


@dataclass(frozen=True)
class RewardWeights:
    """How much each part of a reward counts; a part that there is nothing to say about does not.

    >>> questree.RewardWeights(rules=0.6)
    RewardWeights(correct=0.4, steps=0.2, rules=0.6, reasons=0.2)
    """

    correct: float = 0.4
    steps: float = 0.2
    rules: float = 0.2
    reasons: float = 0.2

    def __post_init__(self) -> None:
        wrong = [Fault(name, f"expected at least 0, got {own}") for name, own in asdict(self).items() if not own >= 0]
        refuse(wrong or ([] if sum(asdict(self).values()) else [Fault("weights", "expected one above 0")]))

    def _mean(self, parts: Mapping[str, Floats]) -> Floats:
        """[row] the weighted mean of the parts that are there."""
        weight, value = (np.array(list(own)) for own in (asdict(self).values(), (parts[name] for name in asdict(self))))
        there = np.where(np.isnan(value), 0.0, weight[:, None])
        return share((there * np.nan_to_num(value)).sum(axis=0), there.sum(axis=0))


class AnsweredDags(NamedTuple):
    """A batch of answers, each with the DAG of its question."""

    ids: pl.Series
    model: Answered
    keys: Ints  # [node]
    top: Ints  # [answer] the node of its question


class Rewards:
    """The questions of a run, ready to say what answers to them are worth. `run.rewards()` gives one.

    Answers are mappings with `id`, `answer` and, if there are any, `steps`: the answers to its sub-questions, in the
    order of `run.epoch()`, or by their ids or texts; or with `id` and `completion`, a text that has all of it. Or they
    are a table with the columns `id`, `answer`, `steps`, or a mapping of ids to whole answers.

    Parameters
    ----------
    run
        The run folder, or a run.
    split
        Only questions of this split.
    policy
        How free text is read: exact, vqa or lenient.
    weights
        How much each part counts.
    missing
        Sub-questions without an answer are left out (skip) or wrong; a question without one is always wrong.
    benchmark
        The benchmark, if the run holds several.

    >>> reward = questree.Rewards("run", policy="lenient")
    >>> reward
    <Rewards of 198 questions, policy lenient>
    >>> reward([{"id": "07QFE-0", "answer": "No, they were not."}])["reward"].to_list()
    [1.0]
    """

    def __init__(
        self,
        run: StrPath,
        split: str | None = None,
        *,
        policy: Policy = "exact",
        weights: RewardWeights | None = None,
        missing: Missing = "skip",
        benchmark: str = "",
    ):
        known = {"policy": (policy, POLICIES), "missing": (missing, ("skip", "wrong"))}
        strange = {name: own for name, own in known.items() if own[0] not in own[1]}
        told = {name: f"got {own!r}; choose from {', '.join(there)}" for name, (own, there) in strange.items()}
        refuse([Fault(name, f"expected a known one, {why}") for name, why in told.items()])
        asked, reader = run_reader(Run.at(run), split, benchmark, Scoring(policy=policy))
        self.dags, self.policy, self.missing = AskedDags(asked), policy, missing
        self.weights, self.reader = weights or RewardWeights(), reader.reader
        self.scheme = scheme_of(asked.hierarchies.types)
        self.number = {word: at for at, word in enumerate(asked.hierarchies.words)}

    def __len__(self) -> int:
        return len(self.dags.ids)

    def __repr__(self) -> str:
        return f"<Rewards of {len(self):,} questions, policy {self.policy}>"

    def __call__(self, answers: Answers) -> pl.DataFrame:
        """A row per answer: its reward and the parts, all from 0 to 1, what they are shares of, and broken rules.

        >>> run.rewards()({"07QFE-0": "no", "07QFE-200": "yes"}).select("id", "reward", "correct").rows()
        [('07QFE-0', 1.0, 1.0), ('07QFE-200', 0.0, 0.0)]
        """
        asked = self._answered(answers)
        model, dag, rows = asked.model, asked.model.column("dag").astype(np.int64), len(asked.ids)
        step = model.scored & model.answered
        step[asked.top] = False
        node, rule, passed = checked(model)
        parent, wrong = reasons(model, usable_parts(model))
        parent, wrong = (own[model.correct[parent]] for own in (parent, wrong))
        counted = (step & model.correct, step, node[passed], node, parent[wrong > 0], parent)
        counts = {name: np.bincount(dag[of], minlength=rows) for name, of in zip(COUNTS, counted, strict=True)}
        shares = {
            "correct": np.where(model.answered[asked.top], model.correct[asked.top].astype(float), np.nan),
            "steps": share(counts["steps_right"], counts["steps_counted"]),
            "rules": share(counts["rules_kept"], counts["rules_checked"]),
            "wrong_reasons": share(counts["wrongly_right"], counts["right"]),
        }
        reward = self.weights._mean(shares | {"reasons": 1 - shares["wrong_reasons"]})
        numbers = {name: pl.Series(own).fill_nan(None) for name, own in {"reward": reward, **shares}.items()}
        failed = broken(dag[node[~passed]], rule[~passed], model, rows)
        return pl.DataFrame({"id": asked.ids, **numbers, **counts, "broken": failed})

    def explain(self, answer: Mapping[str, Any]) -> pl.DataFrame:
        """One answer step by step, the question last: what was asked, the truth, what was said, the rules it breaks.

        >>> reward = run.rewards()
        >>> said = {"Does a bag exist?": "no", "Is the person interacting with something?": "yes"}
        >>> told = reward.explain({"id": "07QFE-0", "answer": "yes", "steps": said})
        >>> told.select("answer", "said", "right", "broken").rows()
        [(None, 'no', None, []), ('yes', None, None, []), ('yes', 'yes', True, []),
         ('no', 'yes', False, ['Interaction Yes', 'Interaction No'])]
        """
        asked = self._answered([answer])
        model, (node, rule, passed) = asked.model, checked(asked.model)
        words = pl.Series([*model.words.number, None], dtype=pl.String)  # NOTHING is the last
        truth, said = (words.gather(own % len(words)) for own in (model.column("answer"), model.prediction))
        right = pl.Series(model.correct).set(truth.is_null() | said.is_null(), None)
        return pl.DataFrame(
            {
                "id": self.dags.hierarchies.keys.gather(asked.keys),
                "question": self.dags.texts(asked.keys),
                "answer": truth,
                "said": said,
                "right": right,
                "broken": broken(node[~passed], rule[~passed], model, len(truth)),
            }
        )

    def _answered(self, answers: Answers) -> "AnsweredDags":
        given = self._table(answers)
        dag = self.dags.at(given["id"])
        taken = self.dags.hierarchies.taken(dag)
        begin, keys = starts(taken.nodes["dag"].to_numpy(), len(dag)), taken.nodes["key"].to_numpy()
        said, number = self._words(given, keys, begin)
        row = pl.int_range(pl.len(), dtype=pl.UInt32)  # every answer is one by itself, whatever the others say
        own = replace(taken, nodes=taken.nodes.with_columns(text=row, key=row))
        return AnsweredDags(given["id"], beside(own, said, number, self.missing), keys, begin[1:] - 1)

    def _table(self, answers: Answers) -> pl.DataFrame:
        """id, answer, steps: in the order of the question's own, null where there is no answer."""
        if isinstance(answers, Mapping):
            answers = [{"id": id, "answer": answer} for id, answer in answers.items()]
        if not isinstance(answers, pl.DataFrame):
            rows = [self._row(at, each) for at, each in enumerate(answers)]
            answers = pl.DataFrame(rows, schema=GIVEN)
        lacking = [name for name in ("id", "answer") if name not in answers.columns]
        refuse([Fault("answers", f"expected a column {name}, got {', '.join(answers.columns)}") for name in lacking])
        steps = pl.col("steps") if "steps" in answers.columns else pl.lit(None)
        return answers.select(pl.col("id", "answer").cast(pl.String), steps.alias("steps").cast(GIVEN["steps"]))

    def _row(self, at: int, answer: Mapping[str, Any]) -> dict[str, Any]:
        """One answer as a row; sub-questions may be named by their ids or texts, or be in order."""
        given = dict(answer)
        if "id" not in given or not given.keys() & {"answer", "completion"}:
            raise BadInput.at(
                f"answer {at}", f"expected id and answer or completion, got {', '.join(given) or 'nothing'}"
            )
        if given.get("completion") is not None:
            given |= read_trace(given["completion"])
        steps = given.get("steps")
        if isinstance(steps, Mapping):
            steps = self.dags.in_order(given["id"], steps)
        said = [None if own is None else str(own) for own in (given.get("answer"), *(steps or ()))]
        return {"id": given["id"], "answer": said[0], "steps": None if steps is None else said[1:]}

    def _words(self, given: pl.DataFrame, keys: Ints, begin: Ints) -> tuple[NDArray[np.int32], dict[str, int]]:
        """[node] the word of its answer as the policy reads it, and the numbers of words; different texts once."""
        size = begin[1:] - begin[:-1] - 1  # sub-questions; a question is the last of its DAG
        there = given["steps"].is_not_null().to_numpy()
        count = given["steps"].list.len().fill_null(0).to_numpy().astype(np.int64)
        wrong = np.flatnonzero(there & (count != size))
        faults = [f"expected {size[at]} steps, got {count[at]}" for at in wrong.tolist()]
        refuse([Fault(given["id"][at], fault) for at, fault in zip(wrong.tolist(), faults, strict=True)])
        stepped = np.ones(int(begin[-1]), bool)
        stepped[begin[1:] - 1] = False
        stepped &= np.repeat(there, size + 1)
        node = np.concatenate([begin[1:] - 1, np.flatnonzero(stepped)])
        text = pl.concat([given["answer"], given["steps"].filter(pl.Series(there)).explode(empty_as_null=False)])
        table = pl.DataFrame({"id": node, PREDICTION: text}).drop_nulls()

        def asked(rows: pl.Series) -> pl.Series:
            return self.dags.texts(keys[rows.to_numpy()])

        meant = understood(table, self.reader, self.policy, asked).table[PREDICTION]
        number = dict(self.number)
        different = meant.unique(maintain_order=True)
        codes = [number.setdefault(word, len(number)) for word in different]
        said = np.full(int(begin[-1]), NOTHING, np.int32)
        said[table["id"].to_numpy()] = meant.replace_strict(different, codes, return_dtype=pl.Int32).to_numpy()
        return said, number


def broken(row: Ints, rule: Ints, model: Answered, rows: int) -> pl.Series:
    """[row] the names of the rules that are broken, once for each time."""
    order = np.argsort(row, kind="stable")
    names = pl.Series(model.rules, dtype=pl.String).gather(rule[order])
    return listed(names, starts(row[order], rows))
