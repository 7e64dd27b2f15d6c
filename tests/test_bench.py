"""Benchmarks say how long, how many rows and how much memory, on one line and as JSON."""

from pathlib import Path

import msgspec
import numpy as np
import pytest

from bench import runs
from bench.ask import ask
from bench.measured import measure
from bench.monster import monster
from bench.stages import read, synth
from questree.stages.generate.annotated import actions_only
from questree.stages.generate.layout import expected


def test_the_memory_of_the_work_is_seen() -> None:
    size = 64 * 2**20

    def work() -> int:
        return int(np.ones(size, np.uint8).sum())

    found = measure("ones", 7, work)
    assert (found.name, found.size, found.rows) == ("ones", 7, size)
    assert found.peak_rss_bytes > size
    assert found.rows_per_second == found.rows / found.seconds


def test_large_worlds_are_several_of_which_everything_is_known(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runs, "WORLD", 2)
    run = runs.cleaned(tmp_path, 5, 1)
    facts = run.load("facts")
    assert facts.videos["id"].n_unique() == 5
    assert facts.tracks["video"].unique().sort().to_list() == [0, 1, 2, 3, 4]
    assert (expected(run) > 0).all() and not actions_only(run).any()


def test_a_benchmark_prints_one_line_and_writes_its_numbers(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    synth(videos=3, json=tmp_path / "bench.json")
    (line,) = capsys.readouterr().out.splitlines()
    assert line.startswith("synth: size 3, ")
    found = msgspec.json.decode((tmp_path / "bench.json").read_bytes())
    assert set(found) >= {"name", "size", "seconds", "rows", "rows_per_second", "peak_rss_bytes"}
    assert found["rows"] > 0


def test_reading_short_answers_is_measured(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    read(answers=2000, json=tmp_path / "bench.json")
    lines = capsys.readouterr().out.splitlines()
    assert [line.split(":")[0] for line in lines] == ["read, exact", "read, lenient"]
    assert {row["rows"] for row in msgspec.json.decode((tmp_path / "bench.json").read_bytes())} == {2000}


def test_asking_is_measured_against_a_server_of_its_own(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ask(requests=40, frames=1, json=tmp_path / "bench.json")
    assert capsys.readouterr().out.startswith("ask, 1 frames: size 40, ")
    found = msgspec.json.decode((tmp_path / "bench.json").read_bytes())
    assert found["measured"]["rows"] == 40 and found["own_cpu_microseconds"] > 0 and found["late_rss_bytes"] > 0


def test_a_dense_video_is_measured_stage_by_stage(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    monster(frames=40, actions=(2, 4), objects=6, stretches=12, json=tmp_path / "bench.json")
    assert "Peak memory, MiB" in capsys.readouterr().out
    few, many = msgspec.json.decode((tmp_path / "bench.json").read_bytes())
    assert (few["actions"], many["actions"]) == (2, 4) and 0 < few["questions"] < many["questions"]
    names = ["ingest", "augment", "generate", "balance", "audit", "export agqa", "split --all", "split", "decompose"]
    assert [stage["name"] for stage in many["stages"]] == [*names, "answer", "score"]
    assert all(stage["peak_rss_bytes"] > 2**25 and stage["cpu_seconds"] > 0 for stage in many["stages"])
