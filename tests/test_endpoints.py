"""Requests to servers: connections that stay, replies of any form, waiting as they say, limits."""

import asyncio
import time
from collections.abc import Callable, Coroutine
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path
from typing import Any

import httpx2
import pytest

from bench.chat_stub import completion
from questree.endpoints.chat import Chat, Logprobs, NoAnswer, Reply, Server, Token, _retry_after, key_of, polar
from questree.endpoints.limits import Budget, Pace, Prices, Spent
from questree.endpoints.loops import run_alone
from questree.endpoints.plain_http import PlainHTTP
from questree.faults import BadInput

OK = b"HTTP/1.1 200 OK\r\n"
SAID = completion("yes")


async def answering(script: list[bytes | None], talk: Callable[[str], Coroutine[Any, Any, Any]]) -> tuple[Any, int]:
    """What a talk with a server gives that sends these bytes, one after the other; None closes without a word."""
    rest, connections = iter(script), 0

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal connections
        connections += 1
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                await reader.readexactly(int(head.lower().split(b"content-length: ")[1].split(b"\r\n")[0]))
                if (said := next(rest)) is None:
                    break
                writer.write(said)
                if b"close" in said or b"HTTP/1.0" in said:
                    break
        except (asyncio.IncompleteReadError, StopIteration):
            pass
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    try:
        return await talk(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"), connections
    finally:
        server.close()


def replies(script: list[bytes | None], times: int, **how: Any) -> tuple[list[str], int]:
    """What is read of them."""

    async def talk(url: str) -> list[str]:
        found = list[str]()
        async with Chat(Server(url, "m", **{"retries": 0, **how})) as chat:
            for _ in range(times):
                try:
                    found.append((await chat.say(b"{}")).text)
                except NoAnswer as none:
                    found.append(f"! {none.fault}")
        return found

    return asyncio.run(answering(script, talk))


def sized(body: bytes, more: bytes = b"") -> bytes:
    return OK + b"Content-Length: %d\r\n" % len(body) + more + b"\r\n" + body


def test_replies_of_any_form_are_read_on_one_connection() -> None:
    chunked = OK + b"Transfer-Encoding: chunked\r\n\r\n" + b"%x;x=1\r\n%s\r\n" % (10, SAID[:10])
    chunked += b"%X\r\n%s\r\n0\r\nTrailer: x\r\n\r\n" % (len(SAID) - 10, SAID[10:])
    early = b"HTTP/1.1 100 Continue\r\n\r\n" + sized(SAID)
    assert replies([sized(SAID), chunked, early, sized(SAID)], 4) == (["yes"] * 4, 1)


def test_connections_that_close_are_opened_again() -> None:
    whole = b"HTTP/1.0 200 OK\r\n\r\n" + SAID
    assert replies([whole, sized(SAID, b"Connection: close\r\n"), sized(SAID)], 3) == (["yes"] * 3, 3)
    assert replies([sized(SAID), None, sized(SAID)], 2) == (["yes"] * 2, 2)  # closed while it was idle
    assert replies([None], 1) == (["! ReadError"], 1)


@pytest.mark.parametrize(
    ("said", "fault"),
    [
        (b"nonsense\r\n\r\n", "RemoteProtocolError"),
        (b"HTTP/2 200 OK\r\n\r\n", "RemoteProtocolError"),
        (OK + b"Content-Length: many\r\n\r\n", "RemoteProtocolError"),
        (OK + b"Content-Length: 99999999999\r\n\r\n", "RemoteProtocolError"),
        (OK + b"x" * 70_000, "RemoteProtocolError"),
        (sized(b'{"choices": []}'), "a reply without choices[0].message.content"),
        (sized(b"\xff"), "a reply without choices[0].message.content"),
        (sized(b'{"choices": [{"message": {"content": null}}]}'), None),
        (b"HTTP/1.1 404 no\r\nContent-Length: 19\r\n\r\n" + b'{"error": "no such"', "status 404"),
        (b"HTTP/1.1 302 x\r\nLocation: /\r\nContent-Length: 0\r\n\r\n", "status 302"),
    ],
)
def test_strange_replies_are_no_answers(said: bytes, fault: str | None) -> None:
    ((found,), _) = replies([said], 1)
    assert found.startswith(f"! {fault}") if fault else found == ""


def test_a_silent_server_is_given_up() -> None:
    begin = time.monotonic()
    ((found,), _) = replies([OK], 1, timeout=0.1)
    assert found == "! ReadTimeout" and time.monotonic() - begin < 5


def test_servers_say_how_long_to_wait() -> None:
    def told(value: str) -> float:
        return _retry_after(httpx2.Response(429, headers={"Retry-After": value}))

    assert told("3") == 3.0 and told("nan") == told("soon") == told("-4") == 0.0 and told("99999") == 120.0
    date = format_datetime(datetime.now(UTC) + timedelta(seconds=50), usegmt=True)
    assert 45 < told(date) <= 50


def test_addresses_with_tls_or_behind_a_proxy_are_httpx2s_own(monkeypatch: pytest.MonkeyPatch) -> None:
    def plain(url: str) -> bool:
        return isinstance(Server(url, "m").client()._transport, PlainHTTP)

    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
    assert plain("http://localhost:1/v1") and not plain("https://localhost:1/v1")
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:2")
    assert not plain("http://localhost:1/v1")
    assert Server("http://h/v1/", "m").address == Server("http://h/v1/chat/completions", "m").address
    assert [str(each) for each in Server("ftp://x", "m").faults()] == [
        "--endpoint: expected an address like http://localhost:8000/v1, got 'ftp://x'"
    ]
    assert "key" in str(Server("http://x/v1?key=abc", "m").faults()[0]) and "abc" not in repr(
        Server("u", "m", key="abc")
    )


def test_keys_come_from_the_environment_or_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.delenv("NO_SUCH_KEY", raising=False)
    assert key_of() == ""
    (tmp_path / "key").write_text(" abc\n")
    assert key_of("", tmp_path / "key") == "abc"
    (tmp_path / "two").write_text("secret words")
    (tmp_path / "none").write_text("\n")
    for wrong in (("NO_SUCH_KEY", None), ("", tmp_path / "two"), ("", tmp_path / "none"), ("", tmp_path / "nowhere")):
        with pytest.raises(BadInput, match=r"expected .*key") as bad:
            key_of(*wrong)
        assert "secret" not in str(bad.value)


def test_probabilities_of_yes_and_no_are_those_of_the_first_token() -> None:
    first = Token(" Yes", -0.2, [Token(" Yes", -0.2), Token("no", -2.0), Token("No", -1.9), Token("Maybe", -4.0)])
    assert polar(Logprobs([first, Token("no", -0.1)])) == (-0.2, -1.9)
    assert polar(Logprobs([Token("A", -0.2)])) == polar(Logprobs([])) == polar(None) == (None, None)


def test_budgets_say_which_limit_is_reached() -> None:
    spent = Spent(requests=2)
    spent.see(Reply("yes", "stop", 900_000, 100_000))
    assert Budget().reached(spent) == "" and Budget(requests=3).reached(spent) == ""
    assert Budget(requests=2).reached(spent) == "--max-requests 2"
    assert Budget(tokens=1_000_000).reached(spent) == "--max-tokens 1,000,000"
    prices = Prices(2.0, 10.0)
    assert prices.of(900_000, 100_000) == pytest.approx(2.8)
    assert Budget(cost=2.8, prices=prices).reached(spent) == "--max-cost 2.8"
    assert Budget(cost=2.9, prices=prices).reached(spent) == ""


def test_a_pace_is_kept() -> None:
    async def take(pace: Pace, amounts: list[float]) -> float:
        begin = time.monotonic()
        await asyncio.gather(*map(pace.take, amounts))
        return time.monotonic() - begin

    assert asyncio.run(take(Pace(None), [1] * 100)) < 0.1
    assert asyncio.run(take(Pace(1200), [1] * 26)) > 0.25  # 20 a second: 20 at once, 6 later
    pace = Pace(600)
    pace.correct(1, 11)
    assert asyncio.run(take(pace, [1])) > 0.05


def test_a_notebook_can_ask_while_its_loop_runs() -> None:
    async def inner() -> str:
        await asyncio.sleep(0)
        return "said"

    async def outer() -> str:
        return run_alone(inner())

    assert run_alone(outer()) == "said"

    async def failing() -> None:
        raise BadInput.at("x", "y")

    async def around() -> None:
        run_alone(failing())

    with pytest.raises(BadInput, match="x: y"):
        asyncio.run(around())
