"""The scoring commands as a person meets them: rows as promised, coverage said, faults in one line each."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from bench.made_up_hierarchies import made_up_hierarchies, made_up_predictions
from worlds.commands import questree
from worlds.decomp_files import load
from worlds.papers import compiled

ENDINGS = {"latex": "tex", "markdown": "md", "csv": "csv"}
KEYS = ["metric", "by", "group", "value", "n", "low", "high", "model"]
MEAN = "accuracy (mean over answers)"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("scores")
    (place / "h").mkdir()
    for name, content in load("agqa_decomp/hierarchies.json.gz").items():
        (place / "h" / name).write_text(json.dumps(content))
    for model in ("noisy", "random", "perfect"):
        (place / f"{model}.json").write_text(json.dumps(load(f"agqa_decomp/preds_{model}.json.gz")))
    inputs = load("fpvg/inputs.json.gz")
    for name in ("questions", "sceneGraphs", "detections"):
        (place / f"{name}.json").write_text(json.dumps(inputs[name]))
    for name, rows in inputs["predictions"].items():
        (place / f"{name}.json").write_text(json.dumps(rows))
    return place


def test_decomp_writes_the_flat_table_and_prints_the_papers(folder: Path) -> None:
    files = ["--predictions", folder / "noisy.json", "--predictions", folder / "perfect.json"]
    done = questree(
        "score", "decomp", "--hierarchies", folder / "h", *files, "--json", folder / "o.json", "--resamples", 20
    )
    assert done.returncode == 0, done.stderr
    assert "noisy: predictions for 1,347 of 1,347 questions (100.00 %)" in done.stdout
    assert "policy exact" in done.stdout and "N/A" in done.stdout
    first, second, head = done.stdout.splitlines()[4:7]  # below what was read of either model
    assert re.fullmatch(r"noisy: question accuracy 82\.63 \[.*\] over 1,347 questions and sub-questions", first)
    assert second.startswith("perfect: question accuracy 100.00 [") and head == "By question type"
    rows: list[dict[str, Any]] = json.loads((folder / "o.json").read_text())
    assert all(list(row) == KEYS for row in rows)
    at = {(row["metric"], row["by"], row["group"], row["model"]): row for row in rows}
    wanted = 209 / 258
    row = at["CA", "composition", "Interaction", "noisy"]
    assert row["value"] == pytest.approx(wanted, abs=1e-12) and row["n"] == 258 and row["low"] <= wanted <= row["high"]
    assert at["RWR", "type", "Overall", "perfect"]["value"] is None
    assert at["Delta", "type", "Overall", "noisy"]["n"] is None
    assert at["coverage", "policy", "exact", "noisy"]["value"] == 1
    for model in ("noisy", "perfect"):
        for by in ("type", "composition", "rule"):
            assert [row["group"] for row in rows if row["model"] == model and row["by"] == by][-1] == "Overall"


def test_the_same_command_writes_the_same_bytes(folder: Path) -> None:
    for name in ("first", "second"):
        args = ["--predictions", folder / "noisy.json", "--json", folder / f"{name}.json", "--resamples", 30, "--quiet"]
        done = questree("score", "decomp", "--hierarchies", folder / "h", *args)
        assert (done.returncode, done.stdout) == (0, "")
    assert (folder / "first.json").read_bytes() == (folder / "second.json").read_bytes()


def test_missing_predictions_are_refused_unless_said_otherwise(folder: Path) -> None:
    rows = load("agqa_decomp/preds_noisy.json.gz")
    (folder / "half.json").write_text(json.dumps(rows[: len(rows) // 2]))
    args = ["score", "decomp", "--hierarchies", folder / "h", "--predictions", folder / "half.json"]
    done = questree(*args, "--json", folder / "none.json")
    assert done.returncode == 1
    assert done.stderr.startswith(f"error: {folder / 'half.json'}: no prediction for ")
    assert len(done.stderr.splitlines()) == 1 and not (folder / "none.json").exists()
    for missing in ("wrong", "skip"):
        done = questree(*args, "--missing", missing, "--resamples", 0)
        assert done.returncode == 0 and f"missing: {missing}" in done.stdout


def test_all_missing_files_are_said_at_once(folder: Path) -> None:
    files = ["--predictions", folder / "x.json", "--predictions", folder / "y.json"]
    done = questree("score", "decomp", "--hierarchies", folder / "h", *files)
    assert done.returncode == 1
    assert done.stderr.splitlines() == [
        f"error: {folder / name}: expected a file of predictions, got nothing of this name"
        for name in ("x.json", "y.json")
    ]


def test_all_policies_side_by_side(folder: Path) -> None:
    shouted = [
        {"csv_q_id": row["csv_q_id"], "prediction": row["prediction"].upper() + "!"}
        for row in load("agqa_decomp/preds_perfect.json.gz")
    ]
    (folder / "loud.json").write_text(json.dumps(shouted))
    args = ["--predictions", folder / "loud.json", "--policy", "all", "--resamples", 0, "--json", folder / "p.json"]
    done = questree("score", "decomp", "--hierarchies", folder / "h", *args)
    assert "What the policy changes" in done.stdout
    overall = {
        row["model"]: row["value"]
        for row in json.loads((folder / "p.json").read_text())
        if (row["metric"], row["by"], row["group"]) == ("accuracy", "type", "Overall")
    }
    assert overall == {"loud (exact)": 0, "loud (vqa)": 1, "loud (lenient)": 1}


def test_compare_and_power(folder: Path) -> None:
    done = questree(
        "compare", folder / "noisy.json", folder / "random.json", "--hierarchies", folder / "h", "--resamples", 50
    )
    assert done.returncode == 0, done.stderr
    assert "random minus noisy" in done.stdout and "cells differ at a false discovery rate of 0.05" in done.stdout
    lines = done.stdout.splitlines()
    assert lines[-1].startswith("Overall question accuracy: random 43.58, noisy 82.63: -39.05 [")
    shares = [line for line in lines[5:-3] if " dag " not in line]  # a correlation is no share
    weak = ["]?" in line for line in shares if "[" in line]
    assert weak == sorted(weak) and any(weak) and not all(weak)  # those without a test are last, and have none
    assert not any(re.search(r"\]\?.* 0\.\d{4}", line) for line in shares) and lines[-3].startswith(" ? no test: ")
    for mark in ("]  ", "]?"):
        sizes = [
            abs(float(found[1])) for line in shares if mark in line and (found := re.search(r"([-\d.]+) +\[", line))
        ]
        assert sizes == sorted(sizes, reverse=True) and len(sizes) > 3
    files = [folder / "noisy.json", folder / "random.json"]
    command = ("compare", *files, "--hierarchies", folder / "h", "--resamples", 50)
    done = questree(*command, "--metric", "accuracy", "--by", "type", "--significant")
    table = [line for line in done.stdout.splitlines() if line.startswith(" accuracy (")]
    assert table and all(line.endswith("*") and line.split("  ")[:2] == [f" {MEAN}", "type"] for line in table)
    done = questree(*command, "--significant", "--rows", "Overall", "--markdown", folder / "some.md")
    counted = re.search(r"\d+ of (\d+) cells differ", done.stdout)
    assert counted and f"q by Benjamini-Hochberg over {counted[1]} cells" in (folder / "some.md").read_text()
    power = ["power", "--predictions", folder / "noisy.json", "--hierarchies", folder / "h", "--resamples", 50]
    done = questree(*power, "--half-width", 0.02)
    assert done.returncode == 0 and "videos needed" in done.stdout
    done = questree(*power, "--metric", "luck")
    assert done.returncode == 1 and "--metric: expected a metric, got 'luck'; choose from question acc" in done.stderr
    done = questree("power", "--predictions", folder / "noisy.json")
    assert done.stderr == "error: expected one of a run, --hierarchies DIR (AGQA-Decomp) and --questions FILE (AGQA)\n"


def test_scores_and_comparisons_are_written_for_a_paper(folder: Path) -> None:
    files = [part for name in ("noisy", "random") for part in ("--predictions", folder / f"{name}.json")]
    kinds = [part for kind in ("latex", "markdown", "csv") for part in (f"--{kind}", folder / f"t.{ENDINGS[kind]}")]
    score = ("score", "decomp", "--hierarchies", folder / "h", *files, "--resamples", 50)
    done = questree(*score, *kinds, "--quiet")
    assert done.returncode == 0, done.stderr
    tex, text = (folder / "t.tex").read_text(), (folder / "t.md").read_text()
    assert r"\textbf{74.21}" in tex and r"10.14\rlap{*}" in tex and "Benjamini-Hochberg" in tex
    assert f"| Question type | A{MEAN[1:]} noisy | A{MEAN[1:]} random | CA noisy |" in text  # as Table 3
    assert "| Overall | **74.21**<br>[" in text and " | 10.14\\*<br>[" in text
    assert compiled(folder, tex) == []
    done = questree(*score, *kinds, "--columns", "accuracy", "--rows", "Overall", "--ci", "none", "--quiet")
    assert done.returncode == 0, done.stderr
    assert len((folder / "t.csv").read_text().splitlines()) == 3
    assert "| Overall | **74.21** | 10.14\\* | 1,347 |" in (folder / "t.md").read_text()
    compare = ("compare", folder / "noisy.json", folder / "random.json", "--hierarchies", folder / "h")
    done = questree(*compare, "--resamples", 50, *kinds, "--quiet")
    assert done.returncode == 0, done.stderr
    assert f"| Overall | {MEAN} | **74.21** | 10.14 | -64.07\\*<br>[" in (folder / "t.md").read_text()
    assert compiled(folder, (folder / "t.tex").read_text()) == []
    done = questree(*score, *kinds, "--columns", "luck")
    assert f"--columns: expected a name in the tables, got 'luck'; choose from A{MEAN[1:]}, noisy" in done.stderr


def test_a_name_that_no_file_can_have_is_one_line_about_it(folder: Path) -> None:
    done = questree("compare", "x" * 300, folder / "noisy.json", "--hierarchies", folder / "h")
    expected = "expected the name of a file or of a model, got 300 bytes, which is too long for any"
    assert (done.returncode, done.stderr) == (1, f"error: {'x' * 40}...: {expected}\n")


def test_models_that_are_too_close_for_the_test_set_are_named(folder: Path) -> None:
    rows = load("agqa_decomp/preds_noisy.json.gz")
    (folder / "nearly.json").write_text(json.dumps([{**rows[0], "prediction": "?"}, *rows[1:]]))
    files = [part for name in ("noisy", "nearly", "random") for part in ("--predictions", folder / f"{name}.json")]
    done = questree("score", "decomp", "--hierarchies", folder / "h", *files, "--resamples", 50)
    close = [line for line in done.stdout.splitlines() if "too small a difference" in line]
    assert len(close) == 1 and close[0].startswith("nearly minus noisy: "), done.stderr
    assert close[0].endswith("; too small a difference in question accuracy for this test set")
    compared = questree(
        *("compare", folder / "noisy.json", folder / "nearly.json", "--hierarchies", folder / "h", "--resamples", 50),
        *("--metric", "question accuracy", "--by", "type"),
    )
    (overall,) = [line for line in compared.stdout.splitlines() if line.startswith(" question accuracy  type  Overall")]
    difference, low, high, p = re.findall(r"-?\d+\.\d+", overall)[2:6]
    assert close[0].startswith(f"nearly minus noisy: {difference} [{low}, {high}], p {p};")


def test_fpvg_with_the_promised_command_line(folder: Path) -> None:
    files = {"questions": "questions", "scene-graphs": "sceneGraphs", "detections": "detections"}
    files |= {"all": "all", "rel": "rel", "irrel": "irrel"}
    args: list[object] = [part for name, file in files.items() for part in (f"--{name}", folder / f"{file}.json")]
    args += ["--annotations", "path", "--irrelevant", "detected", "--resamples", 20]
    done = questree("score", "fpvg", *args, "--write-relevance", folder / "w.json", "--json", folder / "f.json")
    assert done.returncode == 0, done.stderr
    assert "493 of 610 questions evaluated" in done.stdout and "overlap by the detected box's area" in done.stdout
    rows = json.loads((folder / "f.json").read_text())
    at = {(row["metric"], row["by"], row["group"]): row for row in rows}
    assert at["FPVG+", "all", "Overall"]["value"] == pytest.approx(157 / 493)
    assert json.loads((folder / "w.json").read_text())["2399999"]["e1"] == {
        "relevant": [1, 9],
        "irrelevant": [2, 4, 6, 7, 10],
    }


def test_the_made_up_hierarchies_score_as_they_were_drawn() -> None:
    """Enough DAGs that every rule of the shapes applies, at 11.5 nodes each."""
    from questree.metrics.dags import score_decomp

    made = made_up_hierarchies(2000, 20, seed=1)
    assert 11 < len(made.nodes) / 2000 < 12
    assert made.composed["parent"].is_sorted()
    rows = {(r.metric, r.by, r.group): r for r in score_decomp(made, made_up_predictions(made, 1, right=1.0)).rows("m")}
    assert rows["accuracy", "type", "Overall"].value == 1
    assert rows["CA", "composition", "Overall"].value == 1
    assert rows["IC", "rule", "Between Yes"].n


def test_the_benchmark_measures_scoring_and_resampling(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from bench.stages import score

    score(dags=300, videos=6, resamples=5, json=tmp_path / "b.json")
    found = json.loads((tmp_path / "b.json").read_text())
    assert found["size"] == 300 and found["bootstrap"]["rows"] == 5
    assert capsys.readouterr().out.startswith("score: size 300, ")
