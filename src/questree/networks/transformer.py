"""One transformer over the words of a question and the objects that are seen, as VisualBERT; not pretrained."""

import torch
from torch import Tensor, nn
from torch.nn.functional import scaled_dot_product_attention

from questree.networks.batches import QuestionBatch
from questree.networks.catalogue import Inputs, Network, Schedule, Size

LONGEST = 64  # words
SPREAD = 0.02  # of numbers that nothing is known of yet


class JointAttention(nn.Module):
    """Every vector looks at all that are there, then a perceptron: each of a normed input, around a short cut."""

    def __init__(self, width: int, heads: int, dropout: float):
        super().__init__()
        self.heads = heads
        self.project, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.think = nn.Sequential(
            nn.Linear(width, 4 * width), nn.GELU(), nn.Dropout(dropout), nn.Linear(4 * width, width)
        )
        self.norms = nn.ModuleList(nn.LayerNorm(width) for _ in range(2))
        self.dropout = nn.Dropout(dropout)

    def forward(self, vectors: Tensor, there: Tensor, wanted: int | None = None) -> Tensor:
        """[row, place, width]; of the first `wanted` places only, if that is all that is read."""
        split = self.project(self.norms[0](vectors)).unflatten(-1, (3, self.heads, -1)).permute(2, 0, 3, 1, 4)
        query, key, value = split[0][:, :, :wanted], split[1], split[2]
        seen = scaled_dot_product_attention(query, key, value, there[:, None, None])
        found = vectors[:, :wanted] + self.dropout(self.out(seen.transpose(1, 2).flatten(2)))
        return found + self.dropout(self.think(self.norms[1](found)))


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
        self.blocks = nn.ModuleList(JointAttention(width, heads, dropout) for _ in range(layers))
        self.answer = nn.Sequential(
            nn.LayerNorm(width), nn.Linear(width, width), nn.Tanh(), nn.Linear(width, inputs.answers)
        )

    def forward(self, batch: QuestionBatch) -> Tensor:
        rows, objects = len(batch.words), batch.streams["objects"]
        place = torch.arange(batch.words.shape[1], device=batch.words.device)
        words = self.words(batch.words) + self.places(place) + self.kinds.weight[0]
        seen = self.objects(objects.items) + self.kinds.weight[1]
        found = self.dropout(self.norm(torch.cat([self.first.expand(rows, 1, -1), words, seen], 1)))
        there = torch.cat([batch.words.new_ones(rows, 1).bool(), batch.spoken, objects.there], 1)
        for at, block in enumerate(self.blocks, 1):
            found = block(found, there, 1 if at == len(self.blocks) else None)
        answer: Tensor = self.answer(found[:, 0])
        return answer


NETWORK = Network(
    "one transformer over words and objects (as VisualBERT)",
    OneStream,
    sizes={
        "small": Size(
            Schedule(1e-3, batch=64, epochs=15, patience=3, clip=1),
            {"width": 64, "layers": 2, "heads": 4, "dropout": 0.1},
        ),
        "paper": Size(
            Schedule(5e-5, batch=32, epochs=20, patience=5, clip=1),
            {"width": 768, "layers": 12, "heads": 12, "dropout": 0.1},
        ),
    },
    streams={"objects": 2048},
)
