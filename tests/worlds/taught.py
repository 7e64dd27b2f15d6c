"""Small networks that are taught the questions of a made-up world, and how much better one is than another."""

from collections.abc import Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import polars as pl

from questree.networks.catalogue import network
from questree.tables.run import Run
from questree.training.eyes import Features
from questree.training.lessons import Lesson
from questree.training.options import TrainingOptions, scheduled


class AskedWorld(Features, Protocol):
    """What is seen of places, and as many questions about each."""

    def questions(self, first: int = 0, last: int | None = None) -> pl.DataFrame: ...


def right(
    name: str, world: AskedWorld, folder: Path, parts: tuple[int, int], how: Mapping[str, Any], **special: Any
) -> pl.Series:
    """[question of test] does a small network that was taught so get it right?

    parts: the places from which on questions are validated on, and tested.
    """
    from questree.training import fitting
    from questree.training.folder import TrainedFolder

    options = TrainingOptions(name, "small", False, False, "train", "", False, 0.0, 0.0, 0, 0, 0)
    options = replace(options, **special)
    schedule = scheduled(network(name).sizes["small"].schedule, {"batch": 16, **how})
    lesson = Lesson(world.questions(0, parts[0]), world.questions(*parts))
    test, plan = world.questions(parts[1]), {**asdict(options), **asdict(schedule)}
    with fitting.threads(1):
        found, _ = fitting.fit(TrainedFolder(Run(folder), options.usual_name), plan, schedule, lesson, world)
        return found.predictions(test, world)["prediction"] == test["answer"]


def interval(one: pl.Series, other: pl.Series, each: int) -> tuple[float, float]:
    """Of the difference in accuracy: places are drawn again, so many questions each."""
    by_place = (one.cast(pl.Int64) - other.cast(pl.Int64)).to_numpy().reshape(-1, each).mean(1)
    draw = np.random.default_rng(0)
    means = draw.choice(by_place, (2000, len(by_place))).mean(1)
    return float(np.quantile(means, 0.025)), float(np.quantile(means, 0.975))


def looks_and_is_lost_without(
    name: str, world: AskedWorld, folder: Path, parts: tuple[int, int], how: Mapping[str, Any], each: int
) -> None:
    """It beats its blind variant, and features of other places are as good as none."""
    clean, blind, shuffled = (
        right(name, world, folder, parts, how, **special)
        for special in ({}, {"blind": True}, {"shuffle_features": True})
    )
    assert interval(clean, blind, each)[0] > 0
    low, high = interval(shuffled, blind, each)
    assert low <= 0 <= high
