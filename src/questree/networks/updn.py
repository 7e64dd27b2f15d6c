"""UpDn (Anderson et al., 2018): the question looks at objects once, and what it sees is multiplied with it.

Every object has a gate of its own. Shares of one attention, which sum to 1 whatever is there, cannot tell how many
objects there are of what is asked for, nor whether there is any: most of what is asked about image sets.
"""

import torch
from torch import Tensor, nn

from questree.networks.batches import QuestionBatch
from questree.networks.catalogue import Inputs, Network, Schedule, Size
from questree.networks.layers import QuestionReader, pooled


def narrowed(wide: int, width: int) -> nn.Module:
    return nn.Sequential(nn.Linear(wide, width), nn.ReLU())


class UpDn(nn.Module):
    def __init__(self, inputs: Inputs, width: int, embedded: int, dropout: float):
        super().__init__()
        seen = inputs.streams["objects"]
        self.question = QuestionReader(len(inputs.words), width, embedded, kind="GRU")
        self.look, self.sought = narrowed(seen, width), narrowed(width, width)
        self.weigh = nn.Linear(width, 1)
        self.seen, self.asked = narrowed(seen, width), narrowed(width, width)
        self.answer = nn.Sequential(
            nn.Linear(width, 2 * width), nn.ReLU(), nn.Dropout(dropout), nn.Linear(2 * width, inputs.answers)
        )

    def forward(self, batch: QuestionBatch) -> Tensor:
        return self.pointed(batch)[0]

    def pointed(self, batch: QuestionBatch) -> tuple[Tensor, Tensor]:
        """Logits of answers, and of gates: it points at what it lets through."""
        question, objects = self.question(batch.words, batch.lengths), batch.streams["objects"]
        scores = self.weigh(self.look(objects.items) * self.sought(question)[:, None])[:, :, 0]
        seen = pooled(torch.sigmoid(scores) * objects.there, self.seen(objects.items))
        return self.answer(seen * self.asked(question)), scores


NETWORK = Network(
    "attention over objects by the question (UpDn)",
    UpDn,
    sizes={
        "small": Size(
            Schedule(2e-3, batch=64, epochs=15, patience=3, clip=5), {"width": 128, "embedded": 64, "dropout": 0.1}
        ),
        "paper": Size(
            Schedule(2e-3, batch=512, epochs=30, patience=5, optimizer="Adamax", clip=0.25),
            {"width": 1024, "embedded": 300, "dropout": 0.5},
        ),
    },
    streams={"objects": 2048},
)
