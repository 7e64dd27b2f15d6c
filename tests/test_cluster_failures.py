"""What goes wrong on a cluster: it is one line that names what failed, everything else is finished and kept."""

import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

import pytest

from chaos.kills import content
from conftest import copy
from questree.api.clusters import cluster
from questree.extensions import LOADED, Plugin
from questree.faults import BadInput
from questree.stages.generate import shards
from questree.tables.run import Run
from questree.tables.shard_folders import ShardFolders
from questree.workers import LostTask, processes, results
from worlds.commands import questree

distributed = pytest.importorskip("distributed")


@pytest.fixture(scope="module")
def scheduler() -> Iterator[str]:
    with distributed.LocalCluster(1, processes=False, threads_per_worker=1, dashboard_address=":0") as found:
        yield found.scheduler_address


def said(of: BadInput) -> list[str]:
    return [str(fault) for fault in of.faults]


def fails(error: Exception) -> None:
    raise error


def test_failed_tasks_are_named_and_the_others_finished() -> None:
    with ThreadPoolExecutor(1) as pool:
        tasks: dict[str, Any] = {f"shard {at}": pool.submit(max, at, 1) for at in range(3)}
        tasks["shard 3"] = pool.submit(fails, LostTask("its workers died"))
        tasks["shard 4"] = pool.submit(fails, OSError(28, "No space left on device"))
        with pytest.raises(BadInput) as bad:
            results(tasks, "test", lambda: "rerun")
    assert said(bad.value) == [
        "shard 3: its workers died",
        "shard 4: OSError: [Errno 28] No space left on device",
        "shard 3, shard 4: failed, 3 of 5 are finished; rerun",
    ]


def test_where_nothing_works_the_rest_is_not_tried() -> None:
    with ThreadPoolExecutor(1) as pool:
        tasks = {f"shard {at:02}": pool.submit(fails, BadInput.at("near.py", "line 3")) for at in range(20)}
        with pytest.raises(BadInput) as bad:
            results(tasks, "test")
    assert said(bad.value) == ["near.py: line 3"]


def test_a_bug_says_in_which_task_it_is() -> None:
    with ThreadPoolExecutor(1) as pool, pytest.raises(RuntimeError, match="shard 7: ZeroDivisionError"):
        results({"shard 7": pool.submit(divmod, 1, 0)}, "test")


def test_a_shard_that_fails_is_named_and_a_rerun_does_only_that(
    cleaned_run: Run, scheduler: str, tmp_path: Path
) -> None:
    run, plain = copy(cleaned_run, tmp_path), copy(cleaned_run, tmp_path / "plain")
    words = ("generate", "run", "--shard", 3, "--rare-below", 3, "--phrases", 9, "--quiet")
    assert questree(*words, "--workers", 1, folder=plain.folder.parent).returncode == 0
    inner = shards.questions

    def broken(chunk: Any, counts: Any, first_video: int, *more: Any) -> Any:
        if first_video == 6:
            raise MemoryError("no room")
        return inner(chunk, counts, first_video, *more)

    with patch.object(shards, "questions", broken):
        done = questree(*words, "--cluster", scheduler, folder=tmp_path)
    assert (done.returncode, done.stderr.splitlines()) == (
        1,
        [
            "error: shard 00002: MemoryError: no room",
            "error: shard 00002: failed, 3 of 4 are finished; 3 of 4 shards are kept; "
            "rerun, with --workers 1 or a smaller --shard or a smaller --most-per-video",
        ],
    )
    work = run.folder / ".questions.part"
    made = {path: path.stat().st_mtime_ns for path in work.rglob("*.parquet")}
    assert sorted({path.parent.name for path in made}) == ["00000", "00001", "00003"]
    assert questree(*words, "--cluster", scheduler, folder=tmp_path).returncode == 0
    again = {run.questions / path.relative_to(work): at for path, at in made.items()}
    assert {path: path.stat().st_mtime_ns for path in again} == again
    assert content(run.folder) == content(plain.folder)


def test_work_that_was_begun_anew_is_not_mixed(cleaned_run: Run, tmp_path: Path) -> None:
    """A worker that was given up may still be at a shard of other options."""
    run = copy(cleaned_run, tmp_path)
    old = ShardFolders(run.questions, b"old")
    old.start()
    (late,) = old.shards(["00000"])
    with pytest.raises(BadInput, match="no longer wanted"), late.made() as folder:
        (folder / "questions.parquet").write_bytes(b"old")
        ShardFolders(run.questions, b"new").start()
    assert [path.name for path in old.work.iterdir()] == ["notes"]


EATEN = """
from pathlib import Path
from time import sleep
first = not Path(NOTE).exists()
Path(NOTE).touch()
if first or not ONCE:
    eaten = b"x" * (900 << 20)  # more than the limit
    sleep(120)
"""


@pytest.mark.processes
def test_a_worker_over_its_memory_is_killed_and_its_task_tried_again_or_told(tmp_path: Path) -> None:
    """By its nanny, which starts another one; the others are done."""
    import dask

    eaten = [
        EATEN.replace("NOTE", repr(str(tmp_path / f"{once}"))).replace("ONCE", f"{once}") for once in (True, False)
    ]
    with (
        patch("questree.clusters.local.MEMORY_LIMIT", 800 << 20),
        dask.config.set({"distributed.scheduler.allowed-failures": 0}),
        cluster("local:1") as found,
    ):
        assert found.address.startswith("tcp://127.0.0.1:") and found.watched_at.startswith("http://127.0.0.1:")
        with processes(1) as pool, pytest.raises(BadInput) as bad:
            assert pool.submit(Path.is_absolute, Path("run")).result()  # workers are in folders of their own
            tasks: dict[str, Any] = {f"shard {at}": pool.submit(exec, code) for at, code in enumerate(eaten)}
            results(tasks | {"shard 2": pool.submit(max, 1, 2)}, "test", lambda: "rerun")
    assert said(bad.value) == [
        "shard 1: its workers died, one after the other (killed, perhaps out of memory)",
        "shard 1: failed, 2 of 3 are finished; rerun",
    ]


