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


def masked_mean(vectors: Tensor, there: Tensor) -> Tensor:
    """[row, width] of [row, item, width]."""
    kept = vectors * there[:, :, None]
    return kept.sum(1) / there.sum(1, keepdim=True).clamp(min=1)


class QuestionReader(nn.Module):
    """Words -> vectors -> an LSTM, of one or both directions; the last state is the question."""

    def __init__(self, words: int, width: int, embedded: int = 300, dropout: tuple[float, float] = (0.0, 0.0)):
        super().__init__()
        self.embedding = nn.Embedding(words, embedded, padding_idx=0)
        self.lstm = nn.LSTM(embedded, width, batch_first=True)
        self.before, self.after = (nn.Dropout(each) for each in dropout)

    def forward(self, words: Tensor, lengths: Tensor) -> Tensor:
        _, (last, _) = read(self.lstm, self.before(self.embedding(words)), lengths)
        return torch.as_tensor(self.after(last[-1]))
