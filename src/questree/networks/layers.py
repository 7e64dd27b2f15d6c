"""Parts that networks share: reading a question, attention over what is there."""

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence


def read(network: Any, vectors: Tensor, lengths: Tensor, state: Any = None) -> tuple[Tensor, Any]:
    """An LSTM or GRU over sequences of different lengths: [row, place, width], and its last state."""
    packed = pack_padded_sequence(vectors, lengths.cpu(), batch_first=True, enforce_sorted=False)
    out, last = network(packed, state)
    return pad_packed_sequence(out, batch_first=True, total_length=vectors.shape[1])[0], last


def masked_softmax(scores: Tensor, there: Tensor, dim: int = -1) -> Tensor:
    """Shares of what is there, 0 for the rest; all 0 where nothing is."""
    shares = torch.softmax(scores.masked_fill(~there, torch.finfo(scores.dtype).min), dim)
    return shares * there


def pooled(shares: Tensor, vectors: Tensor) -> Tensor:
    """[row, width]: the sum of [row, item, width], each with its share [row, item]."""
    return (shares[:, None] @ vectors)[:, 0]


class QuestionReader(nn.Module):
    """Words -> vectors -> a recurrent network, of one or both directions; its last state is the question."""

    def __init__(
        self,
        words: int,
        width: int,
        embedded: int = 300,
        kind: str = "LSTM",
        both_ways: bool = False,
        dropout: tuple[float, float] = (0.0, 0.0),  # of words, of the question
        squashed: bool = False,  # tanh of the words' vectors
    ):
        super().__init__()
        self.embedding = nn.Embedding(words, embedded, padding_idx=0)
        sides = 2 if both_ways else 1
        self.network = getattr(nn, kind)(embedded, width // sides, batch_first=True, bidirectional=both_ways)
        self.of_words, self.of_question = (nn.Dropout(each) for each in dropout)
        self.squashed = squashed

    def forward(self, words: Tensor, lengths: Tensor) -> Tensor:
        vectors = self.of_words(self.embedding(words))
        _, last = read(self.network, torch.tanh(vectors) if self.squashed else vectors, lengths)
        state = last[0] if isinstance(last, tuple) else last  # [direction, row, width]
        found: Tensor = self.of_question(state.transpose(0, 1).flatten(1))
        return found


class AdditiveAttention(nn.Module):
    """How much each item matters to a query: v tanh(W item + U query + b)."""

    def __init__(self, items: int, query: int, width: int):
        super().__init__()
        self.of_items, self.of_query = nn.Linear(items, width, bias=False), nn.Linear(query, width)
        self.score = nn.Linear(width, 1, bias=False)

    def forward(self, items: Tensor, query: Tensor, there: Tensor | None = None) -> Tensor:
        """[row, width]: the items [row, item, width] by their shares."""
        scores = self.score(torch.tanh(self.of_items(items) + self.of_query(query)[:, None]))[:, :, 0]
        shares = torch.softmax(scores, 1) if there is None else masked_softmax(scores, there)
        return pooled(shares, items)


def xavier(module: nn.Module) -> None:
    """Weights of linear layers as Glorot and Bengio draw them, biases 0."""
    for each in module.modules():
        if isinstance(each, nn.Linear):
            nn.init.xavier_uniform_(each.weight)
            if each.bias is not None:
                nn.init.zeros_(each.bias)
