"""Which of several ways a question is said: all decided by a keyed hash of its id."""

from dataclasses import dataclass

from questree.stages.generate.hashing import Words as Hashes
from questree.stages.generate.hashing import mix
from questree.stages.generate.joins import Ints

WAYS = 2  # of wording a reference
TIME_WAYS = 4  # of wording a time phrase: two orders of between, two ways for its actions


@dataclass(frozen=True)
class Choices:
    """Columns: number of the frame (before taking it modulo the template's frames) and of each slot's wording."""

    frame: Ints
    first: Ints
    second: Ints
    time: Ints


def choices(seeds: Hashes, video: Ints, number: Ints) -> Choices:
    """seeds: per video, from the run's seed and the video's id."""
    key = mix(seeds[video], number)
    bits = (key >> 40).astype("int64")
    return Choices((key & 0xFFFFFFFF).astype("int64"), bits & 1, bits >> 1 & 1, bits >> 2 & 3)
