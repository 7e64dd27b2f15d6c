"""What may be said about a training: the network, what it learns from, what it sees, and how long."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

from questree.faults import BadInput, Fault, at_least
from questree.networks.catalogue import Schedule
from questree.training.lessons import Lesson


@dataclass(frozen=True)
class TrainingOptions:
    model: str
    size: str
    blind: bool
    shuffle_features: bool
    split: str
    validation: str
    parts: bool
    consistency: float
    guided: float
    sample: int
    sample_parts: int
    seed: int

    @property
    def usual_name(self) -> str:
        """The network, and what is special about its training."""
        special = {
            "paper": self.size == "paper",
            "blind": self.blind,
            "shuffled": self.shuffle_features,
            "parts": self.parts,
            "consistent": self.consistency > 0,
            "guided": self.guided > 0,
        }
        return "-".join([self.model, *(word for word, holds in special.items() if holds)])

    def faults(self) -> list[Fault]:
        both = Fault("--shuffle-features", "expected a network that sees, got --blind")
        unseen = Fault("--guided", "expected a network that sees, got --blind")
        return [
            *at_least(0, {name: getattr(self, name) for name in ("sample", "sample_parts", "consistency", "guided")}),
            *([both] if self.blind and self.shuffle_features else []),
            *([unseen] if self.blind and self.guided else []),
        ]


def scheduled(usual: Schedule, given: Mapping[str, Any]) -> Schedule:
    """As a network is trained, but for what somebody says."""
    return replace(usual, **{name: value for name, value in given.items() if value is not None})


def same(earlier: Mapping[str, Any], wanted: Mapping[str, Any], place: object) -> None:
    """What was begun goes on only as it was begun."""
    changed = [name for name in wanted if earlier.get(name) != wanted[name]]
    if changed:
        name = changed[0]
        told = f"trained with {name} {earlier.get(name)!r}, got {wanted[name]!r}"
        raise BadInput.at(place, f"{told}; choose another --name, or --again to replace it")


def plan(options: TrainingOptions, how: Schedule, lesson: Lesson, features: Any) -> dict[str, Any]:
    """All that the result follows from, as it is written down."""
    seen = {} if features is None else {"features": features.folder.name, "digest of features": features.digest}
    return {**asdict(options), **asdict(how), **seen, "questions": lesson.digest()}
