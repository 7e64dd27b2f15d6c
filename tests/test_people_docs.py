"""The page about people works from top to bottom; the bench loses nothing to killed servers."""

from pathlib import Path

import msgspec
import pytest

from bench.people import people
from test_pages import commands
from worlds.asked_people import copied
from worlds.commands import run


def test_the_commands_of_the_page_work(notebook: Path, tmp_path: Path) -> None:
    copied(notebook, "run", tmp_path)
    lines = commands("docs/people.md")
    assert len(lines) == 9
    for line in lines:
        if " serve " not in line:  # which would not end
            run(line, tmp_path)
    assert (tmp_path / "rejected.csv").read_text().startswith("id,reason\n")


@pytest.mark.processes
def test_servers_that_are_killed_lose_nothing_that_was_saved(tmp_path: Path) -> None:
    people(items=500, answers=5, kills=3, videos=2, json=tmp_path / "bench.json")
    found = msgspec.json.decode((tmp_path / "bench.json").read_bytes())
    assert found["lost"] == 0
    assert found["saved"] > 0
    assert found["median_ms"] > 0
