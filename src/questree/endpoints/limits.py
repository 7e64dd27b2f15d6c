"""How fast a server is asked, and how much of it in all."""

import asyncio
import time
from dataclasses import dataclass, field

from questree.endpoints.chat import Reply
from questree.faults import Fault

MINUTE = 60.0
MILLION = 1_000_000


@dataclass(frozen=True)
class Prices:
    """Of a million tokens."""

    tokens_in: float = 0.0
    tokens_out: float = 0.0

    def of(self, tokens_in: float, tokens_out: float) -> float:
        return (tokens_in * self.tokens_in + tokens_out * self.tokens_out) / MILLION


@dataclass
class Spent:
    """What a command has asked so far."""

    requests: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    failed: int = 0

    def see(self, reply: Reply) -> None:
        self.tokens_in += reply.tokens_in
        self.tokens_out += reply.tokens_out

    @property
    def tokens(self) -> int:
        return self.tokens_in + self.tokens_out


@dataclass(frozen=True)
class Budget:
    """When to stop; None is never."""

    requests: int | None = None
    tokens: int | None = None
    cost: float | None = None
    prices: Prices = field(default_factory=Prices)

    def faults(self) -> list[Fault]:
        if self.cost is not None and not (self.prices.tokens_in or self.prices.tokens_out):
            return [
                Fault("--max-cost", "expected --price-in and --price-out beside it, the prices of a million tokens")
            ]
        return []

    def reached(self, spent: Spent) -> str:
        """Which limit, if any: no further request is sent; those under way are waited for."""
        if self.requests is not None and spent.requests >= self.requests:
            return f"--max-requests {self.requests:,}"
        if self.tokens is not None and spent.tokens >= self.tokens:
            return f"--max-tokens {self.tokens:,}"
        if self.cost is not None and self.prices.of(spent.tokens_in, spent.tokens_out) >= self.cost:
            return f"--max-cost {self.cost:g}"
        return ""


class Pace:
    """At most so much per minute, evenly; what a request takes is guessed before and put right after."""

    def __init__(self, most: float | None, at_once: float = 1.0):
        self.rate = most / MINUTE if most else None
        self.room = self.burst = max((most or 0) / MINUTE, at_once)
        self.seen = time.monotonic()

    async def take(self, amount: float) -> None:
        if self.rate is None:
            return
        self._fill()
        self.room -= amount  # below zero: those who come later wait longer
        if self.room < 0:
            await asyncio.sleep(-self.room / self.rate)

    def correct(self, guessed: float, taken: float) -> None:
        self.room -= taken - guessed

    def _fill(self) -> None:
        assert self.rate is not None
        now = time.monotonic()
        self.room, self.seen = min(self.room + (now - self.seen) * self.rate, self.burst), now
