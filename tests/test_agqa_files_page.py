"""docs/agqa-files.md: its commands work one after the other, and it explains every field and column."""

import json
from pathlib import Path

from questree.benchmarks.agqa.records import TEST
from questree.formats.agqa import HEADER
from questree.formats.agqa_import import COLUMNS
from test_pages import ROOT, commands
from worlds import exported_worlds as made
from worlds.commands import run

PAGE = "docs/agqa-files.md"


def test_the_commands_of_the_page_work_one_after_the_other(tmp_path: Path) -> None:
    made.select_every(made.run_of(made.random_facts().between(0, 2), tmp_path / "RUN"), 40)
    for line in ("decompose RUN --workers 1", "export decomp RUN --out DAGS --workers 1"):
        run(f"questree {line} --quiet", tmp_path)
    lines = commands(PAGE)
    assert [line.split()[1] for line in lines[:6]] == ["export", "export", "import", "answer", "export", "import"]
    for line in lines:
        run(f"{line} --quiet", tmp_path)
    assert json.loads((tmp_path / "FILE").read_text())["disagreements"] == []
    assert made.content(tmp_path / "AGAIN") == made.content(tmp_path / "DIR")
    assert (tmp_path / "ALL" / "AGQA_unbalanced").is_dir()
    dags = {name: own for name, own in made.content(tmp_path / "DAGS").items() if not name.startswith("csvs")}
    assert made.content(tmp_path / "DAGS_AGAIN") == dags


def test_the_page_explains_every_field_and_column() -> None:
    page = (ROOT / PAGE).read_text("utf-8")
    own = [name for name in COLUMNS if name not in TEST]
    for name in (*TEST, *own, *HEADER.strip().strip(",").split(",")):
        assert f"`{name}`" in page, f"{PAGE} does not explain {name}"
