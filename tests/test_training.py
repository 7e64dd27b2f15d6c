"""Questions for training loops: their order, their steps, what these rest on, and reasoning as text."""

import doctest
import json
import re
from contextlib import chdir
from itertools import chain, pairwise
from pathlib import Path
from typing import Any
from unittest.mock import patch

import polars as pl
import pyarrow as pa
import pytest

from questree.api.epochs import Epoch
from questree.api.question_steps import RunSteps, StepShard
from questree.api.read_traces import read_trace
from questree.api.rewards import Rewards
from questree.api.traces import TEXTS, steps, trace, traces
from questree.domains.video import VIDEO, videos
from questree.faults import BadInput
from questree.notation.own import parse, show
from questree.show.timeline import grounds
from questree.show.video_view import VideoView
from questree.tables.run import Run
from test_pages import ROOT, commands
from worlds import exported_worlds as made
from worlds.commands import questree
from worlds.commands import run as command
from worlds.exported_worlds import content

Rows = list[dict[str, Any]]


@pytest.fixture(scope="module")
def apart_videos(notebook: Path) -> Run:
    return Run(notebook / "run")


@pytest.fixture(scope="module", params=["apart_videos", "apart_images"])
def run(request: pytest.FixtureRequest) -> Run:
    found: Run = request.getfixturevalue(request.param)
    return found


@pytest.fixture(scope="module")
def rows(run: Run) -> Rows:
    return list(Epoch(run.folder))


def ids(epoch: Epoch) -> list[str]:
    return [row["id"] for row in epoch]


def test_every_question_comes_once_in_the_order_of_its_seed(run: Run, rows: Rows) -> None:
    first, again, other = (ids(Epoch(run.folder, seed=seed, evidence=False)) for seed in (1, 1, 2))
    assert len(first) == len(Epoch(run.folder)) > 50
    assert first == again != other
    assert sorted(first) == sorted(other) == sorted(row["id"] for row in rows)
    assert len(set(first)) == len(first)


def test_batches_are_tables_of_arrow_and_rows_are_the_same_in_any_of_them(run: Run) -> None:
    epoch = Epoch(run.folder, seed=1, evidence=False)
    sizes = [len(batch) for batch in epoch.batches(7)]
    assert set(sizes[:-1]) == {7} and 0 < sizes[-1] <= 7
    assert list(chain.from_iterable(batch.to_dicts() for batch in epoch.batches(7))) == list(epoch)
    assert pa.table(next(epoch.batches(7))).num_rows == 7


def test_a_split_has_its_own_questions(run: Run, rows: Rows) -> None:
    for split in ("train", "test"):
        epoch = Epoch(run.folder, split, seed=5, evidence=False)
        own = [row["id"] for row in rows if row["split"] == split]
        assert 0 < len(own) == len(epoch) < len(rows)
        assert sorted(ids(epoch)) == sorted(own)
    with pytest.raises(BadInput, match=r"split: expected a split of the run, got 'night'; choose from .*test, train"):
        Epoch(run.folder, "night")


def test_only_a_few_shards_are_in_memory(apart_videos: Run) -> None:
    opened = list[str]()
    real = RunSteps.shard

    def shard(self: RunSteps, name: str) -> StepShard:
        opened.append(name)
        return real(self, name)

    with patch.object(RunSteps, "shard", shard):
        epoch = Epoch(apart_videos.folder, seed=1, open=2, evidence=False)
        next(epoch.batches(3))
        assert len(epoch.steps.names) == 3 and len(opened) == 2
        list(epoch)
    mixed = [row["scope"] for row in Epoch(apart_videos.folder, seed=1, open=3, evidence=False)]
    assert len({*mixed[:20]}) > 2, "questions of all open shards are mixed"


def test_steps_are_what_rewards_ask_for(run: Run, rows: Rows) -> None:
    """Whoever answers the steps of an epoch in their order is rewarded for them."""
    reward = Rewards(run.folder)
    for row in rows:
        keys = reward.dags.parts(int(reward.dags.at(pl.Series([row["id"]]))[0]))
        assert [step["id"] for step in row["steps"]] == reward.dags.hierarchies.keys.gather(keys).to_list()
        assert [step["question"] for step in row["steps"]] == reward.dags.texts(keys).to_list()
    given = [row | {"steps": [step["answer"] for step in row["steps"]]} for row in rows]
    found = reward(given)
    assert set(found["reward"]) == {1.0} and found["steps"].is_not_null().sum() > len(rows) / 2


