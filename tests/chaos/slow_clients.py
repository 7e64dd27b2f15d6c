"""Clients that send a byte now and then, read nothing, hang up, or come by the hundred; others are answered."""

import socket
import struct
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

from chaos.fuzz import Failure
from chaos.page_attacks import Server
from chaos.requests import get

PAGE = get("/colours.css")
PATIENCE = 100  # seconds; a client that sends no end is let go after 10, a form without end after 60
MANY = 300


def dripping(server: Server, begin: bytes, drop: bytes) -> str:
    """A byte every second: until when?"""
    with server.connection() as client:
        client.sendall(begin)
        end = time.monotonic() + PATIENCE
        with suppress(ConnectionError):
            while time.monotonic() < end:
                client.sendall(drop)
                client.settimeout(1)
                with suppress(TimeoutError):
                    if not client.recv(1 << 16):
                        return ""
        return "" if time.monotonic() < end else f"not let go within {PATIENCE} s"


def deaf(server: Server) -> str:
    """Asks for much and reads nothing."""
    with server.connection() as client:
        client.settimeout(PATIENCE)
        try:
            for _ in range(400):
                client.sendall(get("/assets/vendor/d3.min.js").replace(b"Connection: close\r\n", b""))
        except TimeoutError:
            return f"not let go within {PATIENCE} s"
        except ConnectionError:
            return ""
        time.sleep(PATIENCE - 30)
        with suppress(ConnectionError):
            while client.recv(1 << 20):
                pass
        return ""


def half_closed(server: Server) -> str:
    """Says that it is done asking, and still wants to hear."""
    return "" if server.sent(PAGE, ended=True).startswith(b"HTTP/1.1 200") else "not answered"


def hung_up(server: Server) -> str:
    """Asks, and is gone without a word."""
    for _ in range(MANY):
        client = server.connection()
        client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        client.sendall(get("/"))
        client.close()
    return ""


def many(server: Server) -> str:
    """Stay without asking, while somebody else asks."""
    clients = [server.connection() for _ in range(MANY)]
    found = server.sent(PAGE)
    for client in clients:
        client.close()
    return "" if found.startswith(b"HTTP/1.1 200") else f"{found[:60]!r} beside {MANY} who say nothing"


FORM = b"POST / HTTP/1.1\r\nHost: localhost\r\nOrigin: http://localhost\r\nContent-Length: 99999999\r\n\r\n"
CLIENTS: dict[str, Callable[[Server], str]] = {
    "half a line": lambda server: dripping(server, b"GE", b"T"),
    "headers without end": lambda server: dripping(server, b"GET / HTTP/1.1\r\nHost: localhost\r\n", b"X: a\r\n"),
    "a body without end": lambda server: dripping(server, FORM, b"a"),
    "deaf": deaf,
    "half-closed": half_closed,
    "hung up": hung_up,
    "many who say nothing": many,
}


def slow_clients(server: Server, form: str) -> Iterator[Failure | None]:
    """One item per kind, all at the same time; `form` is an address that takes one."""
    body = FORM.replace(b"/", form.encode(), 1)
    kinds = CLIENTS | {"a form without end": lambda server: dripping(server, body, b"a")}
    with ThreadPoolExecutor(len(kinds)) as pool:
        found = {name: pool.submit(kind, server) for name, kind in kinds.items()}
        for name, future in found.items():
            why = future.result()
            yield Failure("slow clients", name, why) if why else None
    alive = server.sent(PAGE).startswith(b"HTTP/1.1 200") and not server.errors.read_text()
    yield None if alive else Failure("slow clients", "afterwards", server.errors.read_text()[:300] or "no answer")
