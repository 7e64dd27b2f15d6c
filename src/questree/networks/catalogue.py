"""The networks by name: what each looks at, its sizes, how it is trained; PyTorch is imported when one is built."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from importlib.util import find_spec
from typing import Any, Literal

from questree.extensions import Registry
from questree.faults import BadInput

SizeName = Literal["small", "paper"]
STREAMS = ("appearance", "motion", "objects")  # frames, clips, objects


@dataclass(frozen=True)
class Schedule:
    """How a network is trained, unless somebody says otherwise."""

    rate: float = 1e-3
    batch: int = 32
    epochs: int = 20
    patience: int = 5  # epochs without a better validation after which training ends
    optimizer: Literal["Adam", "Adamax"] = "Adam"
    decay: float = 0.0  # of weights
    halved: int = 0  # the rate is halved every so many epochs; 0: never
    clip: float = 0.0  # largest norm of gradients; 0: any


@dataclass(frozen=True)
class Size:
    schedule: Schedule = Schedule()
    widths: Mapping[str, Any] = field(default_factory=dict)  # further arguments of the builder


@dataclass(frozen=True)
class Inputs:
    """What a network must know of what it is given."""

    words: Sequence[str]  # of questions, by their numbers; 0 is no word, 1 any other word
    answers: int
    streams: Mapping[str, int]  # the width of what is seen


@dataclass(frozen=True)
class Network:
    """`build(inputs, **widths)` gives a module whose `forward` makes logits [row, answer] from a `QuestionBatch`."""

    says: str
    build: Callable[..., Any]
    sizes: Mapping[str, Size]
    streams: Mapping[str, int] = field(default_factory=dict)  # what it looks at -> width in the paper


SHIPPED = {
    "hcrn": "conditional relation units over frames, clips and the question (HCRN)",
    "hme": "memories of appearance, motion and the question (HME)",
    "psac": "self-attention over frames, co-attention with the question (PSAC)",
    "updn": "attention over objects by the question (UpDn)",
    "transformer": "one transformer over words and objects (as VisualBERT)",
    "lstm": "the question alone",
}
PLUGGED = Registry[Network]("model")


def names() -> dict[str, str]:
    """Every network -> what it is."""
    return SHIPPED | {name: network.says for name, network in PLUGGED.items()}


def network(name: str) -> Network:
    require_torch()
    if name in PLUGGED:
        return PLUGGED[name]
    if name not in SHIPPED:
        raise BadInput.at("--model", f"expected a network, got {name!r}; choose from {', '.join(names())}")
    found: Network = import_module(f"questree.networks.{name}").NETWORK
    return found


def require_torch() -> None:
    missing = [name for name in ("torch", "safetensors") if find_spec(name) is None]
    if missing:
        raise BadInput.at("questree[models]", f"{missing[0]} is not installed; `pip install questree[models]`")
