"""PSAC (Li et al., 2019): self-attention over frames, a question of words and letters, co-attention of the two."""

import math
from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.nn.functional import relu, scaled_dot_product_attention
from torch.nn.utils.parametrizations import weight_norm

from questree.networks.batches import QuestionBatch, resampled
from questree.networks.catalogue import Inputs, Network, Schedule, Size
from questree.networks.layers import masked_softmax

LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789'-"
LONGEST = 15  # letters of a word that are read
PLACES = 300  # numbers that say where a frame or a word stands


def spelled(words: Sequence[str]) -> Tensor:
    """[word, letter] numbers of letters, 0 beyond the end, 1 for what is no letter."""
    number = {letter: at for at, letter in enumerate(LETTERS, 2)}
    found = torch.zeros(len(words), LONGEST, dtype=torch.long)
    for at, word in enumerate(words):
        for place, letter in enumerate(word[:LONGEST]):
            found[at, place] = number.get(letter, 1)
    return found


def places(count: int, width: int) -> Tensor:
    """[place, number]: sines and cosines of growing wave lengths."""
    turn = torch.arange(count)[:, None] * torch.exp(torch.arange(0, width, 2) * (-math.log(10_000.0) / width))
    return torch.stack([torch.sin(turn), torch.cos(turn)], 2).flatten(1)[:, :width]


class SelfAttention(nn.Module):
    """Every place looks at every place that is there, with several heads."""

    def __init__(self, width: int, heads: int, key: int):
        super().__init__()
        self.heads, self.project = heads, nn.Linear(width, 3 * heads * key, bias=False)

    def forward(self, vectors: Tensor, there: Tensor | None = None) -> Tensor:
        split = self.project(vectors).unflatten(-1, (3, self.heads, -1)).permute(2, 0, 3, 1, 4)
        mask = None if there is None else there[:, None, None]
        seen: Tensor = scaled_dot_product_attention(split[0], split[1], split[2], mask)
        return seen.transpose(1, 2).flatten(2)


class FrameEncoder(nn.Module):
    """Where a frame stands is added to it; then self-attention and a perceptron, each around a short cut."""

    def __init__(self, seen: int, frames: int, heads: int, key: int, hidden: int, dropout: float):
        super().__init__()
        self.register_buffer("places", places(frames, PLACES), persistent=False)
        self.placed = nn.Linear(PLACES, seen)
        self.attend, self.out = SelfAttention(seen, heads, key), nn.Linear(heads * key, seen)
        self.think = nn.Sequential(nn.Linear(seen, hidden), nn.ReLU(), nn.Linear(hidden, seen))
        self.norms = nn.ModuleList(nn.LayerNorm(seen) for _ in range(2))
        self.dropout = nn.Dropout(dropout)

    def forward(self, frames: Tensor) -> Tensor:
        found = frames + self.placed(self.places)
        found = self.norms[0](found + self.dropout(self.out(self.attend(found))))
        return frames + self.norms[1](found + self.dropout(self.think(found)))


class WordsAndLetters(nn.Module):
    """Each word by its own vector and by its letters, through highway layers."""

    def __init__(self, words: Sequence[str], embedded: int, letters: int, width: int, dropout: float):
        super().__init__()
        self.register_buffer("spelling", spelled(words), persistent=False)
        self.words = nn.Embedding(len(words), embedded, padding_idx=0)
        self.letters = nn.Embedding(len(LETTERS) + 2, letters, padding_idx=0)
        self.over_letters = nn.Conv1d(letters, width, 5)
        self.both = nn.Linear(embedded + width, width)
        self.highway = nn.ModuleList(nn.Linear(width, 2 * width) for _ in range(2))
        self.dropout = nn.Dropout(dropout)

    def forward(self, words: Tensor) -> Tensor:
        different, which = words.unique(return_inverse=True)
        letters = self.over_letters(self.letters(self.spelling[different]).transpose(1, 2))
        spelt = relu(letters).amax(2)[which]
        found = self.both(self.dropout(torch.cat([self.words(words), spelt], -1)))
        for layer in self.highway:
            new, gate = layer(found).chunk(2, -1)
            gate = torch.sigmoid(gate)
            found = gate * relu(new) + (1 - gate) * found
        return found


