"""Who answers a run: a model that is stored in it, or a bot that answers now."""

from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from questree.benchmarks import Benchmark
from questree.metrics.scores import Scored
from questree.models.bots import BOTS, BotCorpus, BotOptions, bot_corpus
from questree.models.stored import said
from questree.scoring.compared import ComparedQuestions
from questree.tables.predictions import Stored, answers_videos, models
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
    asked = BotCorpus(run, BotOptions(name), benchmark.of_images)
    return Computed(Path(), list(asked.number), dict(asked.answers()))


def scored_bot(corpus: ComparedQuestions, benchmark: Benchmark, name: str) -> Scored:
    """A bot that answers now, on the DAGs of a run."""
    assert corpus.asked is not None
    return corpus.scorer(said(corpus.asked, answers_to(corpus.asked.run, benchmark, name)))


def has_answered(run: Run, benchmark: Benchmark, name: str) -> bool:
    return name in models(run, benchmark.of_images)


def answers_in(run: Run, name: str, shard: str) -> Stored:
    """The same in one shard, for who is sent to it by who has looked at all of them."""
    if answers_videos(run.predictions / name) or name not in BOTS:
        return Stored.believed(run, name)
    corpus = bot_corpus(run.folder, BotOptions(name), False)
    found = corpus.answer(shard)
    return Computed(Path(), list(corpus.number), {shard: found})
