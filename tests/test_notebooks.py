"""The notebooks of examples/ run in a Jupyter kernel and show what is stored in them."""

from pathlib import Path

import pytest

from worlds.notebooks import EXAMPLES, NOTEBOOKS, executed, outputs, stored

MOST = 150_000  # characters; a DAG has its script with it


def test_the_notebooks_are_there() -> None:
    names = [path.stem for path in NOTEBOOKS]
    assert names == ["build_from_my_scene_graphs", "find_where_a_model_fails", "score_my_model"]
    page = (EXAMPLES / "README.md").read_text("utf-8")
    assert all(f"{name}.ipynb" in page for name in names)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_shows_what_is_stored_in_it(path: Path, tmp_path: Path) -> None:
    """After a change that is wanted, `make notebooks` stores the new outputs."""
    before, now = outputs(stored(path)), outputs(executed(path, tmp_path))
    for (source, earlier), (_, later) in zip(before, now, strict=True):
        assert earlier == later, f"{path.name} shows something else (make notebooks stores it) after:\n{source}"
    assert any(shown for _, shown in before)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_is_small_and_of_no_machine(path: Path) -> None:
    text = path.read_text("utf-8")
    assert len(text) < MOST
    assert not any(place in text for place in (str(EXAMPLES), str(Path.home()), "/tmp/", " at 0x"))
