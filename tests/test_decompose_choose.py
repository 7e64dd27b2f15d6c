"""Sub-questions to train on: published answers of training videos, made hard to guess."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import polars as pl
import pytest

from conftest import copy
from questree.domains.video import VIDEO
from questree.faults import BadInput
from questree.formats.decomp import export_decomp
from questree.notation.own import parse
from questree.stages.balance.levelling import Smoothing
from questree.stages.decompose.choose import choose, smoothed, timeless
from questree.stages.decompose.dag_shards import DecomposeOptions, decompose
from questree.tables.facts import VIDEOS
from questree.tables.run import Run
from worlds.decomposed import FORMS, Stored, shards
from worlds.exported_worlds import run_of
from worlds.small import facts


@pytest.fixture(scope="module")
def run(asked_run: Run, tmp_path_factory: pytest.TempPathFactory) -> Run:
    run = copy(asked_run, tmp_path_factory.mktemp("chosen"))
    questions = pl.concat([pl.read_parquet(path) for path in sorted(run.questions.glob("*/questions.parquet"))])
    run.balanced.mkdir()
    questions.select("video", "number").gather_every(11).write_parquet(run.balanced / "balanced.parquet")
    decompose(run, DecomposeOptions(balanced=True, closed=False), pool=ThreadPoolExecutor(1))
    return run


def test_a_program_without_its_time_is_its_group() -> None:
    one = "within(interaction($s0, $s1), before($s2))"
    other = "within(interaction($s0, $s1), between($s2, longest()))"
    plain = "interaction($s0, $s1)"
    assert timeless(parse(one, VIDEO), FORMS) == timeless(parse(other, VIDEO), FORMS) == (plain, ["s0", "s1"])
    timed = "both(within(doing($s0), while($s1)), within(doing($s2), while($s1)))"
    assert timeless(parse(timed, VIDEO), FORMS) == ("both(doing($s0), doing($s1))", ["s0", "s2"])
    assert timeless(parse("first($s0, after($s1))", VIDEO), FORMS) == ("first($s0, whole())", ["s0"])


def test_two_answers_are_made_equal_and_a_single_one_says_nothing() -> None:
    table = pl.DataFrame(
        {"type": ["a"] * 5 + ["b"] * 3, "answer": [1, 1, 1, 0, 0, 1, 1, 1], "drawn": [5, 1, 3, 2, 4, 1, 2, 3]}
    )
    kept = smoothed(table, ["type"], Smoothing())
    assert kept.rows() == [("a", 1, 1), ("a", 1, 3), ("a", 0, 2), ("a", 0, 4)], "the smallest numbers stay"


def test_only_published_answers_of_training_videos_are_chosen(run: Run) -> None:
    told = choose(run)
    chosen = pl.read_parquet(run.decomposed / "subquestions.parquet")
    assert 0 < len(chosen) == sum(told.after.values()) < sum(told.by_type.values()) < sum(told.before.values())
    train = run.table("facts", VIDEOS).with_row_index("video").filter(split="train")["video"]
    assert set(chosen["video"]) <= set(train)
    size = 5  # videos per shard
    for number, folder in enumerate(shards(run)):
        stored = Stored.read(folder, executed=False)
        own = chosen.filter(pl.col("video") // size == number)
        nodes = stored.nodes[own["node"].to_list()]
        assert nodes["video"].to_list() == own["video"].to_list()
        assert nodes["answer"].null_count() == 0
    assert choose(run) == told and chosen.equals(pl.read_parquet(run.decomposed / "subquestions.parquet")), (
        "the same again"
    )


def test_the_chosen_ones_are_exported_with_the_questions_of_training_videos(run: Run, tmp_path: Path) -> None:
    choose(run)
    export_decomp(run, tmp_path / "out", pool=ThreadPoolExecutor(1))
    place = tmp_path / "out" / "csvs"
    assert sorted(path.name for path in place.iterdir()) == [
        "Test_frameqa_question-balanced-decomp.csv",
        "Train_frameqa_question-balanced-augmented.csv",
        "Train_frameqa_question-balanced-decomp.csv",
    ]
    every, some = (
        pl.read_csv(place / f"Train_frameqa_question-balanced-{kind}.csv") for kind in ("decomp", "augmented")
    )
    asked = every.filter(~pl.col("key").str.contains("-s"))
    assert set(asked["key"]) < set(some["key"]) < set(every["key"])
    assert not some["key"].is_duplicated().any() and some[""].to_list() == list(range(len(some)))
    chosen = pl.read_parquet(run.decomposed / "subquestions.parquet")
    texts = [Stored.read(folder, executed=False).nodes for folder in shards(run)]
    ids = run.table("facts", VIDEOS)["id"]
    wanted = {(ids[video], texts[video // 5]["text"][node]) for video, node in chosen.iter_rows()}
    assert wanted == set(some.filter(pl.col("key").str.contains("-s")).select("vid_id", "question").iter_rows()) | (
        wanted & set(asked.select("vid_id", "question").iter_rows())
    )


def test_of_no_questions_none_are_chosen(tmp_path: Path) -> None:
    """Nothing to ask about an empty video; nothing hard to guess about one where all is yes."""
    empty = run_of(facts("video A train"), tmp_path / "empty")
    assert decompose(empty, DecomposeOptions(invalid_actions=1), pool=ThreadPoolExecutor(1)).questions == 0
    assert choose(empty).after == {}
    assert export_decomp(empty, tmp_path / "out", pool=ThreadPoolExecutor(1)) == {
        f"unbalanced_{split}_hierarchies": {"DAGs": 0, "isolated": 0} for split in ("train", "test")
    }
    table = pl.DataFrame(schema={"type": pl.String, "answer": pl.UInt8, "drawn": pl.UInt64})
    assert smoothed(table, ["type"], Smoothing()).is_empty()


def test_without_dags_there_is_nothing_to_choose(asked_run: Run) -> None:
    with pytest.raises(BadInput, match="questree decompose"):
        choose(asked_run)
