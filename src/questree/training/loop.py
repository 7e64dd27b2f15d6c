"""The loop in which a network learns; where it was stopped it goes on, with the result it would have had."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import msgspec
import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from questree.columns.hashing import seed_of
from questree.networks.catalogue import Schedule
from questree.progress import note, report
from questree.tables.hierarchies import NOTHING
from questree.training.curve import loss_curve
from questree.training.examples import Examples
from questree.training.folder import CURVE, TrainedFolder
from questree.training.guidance import Guide, Pointing

LABEL = "training"
SAVED = 200  # steps between two states within an epoch
CHECKED = 256  # questions that are answered at once
Extra = Callable[[nn.Module, int, int], Tensor]  # a further loss of (network, epoch, step)


class EpochRecord(msgspec.Struct, frozen=True):
    """What an epoch came to."""

    loss: float
    validation: float  # its loss on the questions of validation
    accuracy: float  # on these


class Standing(msgspec.Struct):
    """Where training is; with the weights and the optimizer's own state all that it goes on from."""

    step: int = 0  # steps done in this epoch
    loss: float = 0.0  # their sum
    epochs: list[EpochRecord] = []

    @property
    def best(self) -> int:
        """The epoch that validated best; of equal accuracies that of the smaller loss, then the first."""
        return min(range(len(self.epochs)), key=lambda at: (-self.epochs[at].accuracy, self.epochs[at].validation))

    def over(self, how: Schedule) -> bool:
        done = len(self.epochs)
        return done >= how.epochs or (done > 0 and done - 1 - self.best >= how.patience)


@dataclass(frozen=True)
class Loop:
    """One network, what it learns from, what it is judged on, and where it is kept."""

    network: nn.Module
    learn: Examples
    check: Examples
    how: Schedule
    seed: int
    place: TrainedFolder
    extra: Extra | None = None
    guide: Guide | None = None

    def run(self) -> Standing:
        optimizer = optimizer_of(self.network, self.how)
        now = self.resumed(optimizer)
        try:
            while not now.over(self.how):
                self.epoch(optimizer, now)
        except KeyboardInterrupt as stop:
            raise KeyboardInterrupt(self.kept()) from stop
        self.place.end({"ended": True, "best": now.best, "epochs": now.epochs})
        return now

    def kept(self) -> str:
        """What the same command goes on from."""
        found = self.place.state()
        if found is None:
            return f"nothing of {self.place.name} is kept yet"
        at = msgspec.convert(found[1], Standing)
        return (
            f"{len(at.epochs):,} epochs and {at.step:,} steps of {self.place.name} are kept; rerun to go on from there"
        )

    def epoch(self, optimizer: Any, now: Standing) -> None:
        """Steps that are left of it, then a look at what was learnt."""
        number = len(now.epochs)
        batches = self.learn.shuffled(self.seed, number, self.how.batch)
        for group in optimizer.param_groups:
            group["lr"] = rate_at(self.how, number)
        self.network.train()
        while now.step < len(batches):
            # whatever is drawn in a step follows from its number, so nothing of it needs to be kept
            torch.manual_seed(int(seed_of(self.seed, f"step {number} {now.step}")) >> 1)
            now.loss += self.step(optimizer, batches[now.step], number, now.step)
            now.step += 1
            report(LABEL, number * len(batches) + now.step, self.how.epochs * len(batches))
            if now.step % SAVED == 0 and now.step < len(batches):
                self.keep(optimizer, now)
        validation, accuracy = judged(self.network, self.check)
        now.epochs.append(EpochRecord(now.loss / len(batches), validation, accuracy))
        now.step, now.loss = 0, 0.0
        note(LABEL, f"epoch {number + 1}, loss {now.epochs[-1].loss:.3f}, validation {100 * accuracy:.1f} %")
        if now.best == number:
            self.place.save_weights(contiguous(self.network.state_dict()))
        self.place.write_text(CURVE, loss_curve(now.epochs, now.best))
        self.keep(optimizer, now)  # last: whoever goes on from here has everything of the epoch

    def step(self, optimizer: Any, rows: Any, epoch: int, step: int) -> float:
        device = next(self.network.parameters()).device
        batch, truth = self.learn.batch(rows).to(device), self.learn.truth(rows).to(device)
        if self.guide is None:
            loss = answer_loss(self.network(batch), truth)
        else:
            assert isinstance(self.network, Pointing)
            logits, points = self.network.pointed(batch)
            loss = answer_loss(logits, truth) + self.guide.loss(points, batch, self.learn, rows)
        if self.extra is not None:
            loss = loss + self.extra(self.network, epoch, step)
        optimizer.zero_grad()
        loss.backward()
        if self.how.clip:
            nn.utils.clip_grad_norm_(self.network.parameters(), self.how.clip)
        optimizer.step()
        return float(loss.detach())

    def keep(self, optimizer: Any, now: Standing) -> None:
        tensors = {f"network.{name}": value for name, value in self.network.state_dict().items()}
        for at, values in optimizer.state_dict()["state"].items():
            tensors |= {f"optimizer.{at}.{name}": torch.as_tensor(value) for name, value in values.items()}
        self.place.save_state(contiguous(tensors), now)

    def resumed(self, optimizer: Any) -> Standing:
        """From where it was stopped, or from the beginning."""
        found = self.place.state()
        if found is None:
            return Standing()
        tensors, progress = found
        own, state = dict[str, Tensor](), dict[int, dict[str, Tensor]]()
        for name, value in tensors.items():
            kind, _, rest = name.partition(".")
            if kind == "network":
                own[rest] = value
            else:
                at, _, what = rest.partition(".")
                state.setdefault(int(at), {})[what] = value
        self.network.load_state_dict(own)
        optimizer.load_state_dict({**optimizer.state_dict(), "state": state})
        return msgspec.convert(progress, Standing)


def optimizer_of(network: nn.Module, how: Schedule) -> Any:
    learnt = [each for each in network.parameters() if each.requires_grad]
    return getattr(torch.optim, how.optimizer)(learnt, lr=how.rate, weight_decay=how.decay)


def rate_at(how: Schedule, epoch: int) -> float:
    return how.rate * 0.5 ** (epoch // how.halved if how.halved else 0)


def answer_loss(logits: Tensor, truth: Tensor) -> Tensor:
    return cross_entropy(logits, truth, ignore_index=NOTHING)


def judged(network: nn.Module, check: Examples) -> tuple[float, float]:
    """Mean loss and accuracy; an answer that nobody gave in training cannot be got right and has no loss."""
    loss, right, known = 0.0, 0, 0
    for rows, logits in answered(network, check):
        truth = check.truth(rows)
        there = int((truth != NOTHING).sum())
        loss += float(cross_entropy(logits, truth, ignore_index=NOTHING, reduction="sum"))
        right, known = right + int((logits.argmax(1) == truth).sum()), known + there
    return (loss / known if known else math.inf), right / max(len(check), 1)


def answered(network: nn.Module, examples: Examples, label: str = "") -> Any:
    """(rows, logits [row, answer]) for all examples, on the processor."""
    network.eval()
    device, done = next(network.parameters()).device, 0
    with torch.inference_mode():
        for rows in examples.in_order(CHECKED):
            yield rows, network(examples.batch(rows).to(device)).cpu()
            done += len(rows)
            if label:
                report(label, done, len(examples))


def contiguous(tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    """As files take them."""
    return {name: value.detach().cpu().contiguous() for name, value in tensors.items()}
