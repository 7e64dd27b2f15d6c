"""A second reader: a stub of a server that speaks chat completions is asked what the rules do not read."""

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from worlds.commands import questree

LINES = [
    {"id": "1", "question": "Did they hold a phone?", "raw": "Yes."},
    {"id": "2", "question": "Did they hold a phone?", "raw": "The handset rested in their palm the whole time."},
    {"id": "3", "question": "Which was it, a cup or a bag?", "raw": "The thing with a handle you drink from."},
    {"id": "4", "question": "Did they hold a phone?", "raw": "I'm sorry, I cannot view videos."},
    {"id": "5", "question": "What were they holding?", "raw": "a phone"},
    {"id": "6", "question": "Did they hold a phone?", "raw": "The handset rested in their palm the whole time."},
    {"id": "7", "question": "Did they hold a phone?", "raw": ""},
]
SAYS = {"palm": "yes", "drink": "Cup.", "cannot view": "NONE", "Reply: Yes.": "yes", "Reply: a phone": "laptop"}


class Stub(ThreadingHTTPServer):
    """Says what SAYS says; counts requests."""

    def __init__(self, status: int = 200, fails: int = 0) -> None:
        self.status, self.fails, self.bodies, self.keys = status, fails, list[dict[str, Any]](), list[str]()
        super().__init__(("127.0.0.1", 0), Handler)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/v1"

    def handle_error(self, *_: object) -> None:
        """Quietly: a client that was refused hangs up, and what is printed here would be taken for the command's."""


class Handler(BaseHTTPRequestHandler):
    server: Stub

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.bodies.append(body)
        self.server.keys.append(self.headers.get("Authorization", ""))
        prompt = body["messages"][0]["content"]
        said = next(answer for part, answer in SAYS.items() if part in prompt)
        self.server.fails -= 1
        status = 503 if self.server.fails >= 0 else self.server.status
        data = json.dumps({"choices": [{"message": {"role": "assistant", "content": said}}]}).encode()
        self.send_response(status if self.path == "/v1/chat/completions" else 404)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def stub() -> Iterator[Stub]:
    server = Stub()
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server
    server.shutdown()
    server.server_close()


def read(folder: Path, stub: Stub, *more: object) -> Any:
    (folder / "raw.jsonl").write_text("".join(json.dumps(line) + "\n" for line in LINES))
    asked = ("--second-reader", stub.url, "--second-model", "judge")
    return questree("read", "raw.jsonl", "--out", "read.jsonl", *asked, "--json", "result.json", *more, folder=folder)


def test_a_model_reads_what_the_rules_do_not(stub: Stub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "secret-key")
    done = read(tmp_path, stub)
    assert done.returncode == 0, done.stderr
    found = {line["id"]: line for line in map(json.loads, (tmp_path / "read.jsonl").read_text().splitlines())}
    assert {id: line["answer"] for id, line in found.items()} == {
        "1": "yes",
        "2": "yes",
        "3": "cup",
        "4": None,
        "5": "phone",
        "6": "yes",
        "7": None,
    }
    assert found["2"]["rule"] == found["3"]["rule"] == "second reader" and found["4"]["reason"] == "refused"
    assert len(stub.bodies) == 5  # one of two equal texts, none of the empty one
    assert {body["model"] for body in stub.bodies} == {"judge"} and set(stub.keys) == {"Bearer secret-key"}
    result = json.loads((tmp_path / "result.json").read_text())
    assert result["second"] == {"read": 3, "checked": 2, "read by both": 2, "same": 1, "agreement": 0.5}
    assert "3 of 5 unread texts" in done.stdout and "1 of 2 (50.00 %)" in done.stdout
    said = [json.loads(line) for line in (tmp_path / "read.second.jsonl").read_text().splitlines()]
    assert {line["said"] for line in said} == set(SAYS.values()) and all(
        "Question: " in line["prompt"] for line in said
    )
    everything = done.stdout + done.stderr + "".join(p.read_text() for p in tmp_path.iterdir())
    assert "secret-key" not in everything


def test_what_was_said_is_not_asked_again_even_after_a_crash(stub: Stub, tmp_path: Path) -> None:
    first = read(tmp_path, stub).stdout
    place = tmp_path / "read.second.jsonl"
    place.write_bytes(place.read_bytes()[:-10])  # killed while writing
    stub.bodies.clear()
    assert read(tmp_path, stub).stdout == first and len(stub.bodies) == 1
    assert read(tmp_path, stub).stdout == first and len(stub.bodies) == 1


def test_a_busy_server_is_asked_again(stub: Stub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("questree.endpoints.chat.WAIT", 0.001)
    stub.fails = 2
    assert read(tmp_path, stub, "--second-sample", 0).returncode == 0
    assert len(stub.bodies) == 5


def test_a_server_that_refuses_is_named_without_the_key(
    stub: Stub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "secret-key")
    stub.status = 401
    done = read(tmp_path, stub)
    assert done.returncode == 1 and "secret-key" not in done.stderr
    assert (
        done.stderr
        == f"error: {stub.url}/chat/completions: expected an answer of judge, got status 401: is the key right?\n"
    )
    assert not (tmp_path / "read.jsonl").exists()


def test_a_model_is_needed(tmp_path: Path) -> None:
    (tmp_path / "raw.jsonl").write_text(json.dumps(LINES[0]) + "\n")
    done = questree(
        "read", "raw.jsonl", "--out", "read.jsonl", "--second-reader", "http://127.0.0.1:1/v1", folder=tmp_path
    )
    assert done.returncode == 1 and "--second-model: expected the name of a model beside --second-reader" in done.stderr
