"""The real harnesses run what is exported for them, by the commands of its README; the scores are those of the bot."""

import fcntl
import json
import os
import re
import shlex
import socket
import subprocess
import sys
import venv
from pathlib import Path
from typing import Any

import pytest

from conftest import copy
from questree.tables.run import Run
from worlds.commands import questree, run

ROOT = Path(__file__).parents[1]
WANTED = os.environ.get("QUESTREE_HARNESSES") == "yes"
TORCH = "torch==2.13.0"
PACKAGES = {  # what each is installed by, one step after the other
    "inspect": [["inspect-ai==0.3.285", "openai"], [str(ROOT)]],
    "hf": [["datasets==5.2.0", "pillow"]],
    "lmms-eval": [[TORCH], ["lmms-eval==0.7.3", "decord"]],
    "vlmevalkit": [[TORCH], ["ms-vlmeval==0.0.20", "decord"]],
}
SCOPES = ("run", "images")
PORT = "8001"  # in READMEs
LONGEST = 1800  # seconds of one harness


def environment(name: str, factory: pytest.TempPathFactory) -> Path:
    """The programs of a virtual environment with a harness, made by the first who needs it."""
    kept = os.environ.get("QUESTREE_HARNESS_VENVS")
    place = Path(kept) if kept else factory.getbasetemp().parent / "harness-venvs"
    place.mkdir(parents=True, exist_ok=True)
    folder = place / name
    with (place / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / "ready").exists():
            venv.create(folder, clear=True, with_pip=True)
            for packages in PACKAGES[name]:
                subprocess.run([folder / "bin" / "pip", "install", "--quiet", *packages], check=True)
            (folder / "ready").touch()
    return folder / "bin"


@pytest.fixture(scope="module")
def pictures(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The worlds of `notebook`, drawn."""
    folder = tmp_path_factory.mktemp("pictures")
    run(
        "questree synth --videos 12 --seed 3 --unasked-objects 0 --out seen --frames --frame-size 160x120 --quiet",
        folder,
    )
    run("questree synth images --images 60 --seed 4 --out rooms --pixels --quiet", folder)
    return {"run": folder / "seen" / "frames", "images": folder / "rooms" / "pixels"}


def blocks(page: Path, kind: str) -> list[str]:
    return re.findall(rf"```{kind}\n(.*?)```", page.read_text("utf-8"), re.S)


def free_port() -> str:
    with socket.socket() as place:
        place.bind(("127.0.0.1", 0))
        return str(place.getsockname()[1])


def carried_out(script: str, folder: Path, programs: Path) -> None:
    """With the harness's programs first, then ours; what it started in the background ends with it."""
    path = os.pathsep.join([str(programs), str(Path(sys.executable).parent), os.environ["PATH"]])
    quiet = {"HF_DATASETS_OFFLINE": "1", "HF_HUB_OFFLINE": "1", "HF_HOME": str(folder / "cache")}
    whole = f"set -e\ntrap 'kill $(jobs -p) 2> /dev/null' EXIT\n{script}"
    done = subprocess.run(
        ["bash", "-c", whole],
        cwd=folder,
        env={**os.environ, **quiet, "PATH": path},
        capture_output=True,
        text=True,
        timeout=LONGEST,
    )
    assert done.returncode == 0, f"{done.stdout[-3000:]}\n{done.stderr[-3000:]}"


def cells(run: Path, model: str, *more: str) -> list[Any]:
    out = run.parent / f"{model}.json"
    assert questree("score", run, "--model", model, "--split", "test", "--json", out, *more).returncode == 0
    rows = json.loads(out.read_text())
    return [{**row, "model": ""} for row in rows if row["by"] != "policy"]


def script(harness: str, page: Path, served: str) -> str:
    """The commands of a README but the installation, which was done."""
    said = "\n".join(blocks(page, "sh"))
    if harness == "hf":
        wait = f"until curl -sf http://127.0.0.1:{PORT}/v1/models > /dev/null; do sleep 1; done"
        (code,) = blocks(page, "python")
        said = f"{served} &\n{wait}\npython - <<'END'\n{code}END\n{said}"
    lines = [line for line in said.splitlines() if not line.startswith("pip install ")]
    return "\n".join(lines).replace(PORT, free_port())


@pytest.mark.parametrize("scopes", SCOPES)
@pytest.mark.parametrize(
    "harness",
    [
        pytest.param(name, marks=pytest.mark.skipif(not WANTED, reason=f"{name}: QUESTREE_HARNESSES=yes runs it"))
        for name in PACKAGES
    ],
)
def test_the_readme_runs_and_gives_the_scores_of_the_bot(
    harness: str,
    scopes: str,
    notebook: Path,
    pictures: dict[str, Path],
    tmp_path: Path,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    programs = environment(harness, tmp_path_factory)
    media = pictures[scopes]
    own = copy(Run(notebook / scopes), tmp_path).folder
    assert questree("export", harness, own, "--out", tmp_path / "out", "--media", media, "--frames", 2).returncode == 0
    served = f"questree serve-bot {shlex.quote(str(own))} --model composition-noise --port {PORT}"
    carried_out(script(harness, tmp_path / "out" / "README.md", served), tmp_path / "out", programs)
    assert questree("answer", own, "--model", "composition-noise").returncode == 0
    (model,) = [path.name for path in (own / "predictions").glob("from-*")]
    found, known = cells(own, model, "--policy", "lenient"), cells(own, "composition-noise")
    assert found == known and sum(row["n"] or 0 for row in known) > 20
    if harness == "inspect":
        (log,) = (tmp_path / "out" / "logs").glob("*.eval")
        assert inside(log, programs) == {row["metric"]: row["value"] for row in known if whole(row)}


def whole(row: dict[str, Any]) -> bool:
    return (
        row["by"] == "type" and row["group"] == "Overall" and row["metric"] in ("accuracy", "CA", "RWR", "Delta")
    ) and row["value"] is not None


def inside(log: Path, programs: Path) -> dict[str, float]:
    """The scores that inspect_ai itself tells."""
    read = (
        "import json, sys; from inspect_ai.log import read_eval_log; found = read_eval_log(sys.argv[1]).results.scores;"
        "print(json.dumps({n: m.value for s in found if s.name == 'whole' for n, m in s.metrics.items()}))"
    )
    done = subprocess.run([programs / "python", "-c", read, log], capture_output=True, text=True, check=True)
    told: dict[str, float] = json.loads(done.stdout)
    return {name: value for name, value in told.items() if name in ("accuracy", "CA", "RWR", "Delta")}
