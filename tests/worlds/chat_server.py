"""A server in a thread that says what a test wants, and remembers what it was asked."""

import asyncio
import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from bench.chat_stub import Asked, Replied, completion, serve

Says = Callable[[dict[str, Any]], str]


class ChatServer:
    """`says` answers a request; `replies`, while there are any, come first."""

    def __init__(self, says: Says):
        self.says, self.replies, self.delay = says, list[Replied](), 0.0
        self.bodies, self.heads, self.port = list[dict[str, Any]](), list[str](), 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    def answer(self, asked: Asked) -> Replied:
        body = json.loads(asked.body)
        self.bodies.append(body)
        self.heads.append(asked.head.decode())
        if self.replies:
            return self.replies.pop(0)
        return Replied(completion(self.says(body)), after=self.delay)

    def prompts(self) -> list[str]:
        """The last text of every request."""
        return [last_text(body) for body in self.bodies]


def last_text(body: dict[str, Any]) -> str:
    content = body["messages"][-1]["content"]
    return content if isinstance(content, str) else content[-1]["text"]


@contextmanager
def chat_server(says: Says) -> Iterator[ChatServer]:
    server, started, ended = ChatServer(says), threading.Event(), threading.Event()
    loop = asyncio.new_event_loop()

    def there(port: int) -> None:
        server.port = port
        started.set()

    async def work() -> None:
        task = asyncio.ensure_future(serve(lambda asked: server.answer(asked), there))
        while not ended.is_set():
            await asyncio.sleep(0.02)
        task.cancel()

    thread = threading.Thread(target=loop.run_until_complete, args=(work(),), daemon=True)
    thread.start()
    assert started.wait(10)
    try:
        yield server
    finally:
        ended.set()
        thread.join(10)
        loop.close()
