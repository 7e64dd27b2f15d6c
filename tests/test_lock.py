"""The lock file: what is verified, what is only noted, and what a comparison of two runs says."""

from pathlib import Path
from shutil import rmtree

import msgspec
import polars as pl
import pytest

from conftest import copy
from questree.cli.verify import diff
from questree.cli.verify import verify as command
from questree.faults import BadInput
from questree.stages.again import made_again
from questree.stages.balance.levelling import BalanceOptions
from questree.stages.balance.rounds import balance
from questree.stages.split.engine import SplitOptions
from questree.stages.split.videos import split
from questree.tables.lock import differences, lock, of_code, read, verify
from questree.tables.run import Run
from worlds.commands import questree


@pytest.fixture
def run(asked_run: Run, tmp_path: Path) -> Run:
    """A locked run with questions."""
    run = copy(asked_run, tmp_path)
    lock(run)
    return run


def test_an_untouched_run_is_as_locked(run: Run, capsys: pytest.CaptureFixture[str]) -> None:
    assert verify(run) == ([], [])
    command(run.folder)
    assert "every file is as locked" in capsys.readouterr().out


def test_changed_missing_and_new_files_are_named(run: Run) -> None:
    shards = sorted(path for path in run.questions.iterdir() if path.is_dir())
    (shards[0] / "questions.parquet").write_bytes(b"else")
    (shards[1] / "questions.parquet").unlink()
    (run.facts / "more.parquet").write_bytes(b"new")
    run.vocabulary_file.write_text(run.vocabulary_file.read_text() + "\n")
    said = {Path(fault.place).relative_to(run.folder).as_posix(): fault.message for fault in verify(run)[0]}
    assert said == {
        "vocabulary.toml": "has changed",
        "facts/more.parquet": "is not in the lock file",
        f"questions/{shards[0].name}/questions.parquet": "has changed",
        f"questions/{shards[1].name}/questions.parquet": "is missing",
    }
    with pytest.raises(BadInput, match="is missing"):
        command(run.folder, quiet=True)


def test_locking_a_new_stage_does_not_bless_what_was_changed_before(run: Run) -> None:
    balance(run, BalanceOptions(), workers=1)
    (run.facts / "videos.parquet").write_bytes((run.facts / "videos.parquet").read_bytes() + b" ")
    lock(run, "balanced")
    (fault,) = verify(run)[0]
    assert fault.place.endswith("videos.parquet")
    assert "balanced" in read(run).stages


def test_another_code_is_noted(run: Run) -> None:
    note = msgspec.json.decode(run.lock_file.read_bytes())
    note["stages"]["facts"]["code"] = "0123456789"
    run.lock_file.write_bytes(msgspec.json.encode(note))
    assert verify(run) == ([], ["facts: locked with other code (01234567)"])


def test_code_is_known_by_names_and_content(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("x = 1")
    first = of_code(tmp_path)
    assert first == of_code(tmp_path)
    (tmp_path / "a.py").rename(tmp_path / "b.py")
    assert of_code(tmp_path) != first


def test_options_are_locked(run: Run) -> None:
    assert read(run).stages["questions"].options["seed"] == 1


def test_a_run_without_a_lock_file_says_how_to_make_one(asked_run: Run, tmp_path: Path) -> None:
    run = copy(asked_run, tmp_path)
    with pytest.raises(BadInput, match="--write"):
        command(run.folder)
    command(run.folder, write=True, quiet=True)
    assert verify(run) == ([], [])


def test_two_runs_differ_in_their_seed_and_what_came_of_it(
    run: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = copy(run, tmp_path / "other")
    balance(run, BalanceOptions(), workers=1)
    balance(other, BalanceOptions(seed=2), workers=1)
    found = {d.place: (d.first, d.second) for d in differences(run, other)}
    assert found["balanced, option seed"] == ("1", "2")
    only = [int(n.replace(",", "")) for n in found["balanced, questions only here"]]
    assert min(only) > 0
    assert not any(place.startswith(("raw", "facts", "questions", "vocabulary")) for place in found)
    diff(run.folder, other.folder)
    assert "balanced, option seed" in capsys.readouterr().out


def test_a_run_is_the_same_as_its_copy(run: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    other = copy(run, tmp_path / "other")
    diff(run.folder, other.folder)
    assert capsys.readouterr().out == "the runs are the same\n"


def test_another_word_is_found_in_the_vocabulary(run: Run, tmp_path: Path) -> None:
    other = copy(run, tmp_path / "other")
    text = other.vocabulary_file.read_text()
    other.vocabulary_file.write_text(text.replace('"blanket"', '"quilt"'))
    assert [d.place for d in differences(run, other)] == ["vocabulary, objects", "vocabulary, lists"]


def test_a_run_made_again_comes_out_the_same(run: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    balance(run, BalanceOptions(seed=3), workers=1)
    (tmp_path / "own.yaml").write_text("splits: {long: {held out: steps > 3}}")
    split(run, SplitOptions(file=tmp_path / "own.yaml"), workers=1)
    lock(run)
    command(run.folder, again=True, workers=1)
    assert "comes out the same again" in capsys.readouterr().out
    assert sorted(path.name for path in run.folder.iterdir() if path.name.startswith(".")) == []


def test_what_does_not_come_out_again_is_named(run: Run) -> None:
    balance(run, BalanceOptions(), workers=1)
    balanced = run.balanced / "train.parquet"
    pl.read_parquet(balanced).head(5).write_parquet(balanced)
    (run.balanced / "more.parquet").write_bytes(balanced.read_bytes())
    said = {Path(fault.place).name: fault.message for fault in made_again(run, 1)}
    assert said == {
        "train.parquet": "comes out differently when it is made again",
        "more.parquet": "does not come out again",
    }


def test_stored_predictions_a_ledger_and_an_audit_are_verified(run: Run) -> None:
    for words in (("decompose", "--workers", 1), ("answer", "--model", "oracle"), ("audit", "--workers", 1)):
        assert questree(words[0], run.folder, *words[1:], "--quiet").returncode == 0
    run.ledger.write_text('{"options": {}, "facts": 10}')
    lock(run, "ledger")
    assert verify(run)[0] == []
    stored = run.predictions / "oracle"
    shard, audit = next(stored.glob("*/predictions.parquet")), run.folder / "audit" / "audit.json"
    for path in (run.ledger, audit, stored / "plan.json", stored / "words.parquet", shard):
        whole = path.read_bytes()
        at = whole.rindex(b"1") if path.suffix == ".json" else len(whole) // 2
        path.write_bytes(whole[:at] + b"2" + whole[at + 1 :])
        assert [(fault.place, fault.message) for fault in verify(run)[0]] == [(str(path), "has changed")]
        path.write_bytes(whole)
    shard.unlink()
    assert [fault.message for fault in verify(run)[0]] == ["is missing"]
    rmtree(stored)  # a model may be removed by hand
    assert verify(run)[0] == []
