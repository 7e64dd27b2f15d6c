"""Who answered: a stored model, or a bot that answers now and is not stored."""

from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from questree.models.bots import BOTS, NOT_SEEN, Corpus, Options
from questree.progress import watch
from questree.stages.covr.hierarchies import SHARD as IMAGES
from questree.tables.predictions import Stored, models
from questree.tables.run import Run

USUAL = ("oracle", "most-likely", "uniform")  # bots that are shown unless others are asked for


@dataclass(frozen=True)
class Computed(Stored):
    """Answers in memory, to be read like stored ones."""

    answers: dict[str, NDArray[np.int32]] = field(default_factory=dict)  # shard -> [node]

    def shard(self, name: str, nodes: int) -> NDArray[np.int32]:
        return self.answers[name]

    def asked(self, name: str, predicted: NDArray[np.int32]) -> NDArray[np.int32]:
        return predicted


def answers_of(run: Run, name: str) -> Stored:
    """What is stored under this name goes before a bot of that name."""
    if name in models(run) or name not in BOTS:
        return Stored.of(run, name)
    corpus = Corpus(run, Options(name))
    found = {
        folder.name: BOTS[name].answers(corpus, corpus.shard(folder)).astype(np.int32)
        for folder in watch(corpus.folders, name, len(corpus.folders))
    }
    return Computed(Path(), [*corpus.words.number, NOT_SEEN], found)


def of_images(run: Run, names: tuple[str, ...]) -> tuple[str, ...]:
    """Those that answered questions about image sets."""
    return tuple(name for name in names if (run.predictions / name / IMAGES).is_dir())


def of_videos(run: Run, names: tuple[str, ...]) -> tuple[str, ...]:
    """Those that answered, or can answer, questions about videos."""
    folders = {name: run.predictions / name for name in names}
    return tuple(
        name
        for name, folder in folders.items()
        if (not folder.is_dir() and name in BOTS)
        or any(path.name != IMAGES for path in folder.iterdir() if path.is_dir())
    )


def called(name: str) -> str:
    """A bot with what it does."""
    return f"{name} ({BOTS[name].says})" if name in BOTS else name
