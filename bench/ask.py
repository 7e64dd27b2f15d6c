"""`make bench NAME=ask`: questions to a stub of a server in a process of its own, with and without pictures."""

import resource
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from subprocess import PIPE, Popen
from tempfile import TemporaryDirectory
from typing import Annotated

from cyclopts import Parameter

from bench import chat_stub
from bench.measured import Measurement, measure
from questree.ask.engine import Chain, Engine, Outcome
from questree.ask.journal import journal
from questree.ask.media import Sight
from questree.ask.pictures import Encoding, pillow
from questree.ask.prompts import prompt_of
from questree.ask.requests import Item, Requests
from questree.ask.voices import ServerVoice
from questree.cli.terminal import output, say, watching, write_json
from questree.endpoints.chat import Chat, Server
from questree.endpoints.limits import Budget, Pace
from questree.endpoints.loops import run_alone
from questree.said.reading import Reader

PER_VIDEO = 500  # questions
FRAME = (480, 270)


@dataclass(frozen=True)
class AskMeasurement:
    """Of the asking process alone; the server has a process of its own."""

    measured: Measurement
    own_cpu_microseconds: float  # per request
    early_rss_bytes: int  # after a tenth of the requests
    late_rss_bytes: int  # at the end

    def __str__(self) -> str:
        grown = (self.late_rss_bytes - self.early_rss_bytes) / 2**20
        return (
            f"{self.measured}; asking alone {self.own_cpu_microseconds:.0f} us CPU per request, "
            f"memory {grown:+.1f} MiB from a tenth of the requests to the end"
        )


@output
def ask(
    *,
    requests: Annotated[int, Parameter(help="Number of requests.")] = 20_000,
    frames: Annotated[int, Parameter(help="Pictures of each request.")] = 0,
    concurrency: Annotated[int, Parameter(help="Requests under way at once.")] = 32,
) -> None:
    """Ask a stub of a server that answers at once; rows are answers, each on disk before the next question."""
    with watching(), TemporaryDirectory(prefix="questree-bench-") as place, stub() as url:
        sight = drawn(Path(place) / "media", frames, requests) if frames else None
        early = [0]
        before = _cpu()
        found = measure(
            f"ask, {frames} frames", requests, lambda: _asked(Path(place), url, requests, concurrency, sight, early)
        )
        own = 1e6 * (_cpu() - before) / requests
        result = AskMeasurement(found, own, early[0], _resident())
    say(str(result))
    write_json(asdict(result))


def _asked(place: Path, url: str, count: int, concurrency: int, sight: Sight | None, early: list[int]) -> int:
    own = Requests(
        "stub", "video", prompt_of("short"), Reader(["yes", "no"], None), sight, Encoding(), {"max_tokens": 8}
    )

    async def talk() -> Outcome:
        with journal(place / "asked", "stub") as known:
            async with Chat(Server(url, "stub", concurrency)) as chat:
                voice = ServerVoice(chat, Pace(None), Pace(None))
                return await Engine(own, known, voice, Budget(), concurrency).run(_chains(count, early), count)

    return int(run_alone(talk()).answered.sum())


def _chains(count: int, early: list[int]) -> Iterator[Chain]:
    for row in range(count):
        if row == count // 10:
            early[0] = _resident()
        yield ((Item(row, f"q{row}", f"Did they hold object {row}?", f"v{row // PER_VIDEO}"),),)


def drawn(folder: Path, frames: int, requests: int) -> Sight:
    """Pictures of noise, which compresses worse than anything that is filmed."""
    import numpy as np

    image_of, random = pillow(), np.random.default_rng(0)
    for video in range(-(-requests // PER_VIDEO)):
        (folder / f"v{video}").mkdir(parents=True)
        for frame in range(frames):
            small = random.integers(0, 256, (FRAME[1] // 8, FRAME[0] // 8, 3), np.uint8)
            image_of.fromarray(small).resize(FRAME).save(folder / f"v{video}" / f"{frame}.png", compress_level=1)
    return Sight(folder, "video", frames)


@contextmanager
def stub() -> Iterator[str]:
    """The address of a server in a process of its own."""
    with Popen([sys.executable, chat_stub.__file__], stdout=PIPE, text=True) as server:
        assert server.stdout is not None
        try:
            yield f"http://127.0.0.1:{server.stdout.readline().strip()}/v1"
        finally:
            server.terminate()


def _cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def _resident() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()
