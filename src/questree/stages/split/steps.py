"""More steps than in training: the most steps of each template in train (12.18 of the sheet)."""

import numpy as np

from questree.benchmarks.agqa.templates import TEMPLATES
from questree.columns.joins import Ints

SHARE = 0.75  # of a template's training questions that stay
KNOWN = {"relTime": 5}  # from the release
NEVER = 255  # a template without questions


def most_steps(counts: Ints, given: dict[str, int]) -> tuple[int, ...]:
    """counts: [train, template, steps] questions -> the most steps per template in train.

    That is the smallest number at least SHARE of its training questions do not exceed; of all, if none is for training.
    """
    found = []
    for at, template in enumerate(TEMPLATES):
        own = counts[1, at] if counts[1, at].any() else counts[0, at]
        known = {**KNOWN, **given}.get(template.name)
        reached = np.flatnonzero(np.cumsum(own) >= SHARE * own.sum())
        found.append(known if known is not None else int(reached[0]) if own.any() else NEVER)
    return tuple(found)
