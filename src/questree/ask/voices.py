"""Who answers: a server, or a function in this process that is asked in batches."""

import asyncio
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from questree.ask.pictures import Shot
from questree.ask.requests import Asking, Requests
from questree.endpoints.chat import Chat, NoAnswer, Reply
from questree.endpoints.limits import Pace
from questree.faults import BadInput

SOON = 0.005  # seconds a batch waits for more


@dataclass(frozen=True)
class Asked:
    """A question or sub-question as a model is asked it.

    >>> said = run.ask(lambda question: "yes" if question.text.startswith("Is ") else "no")
    >>> said["prediction"].to_list().count("yes")
    727
    """

    id: str
    text: str
    scope: Any  # the id of the video, or the ids of the images
    prompt: str = ""  # the text as a template puts it
    media: tuple[Shot, ...] = ()  # what is to be seen, as `questree ask --media` says
    history: tuple[tuple[str, str], ...] = ()  # what was asked and said before, in a conversation

    def __str__(self) -> str:
        return self.text


Model = Callable[[Asked], object] | Callable[[Sequence[Asked]], Iterable[object]]


@dataclass
class ServerVoice:
    chat: Chat
    requests_a_minute: Pace
    tokens_a_minute: Pace

    async def say(self, asking: Asking, requests: Requests) -> Reply:
        await self.requests_a_minute.take(1)
        paced = self.tokens_a_minute.rate is not None
        guessed = requests.guessed_tokens(asking) if paced else 0
        await self.tokens_a_minute.take(guessed)
        body = await requests.body(asking)
        reply = await self.chat.say(body, asking.item.named if asking.shots else "")
        if paced:
            self.tokens_a_minute.correct(guessed, reply.tokens_in + reply.tokens_out)
        return reply


@dataclass
class FunctionVoice:
    """Gathers what is asked at once, and asks it together; None is no answer."""

    model: Model
    batch: int | None
    waiting: list[tuple[Asked, "asyncio.Future[Reply]"]] = field(default_factory=list)
    busy: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def say(self, asking: Asking, requests: Requests) -> Reply:
        item = asking.item
        asked = Asked(item.id, item.question, item.scope, asking.text, asking.shots, asking.history)
        mine: asyncio.Future[Reply] = asyncio.get_running_loop().create_future()
        self.waiting.append((asked, mine))
        if len(self.waiting) < (self.batch or 1):
            await asyncio.wait([mine], timeout=SOON)
        while not mine.done():
            async with self.busy:  # one batch at a time, in the order of asking
                if not mine.done():
                    await self._answer()
        return mine.result()

    async def _answer(self) -> None:
        some, self.waiting = self.waiting[: self.batch or 1], self.waiting[self.batch or 1 :]
        try:
            answers = await asyncio.to_thread(said_by, self.model, [asked for asked, _ in some], self.batch)
        except BaseException as error:
            for _, future in some:
                future.set_exception(error)
            return
        for (_, future), said in zip(some, answers, strict=True):
            if said is None:
                future.set_exception(NoAnswer("no answer"))
            else:
                future.set_result(Reply(str(said)))


def said_by(model: Model, some: Sequence[Asked], batch: int | None) -> list[object]:
    """What a callable says to each."""
    answers: Any = model(some if batch else some[0])  # type: ignore[arg-type]
    return answered(answers, len(some)) if batch else [answers]


def answered(said: Any, wanted: int) -> list[object]:
    """As many answers as there were questions."""
    if isinstance(said, str) or not isinstance(said, Iterable):
        raise BadInput.at("model", f"expected a list of {wanted} answers to a batch, got {type(said).__name__}")
    found = list(said)
    if len(found) != wanted:
        raise BadInput.at("model", f"expected {wanted} answers to a batch, got {len(found)}")
    return found
