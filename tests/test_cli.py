"""The command line as a person meets it: quick to start, one line per fault, exit codes, nothing half-written."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import questree.__main__
from questree.cli.app import COMMANDS, GROUPS
from questree.sources.catalogue import SOURCES
from questree.tables.run import Run
from worlds import commands as here
from worlds import forked

HEAVY = ("numpy", "polars", "pyarrow", "numba", "msgspec")


def test_help_imports_nothing_heavy() -> None:
    code = "import sys\nfrom questree.cli.app import app\napp('--help', result_action='return_value')\n"
    code += f"print([name for name in {HEAVY} if name in sys.modules])"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.splitlines()[-1] == "[]"
    for name in COMMANDS:
        assert name in found.stdout


def test_the_help_lists_every_command_once_by_what_it_is_for() -> None:
    blocks = here.questree("--help").stdout.split("\n\n")
    panels = {block.split(":")[0]: block.splitlines()[1:] for block in blocks if block.split(":")[0] in GROUPS}
    listed = [(head, line.split(":")[0].strip()) for head, lines in panels.items() for line in lines if ":" in line]
    assert [*panels] == [*GROUPS]
    assert sorted(listed) == sorted((head, name) for head, names in GROUPS.items() for name in names)
    assert {*COMMANDS} <= {name for _, name in listed}


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_shells_get_a_script_that_completes(shell: str, tmp_path: Path) -> None:
    found = here.questree("completion", shell)
    assert found.returncode == 0 and "wordings" in found.stdout and "significant" in found.stdout
    if shell == "bash":
        (tmp_path / "script").write_text(found.stdout)
        code = f"source {tmp_path / 'script'}; COMP_WORDS=(questree comp); COMP_CWORD=1; COMP_LINE='questree comp'; "
        code += "$(complete -p questree | sed 's/.*-F \\([^ ]*\\).*/\\1/') questree comp questree; echo ${COMPREPLY[@]}"
        done = subprocess.run(["bash", "-c", code], capture_output=True, text=True)
        assert sorted(done.stdout.split()) == ["compare", "completion"], done.stderr


def test_commands_that_run_no_compiled_loop_do_not_import_numba() -> None:
    code = "import sys\nimport questree.cli.score, questree.cli.show, questree.cli.verify"
    code += "\nimport questree.stages.generate.questions, questree.domains.images.loops\nprint('numba' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "False\n"


@pytest.mark.parametrize("group", [[], ["ingest"]])
def test_every_command_has_help(group: list[str]) -> None:
    names = {"": [*COMMANDS], "ingest": [*SOURCES]}
    for name in names[" ".join(group)]:
        found = here.questree(*group, name, "--help")
        assert found.returncode == 0, found.stderr
        assert "Usage" in found.stdout
        bare = [line for line in found.stdout.splitlines() if re.fullmatch(r"  --[a-z-]+( [A-Z]+)?", line)]
        assert not bare, f"{name}: options without help"


@pytest.mark.parametrize("words", [["shw"], ["show"], ["augment", "run", "--nonsense"], ["synth", "--videos", "many"]])
def test_wrong_usage_exits_with_2(words: list[str]) -> None:
    found = here.questree(*words)
    assert found.returncode == 2
    assert found.stdout == "" and found.stderr.startswith("error: ") and found.stderr.count("\n") == 1  # no box


@pytest.mark.parametrize("command", ["augment", "generate", "show"])
def test_a_run_that_is_not_there_is_one_line_and_exit_1(command: str, tmp_path: Path) -> None:
    found = here.questree(command, tmp_path / "nowhere")
    assert found.returncode == 1
    assert (
        found.stderr
        == f"error: {tmp_path / 'nowhere'}: expected a run folder, got nothing there; make one with `questree build`\n"
    )
    assert list(tmp_path.iterdir()) == []


def test_what_nobody_foresaw_is_one_line_and_a_log(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail() -> None:
        raise ZeroDivisionError("a bug\nof two lines")

    monkeypatch.setattr("questree.cli.app.main", fail)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setattr(sys, "argv", ["questree", "show", "my run"])
    with pytest.raises(SystemExit) as end:
        questree.__main__.main()
    (log,) = tmp_path.iterdir()
    said = f"error: unforeseen: ZeroDivisionError: a bug; this is a bug of questree, please report it with {log}\n"
    assert (end.value.code, capsys.readouterr().err) == (70, said)
    assert "\nquestree show 'my run'\n" in log.read_text() and "in fail\n" in log.read_text()


def test_a_reader_that_goes_away_is_no_error(asked_run: Run) -> None:
    command = f"{sys.executable} -m questree show {asked_run.folder} | head -n 1"
    found = subprocess.run(["sh", "-c", command], capture_output=True, text=True)
    assert found.stdout.startswith("video ")
    assert found.stderr == ""


def test_show_prints_a_video_and_a_question(asked_run: Run) -> None:
    video = here.questree("show", asked_run.folder)
    name = video.stdout.split()[1].rstrip(":,")
    asked = here.questree("show", asked_run.folder, f"{name}-0")
    assert video.returncode == asked.returncode == 0
    assert asked.stdout.splitlines()[0].endswith(("yes", "no"))
    assert "seconds:" in video.stdout
    assert "what it rests on:" in asked.stdout


def test_quiet_prints_nothing(asked_run: Run, tmp_path: Path) -> None:
    found = forked.questree("show", asked_run.folder, "--quiet", "--json", "video.json", folder=tmp_path)
    assert (found.returncode, found.stdout, found.stderr) == (0, "", "")
    assert (tmp_path / "video.json").read_text().startswith("{")


def test_brackets_in_names_are_printed_as_they_are(tmp_path: Path) -> None:
    done = here.questree("synth", "images", "--images", "5", "--out", tmp_path / "pictures", "-q")
    assert done.returncode == 0, done.stderr
    found = here.questree("ingest", "gqa", tmp_path / "pictures", "--out", tmp_path / "r[bold]x")
    assert found.returncode == 0, found.stderr
    assert "r[bold]x" in found.stdout
    asked = here.questree("generate", tmp_path / "r[bold]x", "--questions", "6", "--workers", "1")
    assert asked.returncode == 0, asked.stderr  # what looks like a pattern is read as a name


def test_json_can_be_piped(asked_run: Run, tmp_path: Path) -> None:
    found = forked.questree("show", asked_run.folder, "--quiet", "--json", "-", folder=tmp_path)
    assert json.loads(found.stdout)["frames"]


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_a_command_stopped_in_mid_write_leaves_no_half_output(how: signal.Signals, tmp_path: Path) -> None:
    out = tmp_path / "world"
    command = [sys.executable, "-m", "questree", "synth", "--videos", "3000", "--out", str(out), "--workers", "1"]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, start_new_session=True)
    while not any(tmp_path.glob(".world.*")):  # the folder it writes into
        assert process.poll() is None
        time.sleep(0.01)
    time.sleep(0.5)
    os.killpg(process.pid, how)
    _, said = process.communicate(timeout=60)
    assert not out.exists()
    if how != signal.SIGKILL:
        assert process.returncode == 130
        assert "interrupted; nothing half-written is left" in said
        assert list(tmp_path.iterdir()) == []


def test_whoever_is_interrupted_may_say_what_is_kept(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from questree.__main__ import main
    from questree.cli import app

    def stopped() -> None:
        raise KeyboardInterrupt("2 epochs are kept")

    monkeypatch.setattr(app, "main", stopped)
    with pytest.raises(SystemExit, match="130"):
        main()
    assert capsys.readouterr().err == "interrupted; nothing half-written is left, 2 epochs are kept\n"


def test_workers_do_not_outlive_a_killed_parent(cleaned_run: Run, tmp_path: Path) -> None:
    shutil.copytree(cleaned_run.folder, tmp_path / "run")
    command = [sys.executable, "-m", "questree", "generate", str(tmp_path / "run"), "--shard", "1", "--quiet"]
    process = subprocess.Popen(command, start_new_session=True)
    while not (tmp_path / "run" / ".questions.part" / "00000").is_dir():
        assert process.poll() is None
        time.sleep(0.01)
    process.kill()  # the parent alone
    process.wait()
    for _ in range(200):
        if not session(process.pid):
            break
        time.sleep(0.1)
    assert session(process.pid) == []


def session(number: int) -> list[str]:
    """The processes of a session, the dead ones that nobody has waited for left out."""
    found = subprocess.run(["ps", "-o", "stat=,pid=", "-s", str(number)], capture_output=True, text=True).stdout
    return [line for line in found.splitlines() if not line.strip().startswith("Z")]


def test_tables_in_a_file_are_aligned_as_rich_aligns_them(capsys: pytest.CaptureFixture[str]) -> None:
    """Written by hand because there may be thousands of rows, and because rich cuts numbers where room is short."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from questree.cli.terminal import WIDTH, print_table

    rows: list[dict[str, object]] = [
        {"name": "a b", "n": 1234567, "share": 0.5, "": ""},
        {"name": "[x]", "n": None, "share": 12, "": "end"},
    ]
    print_table("Title", rows)
    table = Table(box=None)
    for name, side in (("name", "left"), ("n", "right"), ("share", "right"), ("", "left")):
        table.add_column(Text(name), justify=side)  # type: ignore[arg-type]
    for cells in (("a b", "1,234,567", "0.5", ""), ("[x]", "", "12", "end")):
        table.add_row(*map(Text, cells))
    with (console := Console(width=WIDTH)).capture() as text:
        console.print(table)
    wanted = [line.rstrip() for line in text.get().splitlines()]
    assert capsys.readouterr().out.splitlines() == ["Title", *wanted]
    print_table("Wide", [{"é": "x " * 100}])
    assert len(capsys.readouterr().out.splitlines()) > 3


@pytest.mark.parametrize("words", [["--help"], ["score", "decomp", "--help"], ["vocabulary", "-h"]])
def test_piped_help_has_no_boxes_and_no_blanks_at_the_ends_of_lines(words: list[str]) -> None:
    done = here.questree(*words)
    assert done.returncode == 0 and "Usage: questree" in done.stdout
    assert not [line for line in done.stdout.splitlines() if line != line.rstrip()] and "─" not in done.stdout