def test_parts_come_before_what_follows_from_them(rows: Rows) -> None:
    for row in rows:
        for at, step in enumerate([*row["steps"], row]):
            assert all(part < at for part in step["parts"])
            assert len(step["parts"]) == len(step["compositions"])
        reached = {part for step in [*row["steps"], row] for part in step["parts"]}
        assert reached == set(range(len(row["steps"])))


def test_evidence_is_where_the_parts_of_a_program_are_seen(apart_videos: Run) -> None:
    """One node at a time, as the page lights up frames."""
    run_steps = RunSteps(apart_videos)
    facts, words = apart_videos.load("facts"), apart_videos.vocabulary()
    checked = 0
    for name in run_steps.names[:2]:
        shard = run_steps.shard(name)
        for row in programs(apart_videos, name)[::10]:
            own = facts.between(row["video"], row["video"] + 1)
            found = grounds(parse(row["program"], VIDEO), videos(own, words).ask(0))
            seen = {at for node, frames in found.items() for at in frames if node.kind.name != "window"}
            looked = {at for node, frames in found.items() for at in frames if node.kind.name == "window"}
            frames, seconds = sorted(seen or looked), own.frames["seconds"].to_list()
            pairs = shard.nodes["seconds"][row["node"]].to_list()
            assert covered(pairs, seconds) == frames
            checked += bool(frames)
    assert checked > 10


def covered(pairs: list[list[float]], seconds: list[float]) -> list[int]:
    """Frames in stretches, which do not touch."""
    found = [[at for at, second in enumerate(seconds) if first <= second <= last] for first, last in pairs]
    assert all(one[-1] + 1 < other[0] for one, other in pairwise(found))
    return [at for frames in found for at in frames]


def programs(run: Run, shard: str) -> Rows:

    view = VideoView(run)
    opened = view.open(shard)
    told = zip(view.programs(opened), opened.nodes["video"], strict=True)
    return [{"node": at, "video": video, "program": show(node)} for at, (node, video) in enumerate(told)]


def test_evidence_in_images_is_boxes_of_what_is_found(apart_images: Run) -> None:
    """Of red cups on tables the cups: not those that are blue, not the tables."""
    found = {(row["question"], *row["scope"]): row for row in Epoch(apart_images.folder)}

    def boxes(row: dict[str, Any]) -> list[tuple[Any, ...]]:
        return [(box["image"], box["name"], box["x1"], box["y1"], box["x2"], box["y2"]) for box in row["boxes"]]

    red = found["count(filter(find(cup), red))?", "train0", "train2"]
    assert (red["answer"], boxes(red)) == ("2", [("train0", "cup", 0, 0, 8, 8), ("train2", "cup", 0, 0, 8, 8)])
    every = next(step for step in red["steps"] if step["question"] == "How many cups are there?")
    assert (every["answer"], boxes(every)) == ("3", [*boxes(red), ("train2", "cup", 10, 0, 18, 8)])
    on = found["count_images(unique_images(with_relation(find(cup), find(table), on)))?", "train0", "train1"]
    assert (on["answer"], boxes(on)) == ("1", [("train0", "cup", 0, 0, 8, 8)])


def test_reasoning_in_every_style_says_the_same(run: Run, rows: Rows) -> None:
    for row in rows:
        wanted = {step.question: step.answer for step in steps(row)}
        for style in TEXTS:
            record = trace(row, style)
            found = read_trace(record["completion"])
            assert (record["prompt"], found["answer"], found["steps"]) == (row["question"], row["answer"], wanted)
        user, assistant = trace(row, "chat")["messages"]
        assert (user["content"], assistant["content"]) == (row["question"], trace(row, "lines")["completion"])
        turns = [message["content"] for message in trace(row, "turns")["messages"]]
        assert [
            read_trace(f"{asked} {said}")["steps"] for asked, said in zip(turns[::2], turns[1::2], strict=True)
        ] == [{question: answer} for question, answer in wanted.items()]


def test_whoever_reasons_like_a_trace_is_rewarded(run: Run, rows: Rows) -> None:
    said = [{"id": row["id"], "completion": trace(row, style)["completion"]} for row in rows[:20] for style in TEXTS]
    found = Rewards(run.folder)(said)
    assert set(found["reward"]) == {1.0}
    assert (found["steps_counted"] > 0).sum() > len(said) / 2


