"""Serving the page until somebody stops it; who may ask, and headers that keep everything at home."""

import asyncio
import gc
import re
import socket
import sys
from contextlib import suppress
from functools import cache
from hashlib import sha256
from ipaddress import ip_address
from pathlib import Path
from traceback import walk_tb
from typing import Any

import uvicorn
from starlette.convertors import Convertor, register_url_convertor
from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.middleware.gzip import GZipMiddleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

from questree.faults import BadInput
from questree.unforeseen import unforeseen

LOOPBACK = ("localhost", "127.0.0.1", "::1")
# the style that Observable Plot puts into every plot it makes; all other styles come from files
PLOT_STYLE = "sha256-jSYQUrW7J0b3jPqhZP9C2Xh1PyJKHKXd4s0fpGGKrww="
POLICY = "; ".join(
    [
        "default-src 'self'",
        f"style-src 'self' '{PLOT_STYLE}'",
        "object-src 'none'",
        "base-uri 'none'",
        "form-action 'self'",
        "frame-ancestors 'none'",
    ]
)
HOST = re.compile(r"(?:\[([0-9A-Fa-f:.]+)\]|([^\s:/@\[\]]+))(?::\d{1,5})?")  # a name or an address, and a port
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}


class Rest(Convertor[str]):
    """The rest of an address, line ends included: some ids have them."""

    regex = r"[\s\S]*"

    def convert(self, value: str) -> str:
        return value

    def to_string(self, value: str) -> str:
        return value


register_url_convertor("rest", Rest())
ADDRESS, LONGEST = 8192, 30.0  # bytes of an address, seconds until it is a page's turn, and until it begins
AT_A_TIME = 4  # pages that are made; more would only get into each other's way
SILENT, UNREAD, AT_ONCE = 10.0, 60.0, 1000  # seconds to ask in; to send a form in, or to read nothing; connections
KEPT = "public, max-age=31536000, immutable"  # by browsers: another file has another address
ASKED_AGAIN = ("/assets/", "/colours.css", "/media/", "/films/", "/pictures/")  # is it still the same?
AS_THEY_ARE = ("/media/", "/films/", "/pictures/")  # compressed by themselves, and asked for in pieces


@cache
def asset_folder() -> str:
    """The address of scripts and styles, which changes with any of them."""
    files = sorted(path for path in (Path(__file__).parent / "assets").rglob("*") if path.is_file())
    digest = sha256(b"".join(sha256(path.read_bytes()).digest() for path in files))
    return f"/assets/{digest.hexdigest()[:12]}"


def kept(path: str) -> str:
    """How long a browser may keep what is at an address; pages change with the run."""
    if path.startswith(f"{asset_folder()}/"):
        return KEPT
    return "no-cache" if path.startswith(ASKED_AGAIN) else "no-store"


class Smaller:
    """Texts are compressed on the way."""

    def __init__(self, app: ASGIApp):
        self.app = app
        self.gzip = GZipMiddleware(app, minimum_size=500, compresslevel=4)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        plain = scope["type"] == "http" and scope["path"].startswith(AS_THEY_ARE)
        await (self.app if plain else self.gzip)(scope, receive, send)


class Guard:
    """A name that somebody made point here (DNS rebinding) is refused: it is not what we are called."""

    def __init__(self, app: ASGIApp, host: str):
        self.app = app
        self.host = host

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        sending = _with_headers(send, scope["path"])
        if trusted(Headers(scope=scope).get("host", ""), self.host):
            await self.app(scope, receive, sending)
        else:
            await PlainTextResponse("this page is only served under its own address\n", 400)(scope, receive, sending)


class Limits:
    """Addresses that no page of ours has are refused; a few pages are made at a time, and one that takes too long is
    given up, and says so."""

    def __init__(self, app: ASGIApp, longest: float = LONGEST, at_a_time: int = AT_A_TIME):
        self.app, self.longest, self.turns = app, longest, asyncio.Semaphore(at_a_time)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and len(scope.get("raw_path") or b"") + len(scope["query_string"]) > ADDRESS:
            said = f"expected an address of at most {ADDRESS:,} bytes\n"
            await PlainTextResponse(said, 414)(scope, receive, send)
        elif scope["type"] != "http" or scope["path"].startswith(ASKED_AGAIN):
            await self.app(scope, receive, send)
        else:
            try:
                await asyncio.wait_for(self.turns.acquire(), self.longest)
            except TimeoutError:
                said = f"others have been asking for {self.longest:.0f} seconds; ask again later\n"
                await PlainTextResponse(said, 503)(scope, receive, send)
            else:
                await self.in_time(scope, receive, send)

    async def in_time(self, scope: Scope, receive: Receive, send: Send) -> None:
        """The turn ends when the page begins, so that slow readers keep nobody waiting; or when the work is done."""
        begun, given_up = asyncio.Event(), False

        async def sending(message: Message) -> None:
            if not begun.is_set():
                begun.set()
                self.turns.release()
            if not given_up:
                await send(message)

        def ended(work: asyncio.Future[None]) -> None:
            if not begun.is_set():
                begun.set()
                self.turns.release()
            if given_up and not work.cancelled():
                work.exception()  # it ends by itself, unheard

        work, waiting = asyncio.ensure_future(self.app(scope, receive, sending)), asyncio.ensure_future(begun.wait())
        work.add_done_callback(ended)
        await asyncio.wait({work, waiting}, timeout=self.longest, return_when=asyncio.FIRST_COMPLETED)
        waiting.cancel()
        if begun.is_set() or work.done():
            await work
            return
        given_up = True
        said = f"given up after {self.longest:.0f} seconds; ask for less\n"
        await PlainTextResponse(said, 503)(scope, receive, send)


