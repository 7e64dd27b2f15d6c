"""A server that speaks just enough of chat completions to be asked fast: every request gets a reply at once."""

import asyncio
from collections.abc import Callable
from typing import NamedTuple

import msgspec

HEAD_END = b"\r\n\r\n"


class Asked(NamedTuple):
    head: bytes
    body: bytes


class Replied(NamedTuple):
    body: bytes
    status: int = 200
    more: bytes = b""  # header lines
    after: float = 0.0  # seconds


def completion(text: str, tokens: tuple[int, int] = (40, 1)) -> bytes:
    choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
    used = {"prompt_tokens": tokens[0], "completion_tokens": tokens[1]}
    return msgspec.json.encode({"object": "chat.completion", "choices": [choice], "usage": used})


class ChatStub(asyncio.Protocol):
    """One connection."""

    def __init__(self, answer: Callable[[Asked], Replied]):
        self.answer, self.got, self.wanted, self.head = answer, bytearray(), -1, b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.WriteTransport)
        self.transport = transport

    def data_received(self, data: bytes) -> None:
        self.got += data
        if self.wanted < 0 and (end := self.got.find(HEAD_END)) >= 0:
            self.head = bytes(self.got[:end])
            del self.got[: end + len(HEAD_END)]
            self.wanted = int(self.head.lower().partition(b"content-length:")[2].partition(b"\r\n")[0] or 0)
        if 0 <= self.wanted <= len(self.got):
            body = bytes(self.got[: self.wanted])
            del self.got[: self.wanted]
            self.wanted = -1
            self._reply(self.answer(Asked(self.head, body)))

    def _reply(self, said: Replied) -> None:
        lines = b"HTTP/1.1 %d -\r\nContent-Type: application/json\r\n%sContent-Length: %d\r\n\r\n"
        text = lines % (said.status, said.more, len(said.body)) + said.body
        if said.after:
            asyncio.get_running_loop().call_later(said.after, self.transport.write, text)
        else:
            self.transport.write(text)


async def serve(answer: Callable[[Asked], Replied], started: Callable[[int], None]) -> None:
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: ChatStub(answer), "127.0.0.1", 0)
    started(server.sockets[0].getsockname()[1])
    await server.serve_forever()


def main() -> None:
    """Says its port, then answers until it is ended."""
    said = Replied(completion("yes"))

    def started(port: int) -> None:
        print(port, flush=True)

    asyncio.run(serve(lambda _: said, started))


if __name__ == "__main__":
    main()
