"""Items far larger than others cost memory in proportion, or are left out and named."""

import gc
import weakref
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from conftest import copy
from questree.columns.joins import Ints
from questree.columns.sets import sets_of, size, stacked
from questree.domains.video import VIDEO
from questree.notation.own import parse
from questree.show.tags import ROOM, meet, tags
from questree.stages.generate import layout, localised
from questree.stages.questions import Bank
from questree.tables.questions import QUESTIONS
from questree.tables.run import Run
from questree.terms import fold
from worlds.commands import questree


def test_a_video_of_which_too_much_is_expected_is_left_out_and_named(cleaned_run: Run, tmp_path: Path) -> None:
    run = copy(cleaned_run, tmp_path / "run")
    videos, questions = run.load("facts").videos["id"].to_list(), layout.expected(run)
    monster = videos[int(questions.argmax())]
    done = questree("generate", run.folder, "--workers", 1, "--largest", int(np.sort(questions)[-2]))
    assert done.returncode == 0, done.stderr
    assert f"warning: video {monster}: left out, as about {questions.max():,} questions are expected of it" in (
        done.stdout + done.stderr
    )
    found = [QUESTIONS.read(folder)["video"] for folder in sorted(run.questions.glob("0*"))]
    asked = {videos[at] for at in pl.concat(found).unique()}
    assert monster not in asked and len(asked) >= len(videos) - 2
    assert Bank(run)
    for line in ("balance", "split", "decompose"):
        done = questree(line, run.folder, *([] if line == "balance" else ["--workers", 1]))
        assert done.returncode == 0, done.stderr


def test_rows_in_pieces_are_the_rows_at_once(cleaned_run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tables = []
    for name, together in (("TOGETHER", localised.TOGETHER), ("TOGETHER", 1000), ("WORDS", 70)):
        monkeypatch.setattr(localised, name, together)
        run = copy(cleaned_run, tmp_path / str(together))
        assert questree("generate", run.folder, "--workers", 1).returncode == 0
        tables.append({path.name: path.read_bytes() for path in sorted(run.questions.glob("*/*"))})
    assert tables[0] == tables[1] == tables[2]


def test_names_of_a_crowd_are_placed_in_time_and_those_of_a_few_are_kept_apart() -> None:
    """An image with 2,000 objects on one spot: the search for free places ends after the first hundred."""
    few, crowd = ([("thing", (10.0, 10.0, 60.0, 60.0))] * many for many in (20, 2000))
    seen = (0.0, 0.0, 1000.0, 800.0)
    placed = tags(few, 1.0, seen)
    assert not any(meet(one.box, other.box) for at, one in enumerate(placed) for other in placed[:at])
    assert tags(crowd, 1.0, seen)[:20] == placed
    assert len({tag.box for tag in tags(crowd, 1.0, seen)[ROOM:]}) == 1


def test_columns_of_a_program_are_let_go_once_it_is_read() -> None:
    """Without a search for what refers to itself, which comes seldom: cores of long videos would pile up."""

    def read() -> weakref.ref[Ints]:
        column = np.zeros(3)
        fold(parse("exists($object)", VIDEO), lambda leaf: column, lambda node, kids: next(iter(kids.values())))
        return weakref.ref(column)

    gc.disable()
    try:
        assert read()() is None
    finally:
        gc.enable()


@pytest.mark.parametrize("words", [10, 100])
def test_sets_are_stacked(words: int) -> None:
    parts = [
        sets_of(np.array([0, 0, 2]), np.array([3, 5, 7]), 3, words),
        sets_of(np.array([1]), np.array([9]), 2, words),
    ]
    assert size(stacked(parts)).tolist() == [2, 0, 1, 0, 1]
    assert stacked([stacked(parts), parts[1]])[5:].__len__() == 2
