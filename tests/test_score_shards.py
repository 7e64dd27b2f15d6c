"""Models scored shard by shard, on DAGs and on questions alone: the rows are those of all at once."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest.mock import patch

import msgspec
import numpy as np
import polars as pl
import pytest

from judges import scores_at_once
from questree.api import score_sets
from questree.benchmarks import AGQA
from questree.faults import BadInput
from questree.metrics.catalogue import METRICS, Metric
from questree.metrics.cells import OVERALL
from questree.metrics.scores import Score
from questree.models.stored import said as stored_said
from questree.models.stored import write_lines
from questree.said.question import YES_NO
from questree.scoring import shard_counts
from questree.scoring.answer_kinds import kinds_of_nodes
from questree.scoring.compared import PredictionReader, Scoring, answers_of, dag_reader
from questree.scoring.run_questions import scored_questions
from questree.scoring.run_scores import How, RunScores
from questree.scoring.run_shards import known_answers
from questree.scoring.shard_tasks import ScoringTask, ShardAnswers
from questree.scoring.video_dags import VideoDags
from questree.stages.decompose.hierarchies import hierarchies_in
from questree.tables.predictions import Stored
from questree.tables.run import Run
from worlds.commands import questree

HOW = Scoring(resamples=50)
WRONG = Scoring("wrong", 50)


@pytest.mark.parametrize("split", [None, "train", "test"])
def test_rows_are_those_of_all_dags_at_once(notebook: Path, split: str | None) -> None:
    run, said = notebook / "run", [list[str](), list[str]()]
    whole = scores_at_once.dags(run, split=split, how=HOW, say=said[0].append).of_files((), ["perception-noise"])
    parts = score_sets.scored_dags((), ["perception-noise"], run, split=split, how=HOW, say=said[1].append)
    assert whole.rows == parts.rows
    assert said[0] == said[1]
    assert sorted(map(str, whole.scored["perception-noise"].tallies.columns)) == sorted(
        map(str, parts.scored["perception-noise"].tallies.columns)
    )


def test_types_that_are_left_out_are_left_out_by_workers_too(notebook: Path, tmp_path: Path) -> None:
    (tmp_path / "types.txt").write_text("Interaction\nChoose\n")
    with score_sets.leaving_out(tmp_path / "types.txt"):
        whole = scores_at_once.dags(notebook / "run", how=WRONG).of_files((), ["perception-noise"])
        parts = score_sets.scored_dags((), ["perception-noise"], notebook / "run", how=WRONG)
    assert whole.rows == parts.rows


def test_a_split_without_questions_is_refused(notebook: Path) -> None:
    done = questree("score", notebook / "run", "--split", "dev", "--quiet")
    assert (done.returncode, done.stderr.endswith("no questions of the split dev\n")) == (1, True)


def rows_of(run: Path, files: list[Path], models: list[str], how: Scoring, **more: object) -> None:
    """All DAGs at once and shard by shard: the same rows to the last digit, and the same is said."""
    said = [list[str](), list[str]()]
    whole = scores_at_once.dags(run, how=how, say=said[0].append, **more).of_files(files, models)  # type: ignore[arg-type]
    parts = score_sets.scored_dags(files, models, run, how=how, say=said[1].append, **more)  # type: ignore[arg-type]
    assert whole.rows == parts.rows and list(whole.scored) == list(parts.scored)
    assert said[0] == said[1]


@pytest.fixture
def spoken(notebook: Path, tmp_path: Path) -> Path:
    """What a model said, partly in free text: some of it twice, some to no question, some questions left out."""
    asked = hierarchies_in(Run(notebook / "run"))
    given = stored_said(asked, Stored.of(asked.run, "perception-noise"))
    write_lines(tmp_path / "plain.jsonl", asked, given)
    free = ["{}", "True", "I think it is {}.", "Yes, a {}", "{}!", "the {}", "no idea", "False"]
    lines = list[bytes]()
    for at, line in enumerate((tmp_path / "plain.jsonl").read_bytes().splitlines()):
        own = msgspec.json.decode(line)
        own["prediction"] = free[at % 3 and at % len(free)].format(own["prediction"])
        lines += [msgspec.json.encode(own)] * (2 if at % 50 == 1 else at % 40 != 2)
    lines.append(msgspec.json.encode({"id": "nobody-1", "prediction": "yes"}))
    (tmp_path / "mine.jsonl").write_bytes(b"\n".join(reversed(lines)))
    return tmp_path / "mine.jsonl"


@pytest.mark.parametrize("policy", ["exact", "vqa", "lenient", "all"])
def test_files_and_policies_give_the_rows_of_all_dags_at_once(notebook: Path, spoken: Path, policy: Any) -> None:
    how = Scoring("wrong", 20, policy=policy)
    rows_of(notebook / "run", [spoken, spoken.with_name("plain.jsonl")], ["perception-noise"], how, split="test")
    assert not [path for path in (notebook / "run").iterdir() if path.name.startswith(".")]


def test_what_a_file_lacks_is_told_alike(notebook: Path, spoken: Path) -> None:
    run, told = notebook / "run", list[str]()
    with pytest.raises(BadInput) as bad:
        scores_at_once.dags(run, how=HOW).of_files([spoken])
    told.append(str(bad.value))
    with pytest.raises(BadInput) as bad:
        score_sets.scored_dags([spoken], (), run, how=HOW)
    told.append(str(bad.value))
    assert told[0] == told[1]
    assert "no prediction for" in told[0] and "(predictions for no question here: 1)" in told[0]


METRICS_OF_VIDEOS = [
    Metric("by answer", "right / asked", pl.col("correct"), by="answer"),
    Metric("by word", "right / asked", pl.col("correct"), by="prediction"),
    Metric("by steps", "right / asked", pl.col("correct"), by="steps"),
    Metric("by reasoning", "right / asked", pl.col("correct"), by="reasoning"),
    Metric(
        *("gap", "yes said - yes meant"),
        lambda table: [table["answer"] == "yes", table["prediction"] == "yes"],
        how="difference",
    ),
    Metric("letters", "letters said", lambda t: t["prediction"].str.len_chars() / 3, how="mean"),
]


@pytest.fixture
def plugged() -> Iterator[None]:
    with patch.dict(METRICS, {metric.name: metric for metric in METRICS_OF_VIDEOS}):
        yield


@pytest.mark.usefixtures("plugged")
@pytest.mark.parametrize("missing", ["wrong", "skip"])
def test_metrics_of_plugins_are_those_of_all_questions_at_once(notebook: Path, spoken: Path, missing: Any) -> None:
    how = Scoring(missing, 20)
    rows_of(notebook / "run", [spoken], ["perception-noise"], how)
    alone(notebook / "run", [spoken], ["perception-noise"], how, every=True)
    found = score_sets.scored_agqa([], ["perception-noise"], run=notebook / "run", how=how)
    steps = [row.group for row in found.rows if row.metric == "by steps"]
    assert steps == [*map(str, sorted(map(int, steps[:-1]))), OVERALL] and len(steps) > 3


def test_a_metric_that_looks_at_several_videos_is_refused(notebook: Path) -> None:
    share = Metric("share", "1 / questions", lambda table: table.select(1 / pl.len().over(1)).to_series())
    apart = Metric("apart", "1 / questions", lambda table: table.select(1 / pl.len().over("scope")).to_series())
    with patch.dict(METRICS, {"apart": apart}):
        rows_of(notebook / "run", [], ["perception-noise"], WRONG)
    for over in (score_sets.scored_dags, score_sets.scored_agqa):
        with (
            patch.dict(METRICS, {"share": share}),
            pytest.raises(BadInput, match="look at rows of its own scope alone"),
        ):
            over((), ["perception-noise"], run=notebook / "run", how=WRONG)


def alone(run: Path, files: list[Path], models: list[str], how: Scoring, **more: Any) -> list[Score]:
    """Every question alone, at once and shard by shard: the same rows, and the same is said."""
    said = [list[str](), list[str]()]
    whole = scores_at_once.agqa_questions(run, how=how, say=said[0].append, **more).of_files(files, models)
    parts = score_sets.scored_agqa(files, models, run=run, how=how, say=said[1].append, **more)
    assert whole.rows == parts.rows and list(whole.scored) == list(parts.scored)
    assert said[0] == said[1]
    return parts.rows


@pytest.mark.parametrize("policy", ["exact", "vqa", "lenient", "all"])
def test_questions_alone_give_the_rows_of_all_at_once(notebook: Path, spoken: Path, policy: Any) -> None:
    how = Scoring("wrong", 20, policy=policy)
    for split in ("test", "train"):
        rows = alone(notebook / "run", [spoken], ["perception-noise"], how, split=split)
        assert {row.model for row in rows} > {"Most-Likely"}
    assert not [path for path in (notebook / "run").iterdir() if path.name.startswith(".")]


def test_what_questions_alone_lack_is_told_alike(notebook: Path, spoken: Path) -> None:
    run, told = notebook / "run", list[str]()
    with pytest.raises(BadInput) as bad:
        scores_at_once.agqa_questions(run, how=HOW).of_files([spoken])
    told.append(str(bad.value))
    with pytest.raises(BadInput) as bad:
        score_sets.scored_agqa([spoken], [], run=run, how=HOW)
    told.append(str(bad.value))
    assert told[0] == told[1] and "no prediction for" in told[0]
    with pytest.raises(BadInput, match="no questions for dev"):
        score_sets.scored_agqa([spoken], [], run=run, split="dev", how=HOW)


@pytest.mark.processes
def test_processes_count_questions_alone(notebook: Path, spoken: Path) -> None:
    with patch("questree.scoring.question_scores.FEW", 0):
        alone(notebook / "run", [spoken], ["perception-noise"], Scoring("skip", 0, policy="lenient"), every=True)


def test_reports_score_by_shards_what_they_score_at_once(notebook: Path) -> None:
    run, how = Run(notebook / "run"), How("wrong", 20, split=None)
    names = ["perception-noise", "oracle", "most-likely", "uniform"]
    parts = RunScores.of(run, AGQA, how, names)
    assert [one.model for one in parts.models] == names
    assert parts.baseline == scored_questions(run, AGQA, None).baseline(how.resampling)
    for one, (dags, questions, per_dag, *about) in zip(
        parts.models, scores_at_once.of_report(run, AGQA, how, names), strict=True
    ):
        assert one.dags == dags and one.alone == questions
        assert np.array_equal(one.per_dag, per_dag) and one.per_dag.sum() > 0
        assert [one.coverage, one.unread] == about and not one.sample


@pytest.mark.processes
def test_processes_read_what_files_say(notebook: Path, spoken: Path) -> None:
    with patch.object(VideoDags, "many", lambda _: True):
        rows_of(notebook / "run", [spoken], [], Scoring("skip", 0, policy="lenient"))


def test_every_shard_reads_with_the_answers_of_all(notebook: Path) -> None:
    readers = list[PredictionReader]()

    def made(*given: Any, **named: Any) -> PredictionReader:
        readers.append(dag_reader(*given, **named))
        return readers[-1]

    run, how = Run(notebook / "run"), Scoring("wrong", 0, policy="lenient")
    with patch.object(shard_counts, "dag_reader", made):
        score_sets.scored_dags((), ["perception-noise"], run.folder, how=how)
    whole = hierarchies_in(run).hierarchies
    kinds = dict(kinds_of_nodes(whole, run.vocabulary()).iter_rows())
    assert len(readers) == 3 and len({*kinds.values()}) > 2
    for reader in readers:
        assert list(reader.answers) == answers_of(whole)
        assert reader.known_kinds is not None
        assert [kinds[id] for id in reader.known_kinds["id"]] == reader.known_kinds["kind"].to_list()


def test_answers_of_shards_are_put_together() -> None:
    pairs = [{"type": ["t", "u"], "answer": ["yes", "cup"]}, {"type": ["t", "v"], "answer": ["cup", "no"]}]
    used = [[True, True, False], [False, True, True]]
    seen = [
        ShardAnswers(["yes", "cup", "no"], np.array(own), pl.DataFrame(both))
        for own, both in zip(used, pairs, strict=True)
    ]
    task = ScoringTask(Path(), None, Scoring(), (), (), frozenset(), ())
    assert known_answers(task, seen) == (("yes", "cup", "no"), {"t": "", "u": "", "v": YES_NO})
