"""HCRN (Le et al., 2020): conditional relation units over the frames of clips, then over the clips of a video."""

import torch
from torch import Tensor, nn
from torch.nn.functional import elu

from questree.networks.batches import QuestionBatch, resampled
from questree.networks.catalogue import Inputs, Network, Schedule, Size
from questree.networks.layers import QuestionReader, pooled, xavier


class ConditionalRelation(nn.Module):
    """Relations of n objects under a condition: one random subset of each size n - 1, ..., 2, so n - 2 vectors.

    Of a subset: the mean, beside the condition, through a layer of its size; if gated, times a sigmoid of another.
    """

    def __init__(self, objects: int, width: int, gated: bool):
        super().__init__()
        self.objects, sizes = objects, range(objects, 1, -1)  # the release has a layer of all n, which it never uses
        self.relate = nn.ModuleList(nn.Linear(2 * width, width) for _ in sizes)
        self.gate = nn.ModuleList(nn.Linear(2 * width, width) for _ in sizes) if gated else None

    def subset(self, size: int) -> Tensor:
        """Which objects: drawn anew in every step of training, afterwards always the same."""
        generator = None if self.training else torch.Generator().manual_seed(size)
        return torch.randperm(self.objects, generator=generator)[:size].sort().values

    def forward(self, objects: Tensor, condition: Tensor) -> Tensor:
        """objects [row, object, ..., width], condition [row, width] -> [row, relation, ..., width]."""
        beside = condition.reshape(len(condition), *(1,) * (objects.dim() - 3), -1).expand(-1, *objects.shape[2:])
        found = []
        for size in range(self.objects - 1, 1, -1):
            mean = objects[:, self.subset(size).to(objects.device)].mean(1)
            both, at = torch.cat([mean, beside], -1), self.objects - size
            relation = elu(self.relate[at](both))
            found.append(relation * torch.sigmoid(self.gate[at](both)) if self.gate is not None else relation)
        return torch.stack(found, 1)


class HCRN(nn.Module):
    def __init__(self, inputs: Inputs, width: int, embedded: int, clips: int, frames: int, dropout: float):
        super().__init__()
        self.clips, self.frames = clips, frames
        seen, moved = inputs.streams["appearance"], inputs.streams["motion"]
        self.question = QuestionReader(
            len(inputs.words), width, embedded, both_ways=True, dropout=(0.15, 0.18), squashed=True
        )
        self.asked = nn.Linear(width, width)
        self.appearance, self.motion = nn.Linear(seen, width), nn.Linear(moved, width)
        self.clip_motion = ConditionalRelation(frames, width, gated=False)
        self.clip_question = ConditionalRelation(frames - 2, width, gated=True)
        self.video_motion = ConditionalRelation(clips, width, gated=False)
        self.video_question = ConditionalRelation(clips - 2, width, gated=True)
        self.over_clips = nn.LSTM(moved, width, batch_first=True)
        self.moved = nn.Linear(width, width)
        self.look = nn.ModuleList([nn.Linear(width, width, bias=False) for _ in range(2)])
        self.weigh = nn.Sequential(nn.Linear(2 * width, width), nn.ELU(), nn.Linear(width, 1))
        self.spoken = nn.Linear(width, width)
        self.dropout = nn.Dropout(dropout)
        self.answer = nn.Sequential(
            nn.Dropout(dropout),
            nn.Linear(2 * width, width),
            nn.ELU(),
            nn.BatchNorm1d(width),
            nn.Dropout(dropout),
            nn.Linear(width, inputs.answers),
        )
        xavier(self)

    def forward(self, batch: QuestionBatch) -> Tensor:
        question = self.question(batch.words, batch.lengths)
        relations = self.relations(batch, self.asked(question)).flatten(1, 2)  # [row, vector, width]
        seen = self.attended(relations, question)
        found: Tensor = self.answer(torch.cat([seen, self.spoken(question)], 1))
        return found

    def relations(self, batch: QuestionBatch, question: Tensor) -> Tensor:
        """[row, relation of clips, relation of frames, width]"""
        rows = len(question)
        frames = self.appearance(resampled(batch.streams["appearance"], self.clips * self.frames))
        frames = frames.reshape(rows * self.clips, self.frames, -1)
        motion = resampled(batch.streams["motion"], self.clips)
        of_clips = self.motion(motion).flatten(0, 1)
        found = self.clip_motion(frames, of_clips)
        found = self.clip_question(found, question.repeat_interleave(self.clips, 0))
        found = found.reshape(rows, self.clips, *found.shape[1:])  # [row, clip, relation, width]
        _, (last, _) = self.over_clips(motion)
        relations: Tensor = self.video_question(self.video_motion(found, self.moved(last[-1])), question)
        return relations

    def attended(self, relations: Tensor, question: Tensor) -> Tensor:
        """[row, width]: what the question looks at."""
        asked = self.look[0](self.dropout(question))[:, None]
        seen = self.look[1](self.dropout(relations))
        scores = self.weigh(torch.cat([seen, asked * seen], -1))[:, :, 0]
        return pooled(torch.softmax(scores, 1), relations)


NETWORK = Network(
    "conditional relation units over frames, clips and the question (HCRN)",
    HCRN,
    sizes={
        "small": Size(
            Schedule(1e-3, batch=64, epochs=12, patience=3, clip=12),
            {"width": 64, "embedded": 64, "clips": 6, "frames": 6, "dropout": 0.1},
        ),
        "paper": Size(
            Schedule(1e-4, batch=32, epochs=25, patience=25, halved=10, clip=12),
            {"width": 512, "embedded": 300, "clips": 8, "frames": 16, "dropout": 0.15},
        ),
    },
    streams={"appearance": 2048, "motion": 2048},
)
