"""Every answer as a word: one list for answers of all kinds, so that whoever answers and whoever scores agree."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from questree.domains.video.kinds import ORDER
from questree.program import ACTION, BOOL, OBJECT, Array, Kind
from questree.readings.answer import spell
from questree.vocabulary.words import Vocabulary


@dataclass
class AnswerWords:
    vocabulary: Vocabulary

    @cached_property
    def number(self) -> dict[str, int]:
        """Word -> its number."""
        found: dict[str, int] = {}
        for kind in (BOOL, ORDER, OBJECT, ACTION):
            for word in self.spelled(kind):
                found.setdefault(word, len(found))
        return found

    def spelled(self, kind: Kind) -> list[str]:
        """[answer] as it is printed."""
        sizes = {"objects": len(self.vocabulary.objects), "actions": len(self.vocabulary.actions)}
        return [spell(kind, at, self.vocabulary) or "" for at in range(sizes.get(kind.words, 2))]

    def of(self, kind: Kind) -> Array:
        """[answer] number of its word."""
        return np.array([self.number[word] for word in self.spelled(kind)], np.int32)
