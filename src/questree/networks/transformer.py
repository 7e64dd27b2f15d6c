"""One transformer over the words of a question and the objects that are seen, as VisualBERT; not pretrained."""

import torch
from torch import Tensor, nn

from questree.networks.batches import QuestionBatch
from questree.networks.catalogue import Inputs, Network, Schedule, Size

LONGEST = 64  # words


class OneStream(nn.Module):
    """What is read where the first vector was is the answer; words know their place, objects their box."""

    def __init__(self, inputs: Inputs, width: int, layers: int, heads: int, dropout: float):
        super().__init__()
        self.words = nn.Embedding(len(inputs.words), width, padding_idx=0)
        self.places = nn.Embedding(LONGEST, width)
        self.kinds = nn.Embedding(2, width)  # of words, of objects
        self.first = nn.Parameter(torch.randn(width) * 0.02)
        self.objects = nn.Linear(inputs.streams["objects"], width)
        self.norm, self.dropout = nn.LayerNorm(width), nn.Dropout(dropout)
        layer = nn.TransformerEncoderLayer(width, heads, 4 * width, dropout, "gelu", batch_first=True, norm_first=True)
        self.layers = nn.TransformerEncoder(layer, layers, enable_nested_tensor=False)
        self.answer = nn.Sequential(
            nn.LayerNorm(width), nn.Linear(width, width), nn.Tanh(), nn.Linear(width, inputs.answers)
        )

    def forward(self, batch: QuestionBatch) -> Tensor:
        rows, objects = len(batch.words), batch.streams["objects"]
        place = torch.arange(batch.words.shape[1], device=batch.words.device)
        words = self.words(batch.words) + self.places(place) + self.kinds.weight[0]
        seen = self.objects(objects.items) + self.kinds.weight[1]
        whole = torch.cat([self.first.expand(rows, 1, -1), words, seen], 1)
        there = torch.cat([batch.words.new_ones(rows, 1).bool(), batch.spoken, objects.there], 1)
        read = self.layers(self.dropout(self.norm(whole)), src_key_padding_mask=~there)
        found: Tensor = self.answer(read[:, 0])
        return found


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
