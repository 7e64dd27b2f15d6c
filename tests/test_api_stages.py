"""Stages as functions: they make what the commands make, tell what they print, and refuse what they refuse."""

import json
import shutil
from pathlib import Path

import polars as pl
import pytest

import questree
from questree.faults import in_python
from worlds.commands import questree as command


def same_files(one: Path, other: Path) -> bool:
    """The same tables with the same rows."""
    names = [sorted(str(path.relative_to(place)) for path in place.rglob("*.parquet")) for place in (one, other)]
    assert names[0] == names[1]
    assert names[0]
    return all(pl.read_parquet(one / name).equals(pl.read_parquet(other / name)) for name in names[0])


def test_build_makes_what_the_command_makes(tmp_path: Path) -> None:
    done = command("synth", "images", "--out", tmp_path / "world", "--images", 40, "--quiet")
    assert done.returncode == 0
    done = command("build", tmp_path / "world", "--out", tmp_path / "a", "--questions", 12, "--workers", 1, "--quiet")
    assert done.returncode == 0, done.stderr
    run = questree.build(tmp_path / "world", out=tmp_path / "b", questions=12, workers=1)
    assert same_files(tmp_path / "a", tmp_path / "b")
    again = questree.build(out=tmp_path / "c", images=40, questions=12, workers=1)
    assert again.questions().equals(run.questions())
    before = (tmp_path / "c" / "lock.json").read_bytes()
    with pytest.raises(questree.BadInput, match="c: a run is there already; give overwrite=True to replace it"):
        questree.build(out=tmp_path / "c", images=4, workers=1)
    assert (tmp_path / "c" / "lock.json").read_bytes() == before
    other = questree.build(out=tmp_path / "c", images=40, questions=6, workers=1, overwrite=True)
    assert len(other.questions(balanced=False)) < len(run.questions(balanced=False))
    with pytest.raises(questree.BadInput, match=r"text: expected raw files of video, got images \(gqa\)"):
        questree.build(tmp_path / "world", out=tmp_path / "d", text=False)
    assert not (tmp_path / "d").exists()


def test_made_up_worlds_are_those_of_the_command(tmp_path: Path) -> None:
    assert command("synth", "--out", tmp_path / "a", "--videos", 2, "--seed", 3, "--quiet").returncode == 0
    made = questree.synthesize(tmp_path / "b", videos=2, seed=3, workers=1)
    files = [sorted(path for path in (tmp_path / name).rglob("*") if path.is_file()) for name in "ab"]
    assert files[0] and [one.read_bytes() for one in files[0]] == [one.read_bytes() for one in files[1]]
    assert made.data()["videos"] == 2
    assert questree.synthesize(tmp_path / "c", situations=3).data()["images"] == 3
    with pytest.raises(questree.BadInput, match="expected one of videos=, images=, situations=, got none"):
        questree.synthesize(tmp_path / "d")
    with pytest.raises(questree.BadInput, match="colour: expected a rate of videos; choose from "):
        questree.synthesize(tmp_path / "d", videos=2, colour=1)
    assert not (tmp_path / "d").exists()


def test_reports_and_plans_are_those_of_the_commands(notebook: Path, tmp_path: Path) -> None:
    options = ("--resamples", 50, "--bots", "oracle", "--quiet")
    done = command("report", notebook / "run", "--out", tmp_path / "one" / "report.html", *options)
    assert done.returncode == 0, done.stderr
    made = questree.report(notebook / "run", out=tmp_path / "two" / "report.html", resamples=50, bots="oracle")
    assert (tmp_path / "one" / "report.html").read_bytes() == made.out.read_bytes()
    assert [grid.name for grid in made.grids()] and dict(made.plots())
    with pytest.raises(questree.BadInput, match="expected a split, got 'x'; choose from test, dev, train, all"):
        questree.report(notebook / "run", out=tmp_path / "three.html", split="x")
    assert not (tmp_path / "three.html").exists()
    width = ("--half-width", 0.1, "--resamples", 50, "--missing", "skip", "--json", tmp_path / "power.json")
    assert command("power", notebook / "run", *width).returncode == 0
    plan = questree.power(notebook / "run", half_width=0.1, resamples=50, missing="skip")
    assert plan.data() == json.loads((tmp_path / "power.json").read_text())
    assert plan.frame().height == len(plan.data())
    assert plan.lines[-1].startswith("12 videos here; wanted: ±10.00 points; planned by perception-noise")
    with pytest.raises(questree.BadInput, match="expected a metric, got 'x'; choose from question accuracy"):
        questree.power(notebook / "run", metric="x", resamples=50)


