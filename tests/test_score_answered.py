"""Whatever `answer` stores, `score` accepts: every bot, on random worlds of both media, with default options."""

import json
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from random import Random

import polars as pl
import pytest

from questree.metrics.answered import needed
from questree.models.bots import BOTS
from questree.models.stored import said
from questree.stages.decompose.dag_shards import DecomposeOptions, decompose
from questree.stages.decompose.hierarchies import hierarchies_in
from questree.tables.hierarchies import NOTHING
from questree.tables.predictions import Stored
from questree.tables.questions import read_balanced
from questree.tables.run import Run
from questree.vocabulary import default
from worlds import random_worlds
from worlds.commands import run as command
from worlds.exported_worlds import run_of, select_every
from worlds.raw_files import write_charades
from worlds.small import facts


def films(seed: int, count: int) -> dict[str, tuple[str, float]]:
    """Of each the actions, which overlap as they come, and the length."""
    random, known = Random(seed), [action.id for action in default().actions if action.id.startswith("c")]
    found = {}
    for number in range(count):
        deeds = [(name, random.randrange(25), random.randrange(1, 12)) for name in random.sample(known, 6)]
        found[f"V{number:04d}"] = (";".join(f"{name} {at} {at + long}" for name, at, long in deeds), 30.0)
    return found


def accepted(folder: Path, alone: str) -> None:
    """Stored answers and files of them; `alone`: the command that scores every question without its parts."""
    files = [folder / f"{bot}.jsonl" for bot in BOTS]
    for bot, file in zip(BOTS, files, strict=True):
        command(f"questree answer RUN --model {bot} --out {file} --quiet", folder)
    given, stored = (
        " ".join(f"--{option} {each}" for each in own) for option, own in (("predictions", files), ("model", BOTS))
    )
    for line in ("score decomp RUN", f"score decomp RUN {given}", f"{alone} {stored}"):
        command(f"questree {line} --json scores.json --quiet", folder)
        rows = json.loads((folder / "scores.json").read_text())
        assert {row["model"] for row in rows if row["value"] is not None} >= {*BOTS}


def unanswered(run: Run, model: str) -> int:
    """Questions of types that are scored whose answer nobody knows, and to which the model says nothing."""
    asked = hierarchies_in(run)
    dags, by_key = asked.hierarchies, said(asked, Stored.of(run, model)).by_key
    types = pl.Series(dags.types).gather(dags.nodes["type"])
    of_order = types.is_in(["First Object", "Last Object", "Object Equals"])
    keys = dags.nodes.filter(of_order, answer=NOTHING)["key"].unique().to_numpy()
    assert not set(keys.tolist()) & set(needed(dags).tolist())
    return int((by_key[keys] == NOTHING).sum())


def test_what_bots_answer_about_videos_with_actions_alone_is_scored(tmp_path: Path) -> None:
    (tmp_path / "raw").mkdir()
    for split, at in (("train", 0), ("test", 1)):
        write_charades(tmp_path / "raw" / f"Charades_v1_{split}.csv", dict([*films(3, 24).items()][at::2]))
    command("questree build raw --out RUN --workers 1 --quiet", tmp_path)
    command("questree decompose RUN --all --workers 1 --quiet", tmp_path)
    accepted(tmp_path, "score agqa RUN")
    assert unanswered(Run(tmp_path / "RUN"), "most-likely"), "nobody looked who was first"
    command("questree export decomp RUN --out DAGS --workers 1 --quiet", tmp_path)
    one = "--hierarchies DAGS/unbalanced_test_hierarchies --predictions most-likely.jsonl --resamples 0"
    command(f"questree score decomp {one} --quiet", tmp_path)


@pytest.mark.parametrize(("seed", "closed"), [(1, True), (2, False)])
def test_what_bots_answer_about_videos_is_scored(seed: int, closed: bool, tmp_path: Path) -> None:
    known = facts("\n".join(random_worlds.world(seed, videos=4, whole=True)))
    known = replace(known, videos=known.videos.with_columns(split=pl.Series(["train", "test"] * 2)))
    run = run_of(known, tmp_path / "RUN")
    select_every(run, 40)
    decompose(run, DecomposeOptions(balanced=True, closed=closed), pool=ThreadPoolExecutor(1))
    accepted(tmp_path, "score agqa RUN")


def test_what_bots_answer_about_the_first_edition_is_scored(tmp_path: Path) -> None:
    """Some of its questions have no DAG: bots are not asked these, and what they lack counts neither way."""
    for line in (
        "synth --videos 6 --seed 1 --out raw",
        "ingest action-genome raw --out RUN",
        "augment RUN",
        "generate RUN --edition 1.0 --phrases 3 --rare-below 0 --workers 1",
        "balance RUN --untimed-keys --workers 1",
        "decompose RUN --workers 1",
    ):
        command(f"questree {line} --quiet", tmp_path)
    accepted(tmp_path, "score agqa RUN")
    run = Run(tmp_path / "RUN")
    questions = {row["n"] for row in json.loads((tmp_path / "scores.json").read_text()) if row["group"] == "Overall"}
    assert 0 < max(questions) < len(read_balanced(run.balanced))


def test_what_bots_answer_about_image_sets_is_scored(tmp_path: Path) -> None:
    for line in (
        "synth images --images 40 --seed 1 --out raw",
        "ingest gqa raw --out RUN",
        "generate RUN --questions 40 --seed 1 --workers 1",
        "decompose RUN --all --workers 1",
    ):
        command(f"questree {line} --quiet", tmp_path)
    accepted(tmp_path, "score covr RUN --all")
