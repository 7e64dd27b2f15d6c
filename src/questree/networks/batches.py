"""What a network is given: questions as numbers of words, and what is seen; there is no answer in it."""

from collections.abc import Mapping
from dataclasses import dataclass

import torch
from torch import Tensor

NO_WORD, OTHER_WORD = 0, 1


@dataclass(frozen=True)
class Stream:
    """Vectors of what is seen, padded to the longest row."""

    items: Tensor  # [row, item, width]
    there: Tensor  # [row, item] is it one, or padding? Items stand first

    def to(self, device: torch.device) -> "Stream":
        return Stream(self.items.to(device), self.there.to(device))


@dataclass(frozen=True)
class QuestionBatch:
    words: Tensor  # [row, word] numbers of words, NO_WORD beyond the end
    streams: Mapping[str, Stream]

    def to(self, device: torch.device) -> "QuestionBatch":
        return QuestionBatch(self.words.to(device), {name: own.to(device) for name, own in self.streams.items()})

    @property
    def spoken(self) -> Tensor:
        """[row, word] is there a word?"""
        return self.words != NO_WORD

    @property
    def lengths(self) -> Tensor:
        """[row] number of words; one at least, as recurrent networks want it."""
        return self.spoken.sum(1).clamp(min=1)


def resampled(stream: Stream, count: int) -> Tensor:
    """[row, moment, width]: so many items of every row, evenly from the first to the last that is there.

    A row without any gives zeros.
    """
    size = stream.there.sum(1)
    moment = torch.arange(count, device=size.device)
    at = (moment[None] * size[:, None]) // count
    found = stream.items.gather(1, at[:, :, None].expand(-1, -1, stream.items.shape[2]))
    return found * (size > 0)[:, None, None]