def test_videos_are_read_and_cleaned_as_by_commands(notebook: Path, tmp_path: Path) -> None:
    for line in (["ingest", "action-genome", notebook / "world", "--out"], ["augment"]):
        assert command(*line, tmp_path / "a", "--quiet").returncode == 0
    questree.ingest(notebook / "world", out=tmp_path / "b")
    made = questree.augment(tmp_path / "b")
    assert same_files(tmp_path / "a", tmp_path / "b")
    assert (tmp_path / "a" / "ledger.json").read_bytes() == (tmp_path / "b" / "ledger.json").read_bytes()
    assert "What the rules did to 12 videos" in made.tables
    assert "<table>" in made._repr_html_()
    assert "\n" not in repr(made)


def test_what_a_stage_refuses_is_the_line_of_its_command(notebook: Path, tmp_path: Path) -> None:
    shutil.copytree(notebook / "images", tmp_path / "run")
    done = command("balance", tmp_path / "run", "--tail", 0.1)
    with pytest.raises(questree.BadInput) as raised:
        questree.balance(tmp_path / "run", tail=0.1)
    assert in_python(done.stderr) == f"error: {raised.value}\n"
    assert "--tail: expected a run of videos" in done.stderr
    with pytest.raises(questree.BadInput, match="expected a bot, got 'me'"):
        questree.answer(tmp_path / "run", "me")
    with pytest.raises(questree.BadInput, match="expected a source, got 'vhs'"):
        questree.ingest(notebook / "world", out=tmp_path / "new", source="vhs")
    with pytest.raises(questree.BadInput, match="choose from duplicate_iou"):
        questree.augment(tmp_path / "run", depth=3)  # type: ignore[call-arg]
    with pytest.raises(questree.BadInput, match="expected a world, or one of videos= and images="):
        questree.build(out=tmp_path / "new")
    with pytest.raises(questree.BadInput, match="expected no world beside it"):
        questree.build(notebook / "world", out=tmp_path / "new", videos=3)
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize("name", ["run", "images"])
def test_true_answers_break_no_rule(notebook: Path, name: str) -> None:
    run = questree.open(notebook / name)
    for id in run.questions()["id"].gather_every(9):
        dag = run[id].dag
        found = questree.consistency(dag, [node.answer for node in dag])
        assert found
        assert found.share in (None, 1.0)
        assert found.frame().is_empty()
        assert not any(right is False for right in found.right)


def test_a_contradiction_is_found_and_named(notebook: Path) -> None:
    dag = questree.open(notebook / "run")["07QFE-0"].dag
    bag = next(node for node in dag if node.program == "exists(bag)")
    found = questree.consistency(dag, {0: "yes", bag.question: "no"})
    assert not found
    assert (found.checked, found.kept, found.share) == (2, 0, 0.0)
    assert {(one.rule, one.parent, one.parts) for one in found.broken} == {
        ("Interaction Yes", 0, (bag.number,)),
        ("Interaction No", 0, (bag.number,)),
    }
    assert found.right[bag.number] is True
    assert "contradicts itself" in found.reason
    assert questree.consistency(dag, {0: "yes"}).checked == 0
    with pytest.raises(questree.BadInput, match=f"expected {len(dag)} answers, got 1"):
        questree.consistency(dag, ["yes"])
    with pytest.raises(questree.BadInput, match=r"no question 'Why\?' in this DAG"):
        questree.consistency(dag, {"Why?": "yes"})
