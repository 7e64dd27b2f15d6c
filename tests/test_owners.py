"""What a killed process leaves is removed by the next, never what a living one works at; two writers are told apart."""

import errno
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import NoReturn

import pytest

from questree.faults import BadInput
from questree.places.seen import WRITING
from questree.tables import owners, shard_folders
from questree.tables.owners import part, present, take_place, writing
from questree.tables.shard_folders import ShardFolders
from questree.tables.store import for_others, new_file, new_folder, scratch

HALF = """
import sys, time
from contextlib import ExitStack
from pathlib import Path
from questree.tables.owners import writing
from questree.tables.store import new_file, new_folder
place = Path(sys.argv[1])
with ExitStack() as work:
    work.enter_context(writing(place, "generate"))
    (work.enter_context(new_folder(place / "table")) / "half").write_text("half")
    work.enter_context(new_file(place / "note.json")).write_text("half")
    print("ready", flush=True)
    time.sleep(60)
"""


@pytest.fixture
def other(tmp_path: Path) -> Iterator["subprocess.Popen[str]"]:
    """A process that writes in the folder and does not come to an end."""
    command = [sys.executable, "-c", HALF, str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout and process.stdout.readline() == "ready\n"
        yield process
        process.kill()


def half(folder: Path) -> list[str]:
    return sorted(path.name.split(".")[1] for path in folder.iterdir() if path.suffix == ".part")


def test_only_what_a_killed_process_left_is_removed(tmp_path: Path, other: "subprocess.Popen[str]") -> None:
    with new_folder(tmp_path / "table") as work:
        (work / "whole").write_text("whole")
    with new_file(tmp_path / "note.json") as work:
        work.write_text("whole")
    assert half(tmp_path) == ["note", "table"]  # the other's
    other.send_signal(signal.SIGKILL)
    other.wait()
    with new_folder(tmp_path / "elsewhere"):
        pass
    assert half(tmp_path) == ["note", "table"]  # of other places
    with new_folder(tmp_path / "table"), new_file(tmp_path / "note.json"):
        pass
    assert [path.name for path in present(tmp_path)] == [WRITING, "elsewhere", "note.json", "table"]
    assert not half(tmp_path)


def test_a_second_writer_of_a_run_is_refused_and_told_who_is_there(
    tmp_path: Path, other: "subprocess.Popen[str]"
) -> None:
    said = rf"`questree generate` \(process {other.pid} on .*\) is writing here; wait until it ends"
    with pytest.raises(BadInput, match=said), writing(tmp_path, "balance"):
        pass
    other.send_signal(signal.SIGKILL)
    other.wait()
    with writing(tmp_path, "balance"), writing(tmp_path, "split"):  # one command may call another
        assert f"`questree balance` (process {os.getpid()} on " in (tmp_path / WRITING).read_text()
    assert not (tmp_path / WRITING).exists()


@pytest.mark.parametrize("exchanged", [True, False])
def test_a_folder_takes_the_place_of_another(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, exchanged: bool) -> None:
    if not exchanged:
        monkeypatch.setattr(owners, "_exchange", lambda one, other: False)
    target = tmp_path / "table"
    for content in ("first", "second"):
        with part(target, folder=True) as work:
            (work / "file").write_text(content)
            take_place(work, target)
        assert (target / "file").read_text() == content
    assert [path.name for path in tmp_path.iterdir()] == ["table"]


def test_killed_between_two_names_the_earlier_content_comes_back(tmp_path: Path) -> None:
    (tmp_path / ".table.1.old").mkdir()
    (tmp_path / ".table.1.old" / "file").write_text("finished")
    owners.sweep(tmp_path / "table")
    assert (tmp_path / "table" / "file").read_text() == "finished"


def test_names_like_ours_stay(tmp_path: Path) -> None:
    kept = [".table.part", ".tables.x.part", "table.x.part", ".table.x.y", ".table.x.part.gz"]
    for name in kept:
        (tmp_path / name).write_text("somebody's")
    owners.sweep(tmp_path / "table")
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(kept)


def full(*_: object, **__: object) -> NoReturn:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def test_a_full_disk_leaves_no_sign_of_a_writer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "pwrite", full)
    with pytest.raises(BadInput, match=r"cannot be written \(No space left on device\)"), writing(tmp_path, "augment"):
        pass
    assert list(tmp_path.iterdir()) == []


def test_shards_that_cannot_be_begun_leave_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = ShardFolders(tmp_path / "questions", b"{}")
    monkeypatch.setattr(Path, "write_text", full)
    with pytest.raises(OSError, match="No space left"), place.begun(["00000"]):
        pass
    assert list(tmp_path.iterdir()) == []


def test_finished_shards_stay_where_another_one_fails(tmp_path: Path) -> None:
    place = ShardFolders(tmp_path / "questions", b"{}")
    with pytest.raises(ZeroDivisionError), place.begun(["00000", "00001"]):
        (place.work / "00000").mkdir()
        raise ZeroDivisionError
    assert [path.name for path in place.work.iterdir() if path.name != "notes"] == ["00000"]


def test_a_library_that_finds_no_room_is_one_line(tmp_path: Path) -> None:
    told = "Error while serializing: I/O error: No space left on device (os error 28)"
    with pytest.raises(BadInput, match=r"weights: cannot be written \(No space left on device\)"):  # noqa: SIM117
        with new_file(tmp_path / "weights"):
            raise RuntimeError(told)
    assert list(tmp_path.iterdir()) == []


def test_shards_killed_while_their_notes_are_removed_are_made_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = ShardFolders(tmp_path / "features", b"{}")
    place.start()
    (place.work / "00000").mkdir()
    with monkeypatch.context() as killed, pytest.raises(OSError, match="No space left"):
        killed.setattr(shard_folders, "remove", full)
        place.finish()
    place.start()
    assert not (place.work / "00000").exists()


def test_who_works_on_after_the_end_leaves_nothing(tmp_path: Path) -> None:
    """A worker elsewhere does not know that the command was interrupted which gave it the work."""
    late = ExitStack()
    with scratch(tmp_path / "run") as place:
        began = late.enter_context(new_folder(place / "began"))
        (began / "rows").write_text("1")
    for write in (lambda: (began / "more").write_text("2"), late.close):
        with pytest.raises(FileNotFoundError):
            write()
    with pytest.raises(BadInput, match="No longer wanted"), new_folder(place / "later"):
        raise AssertionError
    with pytest.raises(FileNotFoundError, match="No longer wanted"), for_others(place / "later" / "rows"):
        raise AssertionError
    assert not list(tmp_path.iterdir())
