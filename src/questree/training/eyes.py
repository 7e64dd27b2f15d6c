"""What networks see of videos and image sets: the features as they are, those of another one, or nothing."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
import torch
from numpy.typing import NDArray

from questree.columns.hashing import seed_of
from questree.networks.batches import Stream

Boxes = Sequence[Any]  # [row] numbers of the boxes that are kept, or None for all


class Features(Protocol):
    """Vectors of scopes, as `questree features` made them."""

    @property
    def streams(self) -> Mapping[str, Any]: ...

    def take(
        self, scopes: Sequence[str], streams: Sequence[str], keep: Any = None
    ) -> Mapping[str, tuple[NDArray[np.float32], NDArray[np.bool_]]]: ...


@dataclass(frozen=True)
class Eyes:
    """`widths`: stream -> width of its vectors; without features a network is blind: all it sees is one constant."""

    widths: Mapping[str, int]
    features: Features | None = None
    instead: Mapping[str, str] = field(default_factory=dict)  # scope -> the one whose features it gets

    def of(self, scopes: Sequence[str], keep: Boxes | None = None) -> dict[str, Stream]:
        if self.features is None:
            return {name: nothing(len(scopes), width) for name, width in self.widths.items()}
        if not self.widths:
            return {}
        found = self.features.take(self._shown(scopes), list(self.widths), *(() if keep is None else (keep,)))
        return {
            name: Stream(torch.from_numpy(items), torch.from_numpy(there)) for name, (items, there) in found.items()
        }

    def boxes(self, scopes: Sequence[str]) -> NDArray[Any]:
        """[row, object] which box of what is shown an object is, -1 for none."""
        boxed: Any = self.features  # of a run: other features know of no boxes, and nobody is guided by them
        return np.asarray(boxed.boxes(self._shown(scopes)))

    def _shown(self, scopes: Sequence[str]) -> list[str]:
        return [self.instead.get(scope, scope) for scope in scopes]


def nothing(rows: int, width: int) -> Stream:
    """Ones, as zeros would leave a network that multiplies what it sees with the question little to learn by."""
    return Stream(torch.ones(rows, 1, width), torch.ones(rows, 1, dtype=torch.bool))


def exchanged(scopes: Sequence[str], seed: int) -> dict[str, str]:
    """Every scope gets another one, if there are two: the next in an order that the seed gives."""
    order = sorted(set(scopes), key=lambda scope: int(seed_of(seed, f"shuffled {scope}")))
    return dict(zip(order, [*order[1:], *order[:1]], strict=True))
