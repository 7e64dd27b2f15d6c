"""A page under pressure: runs that change, long addresses, pages that take long, silent clients, many at once."""

import asyncio
import gc
import socket
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest
import uvicorn
from starlette.responses import PlainTextResponse
from starlette.testclient import TestClient
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from conftest import copy
from questree.show.page import serving
from questree.show.page.app import application
from questree.show.page.serving import ADDRESS, Limits, bound, serve
from questree.show.page.site import Site
from questree.tables.owners import writing
from questree.tables.run import Run
from worlds.served import answers, served_run, true_but_for

HERE = "http://127.0.0.1:8000"
CLIENTS = 200


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Run:
    run = served_run(tmp_path_factory.mktemp("served") / "run")
    answers(run, "first", true_but_for({}))
    return run


@pytest.fixture
def run(made: Run, tmp_path: Path) -> Run:
    return copy(made, tmp_path / "run")


def test_a_run_that_changes_is_read_again_and_pages_say_so(run: Run) -> None:
    page = TestClient(application(Site.read(run), every=0), HERE)
    assert "notice" not in page.get("/").text
    answers(run, "newcomer", true_but_for({}))
    assert "The run has changed; it was read again at " in page.get("/").text
    assert "newcomer" in page.get("/").text


def test_what_was_read_before_does_not_stay_in_memory(run: Run) -> None:
    app = application(Site.read(run), every=0)
    page, before = TestClient(app, HERE), weakref.ref(app.state.site.first.view)
    page.get("/")
    gc.freeze()  # as a server does that begins
    answers(run, "newcomer", true_but_for({}))
    assert "it was read again at " in page.get("/").text
    gc.collect()
    assert before() is None


def test_while_somebody_writes_pages_show_what_was_read_before(run: Run) -> None:
    page = TestClient(application(Site.read(run), every=0), HERE)
    with writing(run.folder, "answer"):
        answers(run, "newcomer", true_but_for({}))
        said = page.get("/").text
    assert "`questree answer` (process " in said and "is writing in this run." in said
    assert "newcomer" not in said
    assert "it was read again at " in page.get("/").text


def test_a_run_that_cannot_be_read_any_more_stays_as_it_was(run: Run) -> None:
    page = TestClient(application(Site.read(run), every=0), HERE)
    (run.decomposed / "plan.json").write_bytes(b"{")
    said = page.get("/")
    assert said.status_code == 200
    assert "The run has changed and cannot be read now (" in said.text


