"""Generation as people run it: it depends on no shard, worker or interruption, and every row means what it says."""

import os
import shutil
import signal
import subprocess
import sys
import time
from concurrent.futures import Executor, ThreadPoolExecutor
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from conftest import copy
from questree.benchmarks.agqa.templates import TEMPLATES
from questree.domains.video import videos
from questree.faults import BadInput
from questree.readings.answer import answer
from questree.readings.categories import steps
from questree.stages.generate.shards import GenerateOptions, generate
from questree.stages.questions import Bank
from questree.tables.questions import QUESTIONS
from questree.tables.run import Run
from worlds.commands import questree


def rows(run: Run) -> pl.DataFrame:
    return pl.read_parquet(run.questions / "*" / "questions.parquet").sort("video", "number")


def said(run: Run) -> list[str]:
    found = [
        pl.read_parquet(folder / "questions.parquet").hstack(pl.read_parquet(folder / "text.parquet"))
        for folder in Bank(run).folders()
    ]
    return pl.concat(found).sort("video", "number")["question"].to_list()


@pytest.mark.parametrize("shard", [1, 4, 100])
def test_questions_do_not_depend_on_the_shards(asked_run: Run, tmp_path: Path, shard: int) -> None:
    run = copy(asked_run, tmp_path)
    generate(run, GenerateOptions(shard=shard, text=True, rare_below=3), workers=1)
    assert rows(run).equals(rows(asked_run))
    assert said(run) == said(asked_run)


def test_questions_do_not_depend_on_the_executor(asked_run: Run, tmp_path: Path) -> None:
    run = copy(asked_run, tmp_path)
    pool: Executor = ThreadPoolExecutor(2)
    counts = generate(run, GenerateOptions(shard=5, text=True, rare_below=3), pool=pool)
    for mine, other in zip(Bank(run).folders(), Bank(asked_run).folders(), strict=True):
        for path in sorted(mine.iterdir()):
            assert path.read_bytes() == (other / path.name).read_bytes()
    assert sum(tally.kept for tally in counts.values()) == len(rows(run))


def test_another_seed_chooses_other_references_and_frames(asked_run: Run, tmp_path: Path) -> None:
    run = copy(asked_run, tmp_path)
    generate(run, GenerateOptions(seed=2, shard=5, text=True, rare_below=3), workers=1)
    assert said(run) != said(asked_run)


def test_an_interrupted_run_goes_on_where_it_stopped(asked_run: Run, tmp_path: Path) -> None:
    run = copy(asked_run, tmp_path)
    whole = {path.relative_to(run.questions): path.read_bytes() for path in run.questions.rglob("*.*")}
    command = "generate RUN --shard 1 --rare-below 3 --text --workers 1 --quiet".replace("RUN", str(run.folder)).split()
    work = run.folder / ".questions.part"
    process = subprocess.Popen([sys.executable, "-m", "questree", *command], start_new_session=True)
    try:
        while not (work / "00002").is_dir():
            assert process.poll() is None, "it ended before it could be interrupted"
            time.sleep(0.01)
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    finished = {path: path.stat().st_mtime_ns for path in work.glob("*/questions.parquet")}
    assert whole == {path.relative_to(run.questions): path.read_bytes() for path in run.questions.rglob("*.*")}
    subprocess.run([sys.executable, "-m", "questree", *command], check=True)
    for path, written in finished.items():
        assert (run.questions / path.relative_to(work)).stat().st_mtime_ns == written, "a finished shard was made again"
    assert rows(run).equals(rows(asked_run))
    assert not work.exists()


def test_other_options_throw_finished_shards_away(asked_run: Run, tmp_path: Path) -> None:
    run = copy(asked_run, tmp_path)
    work = run.folder / ".questions.part"
    (work / "00000").mkdir(parents=True)
    (work / "plan.json").write_text("{}")
    generate(run, GenerateOptions(shard=5, text=True, rare_below=3), workers=1)
    assert rows(run).equals(rows(asked_run))


