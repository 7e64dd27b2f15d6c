"""Who answered: a stored model, or a bot that answers now and is not stored."""

from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from questree.models.bots import BOTS, NOT_SEEN, Corpus, Options
from questree.models.image_bots import BOTS as IMAGE_BOTS
from questree.progress import watch
from questree.stages.decompose.image_hierarchies import node_columns
from questree.tables.image_nodes import NODES
from questree.tables.predictions import IMAGE_SETS, Stored, answers_images, answers_videos
from questree.tables.run import Run


@dataclass(frozen=True)
class Computed(Stored):
    """Answers in memory, to be read like stored ones."""

    answers: dict[str, NDArray[np.int32]] = field(default_factory=dict)  # shard -> [node]

    def shard(self, name: str, nodes: int) -> NDArray[np.int32]:
        return self.answers[name]

    def asked(self, name: str, predicted: NDArray[np.int32]) -> NDArray[np.int32]:
        return predicted


def video_answers(run: Run, name: str) -> Stored:
    """What is stored under this name goes before a bot of that name."""
    if answered_videos(run, name) or name not in BOTS:
        return Stored.of(run, name)
    corpus = Corpus(run, Options(name))
    found = {
        folder.name: BOTS[name].answers(corpus, corpus.shard(folder)).astype(np.int32)
        for folder in watch(corpus.folders, name, len(corpus.folders))
    }
    return Computed(Path(), [*corpus.words.number, NOT_SEEN], found)


def image_answers(run: Run, name: str) -> Stored:
    """The same for questions about image sets."""
    if answered_images(run, name) or name not in IMAGE_BOTS:
        return Stored.of(run, name)
    nodes = NODES.read(run.covr / "decomposed")
    said = nodes.with_columns(answer=IMAGE_BOTS[name].answers(nodes, 0))
    words, columns = node_columns(said)
    return Computed(Path(), words, {IMAGE_SETS: columns.answer})


def answered_videos(run: Run, name: str) -> bool:
    return answers_videos(run.predictions / name)


def answered_images(run: Run, name: str) -> bool:
    return answers_images(run.predictions / name)


def called(name: str) -> str:
    """A bot with what it does."""
    return f"{name} ({BOTS[name].says})" if name in BOTS else name
