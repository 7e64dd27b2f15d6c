"""Models scored on DAGs about image sets shard by shard: the rows are those of all DAGs at once."""

import json
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import polars as pl
import pytest

from conftest import copy
from judges import scores_at_once
from questree.api import score_sets
from questree.benchmarks import COVR
from questree.cli.answer import answer as answer_command
from questree.faults import BadInput
from questree.metrics.catalogue import METRICS, Metric
from questree.scoring import set_dags
from questree.scoring.compared import Scoring
from questree.scoring.run_questions import scored_questions
from questree.scoring.run_scores import How, RunScores
from questree.search.word_tables import default_words
from questree.stages.decompose import set_hierarchies
from questree.stages.decompose.hierarchies import hierarchies_in
from questree.stages.decompose.set_hierarchies import set_part, set_shards
from questree.stages.decompose.set_shards import decompose_run
from questree.tables.image_questions import BALANCED, answered
from questree.tables.nodes import KEYS
from questree.tables.run import Run
from worlds.image_run import image_run
from worlds.question_shards import ALL, put_in_shards

WRONG = Scoring("wrong", 30)
FREE = ["{}", "I think it is {}.", "no idea", "True", "the {}!"]


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[int, Run]:
    """The same DAGs in shards of several sizes, with two stored models: one makes mistakes, one says some things in
    free text and some not at all."""
    place, found = tmp_path_factory.mktemp("shards"), dict[int, Run]()
    made = image_run(place / "run")
    for questions in (1, 40, ALL):
        found[questions] = run = copy(made, place / str(questions))
        put_in_shards(run, questions)
        decompose_run(run, default_words(), every=True)
        answer_command(run.folder, model="perception-noise", quiet=True)
        answer_command(run.folder, model="theirs", predictions=spoken(run, place / "theirs.jsonl"), quiet=True)
    assert [len(set_shards(run)) > 3 for run in found.values()] == [True, True, False]
    return found


@pytest.fixture(scope="module")
def run(runs: dict[int, Run]) -> Run:
    return runs[40]


def spoken(run: Run, path: Path) -> Path:
    """Predictions for most nodes, partly in free text, and one for none."""
    ids = sorted(hierarchies_in(run).hierarchies.keys)
    said = {id: FREE[at % 5].format(("yes", "no", "2", "red")[at % 4]) for at, id in enumerate(ids) if at % 9 != 4}
    lines = [{"id": id, "prediction": own} for id, own in ({"nobody": "yes"} | said).items()]
    path.write_text("\n".join(map(json.dumps, lines)))
    return path


def both(
    runs: dict[int, Run], files: list[Path], models: list[str], questions: int = 40, workers: int = 1, **more: Any
) -> list[Any]:
    """All DAGs at once and shard by shard: the same rows to the last digit, and the same is said."""
    said = [list[str](), list[str]()]
    at_once = scores_at_once.dags(runs[ALL].folder, say=said[0].append, **more).of_files(files, models)
    parts = score_sets.scored_dags(files, models, runs[questions].folder, say=said[1].append, workers=workers, **more)
    assert at_once.rows == parts.rows and said[0] == said[1]
    for one, other in zip(at_once.scored.values(), parts.scored.values(), strict=True):
        assert one.tallies.total.sum(axis=1).tolist() == other.tallies.total.sum(axis=1).tolist()  # one order of images
    return parts.rows


@pytest.mark.parametrize("questions", [1, 40, ALL])
@pytest.mark.parametrize("missing", ["wrong", "skip"])
def test_rows_are_those_of_all_dags_at_once(runs: dict[int, Run], tmp_path: Path, questions: int, missing: Any) -> None:
    file = spoken(runs[ALL], tmp_path / "mine.jsonl")
    rows = both(runs, [file], ["perception-noise", "theirs"], questions, how=Scoring(missing, 30))
    assert {row.model for row in rows} == {"perception-noise", "theirs", "mine"}
    assert {row.metric for row in rows} >= {"accuracy", "CA", "RWR", "IC", "IC-accuracy correlation"}
    assert not list(runs[questions].folder.rglob(".*"))


def test_shards_have_all_that_counts_for_their_images(runs: dict[int, Run]) -> None:
    names = [folder.name for folder in set_shards(runs[40])]
    parts = [set_part(runs[40].folder, name, None)[0] for name in names]
    together, at_once = (hierarchies_in(runs[questions]).hierarchies for questions in (40, ALL))
    assert [name for part in parts for name in part.videos] == together.videos == at_once.videos
    assert sorted(key for part in parts for key in part.keys) == sorted(together.keys) == sorted(at_once.keys)
    for name in ("nodes", "edges", "composed", "dags", "isolated"):
        counts = [len(getattr(own, name)) for own in (together, at_once)]
        assert [sum(len(getattr(part, name)) for part in parts)] * 2 == counts


