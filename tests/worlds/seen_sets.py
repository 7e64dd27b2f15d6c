"""Pairs of images with coloured things, what networks see of them, and balanced questions that only eyes can answer."""

from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from questree.api.feature_sets import make_features
from questree.features.read import FeatureSet, open_features
from questree.tables.run import Run
from worlds.image_run import write_images

THINGS = tuple(f"{color} {name}" for name in ("cup", "dog", "lamp") for color in ("red", "blue"))
HELD = 0.3  # chance that an image holds a thing: of two, half do


class SeenSets:
    """Features are those that `questree features` makes; a set is two images."""

    def __init__(self, folder: Path, sets: int, seed: int):
        self.holds = np.random.default_rng(seed).random((sets, 2, len(THINGS))) < HELD
        self.run, self.sets = Run(folder), [(f"all{2 * at}", f"all{2 * at + 1}") for at in range(sets)]
        rooms = [", ".join(["wooden table", *np.array(THINGS)[own]]) for own in self.holds.reshape(-1, len(THINGS))]
        write_images(self.run, {"all": rooms})
        make_features(folder, from_facts=True, workers=1)

    @cached_property
    def features(self) -> FeatureSet:
        return open_features(self.run.folder, "facts")

    @property
    def streams(self) -> Mapping[str, Any]:
        return self.features.streams

    def take(self, scopes: Sequence[str], streams: Sequence[str], keep: Any = None) -> Any:
        return self.features.take(scopes, streams, keep)

    def questions(self, first: int = 0, last: int | None = None) -> pl.DataFrame:
        """id, scope, question, answer of the sets from first to last."""
        rows = [(at, thing) for at in range(first, last or len(self.sets)) for thing in range(len(THINGS))]
        return pl.DataFrame(
            {
                "id": [f"{at}-{thing}" for at, thing in rows],
                "scope": ["\0".join(self.sets[at]) for at, _ in rows],
                "question": [f"Do the images show a {THINGS[thing]}?" for _, thing in rows],
                "answer": ["yes" if self.holds[at, :, thing].any() else "no" for at, thing in rows],
            }
        )
