"""OpenAI's chat completions, spoken by bots: for whoever tests a harness, a runner or code of their own."""

import asyncio
import base64
import binascii
import math
import re
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import count
from typing import Annotated, Any

import msgspec
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from questree.api.bot_answers import BotAnswers, Reply
from questree.faults import UNREADABLE, BadInput, at_least, lines, refuse
from questree.models.known_prompts import Signs
from questree.show.page.serving import Guard, body_of, bound, serve, shown_address

TOKEN = re.compile(r"\s*\S+")
SCOPE_HEADER = "x-questree-scope"
PICTURE = 85  # tokens that a picture counts as
NEVER = -9999.0  # the logarithm of no chance at all
MOST = 1 << 28  # bytes of a request, pictures included
FAILURES = ((429, "rate_limit_error"), (500, "server_error"), (503, "server_error"))


class Address(msgspec.Struct):
    url: str = ""


class Part(msgspec.Struct):
    type: str = "text"
    text: str = ""
    image_url: Address | str | None = None
    video_url: Address | str | None = None


class Message(msgspec.Struct):
    role: str
    content: str | list[Part] | None = None


class ChatRequest(msgspec.Struct):
    """The fields that matter to a bot, within OpenAI's limits."""

    model: str
    messages: list[Message]
    metadata: dict[str, Any] | None = None
    user: str | None = None
    n: Annotated[int, msgspec.Meta(ge=1, le=128)] | None = None
    max_tokens: Annotated[int, msgspec.Meta(ge=1)] | None = None
    max_completion_tokens: Annotated[int, msgspec.Meta(ge=1)] | None = None
    logprobs: bool | None = None
    top_logprobs: Annotated[int, msgspec.Meta(ge=0, le=20)] | None = None
    stream: bool | None = None


