"""Messy answers whose meaning is known: under `lenient` every way to score them finds what was meant."""

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from conftest import copy
from questree.api.scoring import Scoring
from questree.cli.answer import answer
from questree.cli.score import decomp
from questree.formats.decomp import export_decomp
from questree.formats.decomp_files import read_hierarchies, read_texts
from questree.metrics.answered import needed
from questree.stages.decompose.dag_shards import DecomposeOptions, decompose
from questree.stages.decompose.hierarchies import run_hierarchies
from questree.stages.decompose.question_texts import texts_by_id
from questree.tables.hierarchies import NOTHING
from questree.tables.run import Run

LENIENT, EXACT = (Scoring("wrong", 0, policy=policy) for policy in ("lenient", "exact"))
WAYS = {
    "yes": ["Yes.", "They did.", "I think yes", "<answer>yes</answer>", "Based on the video, yes."],
    "no": ["NO", "They didn't.", "\\boxed{no}", "No, the person did not do that.", '{"answer": "no"}'],
    "": ["{}.", "The {}!", "The answer is {}.", "<think>Hard to see.</think> **{}**", "Answer: {}"],
}
OTHER = {"yes": "no", "no": "yes", "before": "after", "after": "before"}
UNREAD = ["No idea.", "I'm sorry, I cannot watch videos.", ""]


@pytest.fixture(scope="module")
def run(random_run: Run, tmp_path_factory: pytest.TempPathFactory) -> Run:
    run = copy(random_run, tmp_path_factory.mktemp("policies"))
    decompose(run, DecomposeOptions(balanced=True), pool=ThreadPoolExecutor(1))
    return run


@pytest.fixture(scope="module")
def folder(run: Run, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("policies") / "out"
    export_decomp(run, out, pool=ThreadPoolExecutor(1))
    return out / "balanced_test_hierarchies"


def truths(folder: Path) -> dict[str, str]:
    """Key -> its answer, of all that have one."""
    found = read_hierarchies(folder)
    rows = pl.concat([found.nodes.select("key", "answer"), found.isolated.select("key", "answer")])
    rows = rows.filter(pl.col("answer") != NOTHING)
    return {found.keys[key]: found.words[answer] for key, answer in rows.iter_rows()}


@pytest.fixture(scope="module")
def messy(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A file of answers in other words, and the same in the words of the data: a third wrong, some say nothing."""
    true, plain, said = truths(folder), [], []
    keys = read_hierarchies(folder)
    for at, id in enumerate(keys.keys.gather(needed(keys, scored=False))):
        meant = true.get(id, "")
        meant = OTHER.get(meant, "") if at % 3 == 0 else meant
        ways = WAYS.get(meant, WAYS[""]) if meant else UNREAD
        plain.append({"id": id, "prediction": meant or "?"})
        said.append({"id": id, "prediction": ways[at % len(ways)].replace("{}", meant)})
    place = tmp_path_factory.mktemp("messy")
    for name, rows in (("messy", said), ("plain", plain)):
        (place / f"{name}.jsonl").write_text("\n".join(map(json.dumps, rows)))
    return place / "messy.jsonl", place / "plain.jsonl"


def rows_of(path: Path) -> list[dict[str, Any]]:
    """All but names: what was scored, and how much of it could not be read."""
    hidden = ("model", "group")
    rows = [
        {k: v for k, v in row.items() if k not in hidden} | {"at": row["group"]} for row in json.loads(path.read_text())
    ]
    return [row | {"at": ""} if row["by"] == "policy" else row for row in rows]


def test_the_texts_of_a_run_are_those_of_its_files(run: Run, folder: Path) -> None:
    asked, told = run_hierarchies(run, "test", workers=1), read_texts(folder)
    known = told.filter(pl.col("question").is_not_null())
    assert len(known) > 500
    assert texts_by_id(asked, known["id"]).to_list() == known["question"].to_list()
    assert texts_by_id(asked, pl.Series(["nobody-1"])).to_list() == [None]


def test_messy_answers_score_as_what_they_mean(
    run: Run, folder: Path, messy: tuple[Path, Path], tmp_path: Path
) -> None:
    said, plain = messy
    wanted, found = tmp_path / "wanted.json", tmp_path / "found.json"
    decomp(hierarchies=folder, predictions=[plain], json=wanted, quiet=True, how=EXACT)
    decomp(hierarchies=folder, predictions=[said], json=found, quiet=True, how=LENIENT)
    assert rows_of(found) == rows_of(wanted)
    decomp(run.folder, predictions=[said], split="test", json=found, quiet=True, how=LENIENT)
    assert rows_of(found) == rows_of(wanted)
    answer(run.folder, model="messy", predictions=said, quiet=True)
    decomp(run.folder, model=["messy"], split="test", json=found, quiet=True, how=LENIENT)
    assert rows_of(found) == rows_of(wanted)
