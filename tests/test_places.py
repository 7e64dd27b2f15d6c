"""Runs at URLs: the same commands, the same bytes, whole or not at all."""

from pathlib import Path

import pytest

from worlds import stored


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("QUESTREE_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.mark.parametrize("lines", [stored.VIDEOS, stored.IMAGES], ids=["videos", "images"])
def test_every_stage_gives_the_bytes_of_the_local_run(lines: str, tmp_path: Path) -> None:
    at = f"memory://{tmp_path.name}"
    stored.carried_out(lines, tmp_path / "here")
    stored.carried_out(lines, at)
    assert stored.content(at) == stored.content(tmp_path / "here")
