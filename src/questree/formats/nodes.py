"""Vertices of scene graphs by their ids, as JSON lists: frames "000105", objects "o4/000105", actions "c076/1"."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import polars as pl

from questree.columns.joins import Ints
from questree.domains.video import Videos
from questree.domains.video.bits import Bits

EMPTY = "[]"


def frame_name(number: int) -> str:
    return f"{number:06d}"


def action_lists(actions: Ints, ids: list[str]) -> pl.Series:
    """The first instance of each action, whichever was meant: the release always says so."""
    return pl.Series([f'["{name}/1"]' for name in ids], dtype=pl.String).gather(actions)


@dataclass(frozen=True)
class Vertices:
    """Lists of vertices of the videos of a world."""

    world: Videos

    @cached_property
    def names(self) -> list[str]:
        """[frame of the corpus]"""
        return [frame_name(number) for number in self.world.number.tolist()]

    def lists(self, video: Ints, prefix: Ints, prefixes: list[str], frames: Bits) -> pl.Series:
        """[row] the vertices of a class (a prefix: "o4/"; "" for frames themselves) on a set of frames, in order."""
        first, inverse = distinct(video, prefix, frames)
        bits = np.unpackbits(
            frames[first].view(np.uint8).reshape(len(first), 8 * frames.shape[1]), axis=1, bitorder="little"
        )
        row, frame = np.nonzero(bits)
        ends = np.searchsorted(row, np.arange(len(first) + 1)).tolist()
        place = (self.world.frame_start[video[first[row]]] + frame).tolist()
        texts = []
        for number, said in enumerate(prefix[first].tolist()):
            here, head = [self.names[at] for at in place[ends[number] : ends[number + 1]]], prefixes[said]
            texts.append(f'["{head}' + f'", "{head}'.join(here) + '"]' if here else EMPTY)
        return pl.Series(texts, dtype=pl.String).gather(inverse)


def distinct(video: Ints, prefix: Ints, frames: Bits) -> tuple[Ints, Ints]:
    """(a row of every different list, [row] which of them): many questions rest on the same frames."""
    keys = np.column_stack([(video.astype(np.uint64) << np.uint64(16)) | prefix.astype(np.uint64), frames])
    packed = np.ascontiguousarray(keys).view(np.dtype((np.void, keys.dtype.itemsize * keys.shape[1]))).ravel()
    _, first, inverse = np.unique(packed, return_index=True, return_inverse=True)
    return first, inverse
