"""Bots: models whose mistakes are known beforehand, so that scores can be held against what they must read."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import polars as pl

from questree.extensions import Registry
from questree.faults import Fault, refuse
from questree.metrics.answered import ModelAnswers
from questree.models.asked import AskedNodes
from questree.models.composed import Composer
from questree.models.shards import ImageShards, VideoShards
from questree.progress import watch
from questree.stages.decompose.hierarchies import RunHierarchies
from questree.tables.hierarchies import NOTHING, Numbers
from questree.tables.predictions import PREDICTIONS, write_plan, write_shard, write_words
from questree.tables.run import Run, kept_while
from questree.tables.shard_folders import without_halves
from questree.tables.store import new_folder
from questree.terms import Array
from questree.workers import in_parallel, processes, results

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

    run: Run
    options: BotOptions
    images: bool = False

    @cached_property
    def shards(self) -> VideoShards | ImageShards:
        return ImageShards(self.run) if self.images else VideoShards(self.run)

    @property
    def number(self) -> dict[str, int]:
        """Words -> their numbers; a bot that says another word adds it."""
        return self.shards.number

    @cached_property
    def of_type(self) -> pl.DataFrame:
        """The commonest answer to questions of a type."""
        return self.commonest(type_of)

    @cached_property
    def of_text(self) -> pl.DataFrame:
        """The commonest answer to a question, whatever it is asked about."""
        return self.commonest(lambda asked: asked.texts)

    @cached_property
    def blind(self) -> "BlindReader":
        """What texts alone tell, from the nodes of train."""
        from questree.models.blind import learnt  # compiled code that only this bot needs

        names = self.shards.names
        return learnt(map(self.shards.asked, watch(names, "learning", len(names))), self.options.seed)

    def commonest(self, key: Callable[[AskedNodes], pl.DataFrame]) -> pl.DataFrame:
        """Columns of the key and the most frequent published word; of equally frequent ones the smaller number."""
        counts = list[pl.DataFrame]()
        names = self.shards.names
        for asked in map(self.shards.asked, watch(names, "counting answers", len(names))):
            table = key(asked).with_columns(word=pl.Series(asked.published)).filter(pl.col("word") != NOTHING)
            counts.append(table.group_by(table.columns).len("times"))
        *key_names, word, times = counts[0].columns
        summed = pl.concat(counts).group_by(*key_names, word).agg(pl.col(times).sum())
        ordered = summed.sort(times, word, descending=[True, False])
        return ordered.unique(key_names, keep="first", maintain_order=True).drop(times)

    def answers(self) -> Iterator[tuple[str, Array]]:
        """Shard by shard, [node] the words of the bot's answers."""
        for name in watch(self.shards.names, self.options.model, len(self.shards.names)):
            yield name, self.answer(name)

    @cached_property
    def guessing(self) -> bool:
        """Without facts nobody knows some answers."""
        return not self.images and not self.run.has_facts()

    def answer(self, shard: str) -> Array:
        asked = self.shards.asked(shard)
        found = BOTS[self.options.model].answers(self, asked)
        return (guessed(self, asked, found) if self.guessing else found).astype(np.int32)


def type_of(asked: AskedNodes) -> pl.DataFrame:
    return asked.types.rename("type").to_frame()


def looked_up(asked: pl.DataFrame, words: pl.DataFrame) -> Array:
    """[node] the word of its key, NOTHING without one."""
    found = asked.join(words, on=asked.columns, how="left", maintain_order="left")["word"]
    return found.fill_null(NOTHING).to_numpy()


Answers = Callable[[BotCorpus, AskedNodes], Array]  # [node] words


class Bot(NamedTuple):
    says: str
    answers: Answers


def composing(misseen: bool, miscomposed: bool) -> Answers:
    def answers(corpus: BotCorpus, asked: AskedNodes) -> Array:
        p, drawn = corpus.options.noise, asked.drawn(corpus.options.seed, "noise")
        return Composer(asked, drawn, misseen * p, miscomposed * p).run()

    return answers


def most_likely(corpus: BotCorpus, asked: AskedNodes) -> Array:
    return looked_up(type_of(asked), corpus.of_type)


