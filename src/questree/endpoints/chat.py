"""One server that speaks chat completions: addresses, keys that nobody sees, retries, what a reply says."""

import asyncio
import os
import random
import time
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import msgspec

from questree.faults import BadInput, Fault, refuse

if TYPE_CHECKING:
    from httpx2 import AsyncClient, Response

KEY = "OPENAI_API_KEY"
AGAIN = (408, 409, 425, 429, 500, 502, 503, 504, 529)
NEVER = (401, 403, 404, 405)  # the next request would fare no better
WAIT, LONGEST_WAIT = 0.5, 120.0  # seconds before the second try; before any
SHOWN = 200  # characters of what a server says is wrong


class NoAnswer(Exception):
    """A request that stays without an answer; `hopeless` if others would, too."""

    def __init__(self, fault: str, hopeless: bool = False):
        super().__init__(fault)
        self.fault, self.hopeless = fault, hopeless


class Reply(msgspec.Struct, frozen=True, array_like=True):
    """What a server said, and what that took."""

    text: str
    finish: str = ""
    tokens_in: int = 0
    tokens_out: int = 0
    seconds: float = 0.0
    tries: int = 1
    yes: float | None = None  # logarithm of the probability that the answer begins so, where servers tell
    no: float | None = None


@dataclass(frozen=True)
class Server:
    """Where and how to ask."""

    url: str
    model: str
    concurrency: int = 8
    timeout: float = 120.0  # seconds of one try
    retries: int = 5
    key: str = field(default="", repr=False)

    def faults(self, place: str = "--endpoint") -> list[Fault]:
        parts, found = urlsplit(self.url), list[Fault]()
        if parts.username or parts.password or parts.query:
            found.append(Fault(place, "expected an address without a key in it; keys come from the environment"))
        elif parts.scheme not in ("http", "https") or not parts.hostname:
            found.append(Fault(place, f"expected an address like http://localhost:8000/v1, got {self.url!r}"))
        return found

    @property
    def address(self) -> str:
        base = self.url.rstrip("/")
        return base if base.endswith("/chat/completions") else f"{base}/chat/completions"

    def client(self) -> "AsyncClient":
        try:
            from httpx2 import AsyncClient, Limits
        except ModuleNotFoundError:
            wanted = "expected the package httpx2, got none installed; run `pip install 'questree[ask]'`"
            raise BadInput.at("endpoint", wanted) from None
        from questree.endpoints.plain_http import PlainHTTP

        proxies = ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy")
        plain = urlsplit(self.url).scheme == "http" and not any(os.environ.get(name) for name in proxies)
        limits = Limits(max_connections=self.concurrency, max_keepalive_connections=self.concurrency)
        return AsyncClient(transport=PlainHTTP() if plain else None, timeout=self.timeout, limits=limits)


def key_of(variable: str = "", file: Path | None = None) -> str:
    """From a file, or from the environment."""
    if file is None:
        found, place = os.environ.get(variable or KEY, ""), f"environment variable {variable or KEY}"
        refuse([] if found or not variable else [Fault(place, "expected a key, got nothing")])
    else:
        try:
            found, place = file.read_text("utf-8"), str(file)
        except (OSError, UnicodeDecodeError):
            raise BadInput.at(file, "expected a file with a key, got none that can be read") from None
        refuse([] if found.strip() else [Fault(str(file), "expected a key, got an empty file")])
    if not found.strip().isascii() or any(sign.isspace() for sign in found.strip()):
        raise BadInput.at(place, "expected one key, got several words or other letters than ASCII")
    return found.strip()


