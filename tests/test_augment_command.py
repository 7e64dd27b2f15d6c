"""`questree augment` on small run folders: what it prints, what it writes, what it refuses."""

import json
import re
from pathlib import Path

import pytest

from questree.cli.app import app
from questree.cli.augment import augment
from questree.faults import BadInput
from questree.stages.augment import AugmentOptions
from questree.tables.facts import Facts
from questree.tables.lock import read
from questree.tables.run import Run
from questree.vocabulary import default
from questree.vocabulary.load import default_text
from worlds.small import facts, relations

WORLD = """
    video A
    frames 0 1 2 3
    cup 0-2: carrying, in front of
    cup 3: in front of
    action c107 0 3
    action c110 0 1
    """


def run_folder(place: Path, truth: bool = False) -> Path:
    place.mkdir()
    (place / "vocabulary.toml").write_text(default_text(), "utf-8")
    for stage in ("raw", "truth") if truth else ("raw",):
        (place / stage).mkdir()
        facts(WORLD).save(place / stage)
    return place


def test_facts_and_ledger_are_written_and_every_rule_is_printed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = run_folder(tmp_path / "run")
    augment(run, json=tmp_path / "result.json")
    said = capsys.readouterr()
    printed = [int(words[0]) for line in said.out.splitlines() if (words := line.split()) and words[0].isdigit()]
    assert printed == [1, 2, 3, 12, 5, 11, 8, 9, 6, 17, 10, 7, 16, 4, 13, 14, 15]
    assert "settled 0 facts that contradict another one of their frame; 0 are left" in said.out + said.err
    assert "touching dish" in relations(Facts.load(run / "facts"))
    ledger = json.loads((run / "ledger.json").read_text())
    assert ledger == json.loads((tmp_path / "result.json").read_text())
    assert {rule["number"] for rule in ledger["rules"]} == set(range(1, 18))
    assert ledger["options"]["duplicate_iou"] == 0.5
    assert ledger["agreement"] == {}
    assert ledger["contradictions left"] == 0


def test_released_pairs_are_kept_when_asked_for_and_the_run_remembers_it(tmp_path: Path) -> None:
    place = Run(run_folder(tmp_path / "run"))
    facts("video A\nframes 0 1\naction c009 0 1").save(place.raw)
    for released, told in ((True, "putting down table"), (False, "putting down something unnamed")):
        augment(place.folder, options=AugmentOptions(as_released=released))
        assert told in relations(place.load("facts"))
        assert place.vocabulary() == (default().as_released() if released else default())
        assert read(place).stages["facts"].options["as_released"] is released


