"""Bots: models whose mistakes are known beforehand, so that scores can be held against what they must read."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

import numpy as np

from questree.domains.video import videos
from questree.faults import Fault, refuse
from questree.models.asked import AskedShard
from questree.models.composed import Composer
from questree.models.options import UNSEEN, any_answer
from questree.models.priors import Priors
from questree.program import UNKNOWN, Array
from questree.progress import watch
from questree.stages.decompose.hierarchies import shards
from questree.stages.decompose.words import AnswerWords
from questree.tables.facts import VIDEOS
from questree.tables.hierarchies import NOTHING
from questree.tables.predictions import write_plan, write_shard, write_words
from questree.tables.run import Run
from questree.tables.store import new_folder

NOT_SEEN = "nothing"  # what is said where nothing is seen that the question could be about


@dataclass(frozen=True)
class Options:
    model: str
    seed: int = 0
    noise: float = 0.1  # probability of a mistake, for those that make them at random

    def faults(self) -> list[Fault]:
        known = self.model in BOTS
        found = [] if known else [Fault("--model", f"no bot {self.model!r}; there are {', '.join(BOTS)}")]
        return found + ([] if 0 <= self.noise <= 1 else [Fault("--noise", f"wanted 0 to 1, came {self.noise}")])


@dataclass(frozen=True)
class Corpus:
    """What a bot may look at: the nodes of a run, one shard at a time, and what is common in all of them."""

    run: Run
    options: Options

    @cached_property
    def words(self) -> AnswerWords:
        return AnswerWords(self.run.vocabulary())

    @cached_property
    def ids(self) -> list[str]:
        return self.run.table("facts", VIDEOS)["id"].to_list()

    @cached_property
    def folders(self) -> list[Path]:
        return shards(self.run)

    @cached_property
    def priors(self) -> Priors:
        return Priors.of(map(self.shard, watch(self.folders, "counting answers", len(self.folders))))

    def shard(self, folder: Path) -> AskedShard:
        return AskedShard.read(folder, self.words, self.ids)

    def truth(self, shard: AskedShard) -> Array:
        """[node] answers by execution; where rules alone answered, it is done now."""
        if shard.executed or not len(shard):
            return shard.answers
        first, last = int(shard.nodes["video"].min()), int(shard.nodes["video"].max())  # type: ignore[arg-type]
        world = videos(self.run.load("facts").between(first, last + 1), self.words.vocabulary)
        return shard.execute(world, first)

    def spelled(self, shard: AskedShard, answers: Array) -> Array:
        """[node] words; NOTHING where there is nothing to ask."""
        words = shard.spelled(answers)
        return np.where(words == UNSEEN, len(self.words.number), np.where(words == UNKNOWN, NOTHING, words))


Answers = Callable[[Corpus, AskedShard], Array]  # [node] words


class Bot(NamedTuple):
    says: str
    answers: Answers


def composing(misseen: bool, miscomposed: bool) -> Answers:
    def answers(corpus: Corpus, shard: AskedShard) -> Array:
        p, drawn = corpus.options.noise, shard.drawn(corpus.options.seed, "noise")
        model = Composer(shard, corpus.truth(shard), drawn, misseen * p, miscomposed * p)
        return corpus.spelled(shard, model.run())

    return answers


def oracle(corpus: Corpus, shard: AskedShard) -> Array:
    return corpus.spelled(shard, corpus.truth(shard))


def most_likely(corpus: Corpus, shard: AskedShard) -> Array:
    return corpus.priors.by_type(shard)


def shortcut(corpus: Corpus, shard: AskedShard) -> Array:
    return corpus.priors.by_text(shard)


def always_yes(corpus: Corpus, shard: AskedShard) -> Array:
    return np.full(len(shard), corpus.words.number["yes"], np.int32)


def uniform(corpus: Corpus, shard: AskedShard) -> Array:
    drawn, truth = shard.drawn(corpus.options.seed, "guess"), corpus.truth(shard)
    found = np.empty(len(shard), np.int64)
    for group in shard.groups:
        found[group.rows] = any_answer(shard, group, truth, drawn[group.rows])
    return corpus.spelled(shard, found)


BOTS = {
    "oracle": Bot("knows everything", oracle),
    "most-likely": Bot("the commonest answer to questions of the type", most_likely),
    "uniform": Bot("any answer the question allows, all as likely", uniform),
    "always-yes": Bot("yes, whatever is asked", always_yes),
    "perception-noise": Bot("mistaken about leaves, composes without fault", composing(True, False)),
    "composition-noise": Bot("sees every leaf, fails at composing", composing(False, True)),
    "shortcut": Bot("has learned answers by heart: the commonest one to the question, whatever the video", shortcut),
}


def answer_run(run: Run, options: Options, name: str = "") -> int:
    """Store a bot's answers to all nodes in RUN/predictions/<name>/; how many."""
    refuse(options.faults())
    corpus, answered = Corpus(run, options), 0
    folders, answers = corpus.folders, BOTS[options.model].answers
    with new_folder(run.predictions / (name or options.model)) as place:
        write_words(place, [*corpus.words.number, NOT_SEEN])
        for folder in watch(folders, options.model, len(folders)):
            found = answers(corpus, corpus.shard(folder))
            (place / folder.name).mkdir()
            write_shard(place / folder.name, found.astype(np.int32))
            answered += int((found != NOTHING).sum())
        write_plan(place, run, {"model": options.model, "seed": options.seed, "noise": options.noise})
    return answered
