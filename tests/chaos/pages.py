"""All attacks on what is served: pages of runs, pages of people, bots; runs with hostile names."""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path

from chaos.escaped import Markup, crawled, opened, report_of
from chaos.fuzz import Failure
from chaos.hostile import RUNS
from chaos.mutations import mutated
from chaos.page_attacks import Server, attacked, served
from chaos.requests import CHAT, get, on_bots, on_pages, on_people, post
from chaos.slow_clients import slow_clients
from questree.people.book import Book
from questree.tables.run import Run
from worlds.commands import questree

FOLDERS = ["/", "/assets/", "/media/", "/films/", "/pictures/", "/questions/", "/images/", "/list/", "/compare"]
TASK = "verify"
HOME = {"videos": "/", "images": "/images"}
COMPARE = {"videos": "/compare", "images": "/compare/images"}
Tries = Iterator[Failure | None]


def attack(server: Server, name: str, attacks: Iterable[tuple[str, bytes]], every: int) -> Tries:
    """Each, or every n-th by clients that say when they are done: servers need not find out."""
    return attacked(server, name, islice(attacks, 0, None, every), ended=every > 1)


def link(folder: Path, name: str) -> str:
    """Where somebody answers."""
    return f"/people/{Book.of(Run(folder / name)).annotators()[0].token}/"


def items(server: Server, name: str) -> list[str]:
    """Addresses of questions."""
    page = Markup(server.sent(get(HOME[name])).decode("utf-8", "replace"))
    return [at for at in page.links if at.startswith(("/questions/", "/images/"))]


def page(folder: Path, every: int = 1, only: Sequence[str] = RUNS) -> Tries:
    for name in only:
        with served(folder, "serve", name, "--media", "media") as server:
            yield from attack(server, name, on_pages(FOLDERS, items(server, name)[0]), every)


def people(folder: Path, every: int = 1, only: Sequence[str] = RUNS) -> Tries:
    for name in only:
        home = link(folder, name)
        with served(folder, "people", "serve", name, "--media", "media") as server:
            item = begun(server, home)
            yield from attack(server, f"people, {name}", on_people(home, TASK, item), every)


def begun(server: Server, home: str) -> str:
    """The number of the item that somebody has in hand."""
    server.sent(post(f"{home}tasks/{TASK}/begin", ""))
    found = re.search(rb'name="item" value="(\d+)"', server.sent(get(f"{home}tasks/{TASK}/")))
    assert found, "no item in hand"
    return found[1].decode()


def bots(folder: Path, every: int = 1) -> Tries:
    with served(folder, "serve-bot", "videos", "--model", "oracle") as server:
        yield from attack(server, "bots", on_bots(), every)


def names(folder: Path, most: int, only: Sequence[str] = RUNS) -> Tries:
    """Pages that links lead to, and reports."""
    for name in only:
        with served(folder, "serve", name, "--media", "media") as server:
            yield from crawled(server, "/", most)
        with served(folder, "people", "serve", name, "--media", "media") as server:
            begun(server, link(folder, name))
            yield from crawled(server, link(folder, name), most)
        yield report_of(report(folder, name))


def report(folder: Path, name: str) -> Path:
    done = questree("report", name, "--out", f"{name}.html", "--resamples", 0, folder=folder)
    assert done.returncode == 0, done.stderr
    return folder / f"{name}.html"


def in_browser(folder: Path, most: int, only: Sequence[str] = RUNS) -> Tries:
    for name in only:
        home = link(folder, name)
        with served(folder, "serve", name, "--media", "media") as server:
            shown = items(server, name)
            places = [HOME[name], COMPARE[name], *shown[:: max(len(shown) // most, 1)]]
            yield from opened([server.address + at for at in places])
        with served(folder, "people", "serve", name, "--media", "media") as server:
            begun(server, home)
            yield from opened([server.address + at for at in ("/", home)])
        yield from opened([report(folder, name).as_uri()])


def slow(folder: Path) -> Tries:
    home = link(folder, "videos")
    with served(folder, "people", "serve", "videos") as server:
        begun(server, home)
        yield from slow_clients(server, f"{home}tasks/{TASK}/answer")
    with served(folder, "serve", "videos") as server:
        yield from slow_clients(server, "/")


def damaged_requests(folder: Path, seeds: Iterable[int]) -> Tries:
    """Valid requests, damaged by seed; those who send them say nothing more."""
    home = link(folder, "videos")
    with served(folder, "serve", "videos", "--media", "media") as server:
        asked = [get("/"), get("/?words=a&page=2&sort=-answer"), get("/?query=steps%3E2"), get("/list/video.csv")]
        asked += map(get, items(server, "videos")[:3])
        yield from attacked(server, "requests", broken(asked, seeds), ended=True)
    with served(folder, "people", "serve", "videos", "--media", "media") as server:
        item = begun(server, home)
        asked = [get(f"{home}tasks/{TASK}/"), post(f"{home}tasks/{TASK}/answer", f"item={item}&value=yes&seconds=3")]
        yield from attacked(server, "requests to people", broken(asked, seeds), ended=True)
    with served(folder, "serve-bot", "videos", "--model", "oracle") as server:
        asked = [post("/v1/chat/completions", CHAT % ("Video: a. Is there a table?", ', "n": 2, "logprobs": true'))]
        yield from attacked(server, "requests to bots", broken(asked, seeds), ended=True)


def broken(requests: list[bytes], seeds: Iterable[int]) -> Iterator[tuple[str, bytes]]:
    for seed in seeds:
        kind, data = mutated(requests[seed % len(requests)], f"request {seed}")
        yield f"seed {seed} ({kind})", data