def test_with_the_truth_beside_it_agreement_is_shown(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = run_folder(tmp_path / "run", truth=True)
    augment(run)
    assert "Agreement with the truth" in capsys.readouterr().out
    scores = json.loads((run / "ledger.json").read_text())["agreement"]
    whole = next(score for score in scores["before"] if score["group"] == "spatial and contact")
    assert (whole["precision"], whole["recall"], whole["true"]) == (
        1.0,
        7 / 8,
        8,
    )  # holding on the last frame is missing


def test_quiet_prints_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    augment(run_folder(tmp_path / "run"), quiet=True)
    assert capsys.readouterr() == ("", "")


def test_the_same_input_gives_the_same_bytes(tmp_path: Path) -> None:
    runs = [run_folder(tmp_path / name) for name in ("one", "two")]
    for run in runs:
        augment(run, quiet=True)
    one, two = ({f.name: f.read_bytes() for f in (run / "facts").iterdir()} for run in runs)
    assert one == two


def test_a_run_without_raw_facts_is_refused_and_nothing_is_written(tmp_path: Path) -> None:
    run = run_folder(tmp_path / "run")
    (run / "raw" / "tracks.parquet").write_bytes(b"no table")
    with pytest.raises(BadInput, match=r"tracks\.parquet: not a readable Parquet file"):
        augment(run, quiet=True)
    assert not (run / "facts").exists() and not (run / "ledger.json").exists()
    with pytest.raises(BadInput, match="expected a run folder, got nothing there"):
        augment(tmp_path / "nowhere", quiet=True)


def test_a_share_above_one_is_refused(tmp_path: Path) -> None:
    run = run_folder(tmp_path / "run")
    with pytest.raises(BadInput, match="duplicate_iou: expected a share from 0 to 1, got 2"):
        app(["augment", str(run), "--duplicate-iou", "2"], exit_on_error=False)
    assert not (run / "facts").exists()


def test_each_rule_is_measured_alone_and_left_out(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = run_folder(tmp_path / "run", truth=True)
    augment(run, ablation=True)
    assert "What each rule is worth" in capsys.readouterr().out
    worth = {row["rule"]: row for row in json.loads((run / "ledger.json").read_text())["ablation"]}
    assert set(worth) == {None, 1, 2, 3, 5, 6, 7, 8, 9, 10, 11, 12, 16, 17}
    assert worth[None]["alone"]["recall"] == 7 / 8  # no rule at all
    assert worth[6]["alone"]["recall"] == 1.0  # holding on the last frame comes from its action
    assert worth[10]["alone"]["recall"] == 7 / 8


def test_without_the_truth_rules_cannot_be_measured(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="truth: not there yet"):
        augment(run_folder(tmp_path / "run"), ablation=True)


SPARSE = """
    video A
    frames 0 1 2 3 4 5 6 7 8 9
    cup 0-9: holding
    cup 0-2: in front of
    table 0-9
    video B
    frames 0 1
    cup 0-1: in front of
    """
WARNING = (
    "warning: rule 12 (drop sparse spatial relations) removed 3 of 5 relation facts in front of; "
    "`--without 12` leaves this rule out"
)


def sparse_run(place: Path) -> Path:
    run = run_folder(place)
    facts(SPARSE).save(run / "raw")
    return run


def found(run: Path) -> dict[str, list[int]]:
    return relations(Facts.load(run / "facts"))


def test_a_rule_that_removes_much_of_a_class_warns(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = sparse_run(tmp_path / "run")
    app(["augment", str(run)], result_action="return_value")
    assert [line for line in capsys.readouterr().err.splitlines() if line.startswith("warning")] == [WARNING]
    assert "in front of dish" not in found(run)
    ledger = json.loads((run / "ledger.json").read_text())
    assert {rule["number"]: rule["losses"] for rule in ledger["rules"] if rule["losses"]} == {
        12: [{"of": "relation facts", "name": "in front of", "removed": 3, "before": 5}]
    }
    assert "without" not in ledger["options"]


@pytest.mark.parametrize("spelled", ["12", "drop sparse spatial relations", "drop-sparse-spatial-relations"])
def test_a_rule_can_be_left_out(tmp_path: Path, capsys: pytest.CaptureFixture[str], spelled: str) -> None:
    run = sparse_run(tmp_path / "run")
    app(["augment", str(run), "--without", spelled, "--without", "5"], result_action="return_value")
    assert "warning" not in capsys.readouterr().err
    assert found(run)["in front of dish"] == [0, 1, 2]
    ledger = json.loads((run / "ledger.json").read_text())
    assert ledger["options"]["without"] == ["drop sparse spatial relations", "settle above and beneath"]
    assert {12, 5} & {rule["number"] for rule in ledger["rules"]} == set()


def test_a_file_beside_the_run_leaves_rules_out(tmp_path: Path) -> None:
    run = sparse_run(tmp_path / "run")
    (tmp_path / "questree.toml").write_text('without = ["drop sparse spatial relations"]')
    augment(run, without=("11",), quiet=True)
    assert found(run)["in front of dish"] == [0, 1, 2]
    left_out = json.loads((run / "ledger.json").read_text())["options"]["without"]
    assert left_out == ["drop sparse spatial relations", "merge overlapping actions"]


CHOICES = (
    "choose from 3 (merge duplicate boxes), 12 (drop sparse spatial relations), 5 (settle above and beneath), "
    "11 (merge overlapping actions), 8 (trim by order), 9 (infer missing actions), 10 (propagate annotations)"
)


@pytest.mark.parametrize(
    ("given", "configured", "fault"),
    [
        (["99"], "", f"--without: expected a rule that can be left out, got '99'; {CHOICES}"),
        (["7"], "", f"--without: expected a rule that can be left out, got '7', but questions rest on it; {CHOICES}"),
        (["4"], "", "got '4', but it acts when questions are made; choose from 3"),
        ([], 'without = ["nothing"]', "questree.toml, without: expected a rule that can be left out, got 'nothing'"),
        ([], 'without = "5"', "questree.toml: without: expected a list of rules as in [\"trim by order\"], got '5'"),
    ],
)
def test_a_rule_that_cannot_be_left_out_is_refused(
    tmp_path: Path, given: list[str], configured: str, fault: str
) -> None:
    run = sparse_run(tmp_path / "run")
    (tmp_path / "questree.toml").write_text(configured)
    with pytest.raises(BadInput, match=re.escape(fault)):
        augment(run, without=tuple(given), quiet=True)
    assert not (run / "facts").exists()
