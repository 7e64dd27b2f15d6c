"""Does what a network is given tell the answer? Looked at before every training."""

from dataclasses import replace
from typing import Any

import numpy as np
import torch
from torch import nn

from questree.extensions import blamed
from questree.extensions import told as error_line
from questree.faults import BadInput
from questree.networks.batches import QuestionBatch
from questree.networks.catalogue import PLUGGED
from questree.training.examples import Examples

LOOKED = 64  # questions


def refuse_leaks(name: str, network: nn.Module, examples: Examples, answers: int) -> None:
    """Other answers to the same questions must change neither what a network is given nor what it says."""
    rows = np.arange(min(LOOKED, len(examples)))
    other = replace(examples, answers=(examples.answers + 1) % answers)
    given, changed = examples.batch(rows), other.batch(rows)
    seen = [name for name in given.streams if not _same(given.streams[name].items, changed.streams[name].items)]
    told = [*([] if _same(given.words, changed.words) else ["words"]), *seen]
    if told:
        raise BadInput.at("training", f"the answers are told by what the network is given: {', '.join(told)}")
    logits = _said(name, network, given)
    if not isinstance(logits, torch.Tensor) or logits.shape != (len(rows), answers):
        got = tuple(logits.shape) if isinstance(logits, torch.Tensor) else type(logits).__name__
        raise BadInput.at(f"model {name}", f"expected logits of shape {(len(rows), answers)}, got {got}")


def _said(name: str, network: nn.Module, given: QuestionBatch) -> Any:
    """What it says; an error of a plugin's network is its own, wherever it comes up."""
    network.eval()
    try:
        with torch.inference_mode():
            return network(given.to(next(network.parameters()).device))
    except Exception as error:
        if name not in PLUGGED:
            raise
        raise blamed(error) or BadInput.at(f"model {name}", error_line(error)) from error


def _same(one: torch.Tensor, other: torch.Tensor) -> bool:
    return one.shape == other.shape and bool((one == other).all())
