"""`make bench NAME=page`: many clients ask a served run for its pages; processor time and memory of the server."""

import asyncio
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import cycle, islice, product
from multiprocessing import get_context
from os import sysconf
from pathlib import Path
from typing import Annotated, NamedTuple

from cyclopts import Parameter

from bench.runs import aside, asked_images, made_run
from questree.cli.terminal import output, say, write_json
from questree.tables.run import Run

PER_VIDEO = 200  # questions
HOST = "127.0.0.1"
MODELS = ("perception-noise", "most-likely")
SORTS = ("", "question", "-question", "answer", "-answer", "template", "-template")  # and by the view's numbers
FILTERS: tuple[Mapping[str, str], ...] = (
    {},
    {"answer": "yes"},
    {"words": "before"},
    {"model": MODELS[0], "verdict": "wrong"},
    {"model": MODELS[1], "contradiction": "yes"},
)
OPENED = 9  # questions that are opened from a page of the list


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
    addresses: Annotated[int, Parameter(help="Number of different pages that are asked for in turn.")] = 20_000,
    videos: Annotated[int, Parameter(help="Number of videos.")] = 20,
    images: Annotated[int, Parameter(help="Ask about sets of this many images instead of videos.")] = 0,
    seed: Annotated[int, Parameter(help="Seed of the world.")] = 1,
) -> None:
    """Lists and what is opened from them, as people go about it: time and memory of the server a request.

    More different pages than a server keeps are all made anew.
    """
    made_up = asked_images(images, seed) if images else made_run("decomposed", videos, seed, PER_VIDEO)
    with made_up as run, served(answered(run)) as (process, port):
        asked = list(islice(pages(run), min(addresses, requests)))
        begin, clock = Load.of(process), time.perf_counter()
        first = asyncio.run(ask_all(port, asked, clients))
        made = Load.of(process)
        again = asyncio.run(ask_all(port, list(islice(cycle(asked), requests - len(asked))), clients))
        end, took = Load.of(process), time.perf_counter() - clock
    statuses = Counter(each.status for each in (*first, *again))
    found = {
        "requests": requests,
        "clients": clients,
        "addresses": len(asked),
        "statuses": {str(status): count for status, count in sorted(statuses.items())},
        "first_ms": 1000 * (made.seconds - begin.seconds) / len(asked),
        "each_ms": 1000 * (end.seconds - begin.seconds) / requests,
        "rate": requests / took,
        "mib_after_first": made.mib,
        "mib_at_end": end.mib,
    }
    say(
        f"{requests:,} requests of {clients} clients, {len(asked):,} addresses: {found['each_ms']:.2f} ms CPU each "
        f"({found['first_ms']:.1f} the first time), {found['rate']:,.0f}/s, "
        f"{found['mib_after_first']:.0f} -> {found['mib_at_end']:.0f} MiB; "
        f"statuses {', '.join(f'{status}: {count:,}' for status, count in sorted(statuses.items()))}"
    )
    for each in [each for each in (*first, *again) if each.status != 200][:10]:
        say(f"{each.status} {each.address}: {each.said}")
    write_json(found)


def answered(run: Run) -> Run:
    """The run, with answers of two bots."""
    return aside(answer_run, run)


def answer_run(run: Run) -> Run:
    from questree.api.answering import answer

    for model in MODELS:
        answer(run.folder, model)
    return run


def pages(run: Run) -> Iterator[str]:
    """Every list, and of each page of it some questions that are opened, those about videos each with a frame."""
    from questree.show.page.app import in_order
    from questree.show.page.browse import Pages
    from questree.show.page.filters import address
    from questree.show.page.site import Site
    from questree.show.video_view import VideoView

    own = Site.read(run).first
    numbers = [f"{sign}{name}" for name in own.view.numbers for sign in ("", "-")]
    for filters, sort in product(FILTERS, [*SORTS, *numbers]):
        wanted = {**filters, "sort": sort} if sort else filters
        _, rows, _ = in_order(own, wanted)
        for number in range(1, Pages.of(len(rows), "").last + 1):
            shown = Pages.of(len(rows), str(number))
            yield address(own.view.home, wanted, page=number)
            few = rows[shown.begin : shown.end][:: max(1, shown.size // OPENED)][:OPENED]
            for id in own.view.ids(own.questions.columns["key"][few]):
                yield address(f"{own.view.item}{id}", wanted)
                if isinstance(own.view, VideoView):
                    yield address(f"{own.view.item}{id}/frames/0", {})


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
        return [each.status for each in await ask_all(port, ["/colours.css"], 1)] == [200]
    except OSError:
        return False


class Reply(NamedTuple):
    """How a request ended."""

    address: str
    status: int
    said: str = ""  # the beginning of an answer that is no page


async def ask_all(port: int, addresses: list[str], clients: int) -> list[Reply]:
    """Every request with its end; a client asks for the next page when it has one."""
    left, ended = iter(addresses), list[Reply]()

    async def client() -> None:
        reader, writer = await asyncio.open_connection(HOST, port)
        for address in left:
            writer.write(f"GET {address} HTTP/1.1\r\nHost: {HOST}\r\nAccept-Encoding: gzip\r\n\r\n".encode())
            status, body = await answer(reader)
            ended.append(Reply(address, status, "" if status == 200 else body[:200].decode("latin-1")))
        writer.close()

    await asyncio.gather(*(client() for _ in range(clients)))
    return ended


async def answer(reader: asyncio.StreamReader) -> tuple[int, bytes]:
    """The status of a response and its body, or the last piece of it."""
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").lower()
    body = b""
    if "transfer-encoding: chunked" in head:
        while size := int(await reader.readuntil(b"\r\n"), 16):
            body = await reader.readexactly(size)
            await reader.readexactly(2)
        await reader.readexactly(2)
    else:
        body = await reader.readexactly(int(head.partition("content-length: ")[2].partition("\r\n")[0]))
    return int(head.split(" ", 2)[1]), body
