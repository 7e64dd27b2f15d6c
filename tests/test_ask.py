"""A model behind a server is asked: each question once, whatever happens, and its answers are predictions."""

import json
import os
import re
import shlex
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from PIL import Image

from bench.chat_stub import Replied, completion
from questree import open as open_run
from questree.ask.journal import journal
from questree.faults import BadInput
from questree.progress import notes
from questree.stages.decompose.dag_shards import DecomposeOptions, decompose
from questree.tables.run import Run
from worlds.chat_server import ChatServer, chat_server, last_text
from worlds.commands import Done, questree
from worlds.exported_worlds import run_of, select_every
from worlds.served import WORLD
from worlds.small import facts

PIXELS = (60, 40)


def polite(body: dict[str, Any]) -> str:
    """Yes to what begins with Is, no to other questions that are answered so, a phone to objects; in sentences."""
    text = last_text(body)
    if "yes or no" not in text:
        return "I think it is a phone." if "name of one object" in text else "Hmm."
    return "Yes, it is." if text.startswith("Is ") else "No."


SAID = {"Yes, it is.": "yes", "No.": "no", "I think it is a phone.": "phone", "Hmm.": "hmm"}


@pytest.fixture
def server() -> Iterator[ChatServer]:
    with chat_server(polite) as own:
        yield own


