"""Models scored on questions about image sets chunk by chunk: the rows are those of all questions at once."""

import json
import re
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import polars as pl
import pytest

from judges import scores_at_once
from questree.api import score_sets
from questree.cli.answer import answer as answer_command
from questree.cli.score import covr as command
from questree.cli.stages import split as split_command
from questree.faults import BadInput
from questree.metrics.catalogue import METRICS, Metric
from questree.metrics.cells import Tallies, stacked
from questree.metrics.sets import Commonest
from questree.scoring.compared import Scoring
from questree.search.word_tables import default_words
from questree.stages.decompose.set_shards import decompose_run
from questree.tables.image_questions import BALANCED, answered, chunks
from questree.tables.run import Run
from worlds.image_run import image_run
from worlds.question_shards import ALL, put_in_shards

WRONG = Scoring("wrong", 30)


@pytest.fixture(scope="module", params=[3, ALL])
def run(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Questions in shards of this size, with a stored model that says some things otherwise, and some not at all."""
    place = tmp_path_factory.mktemp("chunks")
    run = image_run(place / "run")
    put_in_shards(run, request.param)
    split_command(run.folder, few_shot=2, lexical_alone=2, lexical_together=2, quiet=True)
    decompose_run(run, default_words(), every=True)
    asked = answered(run).select("id", "answer").rows()
    said = {id: "nonsense" if at % 5 == 1 else answer for at, (id, answer) in enumerate(asked) if at % 7}
    answer_command(run.folder, model="theirs", predictions=written(place / "theirs.jsonl", said), quiet=True)
    return run


def written(path: Path, said: dict[str, str]) -> Path:
    path.write_text("\n".join(json.dumps({"id": id, "prediction": own}) for id, own in said.items()))
    return path


@pytest.fixture
def spoken(run: Run, tmp_path: Path) -> Path:
    """Partly in free text, some to no question, some questions left out."""
    free = ["{}", "I think it is {}.", "no idea", "True", "the {}!"]
    asked = answered(run).select("id", "answer").rows()
    said = {id: free[at % len(free)].format(answer) for at, (id, answer) in enumerate(asked) if at % 9 != 4}
    return written(tmp_path / "mine.jsonl", {"nobody": "yes"} | dict(reversed(said.items())))


def both(run: Run, files: list[Path], models: list[str], workers: int = 1, **more: Any) -> list[Any]:
    """All questions at once and chunk by chunk: the same rows to the last digit, and the same is said."""
    said = [list[str](), list[str]()]
    whole = scores_at_once.covr_questions(run.folder, say=said[0].append, **more).of_files(files, models)
    parts = score_sets.scored_covr(files, models, run=run.folder, say=said[1].append, workers=workers, **more)
    assert whole.rows == parts.rows and said[0] == said[1]
    assert list(whole.scored) == list(parts.scored) and list(whole.guesses) == list(parts.guesses)
    one, other = (found.guesses["MAJ"].tallies.total for found in (whole, parts))
    assert one.sum(axis=1).tolist() == other.sum(axis=1).tolist()  # images in one order
    return parts.rows


@pytest.mark.parametrize("missing", ["wrong", "skip"])
def test_rows_are_those_of_all_questions_at_once(run: Run, spoken: Path, missing: Any) -> None:
    rows = both(run, [spoken], ["theirs"], how=Scoring(missing, 30))
    assert {row.model for row in rows} == {"MAJ", "MAJTEMPL", "theirs", "mine"}
    test = answered(run).filter(split="test")
    overall = {row.model: row.n for row in rows if row.group == "Overall"}
    assert overall["MAJ"] == len(test) and (overall["mine"] < len(test)) == (missing == "skip")
    assert not list(run.folder.rglob(".*"))


@pytest.mark.parametrize("policy", ["vqa", "lenient", "all"])
def test_every_policy_reads_with_the_answers_of_all(run: Run, spoken: Path, policy: Any) -> None:
    both(run, [spoken], ["theirs"], how=Scoring("wrong", 10, policy=policy))


def test_sides_and_what_splits_hold_out(run: Run, spoken: Path) -> None:
    test = both(run, [spoken], ["theirs"], how=WRONG, held_out="HAS-QUANT")
    assert {row.group for row in test if row.metric == "accuracy"} == {"VERIFYQUANT", "VERIFYQUANTATTR", "Overall"}
    assert both(run, [spoken], ["theirs"], how=WRONG, split="dev")[-1].model == "mine"


def test_only_the_selection_is_scored_unless_all_are_asked_for(run: Run, spoken: Path) -> None:
    file = run.covr / "balanced.parquet"
    try:
        BALANCED.write(answered(run).gather_every(2), run.covr)
        some, every = (both(run, [spoken], ["theirs"], how=WRONG, every=every) for every in (False, True))
        assert some[0].n < every[0].n
        BALANCED.write(BALANCED.empty(), run.covr)
        assert f"{run.covr}: the balanced selection is empty; " in told_alike(run, [spoken])
    finally:
        file.unlink()


def told_alike(run: Run, files: list[Path], models: tuple[str, ...] = (), **more: Any) -> str:
    found = list[str]()
    with pytest.raises(BadInput) as bad:
        scores_at_once.covr_questions(run.folder, how=Scoring(resamples=0), **more).of_files(files, models)
    found.append(str(bad.value))
    with pytest.raises(BadInput) as bad:
        score_sets.scored_covr(files, models, run=run.folder, how=Scoring(resamples=0), workers=1, **more)
    assert re.sub(r"\bq\d+", "q", str(bad.value)) == re.sub(r"\bq\d+", "q", found[0])  # any ids may be examples
    return found[0]


def test_faults_are_told_alike(run: Run, spoken: Path) -> None:
    assert "(predictions for no question here: " in told_alike(run, [spoken])
    assert "theirs: no prediction for" in told_alike(run, [], ("theirs",))
    assert "no predictions of a model 'nobody'" in told_alike(run, [], ("nobody",))
    assert "expected dev or test, got 'train'" in told_alike(run, [spoken], split="train")
    assert "no split 'nothing'" in told_alike(run, [spoken], held_out="nothing")


@pytest.mark.processes
@patch("questree.scoring.set_scores.FEW", 1)
def test_processes_count_chunks(run: Run, spoken: Path, tmp_path: Path) -> None:
    both(run, [spoken], ["theirs"], workers=2, how=Scoring("wrong", 10, policy="lenient"))
    for name, workers in (("one", 1), ("two", 2)):
        command(run.folder, model=["theirs"], how=WRONG, workers=workers, json=tmp_path / name, quiet=True)
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()


def test_a_metric_of_a_plugin_is_counted_over_all_questions(run: Run) -> None:
    """What it counts may depend on other questions about an image, which are in other chunks."""
    alone = Metric("alone", "asked once / asked", pl.len().over("image") == 1)
    with patch.dict(METRICS, {"alone": alone}):
        rows = both(run, [], ["theirs"], how=WRONG)
    assert next(row.value for row in rows if row.metric == "alone") == 0


def test_images_of_several_chunks_are_added_up() -> None:
    parts = [
        Tallies([("a",), ("b",)], np.array([[1, 0], [2, 1]]), np.array([[2, 1], [3, 1]], np.int32)),
        Tallies([("b",)], np.array([[4], [1]]), np.array([[5], [1]], np.int32)),
    ]
    found = stacked(parts, [np.array([0, 2]), np.array([2, 1])])
    assert found.passed.tolist() == [[1, 0], [0, 1], [2, 5]] and found.total.tolist() == [[2, 1], [0, 1], [3, 6]]
    assert stacked(parts).total.tolist() == [[2, 1], [3, 1], [0, 5], [0, 1]]


def test_the_commonest_answers_are_those_of_all_parts() -> None:
    parts = [[("COUNT", "2", 2), ("COUNT", "1", 3)], [("COUNT", "2", 2), ("NEW", "no", 4), ("NEW", "a", 4)]]
    counted = pl.DataFrame(
        [row for own in parts for row in own],
        {"template": pl.String, "answer": pl.String, "len": pl.UInt32},
        orient="row",
    )
    assert Commonest.of(counted) == ("2", {"COUNT": "2", "NEW": "a"})


def test_questions_lie_in_shards(tmp_path: Path) -> None:
    run = image_run(tmp_path / "run")
    assert len(chunks(run)) == 1
    put_in_shards(run, 3)
    assert len(chunks(run)) > 4
