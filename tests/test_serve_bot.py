"""Bots behind OpenAI's HTTP interface say to every prompt exactly what they say directly."""

import base64
import io
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import polars as pl
import pytest
from starlette.testclient import TestClient

from conftest import copy
from questree.api.bot_answers import BotAnswers
from questree.api.bot_server import ChatRequest, Faults, application, completed
from questree.api.dag_tables import node_table
from questree.models.bots import BotOptions, said_by
from questree.models.known_prompts import KnownPrompts, Signs
from questree.models.policies import read_answers
from questree.models.seen_pictures import SeenPictures
from questree.stages.decompose.hierarchies import RunHierarchies, hierarchies_in
from questree.tables.run import Run
from worlds.commands import questree

NOISE = 0.3
BOTS = ("composition-noise", "perception-noise", "uniform", "oracle")
PROMPT = "{about}Look closely.\n\nQuestion: {question} Answer with one word or a short phrase."


@pytest.fixture(scope="module", params=["run", "images"])
def asked(request: pytest.FixtureRequest, notebook: Path) -> RunHierarchies:
    return hierarchies_in(Run(notebook / request.param))


@pytest.fixture(scope="module")
def nodes(asked: RunHierarchies) -> pl.DataFrame:
    return node_table(asked, programs=False)


@pytest.fixture(scope="module")
def bots(asked: RunHierarchies) -> BotAnswers:
    return BotAnswers.of(asked.run.folder, BOTS, noise=NOISE)


@pytest.fixture(scope="module")
def client(notebook: Path) -> TestClient:
    served = BotAnswers.of(notebook / "run", ("oracle", "perception-noise"), noise=NOISE)  # the second is a bot, too
    return TestClient(application(served), base_url="http://127.0.0.1:8001")


def scope_of(row: dict[str, Any]) -> str:
    return row["scope"] if isinstance(row["scope"], str) else ", ".join(reversed(row["scope"]))


def body(model: str, text: str, **more: Any) -> dict[str, Any]:
    return {"model": model, "messages": [{"role": "user", "content": text}], **more}


def reply(bots: BotAnswers, scope: str = "", **request: Any) -> dict[str, Any]:
    sent = completed(bots, msgspec.convert(request, ChatRequest), scope)
    found: dict[str, Any] = msgspec.json.decode(sent.body)
    return found


def content(found: dict[str, Any]) -> str:
    text: str = found["choices"][0]["message"]["content"]
    return text


def direct(asked: RunHierarchies, model: str) -> dict[str, str]:
    """What the bot stores: id -> word."""
    found = said_by(asked, BotOptions(model, noise=NOISE), "images" in asked.run.folder.name)
    words = pl.Series([*found.words, ""], dtype=pl.String)
    return dict(zip(asked.hierarchies.keys.to_list(), words.gather(found.by_key % len(words)).to_list(), strict=True))


@pytest.mark.parametrize("model", BOTS)
def test_every_prompt_gets_the_answer_of_the_bot(
    asked: RunHierarchies, nodes: pl.DataFrame, bots: BotAnswers, model: str
) -> None:
    known, label = direct(asked, model), "Images" if bots.prompts.of_images else "Video"
    for row in nodes.iter_rows(named=True):
        text = PROMPT.format(about=f"{label}: {scope_of(row)}\n", question=row["question"])
        assert content(reply(bots, **body(model, text))) == known[row["id"]], row


def test_a_model_whose_answers_are_stored_is_served_too(notebook: Path, tmp_path: Path) -> None:
    run = copy(Run(notebook / "images"), tmp_path)
    for id in ("mine", "theirs"):
        done = questree("answer", run.folder, "--model", "uniform", "--name", id, "--seed", len(id))
        assert done.returncode == 0
    served = BotAnswers.of(run.folder, ("mine", "theirs"))
    for id in ("mine", "theirs"):
        bot = BotAnswers.of(run.folder, ("uniform",), seed=len(id))
        assert served.answers[id] == bot.answers["uniform"] != {}
    assert served.answers["mine"] != served.answers["theirs"]


