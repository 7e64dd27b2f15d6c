"""A run that changes while it is served: it is read again, and pages say so."""

import time
from datetime import datetime

from starlette.concurrency import run_in_threadpool
from starlette.datastructures import State
from starlette.types import ASGIApp, Receive, Scope, Send

from questree.faults import BadInput
from questree.show.page.serving import ASKED_AGAIN
from questree.show.page.site import Site, stamp_of
from questree.tables.owners import writer

EVERY = 1.0  # seconds between two looks at the run


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
            state.read_at = clock()
            state.notice = f"The run has changed; it was read again at {state.read_at}."
    elif state.notice and state.read_at not in state.notice.partition("read again at ")[2]:
        state.notice = ""  # nobody writes any more, and nothing is another


def clock() -> str:
    return f"{datetime.now():%H:%M:%S}"
