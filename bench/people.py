"""`make bench NAME=people`: how fast a page of a large task answers, and whether killed servers lose what was saved."""

import random
import threading
import time
from collections.abc import Iterator
from multiprocessing import get_context
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from bench.runs import made_run
from questree.cli.terminal import output, say, write_json
from questree.people.book import Book, Item, TaskOptions
from questree.people.task import shipped_task
from questree.tables.run import Run

HERE = "http://127.0.0.1:8000"
LIFE = (0.05, 0.8)  # seconds that a server lives


@output
def people(
    *,
    items: Annotated[int, Parameter(help="Number of items of the task.")] = 100_000,
    answers: Annotated[int, Parameter(help="Number of answers that are timed.")] = 300,
    kills: Annotated[int, Parameter(help="Number of times a server is killed while somebody answers.")] = 0,
    videos: Annotated[int, Parameter(help="Number of videos.")] = 20,
    seed: Annotated[int, Parameter(help="Seed of the world and of the moments of killing.")] = 1,
) -> None:
    """Time from an answer to the next item on a task of many items; with --kills, answers lost by killed servers."""
    with made_run("facts", videos, seed) as run:
        book = large_task(run, items)
        times, busy = (sorted(each) for each in zip(*timed(run, book, answers), strict=True))
        found: dict[str, Any] = {"items": items, "answers": answers, "median_ms": times[len(times) // 2]}
        found |= {"most_ms": times[-1], "median_cpu_ms": busy[len(busy) // 2]}
        took = f"median {found['median_ms']:.1f} ms ({found['median_cpu_ms']:.1f} ms CPU), most {times[-1]:.1f} ms"
        say(f"{items:,} items, {answers:,} answers: {took}")
        if kills:
            found |= killed(run, book, kills, seed)
            say(f"{kills} kills: {found['saved']:,} answers were told to be saved, {found['lost']} of them are lost")
    write_json(found)


def large_task(run: Run, count: int) -> Book:
    """As many questions about the videos of a run as are wanted."""
    ids = run.load("facts").videos["id"].to_list()
    first = Item(0, 0, "asked", "", [], "", "yes", {"answer": "yes"}, "yes", type="Interaction", split="test", room=3)
    items = (
        first._replace(item=at, rank=at, id=f"q{at}", scope=[ids[at % len(ids)]], text=f"Did they hold a cup, {at}?")
        for at in range(count)
    )
    book = Book(run)
    book.add_task("large", shipped_task("verify"), TaskOptions("agqa", 3, asked=count), items)
    book.add_annotators(["somebody"])
    return book


def timed(run: Run, book: Book, answers: int) -> Iterator[tuple[float, float]]:
    """Milliseconds from an answer to the next item, and of the processor, the client's included."""
    from starlette.testclient import TestClient

    from questree.people.desk import Desk
    from questree.people.page import application

    page = TestClient(application(Desk(run)), HERE, headers={"origin": HERE})
    home = f"/people/{book.annotators()[0].token}/tasks/large/"
    page.post(f"{home}begin")
    for at in range(answers):
        begin, busy = time.perf_counter(), time.process_time()
        found = page.post(f"{home}answer", data={"item": at, "value": "yes"})
        yield 1000 * (time.perf_counter() - begin), 1000 * (time.process_time() - busy)
        assert f'name="item" value="{at + 1}"' in found.text


def serve_at(folder: Path, port: int) -> None:
    """Until it is killed."""
    from questree.people.desk import Desk
    from questree.people.page import application
    from questree.show.page.serving import bound, serve

    with bound("127.0.0.1", port) as place:
        serve(application(Desk(Run(folder))), place)


def killed(run: Run, book: Book, kills: int, seed: int) -> dict[str, Any]:
    """Somebody answers as fast as they can while servers are killed; all that was told to be saved must be there."""
    from questree.show.page.serving import bound

    with bound("127.0.0.1", 0) as place:
        port = place.getsockname()[1]
    processes = get_context("forkserver")
    processes.set_forkserver_preload(["questree.people.page", "uvicorn"])
    chance, saved = random.Random(seed), set[int]()
    home = f"http://127.0.0.1:{port}/people/{book.annotators()[0].token}/tasks/large/"
    for _ in range(kills):
        server = processes.Process(target=serve_at, args=(run.folder, port))
        server.start()
        answer_until_dead(home, chance.uniform(*LIFE), server.kill, saved)
        server.join()
    with book.reading() as made:
        there = [item for (item,) in made.execute("SELECT item FROM answer WHERE task = 'large'")]
    return {"kills": kills, "saved": len(saved), "lost": len(saved.difference(there))}


def answer_until_dead(home: str, life: float, kill: Any, saved: set[int]) -> None:
    """The server is killed when it has answered for so long."""
    import httpx2

    with httpx2.Client(headers={"origin": home.partition("/people")[0]}, timeout=10) as person:
        while True:  # until it is up
            try:
                at = item_in(person.get(home).text)
                break
            except httpx2.HTTPError:
                time.sleep(0.01)
        threading.Timer(life, kill).start()
        try:
            while True:
                found = person.post(f"{home}answer", data={"item": str(at), "value": "yes"})
                saved.add(at)
                at = item_in(found.text)
        except httpx2.HTTPError:
            return


def item_in(page: str) -> int:
    return int(page.partition('name="item" value="')[2].partition('"')[0])
