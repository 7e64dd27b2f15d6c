"""Which of several ways a question is said: all decided by a keyed hash of its id."""

from dataclasses import dataclass
from math import lcm

from questree.benchmarks.agqa.phrases import TIMES
from questree.columns.hashing import Hashes, mix
from questree.columns.joins import Ints

WAYS = 2  # of wording a reference


@dataclass(frozen=True)
class Choices:
    """Columns: number of the frame (before taking it modulo the template's frames) and of each slot's wording."""

    frame: Ints
    first: Ints
    second: Ints
    time: Ints


def time_ways(edition: str) -> int:
    """Ways of wording a time phrase, without those of its actions: as many as divide among any kind's patterns."""
    return lcm(*map(len, TIMES[edition].values()))


TIME_WAYS = WAYS * time_ways("2.0")  # of wording a time phrase, its actions included


def choices(seeds: Hashes, video: Ints, number: Ints, edition: str = "2.0") -> Choices:
    """seeds: per video, from the run's seed and the video's id."""
    key = mix(seeds[video], number)
    bits = (key >> 40).astype("int64")
    time = (bits >> 2) % (WAYS * time_ways(edition))
    return Choices((key & 0xFFFFFFFF).astype("int64"), bits & 1, bits >> 1 & 1, time)
