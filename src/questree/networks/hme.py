"""HME (Fan et al., 2019): a memory of appearance and motion, one of the question, and rounds of looking at both."""

import torch
from torch import Tensor, nn
from torch.nn.functional import relu

from questree.networks.batches import QuestionBatch, resampled
from questree.networks.catalogue import Inputs, Network, Schedule, Size
from questree.networks.layers import AdditiveAttention, pooled, read

State = tuple[tuple[Tensor, Tensor], tuple[Tensor, Tensor]]  # of the lower and the upper LSTM


class TwoLayers(nn.Module):
    """An LSTM above another; what both say at every place is looked at."""

    def __init__(self, seen: int, width: int):
        super().__init__()
        self.lower, self.upper = nn.LSTM(seen, width, batch_first=True), nn.LSTM(width, width, batch_first=True)

    def forward(self, vectors: Tensor, lengths: Tensor, state: State | None = None) -> tuple[Tensor, Tensor, State]:
        """[row, place, width] of each layer, and the last state of both."""
        below, above = state or (None, None)
        lower, below = read(self.lower, vectors, lengths, below)
        upper, above = read(self.upper, lower, lengths, above)
        return lower, upper, (below, above)


def said(state: State) -> Tensor:
    """[row, 2 x width]: both layers' last words."""
    return torch.cat([state[0][0][0], state[1][0][0]], 1)


def summed(one: State, other: State) -> State:
    (a, b), (c, d) = one
    (e, f), (g, h) = other
    return (a + e, b + f), (c + g, d + h)


class VisualMemory(nn.Module):
    """Slots that appearance and motion are written into moment by moment; what is read back is the video."""

    def __init__(self, width: int, slots: int):
        super().__init__()
        self.slots = slots
        self.content = nn.ModuleList(nn.Linear(2 * width, width) for _ in range(2))  # of appearance, of motion
        self.where = nn.ModuleList(nn.Linear(2 * width, slots) for _ in range(2))
        self.how = nn.Linear(3 * width, 3)  # keep, write appearance, write motion
        self.look = nn.Linear(3 * width, slots)
        self.whole = nn.Linear(2 * width, width)
        self.streams = nn.ModuleList(nn.Linear(3 * width, width) for _ in range(2))

    def forward(self, streams: tuple[Tensor, Tensor]) -> Tensor:
        """Two [row, moment, width] -> [row, moment, width]."""
        rows, moments, width = streams[0].shape
        memory = streams[0].new_zeros(rows, self.slots, width)
        whole, found = streams[0].new_zeros(rows, width), []
        own = [whole, whole]
        for moment in range(moments):
            now = torch.cat([*own, whole], 1)
            seen = pooled(torch.softmax(self.look(now), 1), memory)
            keep = torch.softmax(self.how(now), 1)  # [row, 3]
            new = keep[:, :1, None] * memory
            following = []
            for at, stream in enumerate(streams):
                pair = torch.cat([own[at], stream[:, moment]], 1)
                slot = torch.softmax(self.where[at](pair), 1) * keep[:, at + 1 : at + 2]
                new = new + slot[:, :, None] * relu(self.content[at](pair))[:, None]
                following.append(relu(self.streams[at](torch.cat([stream[:, moment], seen, own[at]], 1))))
            whole, own, memory = relu(self.whole(torch.cat([seen, whole], 1))), following, new
            found.append(whole)
        return torch.stack(found, 1)


class QuestionMemory(nn.Module):
    """The same of words, with gates for reading and writing."""

    def __init__(self, width: int, slots: int):
        super().__init__()
        self.slots = slots
        self.content = nn.Linear(2 * width, width)
        self.write, self.read = nn.Linear(2 * width, slots), nn.Linear(2 * width, slots)
        self.gates = nn.ModuleList(nn.Linear(2 * width, 1) for _ in range(2))  # of reading, of writing
        self.whole = nn.Linear(3 * width, width)

    def forward(self, words: Tensor) -> Tensor:
        rows, count, width = words.shape
        memory, whole, found = words.new_zeros(rows, self.slots, width), words.new_zeros(rows, width), []
        for at in range(count):
            pair = torch.cat([words[:, at], whole], 1)
            seen = torch.sigmoid(self.gates[0](pair)) * pooled(torch.softmax(self.read(pair), 1), memory)
            slot = torch.softmax(self.write(pair), 1)[:, :, None]
            written = torch.sigmoid(self.gates[1](pair))[:, :, None] * slot * relu(self.content(pair))[:, None]
            whole = relu(self.whole(torch.cat([words[:, at], seen, whole], 1)))
            memory = written + (1 - slot) * memory
            found.append(whole)
        return torch.stack(found, 1)