def test_a_scheduler_that_goes_away_before_work_starts_is_waited_for() -> None:
    from questree.clusters.connected import Connected
    from questree.clusters.pool import Connection

    class Gone:
        status = "running"
        dashboard_link = "http://there:8787/status"

        def __init__(self, *comm: Any):
            self.scheduler_comm = next(iter(comm), None)

        def close(self, timeout: float) -> None:
            pass

        def scheduler_info(self, n_workers: int) -> dict[str, Any]:
            return {"workers": [ask(self)] * n_workers**2}

    clients = [Gone(), there := Gone(SimpleNamespace(comm=SimpleNamespace(closed=lambda: False)))]

    def ask(client: Any) -> str:
        if client is not there:
            raise OSError("Stream is closed")
        return "asked"

    def connect(seconds: float) -> Any:
        return greeted() if (greeted := greetings.pop()) else clients.pop(0)

    def reset() -> None:
        raise ConnectionResetError("while it was greeted")

    greetings = [None, None, reset]
    with patch("questree.clusters.pool.LOOK", 0.0):
        connection = Connection(connect)
        assert Connected(connection).workers == 1
        assert Connected(connection).watched_at == Gone.dashboard_link
        assert connection.insist(ask) == "asked"
        with patch("questree.clusters.pool.PATIENCE", -1.0), pytest.raises(OSError, match="closed"):
            connection.insist(lambda client: fails(OSError("closed")))


def test_other_versions_are_one_line_before_work_starts() -> None:
    from questree.clusters.task import check, versions

    class Client:
        def run(self, function: Any, on_error: str) -> dict[str, Any]:
            other = versions() | {"polars": "1.0.0", "Python": "3.10.1"}
            return {
                "tcp://a:1": versions(),
                "tcp://b:1": other,
                "tcp://c:1": ModuleNotFoundError("No module"),
                "d": OSError(),
            }

    with pytest.raises(BadInput) as bad:
        check(Client())
    own = versions()
    assert said(bad.value) == [
        f"worker tcp://b:1: expected the versions of the client, got Python 3.10.1 for {own['Python']}, "
        f"polars 1.0.0 for {own['polars']}",
        f"worker tcp://c:1: expected questree {own['questree']}, got ModuleNotFoundError: No module",
    ]


def test_plugins_of_an_earlier_command_are_refused(tmp_path: Path) -> None:
    from questree.clusters.task import strange_plugins

    file = tmp_path / "near.py"
    file.write_text("x = 1\n")
    plugin = Plugin("near.py", file)
    with patch.dict(LOADED, {file: plugin}, clear=True):
        assert strange_plugins("a", {plugin: plugin.digest}) == []
        wanted = "expected the plugins of the client, got also near.py of an earlier command; restart the worker"
        assert [str(fault) for fault in strange_plugins("a", {})] == [f"worker a: {wanted}"]
        assert len(strange_plugins("a", {plugin: "of another text"})) == 1


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("local:0", "expected local:N or the address of a Dask scheduler as tcp://HOST:8786, got 'local:0'"),
        ("host:8786", "expected local:N or the address of a Dask scheduler as tcp://HOST:8786, got 'host:8786'"),
    ],
)
def test_what_is_no_cluster_is_refused(name: str, line: str, cleaned_run: Run) -> None:
    done = questree("generate", cleaned_run.folder, "--cluster", name)
    assert (done.returncode, done.stderr) == (1, f"error: --cluster: {line}\n")


def test_a_file_of_settings_names_the_cluster(cleaned_run: Run, scheduler: str, tmp_path: Path) -> None:
    run = copy(cleaned_run, tmp_path)
    words = ("generate", "run", "--phrases", 3, "--rare-below", 3)
    (tmp_path / "questree.toml").write_text(f'cluster = "{scheduler}"\n')
    done = questree(*words, folder=tmp_path)
    assert (done.returncode, done.stdout.splitlines()[0].split(",")[0]) == (0, f"cluster {scheduler}")
    (run.folder / "questree.toml").write_text('cluster = "none"\n')  # the run's own goes first
    assert "cluster" not in questree(*words, folder=tmp_path).stdout
    (run.folder / "questree.toml").write_text("cluster = 3\n")
    assert questree(*words, folder=tmp_path).stderr.endswith("cluster: expected a text, got 3\n")


def test_without_a_cluster_nothing_of_dask_is_imported() -> None:
    code = (
        "import sys; import questree.cli.stages, questree.cli.answer, questree.cli.score, questree.api.clusters; "
        "print([name for name in sys.modules if name.split('.')[0] in ('dask', 'distributed')])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert (done.stdout, done.stderr) == ("[]\n", "")


def test_dask_that_is_not_installed_is_told(cleaned_run: Run) -> None:
    hidden = {name: None for name in sys.modules if name.startswith("questree.clusters.connected")}
    with patch.dict(sys.modules, hidden | {"questree.clusters.connected": None}):
        done = questree("generate", cleaned_run.folder, "--cluster", "local:1")
    wanted = "expected the package distributed, got none installed; run `pip install 'questree[cluster]'`"
    assert (done.returncode, done.stderr) == (1, f"error: --cluster: {wanted}\n")