def test_chatty_answers_are_read_back(asked: RunHierarchies, nodes: pl.DataFrame) -> None:
    """Sentences of every shape, and all of them mean the bot's own word."""
    talking = BotAnswers.of(asked.run.folder, ("composition-noise",), noise=NOISE, chatty=True)
    known, said = direct(asked, "composition-noise"), {}
    for row in nodes.iter_rows(named=True):
        said[row["id"]] = content(reply(talking, scope_of(row), **body("composition-noise", row["question"])))
    words = {known[id] for id in said} - {""}
    assert sum(text != known[id] for id, text in said.items()) == sum(known[id] != "" for id in said)
    assert len({text.replace(known[id], "{}") for id, text in said.items()}) > 8
    given = pl.DataFrame({"id": list(said), "prediction": list(said.values())}).filter(pl.col("prediction") != "")
    texts = dict(nodes.select("id", "question").iter_rows())
    vocabulary = None if talking.prompts.of_images else asked.run.vocabulary()
    read = read_answers(given, sorted(words), "lenient", vocabulary, lambda ids: ids.replace_strict(texts))
    wrong = [
        (id, said[id], word) for id, word in read.table.select("id", "prediction").iter_rows() if word != known[id]
    ]
    assert wrong == []


QUESTIONS = pl.DataFrame(
    {
        "id": ["A-1", "B-1", "A-2", "A-3"],
        "scope": ["A", "B", "A", "A"],
        "question": ["Is it red?", "Is it red?", "Before that, is it red?", "There is a <b>cup</b> here"],
    }
)


@pytest.mark.parametrize(
    ("text", "id"),
    [
        ("Is it red?", "A-1"),
        ("  is IT\n red? yes or no", "A-1"),
        ("Before that, is it red? Answer.", "A-2"),
        ("Q: Before that, is it red?\nA: no\nQ: Is it red?\nA:", "A-1"),  # the last one is asked
        ("True or false: There is a <b>cup</b> here.", "A-3"),
        ("(Is it red?)", "A-1"),
    ],
)
def test_the_question_is_found_in_the_prompt(text: str, id: str) -> None:
    assert KnownPrompts.of(QUESTIONS).find(text, Signs("A")).id == id


@pytest.mark.parametrize("text", ["", "Wis it red?", "Is it red", "There is a <b>cup</b> hereabouts", "?"])
def test_a_prompt_without_a_question_is_refused(text: str) -> None:
    with pytest.raises(Exception, match="messages: expected a question of the run, got none in"):
        KnownPrompts.of(QUESTIONS).find(text, Signs("A"))


@pytest.mark.parametrize(
    ("signs", "id"),
    [
        (Signs("B"), "B-1"),
        (Signs("A", "B"), "A-1"),
        (Signs("", "B"), "B-1"),
        (Signs("", "somebody", ("Video: B",)), "B-1"),
        (Signs("", "", ("x", "- **Video: B\nrest", "Video: A")), "B-1"),
        (Signs("", "", ("Video: C",), (frozenset("AB"), frozenset("B"))), "B-1"),
        (Signs("", "", ("Scope: A",), (frozenset("B"),)), "A-1"),
    ],
)
def test_the_first_sign_that_tells_gives_the_scope(signs: Signs, id: str) -> None:
    assert KnownPrompts.of(QUESTIONS).find("Is it red?", signs).id == id


@pytest.mark.parametrize(
    ("text", "signs", "says"),
    [
        ("Is it red?", Signs(), "messages: 'is it red?' is asked about 2 videos; say it in the header"),
        ("Is it red?", Signs("", "", ("A B",), (frozenset("AB"),)), "is asked about 2 videos"),
        ("Is it red?", Signs("", "", (), (frozenset("A"), frozenset("B"))), "is asked about 2 videos"),
        ("Is it red?", Signs("C"), "scope: expected one of the question's, got 'C', none of the run"),
        ("Before that, is it red?", Signs("B"), "got 'B', one it is not asked about"),
    ],
)
def test_a_scope_in_doubt_is_refused(text: str, signs: Signs, says: str) -> None:
    with pytest.raises(Exception, match=says.replace("?", r"\?")):
        KnownPrompts.of(QUESTIONS).find(text, signs)


def test_a_question_about_one_thing_needs_no_scope() -> None:
    assert KnownPrompts.of(QUESTIONS).find("Before that, is it red?", Signs()).id == "A-2"


def test_sets_of_images_are_named_in_any_order_and_seen_whole() -> None:
    sets = pl.DataFrame({"id": ["1", "2"], "scope": [["x", "y"], ["x", "z,w"]], "question": ["Is it red?"] * 2})
    known = KnownPrompts.of(sets)
    assert known.find("Is it red?", Signs("y ,x")).id == "1"
    assert known.find("Is it red?", Signs(owners=(frozenset("x"), frozenset(["z,w"])))).id == "2"
    with pytest.raises(Exception, match="2 sets of images"):
        known.find("Is it red?", Signs(owners=(frozenset("x"),)))


