"""Servers under attack: every request is answered or let go, soon, with headers that keep scripts away; none is told a
secret, nothing is printed, memory stays, and the page is there afterwards."""

import os
import re
import socket
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from chaos.fuzz import Failure
from chaos.hostile import SECRET

SOON = 20  # seconds until a client is answered or let go
ROOM = 200  # MiB more than before
SECRETS = (SECRET, b"root:", b"BEGIN OPENSSH", b"Traceback")
HEADERS = (b"content-security-policy: default-src 'self'", b"x-content-type-options: nosniff", b"x-frame-options: deny")
NOT_OURS = (b"Invalid HTTP request received.", b"Unsupported upgrade request.", b"Request header fields too large")
STATUS = re.compile(rb"HTTP/1\.1 (\d{3}) ")


@dataclass(frozen=True)
class Server:
    """A command that serves, in a process of its own."""

    process: "subprocess.Popen[bytes]"
    port: int
    errors: Path

    def connection(self) -> socket.socket:
        return socket.create_connection(("127.0.0.1", self.port), SOON)

    def sent(self, data: bytes, ended: bool = False) -> bytes:
        """All that comes back; `ended`: nothing more is said by us."""
        found = b""
        with self.connection() as client, suppress(ConnectionError):
            client.sendall(data)
            if ended:
                with suppress(OSError):  # it has answered and gone already
                    client.shutdown(socket.SHUT_WR)
            while part := client.recv(1 << 16):
                found += part
        return found

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def memory(self) -> float:
        """MiB."""
        pages = Path(f"/proc/{self.process.pid}/statm").read_text().split()[1]
        return int(pages) * os.sysconf("SC_PAGE_SIZE") / (1 << 20)

    @property
    def processor(self) -> float:
        """Seconds."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@contextmanager
def served(folder: Path, *words: str) -> Iterator[Server]:
    """`questree WORDS` on a free port."""
    errors = folder / "errors.txt"
    line = [sys.executable, "-m", "questree", *words, "--port", "0"]
    with errors.open("wb") as told:
        process = subprocess.Popen(line, cwd=folder, stdout=subprocess.PIPE, stderr=told)
    try:
        yield Server(process, _port(process, errors), errors)
    finally:
        process.terminate()
        process.communicate(timeout=30)


def _port(process: "subprocess.Popen[bytes]", errors: Path) -> int:
    assert process.stdout is not None
    for line in process.stdout:
        if found := re.search(rb"http://127\.0\.0\.1:(\d+)/", line):
            return int(found[1])
    raise AssertionError(f"no server: {errors.read_text()}")


def attacked(
    server: Server, name: str, attacks: Iterable[tuple[str, bytes]], ended: bool = False
) -> Iterator[Failure | None]:
    """One item per attack, and one about what is left of the server."""
    before = server.memory
    for what, data in attacks:
        try:
            begin = time.monotonic()
            found = server.sent(data, ended)
            why = _wrong(found) or (f"{time.monotonic() - begin:.0f} s" if time.monotonic() - begin > SOON else "")
        except TimeoutError:
            why = f"neither answered nor let go within {SOON} s"
        yield Failure(name, what[:100], why) if why else None
    why = _after(server, before)
    yield Failure(name, "afterwards", why) if why else None


def _wrong(found: bytes) -> str:
    """With all that was heard on a connection; nothing at all is right, too."""
    head, _, body = found.partition(b"\r\n\r\n")
    if secret := next((secret for secret in SECRETS if secret in found), b""):
        return f"says {secret!r}"
    if not found:
        return ""
    status = STATUS.match(found)
    if status is None or not 200 <= int(status[1]) < 500:
        return f"begins with {found[:80]!r}"
    if b"set-cookie" in head.lower() or b"evil.example" in head:
        return f"has headers of somebody else: {head[:300]!r}"
    missing = [header for header in HEADERS if header not in head.lower()]
    if missing and not body.startswith(NOT_OURS) and b"100 Continue" not in head:
        return f"has no {missing[0]!r}: {found[:200]!r}"
    return ""


def _after(server: Server, before: float) -> str:
    if server.process.poll() is not None:
        return f"the server ended with {server.process.returncode}"
    if told := server.errors.read_text():
        return f"it said {told[:300]!r}"
    grown = server.memory - before
    return f"it takes {grown:.0f} MiB more" if grown > ROOM else ""
