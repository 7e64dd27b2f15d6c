"""Commands printed in README.md and docs/questions.md are commands that work."""

import re
from pathlib import Path

import pytest

from conftest import copy
from questree.stages.questions import Bank
from questree.tables.run import Run
from worlds.commands import run

ROOT = Path(__file__).parents[1]


def commands(page: str) -> list[str]:
    """The questree lines of a page's sh blocks, without their comments."""
    blocks = re.findall(r"```sh\n(.*?)```", (ROOT / page).read_text("utf-8"), re.S)
    lines = [line.split("  #")[0].strip() for block in blocks for line in block.splitlines()]
    return [line for line in lines if line.startswith("questree ")]


def test_the_readme_works_from_top_to_bottom(tmp_path: Path) -> None:
    lines = commands("README.md")
    assert [line.split()[1] for line in lines] == [
        *(
            "synth",
            "ingest",
            "synth",
            "ingest",
            "generate",
            "balance",
            "split",
            "decompose",
            "answer",
            "score",
            "program",
        )
    ]
    for line in lines:
        run(line, tmp_path)


def test_the_page_on_questions_works(asked_run: Run, tmp_path: Path) -> None:
    folder = copy(asked_run, tmp_path).folder
    name = f"{Bank(asked_run).ids[0]}-0"
    for line in commands("docs/questions.md"):
        run(line.replace("VIDEO-NUMBER", name).replace("RUN", str(folder)) + " --quiet", tmp_path)


@pytest.mark.parametrize(
    "page",
    [
        "README.md",
        "CONTRIBUTING.md",
        "CHANGELOG.md",
        *sorted(str(p.relative_to(ROOT)) for p in (ROOT / "docs").glob("*.md")),
    ],
)
def test_links_between_pages_lead_somewhere(page: str) -> None:
    prose = re.sub(r"^```.*?^```", "", (ROOT / page).read_text("utf-8"), flags=re.S | re.M)  # code has brackets too
    for target in re.findall(r"\]\(([^)#]+)\)", prose):
        if not target.startswith("http"):
            assert ((ROOT / page).parent / target).exists(), f"{page} points at {target}"


def test_every_page_is_reachable_from_the_readme() -> None:
    text = (ROOT / "README.md").read_text("utf-8")
    for page in (ROOT / "docs").glob("*.md"):
        assert page.name in text, f"README.md does not name docs/{page.name}"