def test_frames_tell_the_video(notebook: Path, tmp_path: Path) -> None:
    """By what is in the files; one that two videos share tells nothing alone."""
    run, names = notebook / "run", sorted(BotAnswers.of(notebook / "run", ("oracle",)).prompts.ids)[:2]
    for number, name in enumerate(names):
        (tmp_path / name).mkdir()
        (tmp_path / name / "000001.png").write_bytes(b"the same")
        (tmp_path / name / "000002.png").write_bytes(b"its own %d" % number)
    bots = BotAnswers.of(run, ("oracle",), media=tmp_path)
    shared = next(text for text, own in bots.prompts.scopes.items() if {frozenset([name]) for name in names} <= {*own})

    def sent(*files: bytes) -> list[dict[str, Any]]:
        urls = [f"data:image/png;base64,{base64.b64encode(file).decode()}" for file in files]
        parts = [{"type": "image_url", "image_url": {"url": url}} for url in urls]
        return [{"role": "user", "content": [*parts, {"type": "text", "text": shared}]}]

    for number, name in enumerate(names):
        found = reply(bots, model="oracle", messages=sent(b"the same", b"its own %d" % number))
        assert content(found) == bots.answers["oracle"][bots.prompts.scopes[shared][frozenset([name])].id]
        assert found["usage"]["prompt_tokens"] == len(shared.split()) + 2 * 85
    for files in ([b"the same"], [b"unknown"], [b"its own 0", b"its own 1"]):
        with pytest.raises(Exception, match="say it in the header"):
            reply(bots, model="oracle", messages=sent(*files))


