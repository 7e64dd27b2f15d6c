"""A family: compositions of one kind with everything their consistency rules look at; a check: one rule over some."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Bools = NDArray[np.bool_]
Ints = NDArray[Any]


@dataclass(frozen=True)
class Check:
    """One rule over some compositions; a row can be in several checks."""

    rule: str
    rows: Ints  # in `composed`, those to which the rule applies
    passes: Bools  # [row]


@dataclass(frozen=True)
class Family:
    """Compositions of one kind with everything their rules look at; all arrays are [row]."""

    name: str  # of the composition
    kind: str  # "one way", "both ways", "match" (Xor, Equals) or "choose"
    rows: Ints
    yes: Bools  # a = yes
    no: Bools  # a = no
    holds: Bools  # the condition that makes a yes right: all v yes / M / OK
    near: Bools  # what must not hold under a no: some v is not no (ways), M / E (match)
    rule: Ints | None = None  # choose: 0 temporal, 1 object
