"""Splits of a run: what is held out, what is learnt, direct twins, and proofs that can fail."""

import json
import re
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from conftest import copy
from judges import facts as judge
from judges.naive_compositions import said
from questree.benchmarks.agqa.editions import SECOND
from questree.benchmarks.agqa.held_out import INDIRECT, NOVEL, held_out
from questree.benchmarks.agqa.templates import TEMPLATES
from questree.cli.stages import split as command
from questree.faults import BadInput
from questree.stages.again import split_again
from questree.stages.balance.levelling import BalanceOptions
from questree.stages.balance.rounds import balance
from questree.stages.questions import Bank
from questree.stages.split.compositions import LISTS, Says
from questree.stages.split.declared import HeldOutComposition, Split
from questree.stages.split.engine import SplitOptions
from questree.stages.split.language import flag
from questree.stages.split.recipes import warnings
from questree.stages.split.rows import video_rows
from questree.stages.split.steps import most_steps
from questree.stages.split.videos import TWINS, read_split, split
from questree.tables.questions import QUESTIONS, read_balanced
from questree.tables.run import Run
from worlds.splits import proved

OWN = """
splits:
  standing-up:
    held out:
      - has(before, action="standing up") & ~has(first)
      - has(interaction, relation="holding", object="dish")
  long:
    held out: steps > 3
more steps:
  objWhat: 2
"""


@pytest.fixture(scope="module")
def split_run(asked_run: Run, tmp_path_factory: pytest.TempPathFactory) -> Run:
    """All questions of the run, split in AGQA's ways and in our own."""
    folder = tmp_path_factory.mktemp("split")
    run = copy(asked_run, folder)
    (folder / "own.yaml").write_text(OWN)
    split(run, SplitOptions(file=folder / "own.yaml"), workers=1)
    return run


def questions(run: Run) -> pl.DataFrame:
    return pl.concat([QUESTIONS.read(folder) for folder in Bank(run).folders()])


def sides(run: Run, name: str) -> dict[str, pl.DataFrame]:
    table = questions(run)
    return {side: table.join(rows, on=["video", "number"]) for side, rows in read_split(run, name).items()}


def test_a_video_is_for_training_or_for_testing(split_run: Run) -> None:
    found = sides(split_run, "videos")
    said = split_run.load("facts").videos["split"]
    assert {said[video] for video in found["train"]["video"].unique()} == {"train"}
    assert {said[video] for video in found["test"]["video"].unique()} == {"test"}
    assert len(found["train"]) + len(found["test"]) == len(questions(split_run))


def test_programs_say_what_is_novel(random_run: Run) -> None:
    """A few questions of every list and some others, against a judge that walks their programs."""
    bank, seen = Bank(random_run), Counter[str]()
    videos = judge.read(random_run.load("facts"))
    for folder in bank.folders()[:2]:
        shard = bank.shard(folder)
        rows, marked = video_rows(shard), shard.questions["flags"].to_numpy() & NOVEL
        holds = {name: Says(name, held_out(bank.vocabulary)).holds(rows) for name in LISTS.values()}
        looked_at = [*(found & (marked == 0) for found in holds.values()), *holds.values(), marked > 0, marked == 0]
        drawn = np.random.default_rng(1)
        for at in {int(one) for own in map(np.flatnonzero, looked_at) for one in drawn.permutation(own)[:40]}:
            question = shard.question(at)
            expected = said(question.program, videos[question.video])
            assert {name for name, found in holds.items() if found[at]} == expected, question.text
            seen.update(expected or {""})
            seen.update({"unmarked"} if expected and not marked[at] else {"marked alone"} if marked[at] else ())
    assert min(seen.values()) > 5 and {*seen} == {*LISTS.values(), "", "unmarked", "marked alone"}


def test_novel_compositions_are_in_test_alone(split_run: Run) -> None:
    found, bank = sides(split_run, "novel-compositions"), Bank(split_run)
    ids = {side: {*table.select("video", "number").rows()} for side, table in found.items()}
    train = (split_run.load("facts").videos["split"] == "train").to_numpy()
    for folder in bank.folders():
        rows = video_rows(bank.shard(folder))
        novel = np.logical_or.reduce([Says(name, held_out(bank.vocabulary)).holds(rows) for name in LISTS.values()])
        for place, own in zip(rows.questions.select("video", "number").rows(), novel.tolist(), strict=True):
            assert (place in ids["train"]) == (train[place[0]] and not own)
            assert (place in ids["test"]) == (not train[place[0]] and own)