def test_a_page_is_made_once_while_the_run_does_not_change(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    page = TestClient(application(Site.read(run), every=0), HERE)
    first = page.get("/", params={"answer": "yes"})
    monkeypatch.setattr("questree.show.page.app.in_order", None)  # a page that is made needs it
    assert page.get("/", params={"answer": "yes"}).text == first.text
    assert page.get("/", params={"answer": "yes"}).headers == first.headers
    with pytest.raises(TypeError):
        page.get("/", params={"answer": "no"})
    with pytest.raises(TypeError):
        page.get("/", params={"answer": "yes"}, headers={"hx-request": "true"})


def test_addresses_that_no_page_has_are_refused(run: Run) -> None:
    page = TestClient(application(Site.read(run)), HERE)
    assert page.get("/", params={"words": "a" * 1000}).status_code == 200
    refused = page.get("/", params={"words": "a" * ADDRESS})
    assert refused.status_code == 414
    assert refused.text == "expected an address of at most 8,192 bytes\n"
    assert refused.headers["content-security-policy"] == serving.POLICY
    assert "unsafe" not in serving.POLICY and "script-src" not in serving.POLICY  # scripts: only files of ours


async def heard(app: ASGIApp, *, reads: float = 0) -> list[Message]:
    """What a client hears that takes some seconds to read each message."""
    found = list[Message]()

    async def send(message: Message) -> None:
        found.append(message)
        await asyncio.sleep(reads)

    async def receive() -> Message:
        await asyncio.sleep(9)
        return {"type": "http.disconnect"}

    scope = {"type": "http", "path": "/", "raw_path": b"/", "query_string": b"", "headers": []}
    await app(scope, receive, send)
    return found


def page_after(seconds: float) -> ASGIApp:
    async def page(scope: Scope, receive: Receive, send: Send) -> None:
        await asyncio.sleep(seconds)
        await PlainTextResponse("made")(scope, receive, send)

    return page


def test_a_page_that_takes_long_is_given_up() -> None:
    async def asked() -> list[Message]:
        found = await heard(Limits(page_after(0.2), longest=0.05))
        await asyncio.sleep(0.3)  # nothing is heard of it later
        return found

    begin, body = asyncio.run(asked())
    assert begin["status"] == 503
    assert body["body"].startswith(b"given up after ")


def test_the_time_of_a_page_begins_with_its_turn() -> None:
    async def asked() -> list[list[Message]]:
        limits = Limits(page_after(0.6), longest=1, at_a_time=1)
        return list(await asyncio.gather(heard(limits), heard(limits)))

    assert {begin["status"] for begin, _ in asyncio.run(asked())} == {200}


def test_slow_readers_keep_nobody_waiting_and_pages_without_end_do() -> None:
    async def asked() -> tuple[list[Message], list[Message]]:
        limits = Limits(page_after(0), longest=0.3, at_a_time=1)
        slow = asyncio.ensure_future(heard(limits, reads=1))
        await asyncio.sleep(0.1)
        quick = await heard(limits)
        await slow
        stuck = Limits(page_after(0.6), longest=0.2, at_a_time=1)
        ended = asyncio.ensure_future(heard(stuck))  # given up, but still being made
        await asyncio.sleep(0.1)
        late = await heard(stuck)
        await ended
        await asyncio.sleep(0.4)
        assert stuck.turns._value == 1  # the turn was given back
        return quick, late

    quick, late = asyncio.run(asked())
    assert quick[0]["status"] == 200
    assert late[0]["status"] == 503
    assert late[1]["body"].startswith(b"others have been asking ")


@pytest.fixture
def at(run: Run, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[], socket.socket]]:
    """A real server; gives connections to it."""
    monkeypatch.setattr(serving, "SILENT", 0.3)
    monkeypatch.setattr(serving, "UNREAD", 0.3)
    servers, kind = list[uvicorn.Server](), uvicorn.Server

    def server(config: uvicorn.Config) -> uvicorn.Server:
        servers.append(kind(config))
        return servers[0]

    monkeypatch.setattr(uvicorn, "Server", server)
    with bound("127.0.0.1", 0) as place:
        thread = threading.Thread(target=serve, args=(application(Site.read(run)), place))
        thread.start()
        yield lambda: socket.create_connection(place.getsockname()[:2], timeout=60)
        servers[0].should_exit = True
        thread.join()


def test_silent_clients_are_let_go_and_hundreds_are_answered_at_once(at: Callable[[], socket.socket]) -> None:
    silent = at()
    silent.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\n")  # and no end
    clients = [at() for _ in range(CLIENTS)]
    for client in clients:
        client.sendall(b"GET /colours.css HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
    assert {client.recv(15) for client in clients} == {b"HTTP/1.1 200 OK"}
    assert silent.recv(1) == b""  # closed
    for client in (silent, *clients):
        client.close()


def test_clients_that_stop_asking_or_reading_later_are_let_go(at: Callable[[], socket.socket]) -> None:
    whole = b"GET /assets/vendor/d3.min.js HTTP/1.1\r\nHost: localhost\r\n\r\n"
    with at() as again:
        again.sendall(b"GET /colours.css HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert again.recv(15) == b"HTTP/1.1 200 OK"
        again.sendall(b"GET / HTTP/1.1\r\n")  # and no end
        while again.recv(1 << 16):
            pass
    with at() as deaf:
        deaf.sendall(whole * 80)  # 20 MB, of which nothing is read for a while
        time.sleep(1.5)
        heard = 0
        with suppress(ConnectionResetError):
            while read := deaf.recv(1 << 20):
                heard += len(read)
    assert heard < 80 * (Path(serving.__file__).parent / "assets/vendor/d3.min.js").stat().st_size
