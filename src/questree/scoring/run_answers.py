"""Who answers a run: a model that is stored in it, or a bot that answers now."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from questree.benchmarks import Benchmark
from questree.models.asked_runs import AskedRun
from questree.models.bots import BOTS, BotCorpus, BotOptions, asked_by
from questree.tables.predictions import Stored, models
from questree.tables.run import Run

Words = NDArray[np.int32]


@dataclass(frozen=True)
class Computed(Stored):
    """A bot's answers in memory, to be read like stored ones."""

    answers: dict[str, Words] = field(default_factory=dict)  # shard -> [node]

    def shard(self, name: str, nodes: int) -> Words:
        return self.answers[name]

    def asked(self, name: str, predicted: Words) -> Words:
        return predicted


def answers_to(run: Run, benchmark: Benchmark, name: str) -> Stored:
    """What is stored under this name goes before a bot of that name."""
    if has_answered(run, benchmark, name) or name not in BOTS:
        return Stored.of(run, name)
    options = BotOptions(name)
    with asked_by(run, [options], benchmark.of_images) as every:
        corpus = BotCorpus(every, options)
        found = dict(corpus.answers())  # in which a bot may have said words of its own
        return Computed(Path(), list(corpus.number), found)


def has_answered(run: Run, benchmark: Benchmark, name: str) -> bool:
    return name in models(run, benchmark.of_images)


@dataclass(frozen=True)
class AnsweringBots:
    """Bots that answer while they are scored; small enough to send anywhere that sees what they must know."""

    asked: AskedRun
    bots: tuple[BotOptions, ...]

    def answers(self, name: str, shard: str) -> Stored | None:
        """What a bot says in one shard; None for who is no bot."""
        options = next((own for own in self.bots if own.model == name), None)
        if options is None:
            return None
        corpus = BotCorpus(self.asked, options)
        found = corpus.answer(shard)
        return Computed(Path(), list(corpus.number), {shard: found})


def bots_among(run: Run, benchmark: Benchmark, names: Iterable[str]) -> tuple[BotOptions, ...]:
    """Those who are not stored."""
    return tuple(BotOptions(name) for name in names if name in BOTS and not has_answered(run, benchmark, name))