class Chat:
    """Conversations with a server; `async with` it."""

    def __init__(self, server: Server):
        self.server, self.retried, self.not_before = server, 0, 0.0
        self.headers = {"Content-Type": "application/json"}
        if server.key:
            self.headers["Authorization"] = f"Bearer {server.key}"

    async def __aenter__(self) -> "Chat":
        from httpx2 import URL

        self.client, self.place = self.server.client(), URL(self.server.address)
        await self.client.__aenter__()
        return self

    async def __aexit__(self, *why: Any) -> None:
        await self.client.__aexit__(*why)

    async def say(self, body: bytes, scope: str = "") -> Reply:
        """The reply to a request; asked again while that may help."""
        from httpx2 import HTTPError, Request

        headers = {**self.headers, "X-Questree-Scope": scope} if scope and scope.isascii() else self.headers
        tries, fault, told = 0, "", 0.0
        while tries < self.server.retries + 1:
            await self._patience(tries, told)
            tries, told, begin = tries + 1, 0.0, time.perf_counter()
            try:
                found = await self.client.send(Request("POST", self.place, headers=headers, content=body))
            except HTTPError as error:
                fault = type(error).__name__
                continue
            if found.status_code == 200:
                return self._reply(found.content, time.perf_counter() - begin, tries)
            fault = self._fault(found)
            if found.status_code not in AGAIN:
                raise NoAnswer(fault, found.status_code in NEVER)
            told = _retry_after(found)
        raise NoAnswer(f"{fault}, {tries} times" if tries > 1 else fault)

    async def _patience(self, tries: int, told: float) -> None:
        """Longer after every try, or as the server says, which then goes for all requests."""
        if tries:
            self.retried += 1
        if told:
            self.not_before = max(self.not_before, time.monotonic() + told)
        elif tries:
            await asyncio.sleep(min(WAIT * 2 ** (tries - 1) * random.uniform(0.75, 1.25), LONGEST_WAIT))
        while (left := self.not_before - time.monotonic()) > 0:
            await asyncio.sleep(left)

    def _fault(self, reply: "Response") -> str:
        """Without the key, which some servers repeat."""
        if reply.status_code in (401, 403):
            return f"status {reply.status_code}: is the key right?"
        said = reply.content[: 20 * SHOWN].decode("utf-8", "replace")
        try:
            error = msgspec.json.decode(said)["error"]
            said = error["message"] if isinstance(error, dict) else str(error)
        except (msgspec.DecodeError, KeyError, TypeError):
            pass
        said = " ".join((said.replace(self.server.key, "...") if self.server.key else said).split())[:SHOWN]
        return f"status {reply.status_code}{f' ({said})' if said else ''}"

    def _reply(self, content: bytes, seconds: float, tries: int) -> Reply:
        try:
            found = COMPLETION.decode(content)
            choice = found.choices[0]
        except (msgspec.DecodeError, UnicodeDecodeError, IndexError):
            raise NoAnswer("a reply without choices[0].message.content") from None
        used, (yes, no) = found.usage or Usage(), polar(choice.logprobs)
        text = choice.message.content or ""
        counts = used.prompt_tokens or 0, used.completion_tokens or 0
        return Reply(text, choice.finish_reason or "", *counts, round(seconds, 4), tries, yes, no)


def _retry_after(reply: "Response") -> float:
    """Seconds to wait, as a number or a date; 0 if nobody says."""
    said = reply.headers.get("retry-after", "")
    try:
        seconds = float(said)
    except ValueError:
        try:
            seconds = parsedate_to_datetime(said).timestamp() - time.time()
        except (ValueError, TypeError):
            return 0.0
    return min(max(seconds, 0.0), LONGEST_WAIT) if seconds == seconds else 0.0


class Message(msgspec.Struct):
    content: str | None = None


class Token(msgspec.Struct):
    token: str = ""
    logprob: float = 0.0
    top_logprobs: list["Token"] | None = None


class Logprobs(msgspec.Struct):
    content: list[Token] | None = None


class Choice(msgspec.Struct):
    message: Message
    finish_reason: str | None = None
    logprobs: Logprobs | None = None


class Usage(msgspec.Struct):
    prompt_tokens: int | None = 0
    completion_tokens: int | None = 0


class Completion(msgspec.Struct):
    choices: list[Choice]
    usage: Usage | None = None


COMPLETION = msgspec.json.Decoder(Completion)


def polar(told: Logprobs | None) -> tuple[float | None, float | None]:
    """Logarithms of the probabilities of yes and of no as the first token, the likeliest spelling of each."""
    first = told.content[0] if told is not None and told.content else None
    if first is None:
        return None, None
    ways = [(each.token.strip(" \"*'.,").casefold(), each.logprob) for each in [first, *(first.top_logprobs or [])]]
    yes, no = (max((value for word, value in ways if word == wanted), default=None) for wanted in ("yes", "no"))
    return yes, no
