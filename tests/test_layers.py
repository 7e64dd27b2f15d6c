"""Imports point down only: the layers of docs/architecture.md, checked on the import statements themselves."""

import ast
import re
from pathlib import Path

import pytest

import questree

ROOT = Path(questree.__file__).parent
LAYERS = [  # from the bottom; a module may import its own layer's package and anything in the rows above its own
    {"faults", "progress", "places", "extensions", "workers", "columns", "svg", "unforeseen"},
    {"terms", "vocabulary", "tables", "endpoints"},
    {"readings", "rules", "clusters"},
    {"domains", "sources", "synth"},
    {"notation", "draw"},
    {"benchmarks"},
    {"metrics", "search", "said"},
    {"stages"},
    {"formats"},
    {"models"},
    {"scoring"},
    {"networks"},
    {"show"},
    {"people", "ask", "training"},
    {"features"},
    {"api"},
    {"plugins", "__init__"},
    {"cli", "__main__"},
]
HEIGHT = {package: height for height, layer in enumerate(LAYERS) for package in layer}
# neighbours that may look at each other
ALSO = {
    ("columns", "faults"),
    ("extensions", "faults"),
    ("extensions", "places"),
    ("places", "faults"),
    ("unforeseen", "places"),
    ("workers", "extensions"),
    ("workers", "faults"),
    ("workers", "progress"),
    ("readings", "rules"),
    ("tables", "vocabulary"),
    ("__init__", "plugins"),
    ("__main__", "cli"),
}
BLIND = {  # who must not see what, although it lies below
    "sources": {"terms", "readings", "rules"},
    "synth": {"terms", "readings", "rules"},
    # scores are of tables, anybody's: no facts, no programs, no files
    "metrics": {"terms", "vocabulary", "readings", "domains", "sources", "synth", "notation", "benchmarks"},
}

# commands hold options and printing: they call `api`, and of what lies beneath it these
BENEATH = {"api", "faults", "progress", "places", "extensions", "workers", "svg"}


def package(path: Path) -> str:
    return path.relative_to(ROOT).parts[0].removesuffix(".py")


def imports(path: Path) -> list[str]:
    found: list[str] = []
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module:
            found += [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
        elif isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
    names = {name.split(".")[1] for name in found if name.startswith("questree.")}
    return sorted(name for name in names if name in HEIGHT or (ROOT / name).exists())


MODULES = sorted(ROOT.rglob("*.py"))


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_imports_point_down(path: Path) -> None:
    own = package(path)
    assert own in HEIGHT, f"{own} has no layer: add it here and to docs/architecture.md"
    for other in imports(path):
        below = HEIGHT[other] < HEIGHT[own] and other not in BLIND.get(own, set())
        assert other == own or below or (own, other) in ALSO, f"{own} must not import {other}"


@pytest.mark.parametrize("path", sorted((ROOT / "cli").glob("*.py")), ids=lambda path: path.stem)
def test_commands_call_api_and_nothing_beneath(path: Path) -> None:
    assert set(imports(path)) - BENEATH - {"cli"} == set()


def test_the_page_names_every_layer() -> None:
    page = (ROOT.parents[1] / "docs" / "architecture.md").read_text("utf-8")
    for name in HEIGHT:
        if not name.startswith("__"):
            assert name in page, f"docs/architecture.md does not mention {name}"


def test_the_page_names_files_that_are_there() -> None:
    page = (ROOT.parents[1] / "docs" / "architecture.md").read_text("utf-8")
    named = set(re.findall(r"`((?:[a-z_]+/)*[a-z_]+(?:\.py|/))`", page))
    assert len(named) > 20
    places = (ROOT, ROOT / "domains" / "images", ROOT.parents[1])
    missing = [name for name in sorted(named) if not any((place / name).exists() for place in places)]
    assert missing == []


def test_pages_name_files_that_are_there() -> None:
    """`folder/file.py` or `file.py` on any page is the end of the path of a file."""
    whole = ROOT.parents[1]
    there = [str(path) for folder in (ROOT, whole / "tests", whole / "docs") for path in folder.rglob("*.py")]
    pages = [*sorted((whole / "docs").glob("*.md")), whole / "README.md", whole / "CONTRIBUTING.md"]
    named = {
        (page.name, name)
        for page in pages
        for name in re.findall(r"`((?:[a-z_]+/)*[a-z_]+\.py)`", page.read_text("utf-8"))
    }
    assert len(named) > 50
    assert [each for each in sorted(named) if not any(path.endswith(f"/{each[1]}") for path in there)] == []
