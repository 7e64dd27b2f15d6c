"""Stored models scored shard by shard: the rows are those of all DAGs at once."""

from pathlib import Path

import pytest

from questree.api import score_sets
from questree.scoring.compared import Scoring
from worlds.commands import questree

HOW = Scoring(resamples=50)
WRONG = Scoring("wrong", 50)


@pytest.mark.parametrize("split", [None, "train", "test"])
def test_rows_are_those_of_all_dags_at_once(notebook: Path, split: str | None) -> None:
    run, said = notebook / "run", [list[str](), list[str]()]
    whole = score_sets.dags(run, split=split, how=HOW, say=said[0].append).of_files((), ["perception-noise"])
    parts = score_sets.scored_dags((), ["perception-noise"], run, split=split, how=HOW, say=said[1].append)
    assert whole.rows == parts.rows
    assert said[0] == said[1]
    assert sorted(map(str, whole.scored["perception-noise"].tallies.columns)) == sorted(
        map(str, parts.scored["perception-noise"].tallies.columns)
    )


def test_types_that_are_left_out_are_left_out_by_workers_too(notebook: Path, tmp_path: Path) -> None:
    (tmp_path / "types.txt").write_text("Interaction\nChoose\n")
    with score_sets.leaving_out(tmp_path / "types.txt"):
        whole = score_sets.dags(notebook / "run", how=WRONG).of_files((), ["perception-noise"])
        parts = score_sets.scored_dags((), ["perception-noise"], notebook / "run", how=WRONG)
    assert whole.rows == parts.rows


def test_a_split_without_questions_is_refused(notebook: Path) -> None:
    done = questree("score", notebook / "run", "--split", "dev", "--quiet")
    assert (done.returncode, done.stderr.endswith("no questions of the split dev\n")) == (1, True)
