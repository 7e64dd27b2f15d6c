"""What is wrong with somebody's input, said in one line per fault and all at once."""

from collections.abc import Iterable
from dataclasses import dataclass


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


def refuse(faults: list[Fault]) -> None:
    """Stop here if anything was found wrong."""
    if faults:
        raise BadInput(faults)