class QuestionEncoder(nn.Module):
    """Separable convolutions, self-attention, a perceptron: each of a normed input, around a short cut."""

    def __init__(self, width: int, heads: int, convolutions: int, dropout: float):
        super().__init__()
        self.slide = nn.ModuleList(nn.Conv1d(width, width, 7, padding=3, groups=width) for _ in range(convolutions))
        self.mix = nn.ModuleList(nn.Linear(width, width) for _ in range(convolutions))
        self.attend = SelfAttention(width, heads, width // heads)
        self.think = nn.Sequential(nn.Linear(width, width), nn.ReLU(), nn.Linear(width, width))
        self.norms = nn.ModuleList(nn.LayerNorm(width) for _ in range(convolutions + 2))
        self.dropout = nn.Dropout(dropout)

    def forward(self, words: Tensor, there: Tensor) -> Tensor:
        found = words + places(words.shape[1], words.shape[2]).to(words)
        for slide, mix, norm in zip(self.slide, self.mix, self.norms, strict=False):
            own = norm(found) * there[:, :, None]  # nothing comes from beyond the end
            found = found + self.dropout(relu(mix(slide(own.transpose(1, 2)).transpose(1, 2))))
        found = found + self.dropout(self.attend(self.norms[-2](found), there))
        return found + self.dropout(self.think(self.norms[-1](found)))


class CoAttention(nn.Module):
    """Frames V and words Q look at each other: [V, A, V*A, V*B]; A is what frames see of Q, B what Q sees of frames."""

    def __init__(self, width: int, dropout: float):
        super().__init__()
        self.of_frames, self.of_words = nn.Linear(width, 1, bias=False), nn.Linear(width, 1)
        self.of_both = nn.Parameter(torch.empty(width).uniform_(-1, 1) / math.sqrt(width))
        self.dropout = nn.Dropout(dropout)

    def forward(self, frames: Tensor, words: Tensor, there: Tensor) -> Tensor:
        v, q = self.dropout(frames), self.dropout(words)
        score = self.of_frames(v) + self.of_words(q).transpose(1, 2) + (v * self.of_both) @ q.transpose(1, 2)
        to_words = masked_softmax(score, there[:, None])  # [row, frame, word]
        to_frames = torch.softmax(score, 1)
        a = to_words @ words
        b = to_words @ to_frames.transpose(1, 2) @ frames
        return torch.cat([frames, a, frames * a, frames * b], -1)


class PSAC(nn.Module):
    def __init__(
        self,
        inputs: Inputs,
        width: int,
        embedded: int,
        letters: int,
        frames: int,
        heads: int,
        key: int,
        convolutions: int,
        dropout: tuple[float, float],  # inside, of the answer
    ):
        super().__init__()
        self.frames, seen = frames, inputs.streams["appearance"]
        inside, last = dropout
        self.video = FrameEncoder(seen, frames, heads, key, width, inside)
        self.words = WordsAndLetters(inputs.words, embedded, letters, width, inside)
        self.question = QuestionEncoder(width, heads, convolutions, inside)
        self.narrow = weight_norm(nn.Linear(seen, width))
        self.both, self.whole = CoAttention(width, inside), nn.Linear(4 * width, width)
        self.answer = nn.Sequential(
            weight_norm(nn.Linear(width, 2 * width), dim=None),
            nn.ReLU(),
            nn.Dropout(last),
            weight_norm(nn.Linear(2 * width, inputs.answers), dim=None),
        )

    def forward(self, batch: QuestionBatch) -> Tensor:
        frames = self.narrow(self.video(resampled(batch.streams["appearance"], self.frames)))
        words = self.question(self.words(batch.words), batch.spoken)
        found: Tensor = self.answer(self.whole(self.both(frames, words, batch.spoken)).mean(1))
        return found


NETWORK = Network(
    "self-attention over frames, co-attention with the question (PSAC)",
    PSAC,
    sizes={
        "small": Size(
            Schedule(1e-3, batch=64, epochs=12, patience=3, clip=1),
            {
                "width": 64,
                "embedded": 64,
                "letters": 16,
                "frames": 16,
                "heads": 4,
                "key": 16,
                "convolutions": 2,
                "dropout": (0.1, 0.1),
            },
        ),
        "paper": Size(
            Schedule(3e-3, batch=32, epochs=100, patience=10, optimizer="Adamax", clip=0.25),
            {
                "width": 512,
                "embedded": 300,
                "letters": 64,
                "frames": 36,
                "heads": 8,
                "key": 256,
                "convolutions": 4,
                "dropout": (0.1, 0.5),
            },
        ),
    },
    streams={"appearance": 2048},
)
