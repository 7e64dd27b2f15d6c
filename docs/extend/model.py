"""A network: the words of a question, added up, ask about all objects that are seen, added up."""

import torch
from torch import nn

from questree.plugins import Inputs, QuestionBatch, model


class BagOfWords(nn.Module):
    def __init__(self, inputs: Inputs, width: int = 64):
        super().__init__()
        self.words = nn.Embedding(len(inputs.words), width, padding_idx=0)
        self.objects = nn.Linear(inputs.streams["objects"], width)
        self.answer = nn.Sequential(nn.Linear(3 * width, width), nn.ReLU(), nn.Linear(width, inputs.answers))

    def forward(self, batch: QuestionBatch) -> torch.Tensor:
        """Logits [row, answer] of words [row, word] and objects [row, object, width], padded; `there` tells padding."""
        asked = self.words(batch.words).sum(1)
        seen = batch.streams["objects"]
        shown = (self.objects(seen.items).relu() * seen.there[:, :, None]).sum(1)
        return self.answer(torch.cat([asked, shown, asked * shown], 1))


@model("bag-of-words", says="sums of words and of objects", streams=["objects"], rate=2e-3, epochs=20)
def bag_of_words(inputs: Inputs) -> nn.Module:
    """`inputs` has the words by number, the number of answers, and the width of every stream."""
    return BagOfWords(inputs)
