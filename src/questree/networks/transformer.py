"""One transformer over the words of a question and the objects that are seen, as VisualBERT; not pretrained.

What differs from BERT's: perceptrons multiply two readings of a vector, so that an object can be compared with the
words it has looked at; and at the end the answer looks through gates instead of shares that sum to 1, which tell
neither how many objects there are nor whether there is one.
"""

import torch
from torch import Tensor, nn
from torch.nn.functional import gelu, scaled_dot_product_attention

from questree.networks.batches import QuestionBatch
from questree.networks.catalogue import Inputs, Network, Schedule, Size

LONGEST = 64  # words
SPREAD = 0.02  # of numbers that nothing is known of yet
CLOSED = -2.0  # gates begin so: few objects matter


class GatedPerceptron(nn.Module):
    """(A x * gelu(B x)) C: as many numbers as two layers that are four times as wide in between."""

    def __init__(self, width: int, dropout: float):
        super().__init__()
        between = 8 * width // 3
        self.read, self.out, self.dropout = (
            nn.Linear(width, 2 * between),
            nn.Linear(between, width),
            nn.Dropout(dropout),
        )

    def forward(self, vectors: Tensor) -> Tensor:
        one, other = self.read(vectors).chunk(2, -1)
        found: Tensor = self.out(self.dropout(one * gelu(other)))
        return found


class JointAttention(nn.Module):
    """Every vector looks at all that are there, then a perceptron: each of a normed input, around a short cut."""

    def __init__(self, width: int, heads: int, dropout: float):
        super().__init__()
        self.heads = heads
        self.project, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.think = GatedPerceptron(width, dropout)
        self.norms = nn.ModuleList(nn.LayerNorm(width) for _ in range(2))
        self.dropout = nn.Dropout(dropout)

    def forward(self, vectors: Tensor, there: Tensor) -> Tensor:
        """[row, place, width]"""
        query, key, value = self.projected(vectors)
        return self.thought(vectors, scaled_dot_product_attention(query, key, value, there[:, None, None]))

    def projected(self, vectors: Tensor) -> Tensor:
        """[query, key or value, row, head, place, width]"""
        return self.project(self.norms[0](vectors)).unflatten(-1, (3, self.heads, -1)).permute(2, 0, 3, 1, 4)

    def thought(self, vectors: Tensor, seen: Tensor) -> Tensor:
        found = vectors + self.dropout(self.out(seen.transpose(1, 2).flatten(2)))
        return found + self.dropout(self.think(self.norms[1](found)))


class GatedLook(JointAttention):
    """The first vector looks at everything, each through a gate of its own."""

    def __init__(self, width: int, heads: int, dropout: float):
        super().__init__(width, heads, dropout)
        self.bias = nn.Parameter(torch.full((heads, 1, 1), CLOSED))

    def forward(self, vectors: Tensor, there: Tensor) -> Tensor:
        """[row, width]"""
        query, key, value = self.projected(vectors)
        scores = query[:, :, :1] @ key.transpose(-1, -2) / query.shape[-1] ** 0.5 + self.bias
        gates = torch.sigmoid(scores) * there[:, None, None]
        return self.thought(vectors[:, :1], gates @ value)[:, 0]


class OneStream(nn.Module):
    """What is read where the first vector was is the answer; words know their place, objects their box."""

    def __init__(self, inputs: Inputs, width: int, layers: int, heads: int, dropout: float):
        super().__init__()
        self.words = nn.Embedding(len(inputs.words), width, padding_idx=0)
        self.places = nn.Embedding(LONGEST, width)
        self.kinds = nn.Embedding(2, width)  # of words, of objects
        for each in (self.words, self.places, self.kinds):
            nn.init.normal_(each.weight, std=SPREAD)  # as BERT's: what an object looks like outweighs that it is one
        self.first = nn.Parameter(torch.randn(width) * SPREAD)
        self.objects = nn.Linear(inputs.streams["objects"], width)
        self.norm, self.dropout = nn.LayerNorm(width), nn.Dropout(dropout)
        self.blocks = nn.ModuleList(JointAttention(width, heads, dropout) for _ in range(layers - 1))
        self.last = GatedLook(width, heads, dropout)
        self.point = nn.Sequential(nn.LayerNorm(width), nn.Linear(width, 1))
        self.answer = nn.Sequential(
            nn.LayerNorm(width), nn.Linear(width, width), nn.Tanh(), nn.Linear(width, inputs.answers)
        )

    def forward(self, batch: QuestionBatch) -> Tensor:
        return self.pointed(batch)[0]

    def pointed(self, batch: QuestionBatch) -> tuple[Tensor, Tensor]:
        """Logits of answers, and of objects as they are before the last look."""
        rows, objects = len(batch.words), batch.streams["objects"]
        place = torch.arange(batch.words.shape[1], device=batch.words.device)
        words = self.words(batch.words) + self.places(place) + self.kinds.weight[0]
        seen = self.objects(objects.items) + self.kinds.weight[1]
        found = self.dropout(self.norm(torch.cat([self.first.expand(rows, 1, -1), words, seen], 1)))
        there = torch.cat([batch.words.new_ones(rows, 1).bool(), batch.spoken, objects.there], 1)
        for block in self.blocks:
            found = block(found, there)
        points = self.point(found[:, 1 + words.shape[1] :])[:, :, 0]
        return self.answer(self.last(found, there)), points


NETWORK = Network(
    "one transformer over words and objects (as VisualBERT)",
    OneStream,
    sizes={
        "small": Size(
            Schedule(1e-3, batch=64, epochs=15, patience=3, halved=3, clip=1),
            {"width": 64, "layers": 3, "heads": 4, "dropout": 0.1},
        ),
        "paper": Size(
            Schedule(5e-5, batch=32, epochs=20, patience=5, clip=1),
            {"width": 768, "layers": 12, "heads": 12, "dropout": 0.1},
        ),
    },
    streams={"objects": 2048},
)