@pytest.fixture(scope="session")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two videos, decomposed, with frames that are all of one colour."""
    folder = tmp_path_factory.mktemp("asked")
    run = run_of(facts(WORLD), folder / "run", shard=1)
    select_every(run, 60)
    decompose(run, DecomposeOptions(balanced=True), pool=ThreadPoolExecutor(1))
    for video, count in (("A", 10), ("B", 6)):
        (folder / "media" / video).mkdir(parents=True)
        for at in range(count):
            Image.new("RGB", PIXELS, (20 * at, 80, 10)).save(folder / "media" / video / f"{at * 60:06}.png")
    return folder


@pytest.fixture
def folder(small: Path, tmp_path: Path) -> Path:
    subprocess.run(["cp", "-r", f"{small}/run", f"{small}/media", str(tmp_path)], check=True)
    return tmp_path


def ask(folder: Path, server: ChatServer, *more: object, media: bool = True) -> Done:
    usual = {"--endpoint": server.url, "--model": "tiny", "--questions": 6, "--json": "told.json"}
    usual |= {"--media": "media", "--frames": 3} if media else {"--no-media": ""}
    words = [word for pair in usual.items() if pair[0] not in more for word in pair if word != ""]
    return questree("ask", "run", *words, *more, folder=folder)


def told(folder: Path) -> Any:
    return json.loads((folder / "told.json").read_text())


def journalled(folder: Path) -> int:
    with sqlite3.connect(folder / "run" / "asked" / "tiny.sqlite") as file:
        return int(file.execute("select count(*) from replies").fetchone()[0])


def test_every_distinct_question_is_asked_once_and_its_answer_is_a_prediction(folder: Path, server: ChatServer) -> None:
    done = ask(folder, server)
    assert done.returncode == 0, done.stderr
    run = open_run(folder / "run")
    found, texts = run.predictions("tiny"), dict(run.nodes().select("id", "question").iter_rows())
    scopes = dict(run.nodes().select("id", "scope").iter_rows())
    assert told(folder)["questions"] == len(found) == told(folder)["answered"]
    assert re.fullmatch(r"[\d,]+/s, [\d,]+ tokens", notes["asking"])  # what a bar shows
    different = {(scopes[id], texts[id]) for id in found["id"]}
    assert len(server.bodies) == len(different) == told(folder)["requests"] == journalled(folder)
    for id, said in found.select("id", "prediction").iter_rows():
        assert said in SAID.values()
        assert (said == "yes") == (texts[id].startswith("Is "))
    chosen = run.nodes().filter(pl.col("asked"), pl.col("id").is_in(found["id"].implode()))
    edges = run.edges()
    below = set(chosen["id"])
    while more := set(edges.filter(pl.col("parent").is_in(list(below)))["child"]) - below:
        below |= more
    assert below == set(found["id"])  # the DAGs are whole
    assert questree("score", "run", "--model", "tiny", "--missing", "skip", folder=folder).returncode == 0


def test_what_the_model_is_shown(folder: Path, server: ChatServer) -> None:
    ask(folder, server, "--logprobs", "--extra", '{"top_k": 1, "temperature": null}')
    body = server.bodies[0]
    assert body["model"] == "tiny" and body["top_k"] == 1 and body["logprobs"] and "temperature" not in body
    system, user = body["messages"]
    assert system["content"].startswith("You are shown frames of a video in order.")
    *pictures, text = user["content"]
    assert text["type"] == "text" and len(pictures) == 3
    assert all(each["image_url"]["url"].startswith("data:image/jpeg;base64,/9j/") for each in pictures)
    assert any("X-Questree-Scope: A" in head for head in server.heads)


def test_asking_again_costs_nothing_and_another_policy_rereads(folder: Path, server: ChatServer) -> None:
    ask(folder, server)
    before = len(server.bodies)
    assert ask(folder, server, "--policy", "exact", "--name", "as said").returncode == 0
    assert len(server.bodies) == before and told(folder)["requests"] == 0
    run = open_run(folder / "run")
    assert set(run.predictions("tiny")["prediction"]) <= {*SAID.values()}
    said = dict(run.predictions("as said").select("id", "prediction").iter_rows())
    read = dict(run.predictions("tiny").select("id", "prediction").iter_rows())
    assert {id: SAID[text] for id, text in said.items()} == read
    assert ask(folder, server, "--frames", 2).returncode == 0  # other pictures, other requests
    assert len(server.bodies) == 2 * before
    assert ask(folder, server, "--answer-tokens", 5).returncode == 0
    assert len(server.bodies) == 3 * before


def test_what_was_said_is_written_for_read(folder: Path, server: ChatServer) -> None:
    ask(folder, server, "--raw", "raw.jsonl", "--out", "lines.jsonl", "--policy", "exact")
    lines = [json.loads(line) for line in (folder / "raw.jsonl").read_text().splitlines()]
    assert {line["raw"] for line in lines} <= {*SAID}
    assert {line["finish"] for line in lines} == {"stop"} and all(line["tokens_in"] == 40 for line in lines)
    assert questree("read", "raw.jsonl", "--out", "read.jsonl", folder=folder).returncode == 0
    read = {line["id"]: line["answer"] for line in map(json.loads, (folder / "read.jsonl").read_text().splitlines())}
    assert read == {line["id"]: {**SAID, "Hmm.": None}[line["raw"]] for line in lines}
    assert len((folder / "lines.jsonl").read_text().splitlines()) == len(lines)


def test_without_media_the_same_words_are_one_request(folder: Path, server: ChatServer) -> None:
    ask(folder, server, "--questions", 0, media=False)
    run = open_run(folder / "run")
    assert len(server.bodies) == run.nodes()["question"].n_unique() < len(run.nodes())
    assert all(isinstance(body["messages"][-1]["content"], str) for body in server.bodies)
    assert "X-Questree" not in "".join(server.heads)
    assert len(run.predictions("tiny")) == len(run.nodes())


def test_a_dry_run_counts_and_shows_prompts_and_sends_nothing(folder: Path, server: ChatServer) -> None:
    done = ask(folder, server, "--dry-run", "--price-in", 10)
    plan = told(folder)
    assert not server.bodies and done.stdout.count("--- prompt ") == 3 and "media/A/0000" in done.stdout
    assert plan["images"] == 3 * plan["requests"] and plan["tokens"] > 6 * plan["images"]
    assert plan["cost"] == pytest.approx(plan["tokens"] / 100_000)
    ask(folder, server)
    assert told(folder)["requests"] == plan["requests"] == len(server.bodies)
    ask(folder, server, "--dry-run")
    assert told(folder)["requests"] == 0 and told(folder)["known"] == plan["questions"]


@pytest.mark.parametrize(
    ("limit", "most"),
    [
        (("--max-requests", 5), 5),
        (("--max-tokens", 200), 5),  # 41 a request
        (("--max-cost", 0.0004, "--price-in", 2, "--price-out", 1), 5),
    ],
)
def test_a_budget_stops_it_and_the_next_start_goes_on(
    folder: Path, server: ChatServer, limit: tuple[object, ...], most: int
) -> None:
    done = ask(folder, server, *limit, "--concurrency", 1)
    assert done.returncode == 3 and len(server.bodies) == most == journalled(folder)
    left = told(folder)["questions"] - told(folder)["answered"]
    assert f"warning: stopped ({limit[0]} " in done.stderr and f"{left:,} of" in done.stderr
    assert told(folder)["stopped"].startswith(str(limit[0])) and not told(folder)["finished"]
    assert ask(folder, server).returncode == 0
    assert len(server.bodies) == journalled(folder) and told(folder)["finished"]


def test_a_cost_needs_prices(folder: Path, server: ChatServer) -> None:
    done = ask(folder, server, "--max-cost", 1)
    assert done.returncode == 1 and "--max-cost: expected --price-in and --price-out beside it" in done.stderr


def test_a_busy_server_is_asked_again_when_it_says(
    folder: Path, server: ChatServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("questree.endpoints.chat.WAIT", 0.001)
    late = Replied(b"{}", 429, b"Retry-After: 0.3\r\n")
    server.replies = [Replied(b"oops", 503), late, Replied(b"{}", 500)]
    begin = time.monotonic()
    assert ask(folder, server, "--concurrency", 1).returncode == 0
    assert time.monotonic() - begin > 0.3
    assert len(server.bodies) == journalled(folder) + 3 and told(folder)["failed"] == 0
    with sqlite3.connect(folder / "run" / "asked" / "tiny.sqlite") as file:
        assert file.execute("select max(tries) from replies").fetchone()[0] == 4


def test_requests_that_fail_are_counted_and_asked_again_next_time(folder: Path, server: ChatServer) -> None:
    wrong = Replied(b'{"error": {"message": "image too large"}}', 400)
    server.replies = [wrong, Replied(completion("Yes, it is.")), Replied(b"<html>")]
    done = ask(folder, server, "--concurrency", 1)
    assert done.returncode == 3 and told(folder)["failed"] == 2
    assert "warning: 1 times status 400 (image too large)" in done.stderr
    assert "a reply without choices[0].message.content" in done.stderr
    before = len(server.bodies)
    assert ask(folder, server).returncode == 0 and len(server.bodies) == before + 2


def test_keys_are_never_seen(folder: Path, server: ChatServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_KEY", "sk-secret-123")
    (folder / "key.txt").write_text("sk-secret-456\n")
    echo = b'{"error": {"message": "bad sk-secret-123, sorry"}}'
    server.replies = [Replied(echo, 400)]
    said = [ask(folder, server, "--key-env", "MY_KEY"), ask(folder, server, "--key-file", "key.txt", "--name", "b")]
    server.replies = [Replied(echo, 401)]
    said.append(ask(folder, server, "--key-env", "MY_KEY", "--temperature", 1, "--concurrency", 1))
    assert {"sk-secret-123", "sk-secret-456"} <= {word for head in server.heads for word in re.findall(r"sk-\S+", head)}
    assert said[2].returncode == 1 and "got status 401: is the key right?" in said[2].stderr
    (folder / "key.txt").unlink()
    files = [path.read_bytes() for path in folder.rglob("*") if path.is_file()]
    everything = b"".join([*files, *((each.stdout + each.stderr).encode() for each in said)])
    assert b"sk-secret" not in everything and b"status 400 (bad ..., sorry)" in everything
    done = ask(folder, server, "--endpoint", server.url.replace("//", "//me:sk-secret@"))
    assert done.returncode == 1 and "sk-secret" not in done.stderr


def test_a_server_that_is_not_there_is_named(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("questree.endpoints.chat.WAIT", 0.0001)
    where = ("--endpoint", "http://127.0.0.1:9/v1", "--model", "tiny", "--no-media", "--retries", 1)
    done = questree("ask", "run", *where, folder=folder)
    assert done.returncode == 1
    assert done.stderr == "error: http://127.0.0.1:9/v1: expected an answer of tiny, got ConnectError, 2 times\n"
    assert not (folder / "run" / "predictions").exists()


@pytest.mark.parametrize("seed", [1, 3])
def test_killed_at_any_moment_only_what_is_missing_is_asked(folder: Path, server: ChatServer, seed: int) -> None:
    server.delay = 0.01
    words = ["ask", "run", "--endpoint", server.url, "--model", "tiny", "--media", "media", "--frames", "2"]
    command = [sys.executable, "-m", "questree", *words, "--concurrency", "4"]
    process = subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while len(server.bodies) < 9 * seed and process.poll() is None:
        time.sleep(0.002)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    time.sleep(0.05)
    asked, kept = len(server.bodies), journalled(folder)
    assert asked - 4 <= kept <= asked  # but for those under way
    server.delay = 0.0
    assert questree(*words, "--json", "told.json", folder=folder).returncode == 0
    assert len(server.bodies) - asked == told(folder)["requests"]
    assert kept + told(folder)["requests"] == journalled(folder)
    assert told(folder)["known"] >= kept and told(folder)["finished"]


def test_two_at_once_are_refused(folder: Path, server: ChatServer) -> None:
    with journal(folder / "run" / "asked", "tiny"):
        done = ask(folder, server)
    assert done.returncode == 1 and "another command is asking tiny now" in done.stderr
    assert ask(folder, server).returncode == 0


def test_a_damaged_journal_is_named(folder: Path, server: ChatServer) -> None:
    (folder / "run" / "asked").mkdir()
    (folder / "run" / "asked" / "tiny.sqlite").write_bytes(b"not a database" * 100)
    done = ask(folder, server)
    assert done.returncode == 1 and "tiny.sqlite: expected what tiny said before, got a damaged file" in done.stderr


def test_parts_first_and_whole_first_are_conversations(folder: Path, server: ChatServer) -> None:
    run = open_run(folder / "run")
    ask(folder, server)
    alone = len(server.bodies)
    for mode in ("parts-first", "whole-first"):
        server.bodies.clear()
        assert ask(folder, server, "--mode", mode).returncode == 0
        said = run.predictions(f"tiny {mode}")
        assert set(said["id"]) == set(run.predictions("tiny")["id"])
        assert 0 < len(server.bodies) <= told(folder)["questions"] and alone <= told(folder)["questions"]
        longest = max(server.bodies, key=lambda body: len(body["messages"]))["messages"]
        assert [each["role"] for each in longest] == [
            "system",
            *["user", "assistant"] * (len(longest) // 2 - 1),
            "user",
        ]
        assert sum(isinstance(each["content"], list) for each in longest) == 1  # pictures once
        assert all(each["content"] in SAID for each in longest[2::2])
        asked = [
            each["content"] if isinstance(each["content"], str) else each["content"][-1]["text"]
            for each in longest[1::2]
        ]
        texts = [text.splitlines()[0] for text in asked]
        whole = texts[-1] if mode == "parts-first" else texts[0]
        nodes, edges = run.nodes(), run.edges()
        parents = nodes.filter(pl.col("question") == whole)["id"].implode()
        below = edges.filter(pl.col("parent").is_in(parents))["child"]
        assert set(nodes.filter(pl.col("id").is_in(below.implode()))["question"]) & set(texts)
        before = len(server.bodies)
        ask(folder, server, "--mode", mode)
        assert len(server.bodies) == before
    done = questree("score", "run", "--missing", "skip", "--resamples", 0, folder=folder)
    assert "tiny parts-first" in done.stdout and "tiny whole-first" in done.stdout


def test_prompts_of_ones_own_are_kept_beside_the_answers(folder: Path, server: ChatServer) -> None:
    text = 'question = "About {scope}: {question}"\n[instruction]\nother = "Say yes or no."\n'
    (folder / "mine.toml").write_text(text)
    assert ask(folder, server, "--prompt", "mine.toml").returncode == 0
    assert all(re.match(r"About [AB]: .*\nSay yes or no\.$", prompt) for prompt in server.prompts())
    with sqlite3.connect(folder / "run" / "asked" / "tiny.sqlite") as file:
        ((digest, name, kept),) = file.execute("select * from prompts").fetchall()
        assert {row[0] for row in file.execute("select prompt from replies")} == {digest}
    assert (name, kept) == ("mine", text) and told(folder)["prompt"] == {"name": "mine", "digest": digest}
    plan = json.loads((folder / "run" / "predictions" / "tiny" / "plan.json").read_text())
    assert plan["options"]["prompt"] == "mine" and plan["options"]["digest"] == digest


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ('question = "{answer}"', "question: expected no other blanks than {question}, {scope}, got {answer}"),
        ('question = "What?"', "question: expected {question} in it, got 'What?'"),
        ('system = "{"', "system: expected no other blanks than {medium}, got "),
        ('[instruction]\nmaybe = "x"', "instruction: expected kinds of questions, got 'maybe'; choose from yes_no, "),
        ('sytem = "x"', "expected a file of prompts; Object contains unknown field `sytem`"),
    ],
)
def test_a_prompt_that_cannot_be_used_is_refused(folder: Path, server: ChatServer, text: str, fault: str) -> None:
    (folder / "mine.toml").write_text(text)
    done = ask(folder, server, "--prompt", "mine.toml")
    assert done.returncode == 1 and f"error: mine.toml: {fault}" in done.stderr and not server.bodies


def test_wrong_options_are_one_line_each(folder: Path, server: ChatServer) -> None:
    done = ask(folder, server, "--frames", 0, "--quality", 100, "--concurrency", 0, "--batch", 3)
    assert done.returncode == 1 and len(done.stderr.splitlines()) == 4
    assert "--frames: expected at least 1, got 0" in done.stderr
    for words, fault in {
        ("--no-media",): "--media: expected a folder of frames or images, or --no-media to ask without, got both",
        ("--extra", "[]"): "--extra: expected a JSON object",
        ("--name", "../x"): "--name: '../x' cannot be the name of a model",
        ("--python", "a:b"): "expected one of --endpoint, --python and --hf, got --endpoint and --python",
        ("--mode", "parts-first", "--no-parts"): "--mode: expected sub-questions",
        ("--prompt", "nowhere"): "--prompt: expected short, scoped, reasoned or a TOML file, got 'nowhere'",
    }.items():
        assert fault in ask(folder, server, *words).stderr
    (folder / "media" / "B").rename(folder / "media" / "C")
    assert "--media media: expected pictures in B/ or B.mp4, got none" in ask(folder, server).stderr
    assert not server.bodies


def test_a_run_that_is_not_decomposed_is_asked_its_questions(
    asked_run: Run, server: ChatServer, tmp_path: Path
) -> None:
    where = ("--endpoint", server.url, "--model", "org/tiny", "--no-media")
    subprocess.run(["cp", "-r", str(asked_run.folder), str(tmp_path / "run")], check=True)
    done = questree("ask", "run", *where, "--questions", 30, folder=tmp_path)
    assert done.returncode == 0, done.stderr
    lines = [json.loads(line) for line in (tmp_path / "run/asked/org-tiny.jsonl").read_text().splitlines()]
    ids = {line["id"] for line in lines}
    assert len(ids) == 30
    kinds = open_run(asked_run.folder).questions(columns=["id", "template"]).filter(pl.col("id").is_in(list(ids)))
    assert kinds["template"].n_unique() >= 15  # kinds alike often


def test_the_commands_of_the_page_work(folder: Path, server: ChatServer, monkeypatch: pytest.MonkeyPatch) -> None:
    page = (Path(__file__).parents[1] / "docs" / "ask.md").read_text("utf-8")
    blocks = "".join(re.findall(r"```sh\n(.*?)```", page, re.S))
    lines = [line.split("  #")[0].strip() for line in blocks.splitlines() if line.startswith("questree ")]
    (folder / "mine.toml").write_text(re.findall(r"```toml\n(.*?)```", page, re.S)[0])
    (folder / "my_model.py").write_text("def answer(questions):\n    return ['no' for _ in questions]\n")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-page")
    for line in [line for line in lines if " --hf " not in line]:
        words = re.sub(r"https?://[^ ]*/v1", server.url, line).replace("RUN", "run").replace("FRAMES", "media")
        done = questree(*shlex.split(words)[1:], folder=folder)
        assert done.returncode == 0, f"{words}\n{done.stderr}"
    assert len(lines) > 15 and "NAME mine" in open_run(folder / "run").models
    assert any("[2.0 s]" in str(body) for body in server.bodies)
    (code,) = re.findall(r"```python\n(.*?)```", page, re.S)
    monkeypatch.chdir(folder)
    known: dict[str, Any] = {}
    exec(code.replace("http://localhost:8000/v1", server.url).replace("RUN", "run").replace("FRAMES", "media"), known)
    assert known["made"].record["finished"] and known["made"].record["name"] == "NAME parts-first"


def test_the_journal_keeps_what_a_key_was_told_first(tmp_path: Path) -> None:
    from questree.endpoints.chat import Reply

    with journal(tmp_path, "a/b") as own:
        own.put(b"k" * 16, "1", "p", Reply("yes", "stop", 3, 1, 0.5, 2, -0.1, None))
        own.put(b"k" * 16, "2", "p", Reply("no"))
        assert own.get(b"k" * 16) == Reply("yes", "stop", 3, 1, 0.5, 2, -0.1, None) and own.get(b"z" * 16) is None
    with journal(tmp_path, "a/b") as own:
        assert [each.text for each in own.said([b"k" * 16, b"z" * 16]).values()] == ["yes"]
    assert (tmp_path / "a-b.sqlite").is_file()
    with pytest.raises(BadInput, match="cannot be written"), journal(tmp_path / "a-b.sqlite" / "x", "m"):
        pass
