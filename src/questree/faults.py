"""What is wrong with somebody's input, said in one line per fault and all at once."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

ALIKE = 20  # faults with the same message that are told one by one


@dataclass(frozen=True, order=True)
class Fault:
    place: str  # file, and the record inside it: "annotations.json, video 001YG, frame 89"
    message: str  # what was wanted, what came, the valid choices

    def __str__(self) -> str:
        return f"{self.place}: {self.message}" if self.place else self.message


class BadInput(Exception):
    """Raised once per command, after all faults of the input are collected; nothing has been written."""

    def __init__(self, faults: Iterable[Fault]):
        self.faults = list(faults)
        super().__init__("\n".join(map(str, self.faults)))

    def __reduce__(self) -> tuple[type["BadInput"], tuple[list[Fault]]]:
        return BadInput, (self.faults,)  # worker processes send it

    @classmethod
    def at(cls, place: object, message: str) -> "BadInput":
        return cls([Fault(str(place), message)])


def lines(faults: Iterable[Fault]) -> Iterator[str]:
    """One line per fault; of those that say the same about many places the first ones, and how many more there are."""
    times = Counter[str]()
    for fault in faults:
        times[fault.message] += 1
        if times[fault.message] <= ALIKE:
            yield str(fault)
    yield from (f"... and {n - ALIKE:,} more: {message}" for message, n in times.items() if n > ALIKE)


def refuse(faults: list[Fault]) -> None:
    """Stop here if anything was found wrong."""
    if faults:
        raise BadInput(faults)


def at_least(low: float, given: Mapping[str, float | None]) -> list[Fault]:
    """Numbers that are too small."""
    return [
        Fault(f"--{flag.replace('_', '-')}", f"expected at least {low:g}, got {value:g}")
        for flag, value in given.items()
        if value is not None and value < low
    ]
