"""The asking itself: many conversations at once, each answer on disk before the next question; it can stop anywhere."""

import asyncio
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from questree.ask.journal import KEY, Journal
from questree.ask.requests import Asking, Item, Requests, Turn
from questree.endpoints.chat import NoAnswer, Reply
from questree.endpoints.limits import Budget, Spent
from questree.endpoints.loops import at_once
from questree.progress import note, report

Chain = Sequence[Sequence[Item]]  # conversations one after the other: what was asked in one is known in the next
IN_A_ROW = 20  # failures without an answer between them: something is wrong with the server
LOOK = 0.2  # seconds between two looks of whoever watches
BREATH = 200  # known answers after which others have their turn


class Voice(Protocol):
    """Who answers."""

    async def say(self, asking: Asking, requests: Requests) -> Reply: ...


@dataclass
class Outcome:
    """What came of asking."""

    keys: NDArray[np.uint8]  # [row, byte] of the request that was answered
    answered: NDArray[np.bool_]  # [row]
    spent: Spent = field(default_factory=Spent)
    faults: Counter[str] = field(default_factory=Counter)
    known: int = 0  # rows that had been answered before
    stopped: str = ""  # the limit that was reached
    hopeless: str = ""  # why going on is of no use
    seconds: float = 0.0

    @classmethod
    def of(cls, rows: int) -> "Outcome":
        return cls(np.zeros((rows, KEY), np.uint8), np.zeros(rows, np.bool_))

    @property
    def ended(self) -> bool:
        return bool(self.stopped or self.hopeless)


class Engine:
    def __init__(self, requests: Requests, journal: Journal, voice: Voice, budget: Budget, concurrency: int):
        self.requests, self.journal, self.voice, self.budget = requests, journal, voice, budget
        self.concurrency, self.in_a_row, self.looked, self.begin = concurrency, 0, 0.0, 0.0
        self.under_way = dict[bytes, asyncio.Future[Reply | None]]()

    async def run(self, chains: Iterator[Chain], rows: int) -> Outcome:
        """Each worker takes the next chain when it is done with one: nothing piles up."""
        self.out, self.begin, self.done = Outcome.of(rows), time.monotonic(), 0
        await at_once(self.concurrency, lambda: self._work(chains))
        self.out.seconds = time.monotonic() - self.begin
        self._tell(rows, last=True)
        return self.out

    async def _work(self, chains: Iterator[Chain]) -> None:
        for chain in chains:
            known = dict[int, Turn]()
            for conversation in chain:
                await self._converse(conversation, known)
                if self.out.ended:
                    return

    async def _converse(self, conversation: Sequence[Item], known: dict[int, Turn]) -> None:
        """One question after the other, with all that was said before; without an answer it ends."""
        history = tuple[Turn, ...]()
        for item in conversation:
            turn = known.get(item.row)
            if turn is None:
                asking = self.requests.asking(item, history)
                reply = await self._reply(asking)
                if reply is None:
                    return
                turn = known[item.row] = Turn(asking.text, reply.text)
            history += (turn,)

    async def _reply(self, asking: Asking) -> Reply | None:
        key, row = self.requests.key(asking), asking.item.row
        reply = self.journal.get(key)
        if reply is not None:
            self.out.known += 1
            if not self.out.known % BREATH:
                await asyncio.sleep(0)
        elif key in self.under_way:
            reply = await asyncio.shield(self.under_way[key])
        else:
            reply = await self._asked(key, asking)
        self.done += 1
        if reply is not None:
            self.out.keys[row] = np.frombuffer(key, np.uint8)
            self.out.answered[row] = True
        self._tell(len(self.out.answered))
        return reply

    async def _asked(self, key: bytes, asking: Asking) -> Reply | None:
        """Others who ask the same meanwhile get the same answer."""
        self.out.stopped = self.out.stopped or self.budget.reached(self.out.spent)
        if self.out.ended:
            return None
        waiting = self.under_way[key] = asyncio.get_running_loop().create_future()
        self.out.spent.requests += 1
        reply = None
        try:
            reply = await self.voice.say(asking, self.requests)
            self.journal.put(key, asking.item.id, self.requests.prompt.digest, reply)
            self.out.spent.see(reply)
            self.in_a_row = 0
        except NoAnswer as none:
            self._failed(none)
        finally:
            self.under_way.pop(key)
            waiting.set_result(reply)
        return reply

    def _failed(self, none: NoAnswer) -> None:
        self.out.spent.failed += 1
        self.out.faults[none.fault] += 1
        self.in_a_row += 1
        if none.hopeless or self.in_a_row >= IN_A_ROW:
            self.out.hopeless = self.out.hopeless or none.fault

    def _tell(self, rows: int, last: bool = False) -> None:
        now = time.monotonic()
        if now - self.looked < LOOK and not last:
            return
        self.looked, spent = now, self.out.spent
        rate = spent.requests / max(now - self.begin, 1e-9)
        failed = f", {spent.failed:,} failed" if spent.failed else ""
        note("asking", f"{rate:,.0f}/s, {spent.tokens:,} tokens{failed}")
        report("asking", rows if last else self.done, rows)
