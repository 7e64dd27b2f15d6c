"""Rooms with a few kinds of things, what networks see of them, and balanced questions that only eyes can answer."""

from collections.abc import Sequence
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

KINDS = ("cup", "dog", "lamp", "book", "shoe", "plant")
WIDTH = 12  # numbers of a frame, a clip or a thing


@dataclass(frozen=True)
class Rooms:
    """Half of all rooms hold a thing, whatever the thing: without eyes every answer is a guess."""

    holds: NDArray[np.bool_]  # [room, kind]

    @classmethod
    def of(cls, rooms: int, seed: int) -> "Rooms":
        draw = np.random.default_rng(seed)
        return cls(np.stack([draw.permutation(np.arange(rooms) % 2 == 0) for _ in KINDS], 1))

    @property
    def streams(self) -> dict[str, Any]:
        return {name: SimpleNamespace(width=WIDTH) for name in ("appearance", "motion", "objects")}

    def questions(self, first: int = 0, last: int | None = None) -> pl.DataFrame:
        """id, scope, question, answer of the rooms from first to last."""
        rows = [(room, at) for room in range(first, last or len(self.holds)) for at in range(len(KINDS))]
        return pl.DataFrame(
            {
                "id": [f"{room}-{at}" for room, at in rows],
                "scope": [str(room) for room, _ in rows],
                "question": [f"Is there a {KINDS[at]} in this room?" for _, at in rows],
                "answer": ["yes" if self.holds[room, at] else "no" for room, at in rows],
            }
        )

    def take(self, scopes: Sequence[str], streams: Sequence[str], keep: Any = None) -> dict[str, Any]:
        """Things have a code each; a frame and a clip show some of a room's, one after the other."""
        return {name: (self.objects if name == "objects" else self.frames)(scopes, keep) for name in streams}

    def objects(self, scopes: Sequence[str], keep: Any) -> tuple[Any, Any]:
        found, there = np.zeros((len(scopes), len(KINDS), WIDTH), np.float32), np.zeros((len(scopes), len(KINDS)), bool)
        for row, scope in enumerate(scopes):
            shown = np.flatnonzero(self.holds[int(scope)])
            shown = shown if keep is None or keep[row] is None else shown[np.isin(shown, keep[row])]
            found[row, np.arange(len(shown)), shown], there[row, : len(shown)] = 1, True
        return found, there

    def frames(self, scopes: Sequence[str], _: Any) -> tuple[Any, Any]:
        held = np.stack([self.holds[int(scope)] for scope in scopes]).astype(np.float32)
        found = np.zeros((len(scopes), 4, WIDTH), np.float32)
        found[:, :, : len(KINDS)] = held[:, None]
        return found, np.ones((len(scopes), 4), bool)
