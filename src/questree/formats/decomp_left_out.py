"""What is odd about DAGs and why some are none of a run: counted, with the same examples however folders are shared
out."""

from collections import Counter
from dataclasses import dataclass, field
from typing import NamedTuple

EXAMPLES = 3  # places named per reason


class DagPlace(NamedTuple):
    """Where a DAG or an isolated question stands; places are in the order in which one process reads."""

    folder: int = 0
    isolated: bool = False  # after all files of the folder
    file: str = ""
    number: int = 0


@dataclass
class OddDags:
    counts: Counter[str] = field(default_factory=Counter)
    first: dict[str, list[tuple[DagPlace, str]]] = field(default_factory=dict)  # why -> places and what stands there

    def note(self, why: str, at: DagPlace, named: str) -> None:
        self.counts[why] += 1
        self._keep(why, [(at, named)])

    def add(self, other: "OddDags") -> None:
        self.counts.update(other.counts)
        for why, some in other.first.items():
            self._keep(why, some)

    def _keep(self, why: str, some: list[tuple[DagPlace, str]]) -> None:
        self.first[why] = sorted([*self.first.get(why, []), *some])[:EXAMPLES]

    def in_order(self) -> tuple[Counter[str], dict[str, list[str]]]:
        """Counts and examples, first what is met first."""
        order = sorted(self.counts, key=lambda why: (self.first[why], why))
        examples = {why: [named for _, named in self.first[why]] for why in order}
        return Counter({why: self.counts[why] for why in order}), examples
