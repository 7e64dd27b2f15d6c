"""A second reader: a model is asked what a text means that the rules do not read, and a few that they do."""

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from questree.endpoints.chat import Chat, NoAnswer, Server, key_of
from questree.endpoints.loops import at_once, run_alone
from questree.faults import BadInput, refuse
from questree.places import changed
from questree.progress import watch
from questree.said.files import RawAnswer
from questree.said.question import AskedQuestion
from questree.said.reading import ReadAnswer, Reader

RULE = "second reader"
NOTHING = "NONE"
PROMPT = """Somebody was asked a question about a video or about images, and replied. Which answer does the reply state?
Do not answer the question yourself. {wanted}
If the reply states no answer, refuses, or names several without choosing, say {nothing}.

Question: {question}
Reply: {raw}
Answer stated in the reply:"""
KINDS = {
    "yes_no": "Say yes or no.",
    "object": "Say the object it names.",
    "action": "Say the action it names.",
    "relation": "Say the relationship it names.",
    "count": "Say the number.",
}
RETRIES, LONGEST = 3, 60.0  # seconds of one request


class SecondReading(msgspec.Struct, frozen=True):
    """A line of the file of what a model said."""

    key: str  # of model and prompt
    model: str
    prompt: str
    said: str


@dataclass(frozen=True)
class Endpoint:
    """A server that speaks OpenAI's chat completions."""

    url: str
    model: str
    concurrency: int = 8

    def ask(self, prompts: Iterable[str], keep: Callable[[str, str], None]) -> None:
        """Tell what the model says to each, at once."""
        server = Server(self.url, self.model, self.concurrency, LONGEST, RETRIES, key_of())
        refuse(server.faults("--second-reader"))
        try:
            run_alone(self._asked(server, iter(prompts), keep))
        except NoAnswer as none:
            raise BadInput.at(server.address, f"expected an answer of {self.model}, got {none.fault}") from None

    async def _asked(self, server: Server, prompts: Iterator[str], keep: Callable[[str, str], None]) -> None:
        async with Chat(server) as chat:

            async def work() -> None:
                for prompt in prompts:
                    keep(prompt, (await chat.say(self._body(prompt))).text)

            await at_once(self.concurrency, work)

    def _body(self, prompt: str) -> bytes:
        message = {"role": "user", "content": prompt}
        return msgspec.json.encode({"model": self.model, "messages": [message], "temperature": 0, "max_tokens": 32})


@dataclass(frozen=True)
class Agreement:
    """How far the two readers agree where both were asked."""

    asked: int  # texts the rules read
    read: int  # that the second reader read, too
    same: int

    @property
    def share(self) -> float | None:
        return self.same / self.read if self.read else None


def prompt_of(asked: AskedQuestion, raw: str) -> str:
    options = f"Say one of: {', '.join(asked.options)}." if asked.options else ""
    wanted = options or KINDS.get(asked.kind, "Say it in a word or two.")
    return PROMPT.format(wanted=wanted, nothing=NOTHING, question=asked.text, raw=raw)


def second_readings(
    reader: Reader,
    asked: Sequence[RawAnswer],
    first: Sequence[ReadAnswer],
    endpoint: Endpoint,
    store: Path,
    sample: int,
) -> tuple[list[ReadAnswer], Agreement]:
    """Readings with those of a model where the rules have none, and its agreement with them on a sample of the rest.

    What it said is on disk at once and is not asked for again.
    """
    read = [at for at, own in enumerate(first) if own.answer is not None]
    checked = sorted(read, key=lambda at: hashlib.sha256(f"{asked[at].id}\0{asked[at].text()}".encode()).digest())
    unread = [at for at, own in enumerate(first) if own.answer is None and asked[at].text().strip()]
    places = [*unread, *sorted(checked[:sample])]
    questions = {at: _question(reader, asked[at]) for at in places}
    prompts = {at: prompt_of(questions[at], asked[at].text()) for at in places}
    said = said_by(endpoint, dict.fromkeys(prompts.values()), store)
    found = {at: _read(reader, asked[at], said[prompts[at]]) for at in places}
    both = [at for at in places if first[at].answer is not None]
    agreed = sum(found[at].answer == first[at].answer for at in both)
    agreement = Agreement(len(both), sum(found[at].answer is not None for at in both), agreed)
    news = {at: found[at]._replace(rule=RULE) for at in unread if found[at].answer is not None}
    return [news.get(at, own) for at, own in enumerate(first)], agreement


def said_by(endpoint: Endpoint, prompts: Iterable[str], store: Path) -> dict[str, str]:
    """Prompt -> what the model says, from the file if it said so before."""
    with changed(store) as place:
        return _said_by(endpoint, prompts, place)


def _said_by(endpoint: Endpoint, prompts: Iterable[str], store: Path) -> dict[str, str]:
    known = {line.key: line.said for line in stored(store)}
    keys = {prompt: hashlib.sha256(f"{endpoint.model}\0{prompt}".encode()).hexdigest()[:24] for prompt in prompts}
    missing = [prompt for prompt, key in keys.items() if key not in known]
    with store.open("ab") as file:

        def keep(prompt: str, said: str) -> None:
            line = SecondReading(keys[prompt], endpoint.model, prompt, said)
            file.write(msgspec.json.encode(line) + b"\n")
            file.flush()
            known[line.key] = said

        if missing:
            endpoint.ask(watch(missing, "second reader", len(missing)), keep)
    return {prompt: known[key] for prompt, key in keys.items()}


def stored(store: Path) -> list[SecondReading]:
    """What was said before; a last line that was cut off is left out."""
    if not store.is_file():
        return []
    decoder, found = msgspec.json.Decoder(SecondReading), list[SecondReading]()
    lines = store.read_bytes().splitlines(keepends=True)
    for number, line in enumerate(lines, 1):
        try:
            found.append(decoder.decode(line))
        except msgspec.DecodeError as error:
            if number == len(lines) and not line.endswith(b"\n"):
                store.write_bytes(b"".join(lines[:-1]))
                break
            raise BadInput.at(f"{store}, line {number}", f"expected what a second reader said; {error}") from error
    return found


def _question(reader: Reader, asked: RawAnswer) -> AskedQuestion:
    return reader.question(asked.question, asked.answer_type or "", tuple(asked.options or ()))


def _read(reader: Reader, asked: RawAnswer, said: str) -> ReadAnswer:
    if said.strip(" .\"'*`").upper() in (NOTHING, ""):
        return ReadAnswer(None, "none", "")
    return reader.read(said, asked.question, asked.answer_type or "", asked.options or ())


def summary(agreement: Agreement, before: Sequence[ReadAnswer], after: Sequence[ReadAnswer]) -> Mapping[str, Any]:
    """For the JSON result."""
    gained = sum(a.answer is None and b.answer is not None for a, b in zip(before, after, strict=True))
    return {
        "read": gained,
        "checked": agreement.asked,
        "read by both": agreement.read,
        "same": agreement.same,
        "agreement": agreement.share,
    }
