"""What all pages of one run share, and whose link a request comes by."""

from pathlib import Path

from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from questree.people.book import Annotator, Book
from questree.people.scenes import Scenes
from questree.people.terms import terms_of
from questree.tables.run import Run


class Desk:
    """What all pages of one run share."""

    def __init__(self, run: Run, media: Path | None = None):
        self.run, self.book, self.scenes = run, Book.of(run), Scenes(run, media)
        self.held, self.tasks = self.book.held(), self.book.tasks()
        self.terms = terms_of(run)

    def person(self, token: str) -> Annotator | None:
        """Bots and people of other places have no link."""
        found = self.book.annotator(token)
        return found if found and found.kind == "person" else None


class OwnLinks:
    """Whose link a request comes by; beyond loopback there is nothing without one, styles and scripts included."""

    def __init__(self, app: ASGIApp, desk: Desk, open_house: bool):
        self.app, self.desk, self.open_house = app, desk, open_house

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            first, _, rest = scope["path"].removeprefix("/people/").partition("/")
            known = await run_in_threadpool(self.desk.person, first) if first and rest != first else None
            scope["somebody"] = known if scope["path"].startswith("/people/") else None
            if scope["somebody"] is None and not self.open_house:
                await PlainTextResponse("not here\n", 404)(scope, receive, send)
                return
        await self.app(scope, receive, send)


def desk_of(request: Request) -> Desk:
    desk: Desk = request.app.state.desk
    return desk


def somebody(request: Request) -> Annotator:
    """Whose link it is; everything else is not here."""
    found: Annotator | None = request.scope["somebody"]
    if found is None:
        raise HTTPException(404, "not here")
    return found


def home_of(one: Annotator) -> str:
    return f"/people/{one.token}/"
