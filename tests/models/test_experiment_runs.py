"""Experiments with networks, on tiny worlds: what they leave behind, and that nothing is trained twice."""

import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest

import questree
from questree.api.experiments import plan
from questree.metrics.scores import Resampling
from questree.search.word_tables import default_words
from questree.stages.decompose.set_shards import decompose_run
from questree.tables.run import Run
from worlds.commands import questree as command
from worlds.commands import run as carried_out
from worlds.image_run import image_run

pytest.importorskip("torch", reason="PyTorch is not installed; `make test-models` installs it")
LITTLE = "--epochs 1 --sample 40 --resamples 20 --workers 1"
PAGE = Path(__file__).parents[2] / "docs" / "experiments.md"


@pytest.fixture
def rooms(tmp_path: Path) -> Run:
    """Image sets, taken apart, with two splits."""
    run = image_run(tmp_path / "rooms")
    decompose_run(run, default_words(), every=True, workers=1)
    carried_out(f"questree split {run.folder} --all --few-shot 1 --name HAS-QUANT --name HAS-LOGIC --quiet", tmp_path)
    return run


def findings(run: Run, paper: str) -> dict[str, dict[str, Any]]:
    told = json.loads((run.folder / "experiments" / paper / "findings.json").read_text())
    return {each["name"]: each for each in told}


def weights(run: Run) -> dict[str, int]:
    return {path.parent.name: path.stat().st_mtime_ns for path in run.folder.glob("trained/*/weights.safetensors")}


def commands() -> list[str]:
    """Those of the page that run an experiment."""
    blocks = re.findall(r"```sh\n(.*?)```", PAGE.read_text("utf-8"), re.S)
    lines = [line.split("  #")[0].strip() for block in blocks for line in block.splitlines()]
    return [line for line in lines if line.startswith("questree experiment")]


def test_the_experiments_of_the_page_run_and_train_nothing_twice(taught: Run, rooms: Run) -> None:
    lines, seen = commands(), dict[str, Run]()
    assert [line.split()[2] for line in lines] == ["agqa", "decomp", "covr", "fpvg"]
    for line in lines:
        paper = line.split()[2]
        run = seen[paper] = taught if paper in ("agqa", "decomp") else rooms
        models = {"agqa": "--models hcrn", "decomp": "--models hcrn"}.get(paper, "")
        small = "--splits has-quant --parts --guided 5" if paper == "covr" else ""
        done = command(*f"{line.replace('RUN', str(run.folder))} {models} {small} {LITTLE}".split()[1:])
        assert done.returncode == 0, done.stderr
    assert set(weights(taught)) == {
        "lstm",
        "hcrn",
        *(f"hcrn {what}" for what in ("blind", "parts", "consistency", "novel-compositions", "more-steps")),
    }
    told = findings(taught, "agqa")
    assert {"hcrn sees", "hcrn learns", "hcrn steps", "question only"} <= set(told)
    assert {"hcrn gain", "hcrn consistency", "hcrn consistency, cost"} <= set(findings(taught, "decomp"))
    assert {"transformer sees", "transformer has-quant", "transformer generalization"} <= set(findings(rooms, "covr"))
    assert {"updn grounding", "updn irrelevant", "updn c2i"} == set(findings(rooms, "fpvg"))
    plans = {
        path.parent.name: json.loads(path.read_text())["plan"] for path in rooms.folder.glob("trained/*/model.json")
    }
    assert {name: (plan["parts"], plan["guided"], plan["blind"]) for name, plan in plans.items()} == {
        "transformer": (True, 5, False),
        "transformer blind": (True, 0, True),
        "transformer has-quant": (True, 5, False),
        "transformer has-quant iid-size": (True, 5, False),
        "updn": (False, 0, False),
    }
    splits = (rooms.folder / "experiments" / "covr" / "tables" / "covr-splits.md").read_text()
    assert "| has-quant |" in splits
    assert "VB iid-size (paper)" in splits
    grounded = (rooms.folder / "experiments" / "fpvg" / "tables" / "fpvg.md").read_text()
    assert "| UpDn (paper) | 55.53 | 57.99 |" in grounded
    before, answers = weights(taught), (taught.folder / "predictions" / "hcrn").stat().st_mtime_ns
    first = (taught.folder / "experiments" / "agqa" / "scores.json").read_bytes()
    done = command("experiment", "agqa", taught.folder, "--models", "hcrn", *LITTLE.split())
    assert done.returncode == 0, done.stderr
    assert weights(taught) == before
    assert (taught.folder / "predictions" / "hcrn").stat().st_mtime_ns == answers
    assert (taught.folder / "experiments" / "agqa" / "scores.json").read_bytes() == first


def test_three_answers_are_files_that_score_fpvg_reads(rooms: Run, tmp_path: Path) -> None:
    carried_out(f"questree features {rooms.folder} --from-facts --detections --workers 1 --quiet", tmp_path)
    done = command("experiment", "fpvg", rooms.folder, *LITTLE.split())
    assert done.returncode == 0, done.stderr
    assert "IoU with the evidence of the programs" in done.stdout
    said = rooms.folder / "experiments" / "fpvg-answers"
    files = [word for name in ("all", "rel", "irrel") for word in (f"--{name}", said / f"updn {name}.jsonl")]
    found = rooms.folder / "features" / "facts" / "detections.json"
    scored = command(
        "score", "fpvg", rooms.folder, "--detections", found, *files, "--resamples", 0, "--json", tmp_path / "s.json"
    )
    assert scored.returncode == 0, scored.stderr
    rows = {(row["metric"], row["by"]): row["value"] for row in json.loads((tmp_path / "s.json").read_text())}
    own = json.loads((rooms.folder / "experiments" / "fpvg" / "scores.json").read_text())
    ours = {(row["metric"], row["by"]): row["value"] for row in own if row["model"] == "updn"}
    assert rows["FPVG+", "all"] == ours["FPVG+", "all"]
    assert rows["Acc_irrel", "all"] == ours["Acc_irrel", "all"]


def test_models_of_other_experiments_are_left_alone(taught: Run) -> None:
    """What was trained with other options is not replaced unless somebody says so."""
    assert command("experiment", "decomp", taught.folder, "--models", "hcrn", *LITTLE.split()).returncode == 0
    before = weights(taught)
    shutil.rmtree(taught.folder / "experiments")
    done = command("experiment", "decomp", taught.folder, "--models", "hcrn", *LITTLE.replace("40", "41").split())
    assert done.returncode == 1
    assert "again" in done.stderr
    assert weights(taught) == before
    assert not (taught.folder / "experiments").exists()


def test_who_interrupts_an_experiment_is_told_what_is_kept(taught: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    questree.train(taught.folder, model="lstm", epochs=1, name="done")

    def pressed(*given: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(plan, "finished", pressed)
    asked = plan.ExperimentPlan(taught.folder, "agqa", (), "", {"epochs": 1}, Resampling(2, 0), workers=1)
    with pytest.raises(KeyboardInterrupt, match=r"^1 of 2 models are trained and kept; rerun$"):
        plan.learn(asked, [plan.TrainingJob(name, "lstm") for name in ("done", "not yet")])


def test_the_sign_of_a_killed_experiment_is_taken_away(rooms: Run) -> None:
    """Killed after it made features, before it took its sign down: the next one makes none."""
    lines = f"questree experiment covr {rooms.folder} --splits has-quant --models lstm {LITTLE}"
    carried_out(lines, rooms.folder.parent)
    (rooms.folder / ".writing").touch()
    carried_out(lines, rooms.folder.parent)
    assert not (rooms.folder / ".writing").exists()