def _with_headers(send: Send, path: str) -> Send:
    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in (HEADERS | {"Cache-Control": kept(path if message["status"] < 400 else "")}).items():
                headers.setdefault(name, value)
        await send(message)

    return sending


def trusted(asked: str, host: str) -> bool:
    """Is this Host header one of ours? Beyond loopback any plain address is: names are what rebinding needs."""
    found = HOST.fullmatch(asked)
    name = (found[1] or found[2]) if found else ""
    return name.lower() in (*LOOPBACK, host.lower()) or (host not in LOOPBACK and _is_address(name))


def _is_address(name: str) -> bool:
    try:
        ip_address(name)
    except ValueError:
        return False
    return True


def bound(host: str, port: int) -> socket.socket:
    """A socket that listens there, or one line that says why not."""
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        found = socket.socket(family, socket.SOCK_STREAM)
        found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        found.bind((host, port))
        found.listen(AT_ONCE)
    except OverflowError:
        raise BadInput.at(f"--port {port}", "expected a port from 0 to 65535") from None
    except OSError as error:
        wanted = "choose another with --port; --port 0 takes any that is free"
        raise BadInput.at(f"{host}:{port}", f"cannot be listened on ({error.strerror or error}); {wanted}") from None
    return found


class Impatient(H11Protocol):
    """Clients that do not come to the end of a request, the first or a later one, or that read nothing, are let go."""

    asking: asyncio.TimerHandle | None = None  # ends a request that is not complete
    unread: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        self.asking = self.loop.call_later(SILENT, self.let_go)

    def data_received(self, data: bytes) -> None:
        before = self.cycle
        super().data_received(data)
        if self.asking is not None and (self.complete or self.cycle is not before):
            self.asking.cancel()
            self.asking = None
        if self.asking is None and not self.complete:
            self.asking = self.loop.call_later(UNREAD if self.begun else SILENT, self.let_go)

    def eof_received(self) -> bool:  # type: ignore[override]  # what asyncio wants to know
        """Who says no more is still answered, once; there is nothing to wait for in half a request."""
        if self.complete:
            self.cycle.keep_alive = False
        return self.complete

    @property
    def begun(self) -> bool:
        """Of a request everything is there but what comes with it."""
        return self.cycle is not None and not self.cycle.response_complete

    @property
    def complete(self) -> bool:
        return self.begun and not self.cycle.more_body

    def let_go(self) -> None:
        if not self.transport.is_closing():
            self.transport.close()

    def pause_writing(self) -> None:
        super().pause_writing()
        self.unread = self.loop.call_later(UNREAD, self.transport.abort)

    def resume_writing(self) -> None:
        super().resume_writing()
        if self.unread is not None:
            self.unread.cancel()


class LastResort:
    """Errors that nobody foresaw are one line each, however often a page is asked for; the page itself has said so."""

    def __init__(self, app: ASGIApp):
        self.app, self.told = app, set[tuple[object, ...]]()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await self.app(scope, receive, send)
        except Exception as error:
            kind = (type(error), *((frame.f_code, line) for frame, line in walk_tb(error.__traceback__)))
            if kind not in self.told:
                self.told.add(kind)
                print(unforeseen(error), file=sys.stderr, flush=True)


async def body_of(request: Request, most: int) -> bytes:
    """What comes with a request, or that it is too much, before all of it is there."""
    found = bytearray()
    try:
        async for piece in request.stream():
            found += piece
            if len(found) > most:
                raise HTTPException(413, f"expected at most {most:,} bytes")
    except ClientDisconnect:
        raise HTTPException(400, "cut off") from None  # nobody hears it
    return bytes(found)


def serve(app: ASGIApp, place: socket.socket) -> None:
    """Until Ctrl-C, or a polite request to end."""
    limits: dict[str, Any] = {"limit_concurrency": AT_ONCE, "backlog": AT_ONCE, "timeout_keep_alive": 5}
    config = uvicorn.Config(
        LastResort(app), log_level="error", lifespan="off", timeout_graceful_shutdown=2, http=Impatient, **limits
    )
    gc.collect()
    gc.freeze()  # what was read stays: nobody has to look through it for garbage after every few pages
    with suppress(KeyboardInterrupt):  # raised again by the server after it has shut down
        uvicorn.Server(config).run(sockets=[place])


def shown_address(place: socket.socket) -> str:
    host, port = place.getsockname()[:2]
    return f"http://[{host}]:{port}/" if ":" in host else f"http://{host}:{port}/"