def test_as_released_flags_decide_and_programs_tell_what_is_left_in_train(asked_run: Run, tmp_path: Path) -> None:
    run = copy(asked_run, tmp_path)
    made = {each.name: each for each in split(run, SplitOptions(as_released=True), workers=1)}
    found = sides(run, "novel-compositions")
    assert len(found["train"]) and (found["train"]["flags"] & NOVEL == 0).all()
    assert len(found["test"]) and (found["test"]["flags"] & NOVEL > 0).all()
    left = [text for text in made["novel-compositions"].warnings if "as released" in text]
    assert re.match(r"novel-compositions: as released, [\d,]+ questions of train have says\(sequencing\): ", left[0])
    split_again(run, json.loads((run.folder / "splits" / "report.json").read_text())["options"], 1, run)
    assert sides(run, "novel-compositions")["train"].equals(found["train"])


def test_more_steps_are_in_test_alone(split_run: Run) -> None:
    found = sides(split_run, "more-steps")
    most = {row[0]: row[1] for row in found["train"].group_by("template").agg(pl.col("steps").max()).rows()}
    least = found["test"].group_by("template").agg(pl.col("steps").min()).rows()
    assert least and all(steps > most.get(template, 0) for template, steps in least)
    assert most[6] == 2  # objWhat, as the file says


def test_own_splits_hold_out_what_they_say(split_run: Run) -> None:
    found = sides(split_run, "long")
    assert (found["train"]["steps"] <= 3).all() and (found["test"]["steps"] > 3).all()
    words = split_run.vocabulary()
    holding, dish = words.relation_at["holding"], words.object_at["dish"]
    asked = (pl.col("template") == 1) & (pl.col("relation") == holding) & (pl.col("x") == dish)  # objRelExists
    found = sides(split_run, "standing-up")
    assert len(questions(split_run).filter(asked)) and found["train"].filter(asked).is_empty()
    assert len(found["train"]) and len(found["test"])


def test_twins_ask_the_same_directly(split_run: Run) -> None:
    table = questions(split_run)
    twins = TWINS.read(split_run.folder / "splits" / "indirect")
    assert len(twins) > 100
    rows = {(row["video"], row["number"]): row for row in table.iter_rows(named=True)}
    for video, number, twin in twins.sample(200, seed=1).rows():
        asked, direct = rows[video, number], rows[video, twin]
        assert asked["flags"] & INDIRECT and not direct["flags"] & INDIRECT
        assert [asked[name] for name in ("template", "relation", "x", "y")] == [
            direct[name] for name in ("template", "relation", "x", "y")
        ]
        assert direct["time"] == 0


@pytest.mark.processes
def test_the_balanced_selection_is_split_if_there_is_one(asked_run: Run, tmp_path: Path) -> None:
    run = copy(asked_run, tmp_path)
    balance(run, BalanceOptions(), workers=1)
    split(run, SplitOptions(), workers=2)
    found = read_split(run, "videos")
    assert pl.concat(found.values()).sort("video", "number").equals(read_balanced(run.balanced))
    steps = questions(run).join(found["train"], on=["video", "number"]).group_by("template").agg("steps")
    most = json.loads((run.folder / "splits" / "report.json").read_text())["options"]["more steps"]
    for code, own in steps.rows():  # three of four balanced training questions, or a few more, have no more steps
        name = TEMPLATES[code].name
        at_most = next(m for m in sorted(own) if 4 * sum(each <= m for each in own) >= 3 * len(own))
        assert most[name] == (5 if name == "relTime" else at_most)


def test_a_held_out_composition_in_train_is_an_error_with_examples(asked_run: Run, tmp_path: Path) -> None:
    run = copy(asked_run, tmp_path)
    (tmp_path / "own.yaml").write_text("splits: {leaky: {held out: has(before), train: type(binary)}}")
    with pytest.raises(BadInput) as bad:
        split(run, SplitOptions(file=tmp_path / "own.yaml"), workers=1)
    assert "questions of train have has(before): " in str(bad.value)
    ids = set(run.load("facts").videos["id"])
    assert str(bad.value).split("has(before): ")[1].split("-")[0] in ids
    assert not (run.folder / "splits").exists()


