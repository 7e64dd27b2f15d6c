"""Of a damaged Parquet file people see our one line, not what a library prints about it."""

import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from chaos.fuzz import KEPT
from questree.tables.silence import silence
from worlds import forked


def test_a_file_at_which_polars_panics_is_one_line(tmp_path: Path) -> None:
    damaged = next((KEPT / "predictions-Parquet" / "601").iterdir())
    done = forked.questree("predictions", "check", damaged, folder=tmp_path)
    assert (done.returncode, len(done.stderr.splitlines())) == (1, 1)
    assert done.stderr.startswith(f"error: {damaged}: not a readable Parquet file")


def test_lines_arrive_again_when_the_last_thread_has_read(capfd: pytest.CaptureFixture[str]) -> None:
    inside, go_on = threading.Event(), threading.Event()

    def reads() -> None:
        with silence():
            inside.set()
            go_on.wait()

    other = threading.Thread(target=reads)
    other.start()
    inside.wait()
    with silence():
        os.write(2, b"lost")
    os.write(2, b"lost as well")
    go_on.set()
    other.join()
    os.write(2, b"seen")
    assert capfd.readouterr().err == "seen"


def test_what_is_said_while_another_thread_reads_arrives(tmp_path: Path) -> None:
    code = (
        "import sys, threading; from questree.tables.silence import silence; go = threading.Event()\n"
        "def reads():\n  with silence(): go.set(); threading.Event().wait()\n"
        "threading.Thread(target=reads, daemon=True).start(); go.wait(); print('seen', file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, "seen\n")
