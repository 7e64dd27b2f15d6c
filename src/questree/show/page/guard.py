"""Who may ask and what a browser may do: a check of the Host header, and headers that keep everything at home."""

from ipaddress import ip_address

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

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
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}


class Guard:
    """A name that somebody made point here (DNS rebinding) is refused: it is not what we are called."""

    def __init__(self, app: ASGIApp, host: str):
        self.app = app
        self.host = host

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
        elif not trusted(Headers(scope=scope).get("host", ""), self.host):
            await PlainTextResponse("this page is only served under its own address\n", 400)(scope, receive, send)
        else:
            await self.app(scope, receive, _with_headers(send))


def _with_headers(send: Send) -> Send:
    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in HEADERS.items():
                headers.setdefault(name, value)
        await send(message)

    return sending


def trusted(asked: str, host: str) -> bool:
    """Is this Host header one of ours? Beyond loopback any plain address is: names are what rebinding needs."""
    name = asked.rpartition("]")[0].removeprefix("[") if asked.startswith("[") else asked.partition(":")[0]
    return name.lower() in (*LOOPBACK, host.lower()) or (host not in LOOPBACK and _is_address(name))


def _is_address(name: str) -> bool:
    try:
        ip_address(name)
    except ValueError:
        return False
    return True
