"""A run that changes while it is served is read again, and pages say so; pages of one that does not are made once."""

import gc
import time
from collections import OrderedDict
from datetime import datetime

from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers, State
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from questree.faults import BadInput
from questree.show.page.serving import ASKED_AGAIN
from questree.show.page.site import Site, stamp_of
from questree.tables.owners import writer

EVERY = 1.0  # seconds between two looks at the run
MOST = 1 << 25  # bytes of pages that are kept
UNKEPT = (*ASKED_AGAIN, "/list/", "/compare")  # long, or told before they are ready


class Fresh:
    """Before a page is made, at most once a second: is the run still what was read?"""

    def __init__(self, app: ASGIApp, every: float = EVERY):
        self.app, self.every, self.looked = app, every, time.monotonic()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        now = time.monotonic()
        page = scope["type"] == "http" and not scope["path"].startswith(ASKED_AGAIN)
        if page and now - self.looked >= self.every:
            self.looked = now
            await run_in_threadpool(renew, scope["app"].state)
        await self.app(scope, receive, send)


class KeptPages:
    """Pages that were asked for before, as they were sent, for as long as the run does not change."""

    def __init__(self, app: ASGIApp, most: int = MOST):
        self.app, self.most, self.size = app, most, 0
        self.of: tuple[object, str] = (None, "")  # the site and the notice they show
        self.pages = OrderedDict[tuple[object, ...], list[Message]]()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] != "GET" or scope["path"].startswith(UNKEPT):
            await self.app(scope, receive, send)
            return
        now = (scope["app"].state.site, scope["app"].state.notice)
        if now[0] is not self.of[0] or now[1] != self.of[1]:
            self.pages.clear()
            self.of, self.size = now, 0
        headers = Headers(scope=scope)
        key = (
            scope["path"],
            scope["query_string"],
            *(headers.get(name, "") for name in ("accept-encoding", "hx-request")),
        )
        if (page := self.pages.get(key)) is not None:
            self.pages.move_to_end(key)
            for message in page:
                await send({**message, "headers": list(message["headers"])} if "headers" in message else message)
            return
        made = list[Message]()

        async def sending(message: Message) -> None:
            made.append({**message, "headers": list(message["headers"])} if "headers" in message else message)
            await send(message)

        await self.app(scope, receive, sending)
        if made[0]["status"] == 200 and self.of[0] is now[0]:
            self.keep(key, made)

    def keep(self, key: tuple[object, ...], page: list[Message]) -> None:
        self.pages[key] = page
        self.size += _room(page)
        while self.size > self.most:
            self.size -= _room(self.pages.popitem(last=False)[1])


def _room(page: list[Message]) -> int:
    return 1000 + sum(len(message.get("body", b"")) for message in page)


def renew(state: State) -> None:
    """`state.site` is of the run as it is; while somebody writes there, or if it cannot be read, it stays as it was."""
    site: Site = state.site
    if who := writer(site.run.folder):
        state.notice = f"{who} is writing in this run. What you see was read at {state.read_at}."
    elif stamp_of(site.run) != site.stamp:
        try:
            state.site = site.again()
        except BadInput as bad:
            state.notice = (
                f"The run has changed and cannot be read now ({bad}). What you see was read at {state.read_at}."
            )
        else:
            gc.unfreeze()  # what was read before may go
            state.read_at = clock()
            state.notice = f"The run has changed; it was read again at {state.read_at}."
    elif state.notice and state.read_at not in state.notice.partition("read again at ")[2]:
        state.notice = ""  # nobody writes any more, and nothing is another


def clock() -> str:
    return f"{datetime.now():%H:%M:%S}"