@dataclass
class Faults:
    """Trouble on purpose, by the number of the request: 429, 500, 503 in turn."""

    fail_every: int = 0
    retry_after: float = 0.0
    delay: float = 0.0
    requests: Any = field(default_factory=lambda: count(1))

    def next(self) -> Response | None:
        number = next(self.requests)
        if not self.fail_every or number % self.fail_every:
            return None
        status, kind = FAILURES[(number // self.fail_every - 1) % len(FAILURES)]
        headers = {"Retry-After": f"{self.retry_after:g}"} if status == 429 else {}
        return problem(status, f"request {number}: failed on purpose", kind, headers)


def application(bots: BotAnswers, host: str = "127.0.0.1", faults: Faults | None = None) -> Starlette:
    """The addresses of the server, with and without /v1."""
    paths = {"/chat/completions": (chat, "POST"), "/models": (models, "GET")}
    app = Starlette(
        routes=[
            Route(f"{base}{path}", work, methods=[method])
            for base in ("/v1", "")
            for path, (work, method) in paths.items()
        ],
        middleware=[Middleware(Guard, host=host)],
    )
    app.state.bots, app.state.faults = bots, faults or Faults()
    return app


def serve_bots(
    bots: Callable[[], BotAnswers], ready: Callable[[str], None], host: str, port: int, faults: Faults
) -> None:
    """Until Ctrl-C; `bots` are made when the port is ours, `ready` is told the address."""
    refuse(at_least(0, {name: getattr(faults, name) for name in ("fail_every", "retry_after", "delay")}))
    with bound(host, port) as place:
        app = application(bots(), host, faults)
        ready(f"{shown_address(place)}v1")
        serve(app, place)


async def models(request: Request) -> Response:
    bots: BotAnswers = request.app.state.bots
    each = [{"id": name, "object": "model", "created": 0, "owned_by": "questree"} for name in bots.answers]
    return sent({"object": "list", "data": each})


async def chat(request: Request) -> Response:
    bots: BotAnswers = request.app.state.bots
    faults: Faults = request.app.state.faults
    try:
        body = await body_of(request, MOST)
    except HTTPException as large:
        return problem(large.status_code, large.detail)
    if faults.delay:
        await asyncio.sleep(faults.delay)
    if (failed := faults.next()) is not None:
        return failed
    try:
        asked = DECODER.decode(body)
        return completed(bots, asked, request.headers.get(SCOPE_HEADER, ""))
    except UNREADABLE as error:
        return problem(400, f"body: expected a chat completion request; {error}")
    except BadInput as bad:
        return problem(400, "; ".join(lines(bad.faults)))


DECODER = msgspec.json.Decoder(ChatRequest)


def completed(bots: BotAnswers, asked: ChatRequest, scope: str) -> Response:
    if asked.model not in bots.answers:
        known = ", ".join(bots.answers)
        return problem(404, f"model: expected one that is served, got {asked.model!r}; choose from {known}")
    if asked.stream:
        raise BadInput.at("stream", "expected false, got true: bots say all at once")
    prompt = next((each for each in reversed(asked.messages) if each.role == "user"), None)
    if prompt is None:
        raise BadInput.at("messages", "expected one of the user, got none")
    reply = bots.reply(asked.model, text_of(prompt), signs(bots, asked, scope))
    tokens = TOKEN.findall(reply.text)
    told = tokens[: asked.max_completion_tokens or asked.max_tokens]
    choice = {
        "index": 0,
        "message": {"role": "assistant", "content": "".join(told), "refusal": None},
        "finish_reason": "stop" if told == tokens else "length",
        "logprobs": {"content": chances(bots, asked, reply, told)} if asked.logprobs else None,
    }
    number = asked.n or 1
    answer = {
        "id": f"chatcmpl-{reply.id}",
        "object": "chat.completion",
        "created": int(time.time()),
        "model": asked.model,
        "choices": [choice | {"index": at} for at in range(number)],
        "usage": usage(asked, number * len(told)),
    }
    return sent(answer)


def signs(bots: BotAnswers, asked: ChatRequest, scope: str) -> Signs:
    named = (asked.metadata or {}).get("scope", "")
    named = ",".join(map(str, named)) if isinstance(named, list) else str(named)
    seen = (content for message in asked.messages for content in media(message)) if bots.pictures else ()
    texts = tuple(text_of(message) for message in reversed(asked.messages))
    return Signs(scope or named, asked.user or "", texts, tuple(own for own in map(bots.pictures.owners, seen) if own))


def text_of(message: Message) -> str:
    if isinstance(message.content, list):
        return "\n".join(part.text for part in message.content if part.type == "text")
    return message.content or ""


def media(message: Message) -> list[bytes]:
    """The pictures and videos that came with it; an address that leads elsewhere is not followed."""
    found = []
    for part in message.content if isinstance(message.content, list) else ():
        for address in (part.image_url, part.video_url):
            url = address.url if isinstance(address, Address) else address or ""
            head, comma, data = url.partition(",")
            if comma and head.startswith("data:") and head.endswith(";base64"):
                try:
                    found.append(base64.b64decode(data, validate=True))
                except binascii.Error:
                    raise BadInput.at("messages", "expected base64 in a data URL, got something else") from None
    return found


def usage(asked: ChatRequest, said: int) -> dict[str, int]:
    """A token is a word with the blanks before it."""
    words = sum(len(text_of(message).split()) for message in asked.messages)
    parts = (part for message in asked.messages if isinstance(message.content, list) for part in message.content)
    prompt = words + PICTURE * sum(part.type != "text" for part in parts)
    return {"prompt_tokens": prompt, "completion_tokens": said, "total_tokens": prompt + said}


def chances(bots: BotAnswers, asked: ChatRequest, reply: Reply, tokens: list[str]) -> list[dict[str, Any]]:
    """Per token: certain, but that yes or no is as sure as the bot's steps are."""
    sure, found = bots.sure(asked.model), []
    other = {"yes": "no", "no": "yes"}.get(reply.answer)
    for token in tokens:
        many = {token: 0.0}
        if other and token.strip(" \n*.,").lower() == reply.answer:
            many = {token: logarithm(sure), other: logarithm(1 - sure)}
        top = [chance(*each) for each in list(many.items())[: asked.top_logprobs or 0]]
        found.append(chance(token, many[token]) | {"top_logprobs": top})
    return found


def chance(token: str, value: float) -> dict[str, Any]:
    return {"token": token, "logprob": value, "bytes": list(token.encode())}


def logarithm(p: float) -> float:
    return math.log(p) if p > 0 else NEVER


def problem(
    status: int, message: str, kind: str = "invalid_request_error", headers: dict[str, str] | None = None
) -> Response:
    body = {"error": {"message": message, "type": kind, "param": None, "code": None}}
    return sent(body, status, headers)


def sent(body: Any, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    return Response(msgspec.json.encode(body), status, headers, "application/json")
