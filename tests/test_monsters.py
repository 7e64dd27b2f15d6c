"""Items far larger than others cost memory in proportion."""

import gc
import weakref
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from conftest import copy
from questree.columns.joins import Ints
from questree.columns.sets import sets_of, size, stacked
from questree.domains.video import VIDEO
from questree.domains.video.facts import first_frame, last_frame
from questree.notation.own import parse
from questree.show.tags import ROOM, meet, tags
from questree.stages.generate import cores, localised
from questree.tables.run import Run
from questree.terms import fold
from worlds.commands import questree


def test_rows_in_pieces_are_the_rows_at_once(cleaned_run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tables = []
    for place, name, together in (
        (localised, "TOGETHER", 1 << 19),
        (localised, "TOGETHER", 1000),
        (cores, "FRAMES", 70),
    ):
        monkeypatch.setattr(place, name, together)
        run = copy(cleaned_run, tmp_path / str(together))
        assert questree("generate", run.folder, "--workers", 1).returncode == 0
        tables.append({path.name: path.read_bytes() for path in sorted(run.questions.glob("*/*"))})
    assert tables[0] == tables[1] == tables[2]


def test_frames_of_long_sets_are_sought_word_by_word() -> None:
    random = np.random.default_rng(1)
    for words, filled in product((1, 3), (0.01, 0.5, 0.99)):
        frames = random.random((200, 64 * words)) < filled
        bits = np.packbits(frames, axis=1, bitorder="little").view(np.uint64)
        lo, hi = random.integers(0, 64 * words + 1, (2, 400))
        at = random.integers(0, 200, 400)
        for wanted in (True, False):
            found = first_frame(bits, lo, hi, wanted, at), last_frame(bits, lo, hi, wanted, at)
            for row, (first, last) in enumerate(zip(*found, strict=True)):
                fit = [frame for frame in range(lo[row], hi[row]) if frames[at[row], frame] == wanted]
                assert (first, last) == ((fit[0], fit[-1]) if fit else (-1, -1))


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
