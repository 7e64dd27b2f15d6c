"""The question alone: an LSTM and a perceptron. What it gets right could be guessed."""

from torch import Tensor, nn

from questree.networks.batches import QuestionBatch
from questree.networks.catalogue import Inputs, Network, Schedule, Size
from questree.networks.layers import QuestionReader


class QuestionOnly(nn.Module):
    def __init__(self, inputs: Inputs, width: int, embedded: int, hidden: int, dropout: float):
        super().__init__()
        self.question = QuestionReader(len(inputs.words), width, embedded)
        self.answer = nn.Sequential(
            nn.Linear(width, hidden), nn.ReLU(), nn.Dropout(dropout), nn.Linear(hidden, inputs.answers)
        )

    def forward(self, batch: QuestionBatch) -> Tensor:
        found: Tensor = self.answer(self.question(batch.words, batch.lengths))
        return found


NETWORK = Network(
    "the question alone",
    QuestionOnly,
    sizes={
        "small": Size(
            Schedule(2e-3, epochs=15, patience=3), {"width": 64, "embedded": 64, "hidden": 64, "dropout": 0.1}
        ),
        "paper": Size(Schedule(1e-3, epochs=25), {"width": 512, "embedded": 300, "hidden": 1024, "dropout": 0.5}),
    },
)
