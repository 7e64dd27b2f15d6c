"""Asking, reading and scoring lose nothing: a bot behind a server gets exactly the scores of the bot."""

import shutil
from pathlib import Path

import msgspec
import polars as pl
import pytest

from bench.chat_stub import Asked, Replied
from questree import open as open_run
from questree.api.bot_answers import BotAnswers
from questree.api.bot_server import ChatRequest, completed
from worlds.chat_server import chat_server
from worlds.commands import questree

BOT, NOISE = "composition-noise", 0.3


@pytest.mark.parametrize("chatty", [False, True])
@pytest.mark.parametrize("name", ["run", "images"])
def test_a_bot_that_is_asked_has_the_scores_of_the_bot(notebook: Path, tmp_path: Path, name: str, chatty: bool) -> None:
    shutil.copytree(notebook / name, tmp_path / name)
    bots = BotAnswers.of(tmp_path / name, (BOT,), noise=NOISE, chatty=chatty)

    def answer(asked: Asked) -> Replied:
        found = completed(bots, msgspec.json.decode(asked.body, type=ChatRequest), "")
        return Replied(bytes(found.body), found.status_code)

    with chat_server(lambda body: "") as server:
        server.answer = answer  # type: ignore[method-assign]
        where = ("--endpoint", server.url, "--model", BOT, "--no-media", "--prompt", "scoped", "--name", "asked")
        done = questree("ask", name, *where, "--answer-tokens", 200, folder=tmp_path)
    assert done.returncode == 0, done.stderr
    questree("answer", name, "--model", BOT, "--noise", NOISE, folder=tmp_path)
    run = open_run(tmp_path / name)
    one, other = (run.score(model, resamples=0, missing="skip").frame() for model in ("asked", BOT))
    scores = [table.filter(pl.col("by") != "policy").drop("model") for table in (one, other)]
    assert len(scores[0]) > 20 and scores[0].equals(scores[1])