def test_every_row_is_a_program_with_that_answer_and_text(asked_run: Run) -> None:
    """The plain operators answer the program as the table says, and its text is the one made by columns."""
    bank = Bank(asked_run)
    world = videos(asked_run.load("facts"), bank.vocabulary)
    seen: set[str] = set()
    for folder in bank.folders():
        shard, text = bank.shard(folder), pl.read_parquet(folder / "text.parquet")["question"]
        codes = shard.questions["template"].to_numpy()
        for code in np.unique(codes):
            at = np.flatnonzero(codes == code)
            for row in at[:: max(len(at) // 8, 1)].tolist():
                question = shard.question(row)
                assert question.text == text[row]
                assert answer(question.program, world.ask([question.video]), {}).tolist() == [question.row["answer"]]
                assert steps(question.program) == question.row["steps"]
                seen.add(question.template.name)
    rare = {"actLast", "actShortest", "actWhatBefore", "objWhatGeneral"}  # too rare for a dozen videos
    assert {template.name for template in TEMPLATES} - seen <= rare


def test_numbers_count_the_questions_of_a_video(asked_run: Run) -> None:
    for _, numbers in rows(asked_run).group_by("video"):
        assert numbers["number"].sort().to_list() == list(range(len(numbers)))


def test_no_question_takes_more_than_eight_steps(asked_run: Run) -> None:
    assert rows(asked_run)["steps"].max() == 8
    assert rows(asked_run).columns == list(QUESTIONS.columns)


def test_a_question_is_found_by_its_id(asked_run: Run) -> None:
    bank = Bank(asked_run)
    row = rows(asked_run).row(17, named=True)
    found = bank.find(f"{bank.ids[row['video']]}-{row['number']}")
    assert found.row == row


@pytest.mark.parametrize("name", ["nobody-3", "", "x"])
def test_an_unknown_question_is_said_in_one_line(asked_run: Run, name: str) -> None:
    with pytest.raises(BadInput, match="no question"):
        Bank(asked_run).find(name)


def test_questions_are_wanted_before_they_are_looked_at(cleaned_run: Run) -> None:
    with pytest.raises(BadInput, match="`questree generate` writes it"):
        Bank(cleaned_run)


@pytest.mark.parametrize(
    ("option", "value", "said"),
    [
        ("--shard", 0, "error: --shard: expected at least 1, got 0"),
        ("--references", -1, "error: --references: expected at least 0, got -1"),
        ("--rare-below", -1, "error: --rare-below: expected at least 0, got -1"),
        ("--workers", 0, "error: --workers: expected at least 1, got 0"),
    ],
)
def test_bad_options_are_refused_and_the_questions_stay(asked_run: Run, option: str, value: int, said: str) -> None:
    before = len(rows(asked_run))
    found = questree("generate", asked_run.folder, option, value)
    assert (found.returncode, found.stderr) == (1, said + "\n")
    assert len(rows(asked_run)) == before


def test_questions_of_other_facts_are_refused(asked_run: Run, tmp_path: Path) -> None:
    run = copy(asked_run, tmp_path)
    shutil.copy(run.raw / "tracks.parquet", run.facts / "tracks.parquet")
    with pytest.raises(BadInput, match="made from other facts; run `questree generate` again"):
        Bank(run)


def test_a_damaged_plan_is_said_in_one_line(asked_run: Run, tmp_path: Path) -> None:
    run = copy(asked_run, tmp_path)
    (run.questions / "plan.json").write_text("{")
    with pytest.raises(BadInput, match="damaged or missing"):
        Bank(run)


def test_a_video_without_frames_has_no_questions_and_no_text(tmp_path: Path) -> None:
    shown = '{"number": 0, "seconds": 1, "objects": [{"class": "cup", "relations": ["holding"]}]}'
    bare = '{"id": "v", "split": "train", "length": 5, "width": 9, "height": 9, "frames": [], "actions": []}'
    video = f'{{"videos": [{bare}, {{"id": "w", "frames": [{shown}]}}]}}'
    (tmp_path / "own.json").write_text(video)
    for command in ("ingest json own.json --out run", "augment run", "generate run --text"):
        assert questree(*command.split(), "-q", folder=tmp_path).returncode == 0
    assert rows(Run(tmp_path / "run"))["video"].unique().to_list() == [1]
