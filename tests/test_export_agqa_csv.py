"""The CSV files of the baselines: their rows, their numbers, and where validation begins."""

import csv
from pathlib import Path

import polars as pl
import pytest

from questree.formats.agqa import Numbering, boundary, numberings, runs
from worlds import exported_worlds as made


def rows(release: Path, part: str, kind: str) -> list[dict[str, str]]:
    with (release / "csvs" / f"{part}_frameqa_question-{kind}.csv").open(newline="") as file:
        return list(csv.DictReader(file))


def test_rows_are_the_balanced_questions_in_order(release: Path) -> None:
    records = made.records(release, "balanced", "train") | made.records(release, "balanced", "test")
    found = [row for part in ("Train", "Valid", "Test") for row in rows(release, part, "balanced")]
    assert [row["key"] for row in found] == list(records)
    for row in found:
        record = records[row["key"]]
        assert list(row) == ["", "key", "question", "answer", "vid_id", "gif_name", "description"]
        assert (row["question"], row["answer"]) == (record["question"], record["answer"])
        assert row["vid_id"] == row["gif_name"] == record["video_id"]
        assert row["description"] == "none"


@pytest.mark.parametrize("kind", ["balanced", "compo", "steps_templ"])
def test_rows_are_numbered_through_training_and_validation(release: Path, kind: str) -> None:
    train, valid, test = (rows(release, part, kind) for part in ("Train", "Valid", "Test"))
    assert [int(row[""]) for row in train + valid] == list(range(len(train) + len(valid)))
    assert [int(row[""]) for row in test] == list(range(len(test)))
    assert len(train) >= 0.9 * (len(train) + len(valid)) - 1
    assert valid and not {row["vid_id"] for row in train} & {row["vid_id"] for row in valid}


@pytest.mark.parametrize(("kind", "flag"), [("compo", "novel_comp"), ("steps_templ", "more_steps")])
def test_what_is_tested_is_not_trained_on(release: Path, kind: str, flag: str) -> None:
    for split, parts, wanted in (("train", ("Train", "Valid"), 0), ("test", ("Test",), 1)):
        records = made.records(release, "balanced", split)
        found = [row["key"] for part in parts for row in rows(release, part, kind)]
        assert found == [id for id, record in records.items() if record[flag] == wanted]
        assert found


def test_validation_begins_with_a_video() -> None:
    videos = pl.Series(["a", "b", "c", "d"])
    assert boundary(videos, pl.Series([5, 3, 3, 9]).to_numpy()) == 20  # 18 is inside d, and nothing comes after it
    assert boundary(videos, pl.Series([5, 3, 10, 2]).to_numpy()) == 18  # exactly where d begins
    assert boundary(videos, pl.Series([5, 3, 11, 1]).to_numpy()) == 19
    assert boundary(pl.Series(["a", "b", "a"]), pl.Series([9, 0, 1]).to_numpy()) == 10  # the same video goes on


def test_every_piece_knows_where_its_rows_begin() -> None:
    def piece(*questions: tuple[str, str, int, int]) -> pl.DataFrame:
        return runs(pl.DataFrame(questions, schema=["split", "video", "novel_comp", "more_steps"], orient="row"))

    first = piece(*[("train", "a", 0, 0)] * 8, ("train", "a", 1, 0), ("test", "b", 1, 0))
    second = piece(("train", "c", 0, 1), ("test", "b", 0, 0), ("test", "b", 1, 1))
    places = numberings([first, second])
    assert places[1]["", "train"] == Numbering(9, 9)  # nine of ten rows are behind it: validation begins here
    assert places[1]["compo", "train"] == Numbering(8, 8)
    assert places[1]["steps_templ", "train"] == Numbering(9, 9)
    assert places[1]["", "test"] == Numbering(1, 3)
    assert places[1]["compo", "test"] == Numbering(1, 2)
    assert places[1]["steps_templ", "test"] == Numbering(0, 1)
