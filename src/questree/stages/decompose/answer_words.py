"""Every answer as a word: one list for answers of all kinds, so that whoever answers and whoever scores agree."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from questree.domains.video.kinds import ORDER
from questree.readings.answer import answers_of
from questree.terms import ACTION, BOOL, OBJECT, Array, Kind
from questree.vocabulary.words import Vocabulary


@dataclass
class AnswerWords:
    vocabulary: Any  # a Vocabulary, or the words of image sets
    most: int = 0  # the largest count

    @cached_property
    def number(self) -> dict[str, int]:
        """Word -> its number."""
        words = dict.fromkeys(word for kind in self._kinds for word in answers_of(kind, self.vocabulary, self.most))
        return {word: at for at, word in enumerate(words)}

    def of(self, kind: Kind) -> Array:
        """[answer] number of its word."""
        if kind not in self._of:
            known = answers_of(kind, self.vocabulary, self.most)
            self._of[kind] = np.array([self.number[word] for word in known], np.int32)
        return self._of[kind]

    def named(self, kind: Kind) -> Array:
        """[position] number of a word that programs name; those of image sets are in one list."""
        return self.of(kind if isinstance(self.vocabulary, Vocabulary) else self._kinds[-1])

    @cached_property
    def _kinds(self) -> tuple[Kind, ...]:
        if isinstance(self.vocabulary, Vocabulary):
            return BOOL, ORDER, OBJECT, ACTION
        from questree.domains.images.kinds import COUNT, NOUN  # takes a moment, and video runs need none

        return BOOL, COUNT, NOUN

    @cached_property
    def _of(self) -> dict[Kind, Array]:
        return {}
