"""A part of `make chaos`, by seed: damaged files of every reader, killed commands, damaged runs."""

import shlex
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from chaos import bombs
from chaos.__main__ import main, told
from chaos.corruption import corrupted
from chaos.full_disk import full_disk
from chaos.fuzz import KEPT, Failure, broken, fuzz, kept_inputs, slug, unchanged
from chaos.kills import kill_points
from chaos.mutations import mutated
from chaos.readers import READERS, corpus
from conftest import once
from questree.api.vocabularies import read_vocabulary
from worlds.commands import questree

OWN = ("run of videos", "run of images", "report", "show")  # files that we write: fewer, as tables are slow to read
INPUTS = {True: 20, False: 100}
SLOW = {"absent": 30, "asked": 30, "splits": 40, "free text": 40, "templates": 60}


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """For this process alone, which damages them."""
    made = once(tmp_path_factory, "chaos", lambda folder: corpus(folder / "corpus")) / "corpus"
    return Path(shutil.copytree(made, tmp_path_factory.mktemp("damaged") / "corpus"))


@pytest.mark.parametrize("name", READERS)
def test_damaged_files_are_read_or_refused(files: Path, name: str) -> None:
    with unchanged(files / READERS[name].writes, files.parent / "kept"):
        valid = questree(*shlex.split(READERS[name].command), folder=files)
    assert valid.returncode == 0, valid.stderr
    tries = list(fuzz(files, name, range(SLOW.get(name, INPUTS[name in OWN]))))
    assert not list(filter(None, tries))


def test_what_breaks_a_reader_is_told_kept_and_the_end_is_no_success(
    files: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A fault is planted: whoever checks a vocabulary falls over all but the whole file."""
    whole = (files / "words.toml").read_bytes()

    def fragile(path: Path) -> object:
        if path.read_bytes() != whole:
            raise ZeroDivisionError("planted")
        return read_vocabulary(path)

    monkeypatch.setattr("questree.cli.vocabulary.read_vocabulary", fragile)
    monkeypatch.setattr("chaos.__main__.corpus", lambda folder: shutil.copytree(files, folder))
    line = ["chaos", "--only", "damaged files: vocabulary", "--inputs", "3", "--keep", str(tmp_path)]
    monkeypatch.setattr("sys.argv", line)
    assert main() == 1
    said = capsys.readouterr().out.splitlines()
    assert said[1].split() == ["damaged", "files:", "vocabulary", "3", "3"]
    assert said[-1] == "3 failures" and "ZeroDivisionError" in said[2] and "planted" in said[2]
    kept = sorted(path.relative_to(tmp_path) for path in tmp_path.rglob("*") if path.is_file())
    assert kept == [Path("vocabulary", str(seed), "words.toml") for seed in range(3)]
    assert (tmp_path / kept[0]).read_bytes() == mutated(whole, "vocabulary 0")[1]


def test_who_interrupts_a_test_is_told_how_far_it_came(capsys: pytest.CaptureFixture[str]) -> None:
    def results() -> Iterator[Failure | None]:
        yield None
        yield Failure("a test", "its input", "why")
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        told("a test", results())
    assert [line.split() for line in capsys.readouterr().out.splitlines()] == [
        ["a", "test", "2", "1"],
        ["a", "test:", "its", "input:", "why"],
    ]


@pytest.mark.parametrize("kept", kept_inputs(), ids=lambda kept: str(kept.relative_to(KEPT)))
def test_files_that_once_broke_a_reader_are_read_or_refused(files: Path, kept: Path) -> None:
    reader, _, *inside = kept.relative_to(KEPT).parts
    name = next(name for name in READERS if slug(name) == reader)
    assert not broken(files, READERS[name], files.joinpath(*inside), kept.read_bytes())


@pytest.mark.parametrize("name", ["run", "sets"])
def test_damaged_files_of_a_run_are_verified_and_one_line_in_every_command(files: Path, name: str) -> None:
    tries = list(corrupted(files, name, every=25))
    assert len(tries) > 3
    assert not list(filter(None, tries))


def test_small_files_that_ask_for_much_are_refused_soon(files: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bombs, "COLUMNS", 30_000)
    tries = list(bombs.bombs(files))
    assert len(tries) == len(bombs.BOMBS)
    assert not list(filter(None, tries))


def test_a_full_disk_is_one_line_and_the_rerun_makes_the_same(tmp_path: Path) -> None:
    commands = ("synth images --out pictures --images 6", "ingest gqa pictures --out sets")
    tries = [found for _, tried in full_disk(tmp_path / "work", commands, commands, (0, 1 << 13)) for found in tried]
    assert (len(tries), list(filter(None, tries))) == (4, [])


@pytest.mark.parametrize("first", [2, 5])
def test_killed_commands_leave_nothing_and_are_made_up_for(tmp_path: Path, first: int) -> None:
    work = tmp_path / "work"
    work.mkdir()
    tried = 0
    for command in ("synth images --out pictures --images 6", "ingest gqa pictures --out sets"):
        found = list(kill_points(work, command, "killed", every=6, first=first))
        assert not [failure for failure in found if failure]
        tried += len(found)
    assert tried >= 4


def test_killed_workers_of_a_cluster_are_made_up_for(tmp_path: Path) -> None:
    pytest.importorskip("distributed")
    from chaos.cluster import cluster_kills

    found = list(cluster_kills(tmp_path, 2, stages=1))
    assert (len(found), [failure for failure in found if failure]) == (2, [])
