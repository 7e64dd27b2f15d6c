"""Who judges answers while a harness still asks: each as `questree score` reads it, and the scores of DAGs of all."""

from collections.abc import Mapping
from functools import cached_property
from os import PathLike
from typing import NamedTuple

import numpy as np
import polars as pl

from questree.api.given_predictions import predictions_of
from questree.metrics.cells import OVERALL
from questree.metrics.dags import score_decomp
from questree.metrics.scores import Resampling, Scored, number, resampled
from questree.models.policies import Policy
from questree.models.predictions import PREDICTION
from questree.scoring.compared import PredictionReader, Scoring, run_reader
from questree.tables.hierarchies import NOTHING, Hierarchies
from questree.tables.run import Run

WHOLE = [(metric, "type", OVERALL) for metric in ("accuracy", "CA", "RWR", "Delta")]


class Judged(NamedTuple):
    answer: str | None  # as it was read
    right: bool | None  # None where nobody knows


class RunJudge:
    """Reads answers to the questions and sub-questions of a run, or of one split of it."""

    def __init__(
        self, run: str | PathLike[str], split: str = "all", benchmark: str = "", policy: Policy = "lenient"
    ) -> None:
        self.run, self.policy = Run.at(run), policy
        self.split, self.benchmark = None if split == "all" else split, benchmark

    @cached_property
    def corpus(self) -> tuple[Hierarchies, PredictionReader]:
        asked, reader = run_reader(self.run, self.split, self.benchmark, Scoring(policy=self.policy))
        return asked.hierarchies, reader

    def understood(self, said: Mapping[str, str]) -> pl.DataFrame:
        """Answers as they are read."""
        return self.corpus[1].understood(predictions_of(dict(said)).table, self.policy).table

    @cached_property
    def truth(self) -> dict[str, str]:
        """By id, where there is one."""
        found, _ = self.corpus
        both = pl.concat([found.nodes.select("key", "answer"), found.isolated.select("key", "answer")])
        known = both.filter(pl.col("answer") != NOTHING).unique("key", keep="first")
        words = pl.Series(found.words, dtype=pl.String).gather(known["answer"])
        return dict(zip(found.keys.gather(known["key"]).to_list(), words.to_list(), strict=True))

    def judged(self, id: str, said: str) -> Judged:
        """One answer."""
        read = self.understood({id: said})[PREDICTION][0]
        return Judged(read, read == self.truth[id] if id in self.truth else None)

    def scores(self, said: Mapping[str, str], resamples: int = 200) -> dict[str, float]:
        """Accuracy, CA, RWR, Delta and IC by rule of all answers, and their standard errors by scope (`_stderr`).

        What is not defined is left out.
        """
        scored = score_decomp(self.corpus[0], self.understood(said), "skip")
        wanted = [cell for cell in scored.cells if (cell.metric, cell.by) == ("IC", "rule") or cell.name in WHOLE]
        few = Scored(scored.tallies, wanted)
        errors = np.full(len(wanted), np.nan)
        if len(scored.tallies.total) > 1 and resamples > 1:
            draws = resampled(wanted, scored.tallies, Resampling(resamples))
            defined = (~np.isnan(draws)).sum(axis=0) > 1
            errors[defined] = np.nanstd(draws[:, defined], axis=0, ddof=1)
        found = dict[str, float]()
        for cell, value, error in zip(wanted, few.values().tolist(), errors.tolist(), strict=True):
            name = cell.metric if cell.group == OVERALL else f"{cell.metric} {cell.group}"
            named = {name: number(value), f"{name}_stderr": number(error)} if number(value) is not None else {}
            found |= {key: each for key, each in named.items() if each is not None}
        return found
