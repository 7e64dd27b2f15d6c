"""The wheel, installed where there is no checkout, gives the tour."""

import os
import shutil
import subprocess
import sys
import venv
from pathlib import Path

import numpy
import pytest

import questree
from questree.cli.app import app
from questree.cli.demo import ASKED, PLACES, TOUR, clear
from questree.faults import BadInput

ROOT = Path(__file__).parents[1]
SOURCE = Path(questree.__file__).parent


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("dist")
    subprocess.run([sys.executable, "-m", "hatchling", "build", "-d", str(folder)], cwd=ROOT, check=True)
    assert len(list(folder.glob("questree-*.tar.gz"))) == 1
    return next(folder.glob("questree-*.whl"))


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment that has the wheel and what it depends on, and does not know the checkout."""
    place = tmp_path_factory.mktemp("environment")
    venv.create(place, with_pip=False)
    packages = next(place.glob("lib/python*/site-packages"))
    (packages / "dependencies.pth").write_text(f"{Path(numpy.__file__).parents[1]}\n")  # not its own .pth files
    pip = [sys.executable, "-m", "pip", "--python", str(place / "bin" / "python")]
    options = ["--quiet", "--no-deps", "--no-index", "--no-compile", "--ignore-installed"]
    subprocess.run([*pip, "install", *options, str(wheel)], check=True)
    lend_kernels(packages / "questree")
    return place


def lend_kernels(package: Path) -> None:
    """Compiled kernels are good for every copy of their source file; without them the tour compiles for a minute."""
    for kernel in SOURCE.rglob("*.nb[ic]"):
        copy = package / kernel.relative_to(SOURCE)
        copy.parent.mkdir(exist_ok=True)
        shutil.copy(kernel, copy)
    for file in package.rglob("*.py"):
        shutil.copystat(SOURCE / file.relative_to(package), file)


def command(installed: Path, *words: str, folder: Path) -> subprocess.CompletedProcess[str]:
    alone = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    place = [str(installed / "bin" / words[0]), *words[1:]]
    return subprocess.run(place, cwd=folder, env=alone, capture_output=True, text=True, timeout=600)


def test_the_wheel_holds_every_file_of_the_package(installed: Path, tmp_path: Path) -> None:
    said = command(installed, "python", "-c", "import questree; print(questree.__file__)", folder=tmp_path)
    package = Path(said.stdout.strip()).parent
    assert installed in package.parents
    for file in SOURCE.rglob("*"):
        if file.is_file() and "__pycache__" not in file.parts:
            assert (package / file.relative_to(SOURCE)).read_bytes() == file.read_bytes()


def test_the_tour_works_without_a_checkout(installed: Path, tmp_path: Path) -> None:
    done = command(installed, "questree", "demo", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert [line.split()[2] for line in done.stdout.splitlines() if line.startswith("$ questree ")] == [
        line.split()[0] for line in [*TOUR, *ASKED]
    ]
    said = done.stdout.splitlines()
    assert len(said) + len(done.stderr.splitlines()) <= 100 and "What came out, in percent" in said[-6:]
    assert said[-1].startswith("shortcut gets ") and said[-2].startswith("composition-noise gets ")
    for place in PLACES:
        assert (tmp_path / place.replace("DEMO", "demo")).exists(), place
    clear(tmp_path / "demo")
    assert list(tmp_path.iterdir()) == []


def test_the_tour_replaces_nothing_but_a_tour(tmp_path: Path) -> None:
    (tmp_path / "world").mkdir()
    (tmp_path / "thesis.tex").touch()
    with pytest.raises(BadInput, match=r"expected a new folder or an earlier demo, got thesis\.tex in it"):
        clear(tmp_path)
    assert (tmp_path / "world").is_dir()


def test_serving_without_the_web_packages_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.startswith(("questree.show.page", "uvicorn"))]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    with pytest.raises(BadInput, match=r"expected the package uvicorn.*pip install 'questree\[web\]'"):
        app(["serve", str(tmp_path)], exit_on_error=False, result_action="return_value")
