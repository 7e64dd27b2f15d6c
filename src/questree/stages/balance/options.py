"""What may be chosen about balancing, with the paper's numbers as defaults."""

from dataclasses import dataclass, field

from questree.faults import BadInput

QUERY = "query"  # the structure that loses nothing in the second round
SHARES = {QUERY: 0.50, "compare": 0.15, "choose": 0.15, "verify": 0.15, "logic": 0.05}
SPLITS = ("train", "test")


@dataclass(frozen=True)
class Smoothing:
    """How far the answers of open questions are levelled (Algorithm 1)."""

    tail: float = 0.05  # rarest answers that together hold at most this share are left alone
    ratio: float = 3.0  # of a head answer's mean count to a tail answer's, at first
    factor: float = 0.75  # the ratio is multiplied by it after each failed pass, and not below 1
    few: int = 10  # an answer with fewer questions ends a pass
    top_answers: float = 0.20  # done when this share of the answers ...
    top_questions: float = 0.30  # ... holds at most this share of the questions
    least: float = 0.10  # of the questions that must stay


@dataclass(frozen=True)
class BalanceOptions:
    seed: int = 1
    smoothing: Smoothing = Smoothing()
    shares: dict[str, float] = field(default_factory=lambda: dict(SHARES))


def read_shares(text: str) -> dict[str, float]:
    """ "query=50,compare=15,..." in per cent; every structure once."""
    given: dict[str, float] = {}
    for part in filter(None, text.split(",")):
        name, _, number = part.partition("=")
        try:
            given[name.strip()] = float(number) / 100
        except ValueError:
            raise BadInput.at("--shares", f"expected NAME=PER CENT as in query=50, got {part!r}") from None
    wrong = sorted(set(given) ^ set(SHARES))
    if wrong:
        raise BadInput.at("--shares", f"expected each of {', '.join(SHARES)} once, got {text}: see {', '.join(wrong)}")
    if abs(sum(given.values()) - 1) > 1e-9 or min(given.values()) < 0 or not given[QUERY]:
        raise BadInput.at("--shares", f"expected shares that add up to 100, with some {QUERY}, got {text}")
    return given
