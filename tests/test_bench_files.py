"""`make bench NAME=files`: the files it makes are what the commands read, and every line is there."""

import json
from pathlib import Path
from typing import Any

import pytest

from bench import files as bench_files
from bench.measured import Measurement
from questree.formats.decomp_files import read_hierarchies


def test_made_hierarchies_are_read_and_have_predictions(tmp_path: Path) -> None:
    count = bench_files.made_hierarchies(tmp_path, 300, 1)
    read = read_hierarchies(tmp_path / "dags")
    said = {row["csv_q_id"] for row in json.loads((tmp_path / "model.json").read_text())}
    assert len(read.nodes) == count
    assert set(read.keys) == said


def test_commands_and_ratios(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ran = list[list[str]]()

    def run(folder: Path, words: list[str], rows: int) -> Any:
        ran.append(list(words))
        return lambda: rows

    monkeypatch.setattr(bench_files, "_run", run)
    monkeypatch.setattr(bench_files, "aside", lambda make, *how: make(*how))
    found = [*bench_files.decomp(tmp_path, 300, 1), *bench_files.fpvg(tmp_path, 20, 1)]
    found += bench_files.covr(tmp_path, 20, 1)
    assert [each.name for each in found[:3]] == ["score decomp, no cache", "score decomp, first", "score decomp, again"]
    assert [words[:2] for words in ran[-6:]] == [["score", "fpvg"]] * 2 + [["covr", "execute"]] * 4
    assert len(json.loads((tmp_path / "programs.json").read_text())) == 20
    line = bench_files._line(Measurement("score decomp, again", 2, 1.0, 1_000_000, 1.0, 2.0, 2**20))
    assert (line["us a row"], line["times the released"], line["peak MiB"]) == (2.0, 26.0, 1)
