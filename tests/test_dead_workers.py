"""A worker that is killed: one line that says what helps, and nothing half-written."""

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from conftest import copy
from questree.faults import BadInput
from questree.tables.run import Run
from questree.workers import processes

KILLED = """
import multiprocessing, os, signal, threading, time

def die():
    while not os.path.exists(os.environ["AFTER"]):
        time.sleep(0.001)
    os.kill(os.getpid(), signal.SIGKILL)

if multiprocessing.parent_process() and os.environ["AFTER"]:
    threading.Thread(target=die, daemon=True).start()
    time.sleep(0.1)
"""  # a plugin: loaded in every worker before it works


def questree(folder: Path, after: str, *words: str) -> "subprocess.CompletedProcess[str]":
    """The command, with workers that die when there is a file `after`."""
    (folder / "killed.py").write_text(KILLED)
    command = [sys.executable, "-m", "questree", *words, "--plugin", "killed.py"]
    return subprocess.run(
        command, cwd=folder, env=os.environ | {"AFTER": after}, capture_output=True, text=True, timeout=300
    )


@pytest.mark.processes
def test_whoever_waits_for_a_killed_process_is_told() -> None:
    with pytest.raises(BadInput) as told, processes(1) as pool:
        pool.submit(os.kill, os.getpid(), 0).result()
        list(pool.map(signal.raise_signal, [signal.SIGKILL, signal.SIGKILL]))
    said = "a worker died (killed, perhaps out of memory); nothing is written; rerun, with --workers 1"
    assert [str(fault) for fault in told.value.faults] == [said]


@pytest.mark.processes
def test_a_single_task_needs_no_process() -> None:
    with processes(2, tasks=1) as pool:
        assert pool.submit(os.getpid).result() == os.getpid()
    with processes(2, tasks=2) as pool:
        assert pool.submit(os.getpid).result() != os.getpid()


def test_generation_keeps_what_is_finished_and_goes_on(asked_run: Run, tmp_path: Path) -> None:
    run = copy(asked_run, tmp_path)
    before = {path: path.read_bytes() for path in run.questions.rglob("*.*")}
    command = ("generate", "run", "--shard", "1", "--rare-below", "3", "--workers", "1", "--quiet")
    work = run.folder / ".questions.part"
    done = questree(tmp_path, str(work / "00001"), *command)
    kept = sorted(path.name for path in work.iterdir() if path.name.isdecimal())
    shards = len(run.load("facts").videos)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == (
        f"error: a worker died (killed, perhaps out of memory); {len(kept)} of {shards} shards are kept; "
        "rerun, with --workers 1 or a smaller --shard or a smaller --most-per-video\n"
    )
    assert 2 <= len(kept) < shards and {path: path.read_bytes() for path in run.questions.rglob("*.*")} == before
    (work / ".00007.half.part").mkdir(exist_ok=True)  # as a worker leaves it that dies while it writes
    written = {name: (work / name / "questions.parquet").stat().st_mtime_ns for name in kept}
    again = questree(tmp_path, "", *command)
    assert (again.returncode, again.stderr) == (0, "")
    names = sorted(path.name for path in run.questions.iterdir() if path.is_dir())
    assert names == [f"{at:05d}" for at in range(shards)]
    assert written == {name: (run.questions / name / "questions.parquet").stat().st_mtime_ns for name in kept}


@pytest.mark.parametrize(
    ("command", "kept"),
    [
        ("decompose run", "0 of 3 shards are kept"),
        ("export agqa run --out out --unbalanced", "nothing is written"),
    ],
)
def test_other_stages_leave_what_was_there(asked_run: Run, tmp_path: Path, command: str, kept: str) -> None:
    copy(asked_run, tmp_path)
    before = sorted(path for path in tmp_path.rglob("*"))
    done = questree(tmp_path, str(tmp_path), *command.split(), "--workers", "1", "--quiet")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == (f"error: a worker died (killed, perhaps out of memory); {kept}; rerun, with --workers 1\n")
    shutil.rmtree(tmp_path / "run" / ".decomposed.part", ignore_errors=True)  # where shards are kept
    left = [path for path in tmp_path.rglob("*") if path.name not in ("killed.py", "__pycache__")]
    assert sorted(path for path in left if "__pycache__" not in path.parts) == before


def test_a_script_needs_no_main_guard(tmp_path: Path) -> None:
    """Its workers do not run it again."""
    lines = ["print('once', flush=True)", "from questree.workers import processes", "with processes(1) as pool:"]
    (tmp_path / "script.py").write_text("\n".join([*lines, "    print(pool.submit(max, 1, 2).result())"]))
    done = subprocess.run([sys.executable, "script.py"], cwd=tmp_path, capture_output=True, text=True, timeout=300)
    assert (done.stdout, done.stderr) == ("once\n2\n", "")
