"""A network, built for its questions and what it sees, and trained until it gets no better."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import polars as pl
import torch
from torch import nn

from questree.faults import BadInput
from questree.networks.catalogue import Inputs, Network, Schedule, network
from questree.training.consistency import rule_loss
from questree.training.examples import Examples
from questree.training.eyes import Eyes, Features, exchanged
from questree.training.folder import TrainedFolder
from questree.training.guidance import Guide, Pointing
from questree.training.leaks import refuse_leaks
from questree.training.lessons import Lesson
from questree.training.loop import Loop, Standing, answered
from questree.training.words import KnownWords


@dataclass(frozen=True)
class Trained:
    """A network as it was trained: what it is, its module, the words it knows."""

    plan: Mapping[str, Any]
    module: nn.Module
    known: KnownWords
    widths: Mapping[str, int]

    @property
    def parameters(self) -> int:
        return sum(each.numel() for each in self.module.parameters())

    @classmethod
    def of(cls, place: TrainedFolder) -> "Trained":
        """From its folder."""
        told = place.model()
        known = KnownWords(told["words"], told["answers"])
        found = cls.built(told["plan"], known, told["streams"])
        found.module.load_state_dict(place.weights())
        return found

    @classmethod
    def built(cls, plan: Mapping[str, Any], known: KnownWords, widths: Mapping[str, int]) -> "Trained":
        """With the weights that its seed gives."""
        own = network(plan["model"])
        torch.manual_seed(plan["seed"])
        made = own.build(Inputs(known.words, len(known.answers), widths), **own.sizes[plan["size"]].widths)
        if not isinstance(made, nn.Module):
            raise BadInput.at(f"model {plan['model']}", f"expected a torch.nn.Module, got {type(made).__name__}")
        return cls(plan, made.to("cuda" if torch.cuda.is_available() else "cpu"), known, widths)

    def eyes(self, features: Features | None, scopes: pl.Series) -> Eyes:
        """What it sees of these scopes, in training and afterwards."""
        if self.plan["blind"] or not self.widths:
            return Eyes(self.widths)
        instead = exchanged(scopes.to_list(), self.plan["seed"]) if self.plan["shuffle_features"] else {}
        return Eyes(self.widths, features, instead)

    def predictions(
        self, table: pl.DataFrame, features: Features | None, keep: Mapping[str, Any] | None = None
    ) -> pl.DataFrame:
        """id, prediction, probability, in the order of a table with id, scope and question."""
        examples = Examples.of(table, self.known, self.eyes(features, table["scope"]), keep)
        row, word, chance = list[int](), list[int](), list[float]()
        for rows, logits in answered(self.module, examples, "predicting"):
            best = torch.softmax(logits, 1).max(1)
            row += rows.tolist()
            word += best.indices.tolist()
            chance += best.values.tolist()
        words = pl.Series(list(self.known.answers), dtype=pl.String).gather(word)
        told = pl.DataFrame({"row": pl.Series(row, dtype=pl.Int64), "prediction": words, "probability": chance})
        return told.sort("row").select(table["id"], "prediction", "probability")


def widths(own: Network, features: Features | None, blind: bool) -> dict[str, int]:
    """Stream -> width: of the features, or of the paper where nothing is seen."""
    if features is None:
        return dict(own.streams)
    missing = [name for name in own.streams if name not in features.streams]
    if missing and not blind:
        there = ", ".join(features.streams)
        raise BadInput.at("--features", f"expected {' and '.join(own.streams)} for this network, got {there}")
    return {name: features.streams[name].width for name in own.streams if name in features.streams}


@contextmanager
def threads(count: int) -> Iterator[None]:
    """So many inside; results are the same bits for the same number."""
    before = torch.get_num_threads()
    torch.set_num_threads(count)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def fit(
    place: TrainedFolder, plan: Mapping[str, Any], how: Schedule, lesson: Lesson, features: Features | None
) -> tuple[Trained, Standing]:
    """Begin, or go on where it was stopped."""
    own, both = network(plan["model"]), pl.concat([lesson.learn, lesson.check])
    known = KnownWords.of(lesson.learn["question"], lesson.learn["answer"])
    found = Trained.built(plan, known, widths(own, features, plan["blind"]))
    guide = None if lesson.found is None else guided(plan, found.module, lesson.found)
    place.begin({"plan": plan, "words": known.words, "answers": known.answers, "streams": found.widths})
    eyes = found.eyes(features, both["scope"])
    learn, check = (Examples.of(table, known, eyes) for table in (lesson.learn, lesson.check))
    refuse_leaks(plan["model"], found.module, learn, len(known.answers))
    extra = None
    if lesson.dags is not None and lesson.nodes is not None:
        nodes = Examples.of(lesson.nodes, known, eyes)
        extra = rule_loss(lesson.dags, nodes, known.answers, plan["consistency"], plan["seed"])
    return found, Loop(found.module, learn, check, how, plan["seed"], place, extra, guide).run()


def guided(plan: Mapping[str, Any], module: nn.Module, found: pl.DataFrame) -> Guide:
    """Told what questions find, if it can point at it."""
    if not isinstance(module, Pointing):
        raise BadInput.at("--guided", f"expected a network that points at objects, got {plan['model']}")
    return Guide.of(plan["guided"], found)