def test_a_style_nobody_knows_is_refused(rows: Rows) -> None:
    with pytest.raises(BadInput, match=r"style: expected a style, got 'poem'; choose from chat, turns, lines"):
        trace(rows[0], "poem")


def test_traces_are_exported_a_file_per_split(run: Run, rows: Rows, tmp_path: Path) -> None:
    done = questree("export", "traces", run.folder, "--out", tmp_path / "out", "--style", "think")
    assert done.returncode == 0, done.stderr
    found = {path.stem: path.read_text().splitlines() for path in (tmp_path / "out").iterdir()}
    assert {split: len(lines) for split, lines in found.items()} == dict(
        pl.Series([row["split"] for row in rows]).value_counts().rows()
    )
    told = {record["id"]: record for record in traces(Epoch(run.folder), "think")}
    assert {record["id"]: record for lines in found.values() for record in map(json.loads, lines)} == told
    before = content(tmp_path / "out")
    assert questree("export", "traces", run.folder, "--out", tmp_path / "out", "--style", "think").returncode == 0
    assert content(tmp_path / "out") == before
    (tmp_path / "out" / "letter.txt").write_text("mine")
    assert "choose a new folder" in questree("export", "traces", run.folder, "--out", tmp_path / "out").stderr


def test_without_evidence_only_answers_are_told(run: Run, rows: Rows) -> None:
    row = next(iter(Epoch(run.folder, evidence=False)))
    assert not {"seconds", "boxes"} & {*row, *row["steps"][0]}
    assert not any(step.rests for step in steps(row))
    assert any(f"({step.rests})" in trace(row, "lines")["completion"] for row in rows for step in steps(row))


def test_runs_without_facts_have_steps_without_evidence(release: Path, tmp_path: Path) -> None:
    records = dict(list(made.records(release, "balanced", "test").items())[::40])
    (tmp_path / "files").mkdir()
    (tmp_path / "files" / "test_balanced.txt").write_text(json.dumps(records))
    for words in ("import agqa files --out RUN --quiet", "decompose RUN --workers 1 --quiet"):
        assert questree(*words.split(), folder=tmp_path).returncode == 0
    rows = list(Epoch(tmp_path / "RUN", seed=0))
    assert {row["id"]: (row["question"], row["answer"]) for row in rows} == {
        id: (record["question"], record["answer"]) for id, record in records.items()
    }
    assert all("seconds" not in row for row in rows)
    given = [{"id": row["id"], "completion": trace(row, "lines")["completion"]} for row in rows]
    assert set(Rewards(tmp_path / "RUN")(given)["reward"]) == {1.0}


def test_datasets_are_made_if_there_is_the_library(run: Run, rows: Rows) -> None:
    pytest.importorskip("datasets")
    made = Epoch(run.folder).dataset()
    assert len(made) == len(rows) and made[3] == rows[3]
    assert next(iter(Epoch(run.folder).dataset(streamed=True))) == rows[0]


def test_the_page_on_training_works(notebook: Path, tmp_path: Path) -> None:
    """Its commands, and its examples with what they print."""
    for name in ("run", "images"):
        (tmp_path / name).symlink_to(notebook / name)
    for line in commands("docs/training.md"):
        command(line.replace("RUN", "run") + " --quiet", tmp_path)
    assert {path.name for path in (tmp_path / "TRACES").iterdir()} == {"train.jsonl", "test.jsonl"}
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "docs/training.md").read_text("utf-8"), re.S)
    options = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    page = doctest.DocTestParser().get_doctest("".join(blocks), {}, "training.md", None, 0)
    with chdir(tmp_path):
        found = doctest.DocTestRunner(optionflags=options).run(page)
    assert found.failed == 0 and found.attempted > 10


def test_what_is_not_published_is_told_if_asked_for(apart_videos: Run) -> None:
    """In an open world nobody says that a bag is missing, although the answer to the question follows from it."""
    rows = zip(Epoch(apart_videos.folder, evidence=False), Epoch(apart_videos.folder, executed=True), strict=True)
    silent = [
        (step["answer"], own["answer"])
        for row, whole in rows
        for step, own in zip(row["steps"], whole["steps"], strict=True)
    ]
    assert {own for told, own in silent if told is None} >= {"no"}
    assert all(told in (own, None) for told, own in silent)