def test_a_video_on_both_sides_is_an_error(asked_run: Run, tmp_path: Path) -> None:
    bank = Bank(asked_run)
    rows = video_rows(bank.shard(bank.folders()[0]))
    every = np.ones(len(rows), bool)
    (proof,) = proved([Split("leaky")], rows, {"train": every, "test": every}, tmp_path)
    (fault,) = proof.faults("videos", bank.ids)
    assert f"videos are in train and in test: {bank.ids[0]}" in fault.message


def test_a_part_that_never_occurs_in_train_is_a_warning(asked_run: Run, tmp_path: Path) -> None:
    bank = Bank(asked_run)
    rows = video_rows(bank.shard(bank.folders()[0]))
    part, first = flag("novel"), rows.questions["video"].to_numpy() == 0
    small = Split("small", (HeldOutComposition(flag("nc_seq"), (part,)),))
    (proof,) = proved([small], rows, {"train": first & ~part.holds(rows), "test": ~first}, tmp_path)
    assert proof.faults("videos", bank.ids) == []
    assert proof.warnings() == ["small: nothing in train has novel"]


def test_thresholds_keep_three_quarters_of_training() -> None:
    rows = [(True, 0, 1, 50), (True, 0, 3, 25), (True, 0, 5, 25)]
    rows.append((False, 0, 1, 1000))  # of test videos: does not count
    rows += [(False, 1, 1, 74), (False, 1, 3, 26)]  # no question of training videos
    counts = pl.DataFrame(rows, ["train", "template", "steps", "n"], orient="row")
    found = most_steps(counts, {"relExists": 4}, SECOND)
    assert found[:3] == (3, 3, 4)
    assert found[[t.name for t in TEMPLATES].index("relTime")] == 5  # known from the release


def test_all_faults_of_a_file_come_at_once(asked_run: Run, tmp_path: Path) -> None:
    given = {"a": "has(x)", "b": "nowel", "videos": "novel"}
    lines = [f"  {name}: {{held out: {text}}}" for name, text in given.items()]
    (tmp_path / "own.yaml").write_text("\n".join(["splits:", *lines]))
    with pytest.raises(BadInput) as bad:
        split(copy(asked_run, tmp_path), SplitOptions(file=tmp_path / "own.yaml"))
    assert [fault.place.rpartition("own.yaml, ")[2] for fault in bad.value.faults] == [
        "a, held out",
        "b, held out",
        "videos",
    ]


@pytest.mark.parametrize("text", ["splits: [", "splits: {a: {holdout: novel}}", "more steps: {objWhy: 3}"])
def test_a_file_that_is_no_file_of_splits_is_refused(asked_run: Run, tmp_path: Path, text: str) -> None:
    (tmp_path / "own.yaml").write_text(text)
    with pytest.raises(BadInput, match=r"own\.yaml"):
        split(asked_run, SplitOptions(file=tmp_path / "own.yaml"))


def test_the_order_of_a_shard_does_not_matter(asked_run: Run) -> None:
    bank = Bank(asked_run)
    shard = bank.shard(bank.folders()[0])
    mixed = shard.questions.with_row_index().sample(fraction=1, shuffle=True, seed=1)
    rows = video_rows(shard)
    other = video_rows(replace(shard, questions=mixed.drop("index")))
    assert (other.code == rows.code[mixed["index"].to_numpy()]).all()


def test_the_command_prints_each_split(asked_run: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = copy(asked_run, tmp_path)
    command(run.folder, more_steps="objWhat=3", workers=1)
    out = capsys.readouterr().out
    assert all(name in out for name in ("videos", "novel-compositions", "more-steps", "indirect"))
    with pytest.raises(BadInput, match="expected TEMPLATE=STEPS"):
        command(run.folder, more_steps="objWhy=3")


def test_parts_that_are_missing_alike_are_one_line() -> None:
    missing = [f"more-steps: nothing in train has template({name})" for name in ("a", "b", "c", "d", "e")]
    said = [*warnings([*missing, "videos: train is empty", "novel-compositions: nothing in train has has(first)"])]
    assert said == [
        "warning: more-steps: nothing in train has template(a), template(b), template(c) and 2 more",
        "warning: videos: train is empty",
        "warning: novel-compositions: nothing in train has has(first)",
    ]
