"""Bots: models whose mistakes are known beforehand, so that scores can be held against what they must read."""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from questree.extensions import Registry
from questree.faults import Fault, refuse
from questree.metrics.answered import ModelAnswers
from questree.models.asked import AskedNodes
from questree.models.asked_runs import AskedRun, learn
from questree.models.composed import Composer
from questree.models.lessons import OF_TEXT, OF_TYPE, AskedShards, Lesson, looked_up, type_of
from questree.progress import watch
from questree.stages.decompose.hierarchies import RunHierarchies
from questree.tables.hierarchies import NOTHING
from questree.tables.run import Run
from questree.tables.shard_folders import where_workers_see
from questree.terms import Array

if TYPE_CHECKING:
    from questree.models.blind import BlindReader


@dataclass(frozen=True)
class BotOptions:
    model: str
    seed: int = 0
    noise: float = 0.1  # probability of a mistake, for those that make them at random

    def faults(self) -> list[Fault]:
        strange = f"expected a bot, got {self.model!r}; choose from {', '.join(BOTS)}"
        found = [] if self.model in BOTS else [Fault("--model", strange)]
        return found + ([] if 0 <= self.noise <= 1 else [Fault("--noise", f"expected 0 to 1, got {self.noise}")])


@dataclass(frozen=True)
class BotCorpus:
    """What a bot may look at: the nodes of a run, one shard at a time, and what is common in all of them."""

    asked: AskedRun
    options: BotOptions

    @property
    def shards(self) -> AskedShards:
        return self.asked.shards

    @cached_property
    def number(self) -> dict[str, int]:
        """Words -> their numbers; a bot that says another word adds it. Its own: threads may share the shards."""
        return dict(self.shards.number)

    def answers(self) -> Iterator[tuple[str, Array]]:
        """Shard by shard, [node] the words of the bot's answers."""
        for name in watch(self.shards.names, self.options.model, len(self.shards.names)):
            yield name, self.answer(name)

    def answer(self, shard: str) -> Array:
        asked = self.shards.asked(shard)
        found = BOTS[self.options.model].answers(self, asked)
        return (guessed(self, asked, found) if self.asked.guessing else found).astype(np.int32)


Answers = Callable[[BotCorpus, AskedNodes], Array]  # [node] words


def nothing(options: BotOptions) -> Sequence[Lesson[Any]]:
    return ()


class Bot(NamedTuple):
    says: str
    answers: Answers
    learns: Callable[[BotOptions], Sequence[Lesson[Any]]] = nothing  # what it must know of all shards


def composing(misseen: bool, miscomposed: bool) -> Answers:
    def answers(corpus: BotCorpus, asked: AskedNodes) -> Array:
        p, drawn = corpus.options.noise, asked.drawn(corpus.options.seed, "noise")
        return Composer(asked, drawn, misseen * p, miscomposed * p).run()

    return answers


def most_likely(corpus: BotCorpus, asked: AskedNodes) -> Array:
    return looked_up(type_of(asked), corpus.asked.known(OF_TYPE))


def shortcut(corpus: BotCorpus, asked: AskedNodes) -> Array:
    """What was never answered is answered by its type."""
    found = looked_up(asked.texts, corpus.asked.known(OF_TEXT))
    return np.where(found == NOTHING, most_likely(corpus, asked), found)


def blind_lesson(options: BotOptions) -> "Lesson[BlindReader]":
    from questree.models.blind import lesson  # compiled code that only this bot needs

    return lesson(options.seed)


def blind(corpus: BotCorpus, asked: AskedNodes) -> Array:
    return corpus.asked.known(blind_lesson(corpus.options)).answers(asked)


def uniform(corpus: BotCorpus, asked: AskedNodes) -> Array:
    drawn, found = asked.drawn(corpus.options.seed, "guess"), np.full(len(asked), NOTHING, np.int64)
    for group in asked.groups:
        found[group.rows] = asked.any_answer(group, drawn[group.rows])
    return found


def guessed(corpus: BotCorpus, asked: AskedNodes, found: Array) -> Array:
    """The answers of a bot, with a guess where nobody knows one: without facts, rules leave some sub-questions open."""
    for guess in (most_likely, uniform):
        found = np.where(found == NOTHING, guess(corpus, asked), found)
    return found


BOTS = Registry[Bot]("bot")
for name, bot in {
    "oracle": Bot("knows everything", lambda corpus, asked: asked.truth),
    "most-likely": Bot("the commonest answer to questions of the type", most_likely, lambda _: [OF_TYPE]),
    "blind": Bot(
        "what a question-only model of words and their order says, learnt from train",
        blind,
        lambda options: [blind_lesson(options)],
    ),
    "uniform": Bot("any answer the question allows, all as likely", uniform),
    "always-yes": Bot("yes, whatever is asked", lambda corpus, asked: np.full(len(asked), corpus.number["yes"])),
    "perception-noise": Bot("mistaken about leaves, composes without fault", composing(True, False)),
    "composition-noise": Bot("sees every leaf, fails at composing", composing(False, True)),
    "shortcut": Bot(
        "has learned answers by heart: the commonest one to the question, whatever it is asked about",
        shortcut,
        lambda _: [OF_TYPE, OF_TEXT],
    ),
}.items():
    BOTS.add(name, bot)


def lessons_of(asked: AskedRun, options: BotOptions) -> list[Lesson[Any]]:
    """What a bot must know before it answers."""
    return [*BOTS[options.model].learns(options), *([OF_TYPE] if asked.guessing else [])]


@contextmanager
def asked_by(run: Run, bots: Sequence[BotOptions], images: bool = False) -> Iterator[AskedRun]:
    """A run of which these bots know what they must, in this process."""
    with where_workers_see(run.predictions) as place:
        yield taught(AskedRun(run.folder, place, images), bots, None)


def taught(asked: AskedRun, bots: Sequence[BotOptions], pool: Executor | None) -> AskedRun:
    learn(asked, [lesson for options in bots for lesson in lessons_of(asked, options)], pool)
    return asked


def said_by(asked: RunHierarchies, options: BotOptions, images: bool = False) -> ModelAnswers:
    """A bot's answers by key, without storing them."""
    refuse(options.faults())
    with asked_by(asked.run, [options], images) as every:
        corpus = BotCorpus(every, options)
        nodes, parts = dict(corpus.answers()), [np.zeros(0, np.int32)]
        for shard in asked.named:
            parts += [nodes[shard.shard], nodes[shard.shard][shard.tops]]
        return ModelAnswers(list(corpus.number), np.concatenate(parts))
