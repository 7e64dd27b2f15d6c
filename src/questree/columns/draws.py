"""Choices by a keyed hash: the same key draws the same, whatever was drawn before and wherever it runs."""

from collections.abc import Iterable, Sequence
from hashlib import blake2b
from random import Random
from typing import TypeVar

Item = TypeVar("Item")


class Draws:
    """A row of choices that follows from its key alone."""

    def __init__(self, *key: object):
        digest = blake2b("\0".join(map(str, key)).encode(), digest_size=8).digest()
        self.random = Random(int.from_bytes(digest, "little")).random

    def below(self, count: int) -> int:
        """A number from 0 to count - 1."""
        return int(self.random() * count)

    def choice(self, items: Sequence[Item]) -> Item:
        return items[int(self.random() * len(items))]

    def shuffled(self, items: Iterable[Item]) -> list[Item]:
        return sorted(items, key=lambda _: self.random())

    def some(self, items: Sequence[Item], most: int) -> list[Item]:
        """At most so many of the items, in some order."""
        found = list(items)
        most = min(most, len(found))
        for at in range(most):
            other = at + int(self.random() * (len(found) - at))
            found[at], found[other] = found[other], found[at]
        return found[:most]
