"""`questree bench page`: many clients ask a served run for its pages; processor time and memory of the server."""

import asyncio
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import cycle, islice
from multiprocessing import get_context
from os import sysconf
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from questree.bench.runs import made_run
from questree.cli.terminal import output, say, write_json
from questree.tables.run import Run

PER_VIDEO = 200  # questions
HOST = "127.0.0.1"
LISTS = ("/?page={}", "/?answer=yes&page={}", "/?sort=steps&page={}", "/?words=holding&page={}")


@dataclass(frozen=True)
class Load:
    """What a server has used so far."""

    seconds: float  # of the processor
    mib: float

    @classmethod
    def of(cls, process: int) -> "Load":
        """As Linux tells of a process."""
        fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
        ticks, pages = int(fields[11]) + int(fields[12]), int(fields[21])
        return cls(ticks / sysconf("SC_CLK_TCK"), pages * sysconf("SC_PAGE_SIZE") / 2**20)


@output
def page(
    *,
    requests: Annotated[int, Parameter(help="Number of requests.")] = 50_000,
    clients: Annotated[int, Parameter(help="Number of clients that ask at once.")] = 200,
    addresses: Annotated[int, Parameter(help="Number of different pages that are asked for in turn.")] = 500,
    videos: Annotated[int, Parameter(help="Number of videos.")] = 20,
    seed: Annotated[int, Parameter(help="Seed of the world.")] = 1,
) -> None:
    """Pages of lists and of single questions, on this machine alone: time and memory of the server a request."""
    with made_run("decomposed", videos, seed, PER_VIDEO) as run, served(run) as (process, port):
        asked = list(islice(pages(run), addresses))
        begin = Load.of(process)
        first = asyncio.run(ask_all(port, asked, clients))
        made = Load.of(process)
        clock = time.perf_counter()
        again = asyncio.run(ask_all(port, list(islice(cycle(asked), requests - len(asked))), clients))
        end, took = Load.of(process), time.perf_counter() - clock
    found = {
        "requests": requests,
        "clients": clients,
        "addresses": len(asked),
        "refused": sum(status != 200 for status in (*first, *again)),
        "first_ms": 1000 * (made.seconds - begin.seconds) / len(asked),
        "each_ms": 1000 * (end.seconds - begin.seconds) / requests,
        "rate": len(again) / took,
        "mib_after_first": made.mib,
        "mib_at_end": end.mib,
    }
    say(
        f"{requests:,} requests of {clients} clients, {len(asked):,} addresses: {found['each_ms']:.2f} ms CPU each "
        f"({found['first_ms']:.1f} the first time), {found['rate']:,.0f}/s, {found['refused']} not answered, "
        f"{found['mib_after_first']:.0f} -> {found['mib_at_end']:.0f} MiB"
    )
    write_json(found)


def pages(run: Run) -> Iterator[str]:
    """Addresses of lists, and of every question that is decomposed."""
    from urllib.parse import quote

    from questree.show.page.site import Site

    questions = Site.read(run).first.questions
    for at in range(len(questions)):
        if at % 10 < len(LISTS):
            yield LISTS[at % 10].format(at // 10 + 1)
        yield f"/questions/{quote(questions.question(at).id)}"


@contextmanager
def served(run: Run) -> Iterator[tuple[int, int]]:
    """A server of its own: its process and port."""
    from questree.show.page.serving import bound

    with bound(HOST, 0) as place:
        port = int(place.getsockname()[1])
    server = get_context("spawn").Process(target=serve_at, args=(run.folder, port))
    server.start()
    try:
        while not asyncio.run(answers(port)):
            if not server.is_alive():
                raise RuntimeError("the server has ended")
            time.sleep(0.1)
        yield server.pid or 0, port
    finally:
        server.kill()
        server.join()


def serve_at(folder: Path, port: int) -> None:
    """Until it is killed."""
    from questree.show.page.app import application
    from questree.show.page.serving import bound, serve
    from questree.show.page.site import Site

    with bound(HOST, port) as place:
        serve(application(Site.read(Run(folder))), place)


async def answers(port: int) -> bool:
    try:
        return await ask_all(port, ["/colours.css"], 1) == [200]
    except OSError:
        return False


async def ask_all(port: int, addresses: list[str], clients: int) -> list[int]:
    """How every request ended; a client asks for the next page when it has one."""
    left, ended = iter(addresses), list[int]()

    async def client() -> None:
        reader, writer = await asyncio.open_connection(HOST, port)
        for address in left:
            writer.write(f"GET {address} HTTP/1.1\r\nHost: {HOST}\r\nAccept-Encoding: gzip\r\n\r\n".encode())
            ended.append(await answer(reader))
        writer.close()

    await asyncio.gather(*(client() for _ in range(clients)))
    return ended


async def answer(reader: asyncio.StreamReader) -> int:
    """The status of a response, which is read to its end."""
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").lower()
    if "transfer-encoding: chunked" in head:
        while (await reader.readuntil(b"\r\n")) != b"0\r\n":
            pass
        await reader.readuntil(b"\r\n")
    else:
        await reader.readexactly(int(head.partition("content-length: ")[2].partition("\r\n")[0]))
    return int(head.split(" ", 2)[1])