@pytest.mark.parametrize("policy", ["vqa", "lenient", "all"])
def test_every_policy_reads_with_the_answers_of_all(runs: dict[int, Run], tmp_path: Path, policy: Any) -> None:
    file = spoken(runs[ALL], tmp_path / "mine.jsonl")
    both(runs, [file], ["theirs"], how=Scoring("wrong", 10, policy=policy))


def test_splits_are_told_by_questions(runs: dict[int, Run]) -> None:
    sizes = []
    for split in ("train", "dev", "test"):
        rows = both(runs, [], ["perception-noise"], how=WRONG, split=split)
        sizes.append(next(row.n for row in rows if (row.metric, row.group) == ("accuracy", "Overall")))
    every = both(runs, [], ["perception-noise"], how=WRONG)
    assert min(sizes) > 0 and sum(sizes) >= next(row.n for row in every if row.group == "Overall")
    with pytest.raises(BadInput, match="no questions of the split nothing"):
        score_sets.scored_dags([], ["perception-noise"], runs[40].folder, how=WRONG, split="nothing")


def test_ids_that_are_the_same_in_two_shards_get_a_number(run: Run, tmp_path: Path) -> None:
    made = copy(run, tmp_path)
    with patch.object(set_hierarchies, "DIGEST", 1):
        decompose_run(made, default_words(), every=True)
    keys = [KEYS.read(folder)["key"] for folder in set_shards(made)]
    assert all(own.str.count_matches("-").eq(2).any() for own in keys[1:])
    assert pl.concat(keys).is_unique().all()
    assert [*hierarchies_in(made).hierarchies.keys] == [*pl.concat(keys)]


def test_a_metric_of_a_plugin_is_counted_in_shards(runs: dict[int, Run]) -> None:
    share = Metric("share", "1 / questions", lambda table: table.select(1 / pl.len().over("scope")).to_series())
    with patch.dict(METRICS, {"share": share}):
        assert "share" in {row.metric for row in both(runs, [], ["perception-noise"], how=WRONG)}


@pytest.mark.parametrize("how", [How("wrong", 20, split=None), How("wrong", 20), How("skip", 20, policy="lenient")])
def test_reports_score_by_shards_what_they_score_at_once(run: Run, how: How) -> None:
    names = ["perception-noise", "theirs", "oracle", "most-likely", "uniform"]
    try:
        BALANCED.write(answered(run).filter(pl.int_range(pl.len()) % 4 != 1), run.covr)
        parts = RunScores.of(run, COVR, how, names, 1)
        whole = [*scores_at_once.of_report(run, COVR, how, names)]
        baseline = scored_questions(run, COVR, how.split).baseline(how.resampling)
    finally:
        (run.covr / "balanced.parquet").unlink()
    assert [one.model for one in parts.models] == names
    assert parts.baseline == baseline
    assert {row.model for row in parts.baseline} == {"MAJ", "MAJTEMPL"}
    for one, (dags, questions, per_dag, coverage, unread) in zip(parts.models, whole, strict=True):
        assert one.dags == dags and one.alone == questions
        assert np.array_equal(one.per_dag, per_dag) and one.per_dag.sum() > 0
        assert (one.coverage.needed, one.coverage.found) == (coverage.needed, coverage.found)
        assert one.unread == unread and not one.sample


def test_a_split_whose_questions_are_not_selected_is_scored_on_dags_alone(run: Run) -> None:
    try:
        BALANCED.write(answered(run).filter(pl.col("split") != "dev"), run.covr)
        (found,) = RunScores.of(run, COVR, How("wrong", 20, split="dev"), ["oracle"], 1).models
    finally:
        (run.covr / "balanced.parquet").unlink()
    assert any(row.n for row in found.dags) and not any(row.n for row in found.alone)


@pytest.mark.processes
@patch.object(set_dags, "FEW", 0)
def test_processes_count_shards(runs: dict[int, Run], tmp_path: Path) -> None:
    file = spoken(runs[ALL], tmp_path / "mine.jsonl")
    both(runs, [file], ["theirs"], workers=2, how=Scoring("wrong", 10, policy="lenient"), split="test")
