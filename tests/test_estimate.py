"""`questree generate --estimate`: what is coming, before anything is made."""

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from conftest import copy
from questree.stages.generate import estimate as module
from questree.stages.generate.estimate import Estimate, estimate, forecast, ratio
from questree.stages.generate.shards import GenerateOptions
from questree.stages.questions import Bank
from questree.tables.run import Run
from worlds.commands import questree

OPTIONS = GenerateOptions(shard=5, text=True, rare_below=3)


def made(run: Run) -> int:
    return len(pl.read_parquet(run.questions / "*" / "questions.parquet", columns=["video"]))


def test_few_questions_are_counted_and_weighed(asked_run: Run) -> None:
    found = estimate(asked_run, OPTIONS)
    size = {path: path.stat().st_size for path in asked_run.questions.glob("*/*.parquet")}
    text = sum(number for path, number in size.items() if path.stem == "text")
    videos = len(Bank(asked_run).ids)
    assert (found.questions, found.low, found.high) == (made(asked_run),) * 3
    assert (found.videos, found.of, found.shards) == (videos, videos, len(Bank(asked_run).folders()))
    assert 0.9 < found.text_bytes / text < 1.1
    assert 0.6 < found.bytes / (sum(size.values()) - text) < 1.1, "small files pack worse than one large one"


def test_many_questions_are_told_from_some_videos_and_phrases(asked_run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "COUNTED", 0)
    monkeypatch.setattr(module, "SAMPLED", 0)
    whole, videos = made(asked_run), len(Bank(asked_run).ids)
    monkeypatch.setattr(module, "LEAST", videos)
    monkeypatch.setattr(module, "PHRASES", 10**6)
    every = estimate(asked_run, OPTIONS)
    assert every.questions == whole, "all videos with all their phrases"
    assert every.low < whole < every.high, "but the command has no way to know"
    monkeypatch.setattr(module, "LEAST", 8)
    monkeypatch.setattr(module, "PHRASES", 12)
    told = [estimate(asked_run, GenerateOptions(seed=seed, shard=5, rare_below=3)) for seed in (1, 2, 3, 4, 1)]
    assert told[0] == told[4] and {few.videos for few in told} == {8}
    assert sum(few.low < whole < few.high for few in told[:4]) >= 3


def test_a_total_in_proportion_has_its_error() -> None:
    total, error = ratio(np.array([10.0, 20.0, 33.0]), np.array([1, 2, 3]), np.array([1, 2, 3, 4, 5]))
    assert total == pytest.approx(10.5 * 15)
    spread = ((10 - 10.5) ** 2 + (20 - 21) ** 2 + (33 - 31.5) ** 2) / 2
    assert error == pytest.approx(5 * (spread / 3) ** 0.5 * 3 / 2)
    assert ratio(np.array([10.0, 20.0]), np.array([1, 2]), np.array([1, 2, 3])) == (60, 0)


def test_it_says_what_it_knows() -> None:
    many = Estimate(126_456_789, 124_000_001, 129_456_000, 10, 136, 34, 412_345_678, 1_400_000_000, False)
    told = list(forecast(many))
    assert told == [
        "about 126,000,000 questions (124,000,000 to 129,000,000, from 10 of 136 videos)",
        "about 412.3 MB, with text 1.8 GB, in 34 shards",
    ]
    one = Estimate(47_123_456, 47_123_456, 47_123_456, 1, 1, 1, 10**8, 10**9, False)
    assert next(forecast(one)) == "about 47,100,000 questions (from some of its time phrases)", "nobody counted"


def test_the_command_makes_nothing(asked_run: Run, pictured_run: Run, tmp_path: Path) -> None:
    run = copy(asked_run, tmp_path)
    before = {path: path.stat().st_mtime_ns for path in run.folder.rglob("*")}
    line = ("generate", run.folder, "--estimate", "--rare-below", 3)
    done = questree(*line, "--json", tmp_path / "told.json")
    assert (done.returncode, done.stderr) == (0, "")
    told = json.loads((tmp_path / "told.json").read_text())
    assert done.stdout.startswith(f"{made(run):,} questions, counted\nabout ") and told["questions"] == made(run)
    assert {path: path.stat().st_mtime_ns for path in run.folder.rglob("*")} == before
    fewer = questree(*line, "--phrases", 2, "--json", "-", "--quiet")
    assert json.loads(fewer.stdout)["questions"] < made(run)
    refused = questree("generate", pictured_run.folder, "--estimate")
    assert refused.stderr == "error: --estimate: expected a run of videos, got image sets\n"