class Fusion(nn.Module):
    """Rounds of an LSTM that looks at both memories and weighs them."""

    def __init__(self, width: int, rounds: int, dropout: float):
        super().__init__()
        self.rounds = rounds
        self.begin, self.go_on, self.end = (nn.Linear(2 * width, width) for _ in range(3))
        self.lower, self.upper = nn.LSTMCell(width, width), nn.LSTMCell(width, width)
        self.look = nn.ModuleList(AdditiveAttention(width, width, width) for _ in range(2))  # at the video, at words
        self.seen = nn.ModuleList(nn.Linear(width, width) for _ in range(2))
        self.state, self.weigh = nn.Linear(width, width, bias=False), nn.Linear(width, 1, bias=False)
        self.sides = nn.ModuleList(nn.Linear(width, width) for _ in range(2))
        self.kept, self.dropout = nn.Linear(width, width), nn.Dropout(dropout)

    def forward(self, question: Tensor, video: Tensor, words: Tensor, there: Tensor) -> Tensor:
        now = self.dropout(torch.tanh(self.begin(question)))
        below = above = (torch.zeros_like(now), torch.zeros_like(now))
        for _ in range(self.rounds):
            below = self.lower(now, below)
            above = self.upper(below[0], above)
            both = torch.cat([above[0], self.attended(above[0], video, words, there)], 1)
            now = self.dropout(torch.tanh(self.go_on(both)))
        found: Tensor = torch.tanh(self.end(torch.cat([below[0], above[0]], 1)))
        return found

    def attended(self, state: Tensor, video: Tensor, words: Tensor, there: Tensor) -> Tensor:
        looks = [self.look[0](video, state), self.look[1](words, state, there)]
        scores = [self.weigh(torch.tanh(self.state(state) + self.sides[at](own))) for at, own in enumerate(looks)]
        share = torch.softmax(torch.cat(scores, 1), 1)
        return torch.tanh(self.kept(state) + sum(share[:, [at]] * self.seen[at](own) for at, own in enumerate(looks)))


class HME(nn.Module):
    def __init__(
        self, inputs: Inputs, width: int, embedded: int, frames: int, rounds: int, dropout: float, spare: bool = False
    ):
        super().__init__()
        self.frames = frames
        seen, moved = inputs.streams["appearance"], inputs.streams["motion"]
        self.embedding = nn.Embedding(len(inputs.words), embedded, padding_idx=0)
        self.words, self.appearance, self.motion = (TwoLayers(each, width) for each in (embedded, seen, moved))
        self.look = nn.ModuleList(AdditiveAttention(2 * width, 2 * width, width) for _ in range(2))
        self.looked = nn.ModuleList(nn.Linear(2 * width, width) for _ in range(2))
        self.video_memory, self.question_memory = VisualMemory(width, frames), QuestionMemory(width, frames)
        self.fusion, self.dropout = Fusion(width, rounds, dropout), nn.Dropout(dropout)
        self.answer = nn.Linear(3 * width, inputs.answers)
        if spare:  # the release has these layers and never uses them; they are here so that sizes can be compared
            unused = [torch.zeros(seen + moved + 1, width), *(torch.zeros(width, width) for _ in range(2))]
            self.spare = nn.ParameterList(nn.Parameter(each, requires_grad=False) for each in unused)

    def forward(self, batch: QuestionBatch) -> Tensor:
        vectors = self.dropout(self.embedding(batch.words))
        _, _, asked = self.words(vectors, batch.lengths)
        moments = torch.full_like(batch.lengths, self.frames)
        seen = [
            network(resampled(batch.streams[name], self.frames), moments, asked)
            for name, network in (("appearance", self.appearance), ("motion", self.motion))
        ]
        _, words, question = self.words(vectors, batch.lengths, summed(seen[0][2], seen[1][2]))
        looks = [
            torch.tanh(self.looked[at](self.look[at](torch.cat([lower, upper], 2), said(question))))
            for at, (lower, upper, _) in enumerate(seen)
        ]
        video = self.video_memory((seen[0][1], seen[1][1]))
        both = self.fusion(said(question), video, self.question_memory(words), batch.spoken)
        found: Tensor = self.answer(self.dropout(torch.cat([both, *looks], 1)))
        return found


NETWORK = Network(
    "memories of appearance, motion and the question (HME)",
    HME,
    sizes={
        "small": Size(
            Schedule(2e-3, batch=64, epochs=12, patience=3, clip=5),
            {"width": 64, "embedded": 64, "frames": 8, "rounds": 3, "dropout": 0.1},
        ),
        "paper": Size(
            Schedule(1e-3, batch=32, epochs=25, patience=5),
            {"width": 512, "embedded": 300, "frames": 35, "rounds": 3, "dropout": 0.2, "spare": True},
        ),
    },
    streams={"appearance": 2048, "motion": 4096},
)