def painted(colours: list[tuple[int, int, int]], side: int, form: str) -> bytes:
    """Stripes, as a file."""
    from PIL import Image

    pixels = np.repeat(np.repeat(np.array(colours, np.uint8)[None], side, 0), side // len(colours), 1)
    file = io.BytesIO()
    Image.fromarray(pixels).save(file, form)
    return file.getvalue()


def test_pictures_that_were_made_smaller_are_recognised(tmp_path: Path) -> None:
    pytest.importorskip("skia")
    stripes = {"A": [(200, 30, 30), (30, 30, 200)], "B": [(30, 200, 30), (30, 30, 200)]}
    for name, colours in stripes.items():
        (tmp_path / f"{name}.png").write_bytes(painted(colours, 128, "PNG"))
    (tmp_path / "C.mp4").write_bytes(b"a film")
    seen = SeenPictures.of((path.stem, path) for path in sorted(tmp_path.iterdir()))
    assert {name: seen.owners(painted(own, 64, "JPEG")) for name, own in stripes.items()} == {
        name: frozenset(name) for name in stripes
    }
    assert seen.owners(b"a film") == frozenset("C")
    assert seen.owners(painted([(0, 0, 0), (0, 0, 0)], 64, "JPEG")) is None
    assert seen.owners(painted(stripes["A"], 8, "PNG")) is None  # too small to tell
    assert seen.owners(b"no picture") is None
    assert not SeenPictures.of([]) and SeenPictures.of([]).owners(b"x") is None


def test_the_interface_is_that_of_chat_completions(client: TestClient, notebook: Path) -> None:
    assert [each["id"] for each in client.get("/v1/models").json()["data"]] == ["oracle", "perception-noise"]
    row = (
        node_table(hierarchies_in(Run(notebook / "run")), programs=False)
        .filter(pl.col("answer") == "yes")
        .row(0, named=True)
    )
    sent = body(
        "perception-noise", row["question"], metadata={"scope": row["scope"]}, n=2, logprobs=True, top_logprobs=2
    )
    found = client.post("/v1/chat/completions", json=sent).json()
    assert found["object"] == "chat.completion" and found["model"] == "perception-noise"
    first, second = found["choices"]
    assert first["message"] == second["message"] and first["finish_reason"] == "stop" and second["index"] == 1
    words = len(row["question"].split())
    assert found["usage"] == {"prompt_tokens": words, "completion_tokens": 2, "total_tokens": words + 2}
    (token,) = first["logprobs"]["content"]
    assert token["token"] == first["message"]["content"] in ("yes", "no")
    assert [round(each["logprob"], 4) for each in token["top_logprobs"]] == [-0.3567, -1.204]  # log .7, log .3
    header = {"X-Questree-Scope": row["scope"]}
    plain = client.post("/chat/completions", json=body("perception-noise", row["question"]), headers=header).json()
    assert content(plain) == content(found) and plain["choices"][0]["logprobs"] is None


@pytest.mark.parametrize(
    ("sent", "status", "says"),
    [
        (b'{"model', 400, "body: expected a chat completion request; Input data was truncated"),
        (b'{"model": "oracle"}', 400, "missing required field `messages`"),
        (body("gpt", "x"), 404, "model: expected one that is served, got 'gpt'; choose from oracle, perception-noise"),
        (body("oracle", "Who?"), 400, "messages: expected a question of the run, got none in 'Who?'"),
        (body("oracle", "x", stream=True), 400, "stream: expected false, got true"),
        ({"model": "oracle", "messages": []}, 400, "messages: expected one of the user, got none"),
        (body("oracle", "x", n=1_000_000_000), 400, "body: expected a chat completion request; Expected `int` <= 128"),
        (body("oracle", "x", max_tokens=-1), 400, "Expected `int` >= 1 - at `$.max_tokens`"),
        (b'{"metadata": {"a": ' + b"[" * 100_000, 400, "body: expected a chat completion request; "),
    ],
)
def test_bad_requests_are_told_in_one_line(client: TestClient, sent: Any, status: int, says: str) -> None:
    given = {"content": sent} if isinstance(sent, bytes) else {"json": sent}
    found = client.post("/v1/chat/completions", **given)
    assert found.status_code == status
    assert says in found.json()["error"]["message"]


def test_a_broken_picture_is_refused(bots: BotAnswers) -> None:
    part = {"type": "image_url", "image_url": {"url": "data:image/png;base64,%%%"}}
    seeing = replace(bots, pictures=SeenPictures({b"": frozenset("A")}))
    with pytest.raises(Exception, match="expected base64"):
        reply(seeing, model="oracle", messages=[{"role": "user", "content": [part]}])


def test_short_limits_cut_sentences(notebook: Path, nodes: pl.DataFrame, asked: RunHierarchies) -> None:
    talking = BotAnswers.of(asked.run.folder, ("always-yes",), chatty=True)
    found = [
        reply(talking, scope_of(row), **body("always-yes", row["question"], max_tokens=1))
        for row in nodes[:20].iter_rows(named=True)
    ]
    cut = [each["choices"][0]["finish_reason"] == "length" for each in found]
    assert any(cut) and not all(cut) and all(each["usage"]["completion_tokens"] == 1 for each in found)


def test_every_third_request_fails_on_purpose(bots: BotAnswers, nodes: pl.DataFrame) -> None:
    app = application(bots, faults=Faults(fail_every=3, retry_after=0.5))
    client, row = TestClient(app, base_url="http://127.0.0.1"), nodes.row(0, named=True)
    header = {"X-Questree-Scope": scope_of(row)}
    found = [
        client.post("/v1/chat/completions", json=body("oracle", row["question"]), headers=header) for _ in range(12)
    ]
    assert [each.status_code for each in found] == [200, 200, 429, 200, 200, 500, 200, 200, 503, 200, 200, 429]
    assert [each.headers.get("Retry-After") for each in found[2:6]] == ["0.5", None, None, None]
    assert found[2].json()["error"] == {
        "message": "request 3: failed on purpose",
        "type": "rate_limit_error",
        "param": None,
        "code": None,
    }


def test_nobody_asks_under_another_name(bots: BotAnswers) -> None:
    client = TestClient(application(bots), base_url="http://elsewhere.example")
    assert client.get("/v1/models").status_code == 400


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--model", "nobody"], "--model: expected a bot or a model of the run, got 'nobody'; choose from oracle, "),
        (["--model", "oracle", "--noise", "2"], "--noise: expected 0 to 1, got 2.0"),
        (["--model", "oracle", "--split", "dev"], "no questions of the split dev"),
        (["--model", "oracle", "--media", "nowhere"], "nowhere: no such folder of frames"),
        (["--model", "oracle", "--fail-every", "-1"], "--fail-every: expected at least 0, got -1"),
    ],
)
def test_wrong_options_are_refused_before_anything_is_served(notebook: Path, words: list[str], says: str) -> None:
    done = questree("serve-bot", notebook / "run", "--port", 0, *words)
    assert done.returncode == 1 and says in done.stderr


def test_the_command_of_the_page_says_where_it_serves(notebook: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    serving: list[Callable[..., Any]] = []
    monkeypatch.setattr("questree.api.bot_server.serve", lambda app, place: serving.append(app))
    page = (Path(__file__).parents[1] / "docs" / "bots.md").read_text("utf-8")
    (line,) = re.findall(r"^\$ questree (serve-bot .*) --port 8001$", page, re.M)
    words = line.replace("RUN", str(notebook / "images")).split()
    done = questree(*words, "--model", "shortcut", "--port", 0)
    assert done.returncode == 0, done.stderr
    assert "composition-noise, shortcut of " in done.stdout and "/v1 (Ctrl-C ends it)" in done.stdout
    assert len(serving) == 1