def shortcut(corpus: BotCorpus, asked: AskedNodes) -> Array:
    """What was never answered is answered by its type."""
    found = looked_up(asked.texts, corpus.of_text)
    return np.where(found == NOTHING, most_likely(corpus, asked), found)


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
    "most-likely": Bot("the commonest answer to questions of the type", most_likely),
    "blind": Bot(
        "what a question-only model of words and their order says, learnt from train",
        lambda corpus, asked: corpus.blind.answers(asked),
    ),
    "uniform": Bot("any answer the question allows, all as likely", uniform),
    "always-yes": Bot("yes, whatever is asked", lambda corpus, asked: np.full(len(asked), corpus.number["yes"])),
    "perception-noise": Bot("mistaken about leaves, composes without fault", composing(True, False)),
    "composition-noise": Bot("sees every leaf, fails at composing", composing(False, True)),
    "shortcut": Bot(
        "has learned answers by heart: the commonest one to the question, whatever it is asked about",
        shortcut,
    ),
}.items():
    BOTS.add(name, bot)


def said_by(asked: RunHierarchies, options: BotOptions, images: bool = False) -> ModelAnswers:
    """A bot's answers by key, without storing them."""
    refuse(options.faults())
    corpus = BotCorpus(asked.run, options, images)
    nodes, parts = dict(corpus.answers()), [np.zeros(0, np.int32)]
    for shard in asked.named:
        parts += [nodes[shard.shard], nodes[shard.shard][shard.tops]]
    return ModelAnswers(list(corpus.number), np.concatenate(parts))


def answer_run(
    run: Run, options: BotOptions, name: str = "", images: bool = False, workers: int = 1
) -> tuple[int, int]:
    """Store a bot's answers to all nodes, of videos or of image sets, in RUN/predictions/<name>/; how many, of how
    many nodes."""
    refuse(options.faults())
    corpus = BotCorpus(run, options, images)
    with new_folder(run.predictions / (name or options.model)) as place:
        found = _stored(corpus, place, workers)
        write_plan(place, run, {"model": options.model, "seed": options.seed, "noise": options.noise})
    return sum(shard.answered for shard in found), sum(shard.nodes for shard in found)


def answer_apart(run: Path, bot: str, place: Path) -> None:
    """In a worker: a bot's answers to all nodes about image sets, in a folder of their own."""
    with new_folder(place) as folder:
        _stored(BotCorpus(Run(run), BotOptions(bot), True), folder, 1)


def _stored(corpus: BotCorpus, place: Path, workers: int) -> list["StoredShard"]:
    found = list(_stored_shards(corpus, place, workers))
    write_words(place, renumbered(place, found, list(corpus.number)))
    without_halves(place)
    return found


class StoredShard(NamedTuple):
    """What is told about a shard that was answered."""

    name: str
    answered: int
    nodes: int
    words: list[str]  # of the bot's own, as it numbered them after those of the run


def _stored_shards(corpus: BotCorpus, place: Path, workers: int) -> Iterable[StoredShard]:
    names, label = corpus.shards.names, corpus.options.model
    if not in_parallel(workers):
        return (stored_shard(corpus, name, place) for name in watch(names, label, len(names)))
    given = corpus.run.folder, corpus.options, corpus.images
    with processes(workers) as pool:
        return results({f"shard {name}": pool.submit(answer_shard, *given, name, place) for name in names}, label)


def answer_shard(run: Path, options: BotOptions, images: bool, name: str, place: Path) -> StoredShard:
    """In a worker: answer one shard."""
    return stored_shard(bot_corpus(run, options, images), name, place)


def bot_corpus(run: Path, options: BotOptions, images: bool) -> BotCorpus:
    """What is common in all shards is looked for once per process, whatever bots are asked in turn."""
    known = _corpora(run)
    if (options, images) not in known:
        known[options, images] = BotCorpus(Run(run), options, images)
    return known[options, images]


@kept_while("vocabulary.toml", "facts", "decomposed", "covr")
def _corpora(run: Path) -> dict[tuple[BotOptions, bool], BotCorpus]:
    return {}


def stored_shard(corpus: BotCorpus, name: str, place: Path) -> StoredShard:
    known = dict(corpus.number)
    found = corpus.answer(name)
    own = [word for word in corpus.number if word not in known]
    for word in own:  # the next shard is answered as if it were the first
        del corpus.number[word]
    with new_folder(place / name) as work:
        write_shard(work, found)
    return StoredShard(name, int((found != NOTHING).sum()), len(found), own)


def renumbered(place: Path, shards: Sequence[StoredShard], known: Sequence[str]) -> list[str]:
    """All words of stored shards, those of the bot's own numbered in the order of the shards."""
    number = Numbers[str]()
    for word in known:
        number[word]
    for shard in shards:
        meant = np.array([*range(len(known)), *(number[word] for word in shard.words)])
        if not np.array_equal(meant, np.arange(len(meant))):
            table = PREDICTIONS.read(place / shard.name)
            PREDICTIONS.write(table.with_columns(word=pl.Series(meant[table["word"]])), place / shard.name)
    return list(number)
