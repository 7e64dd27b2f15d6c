"""What `score agqa` says of novel compositions and more steps is about the questions that the run's splits test."""

import json
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import polars as pl
import pytest

from conftest import copy
from judges import facts as judge
from judges.naive_compositions import said
from questree.api.score_sets import scored_agqa
from questree.cli.app import app
from questree.cli.score import agqa
from questree.faults import BadInput
from questree.metrics.answers import score_agqa
from questree.metrics.scores import Score
from questree.scoring import agqa_questions
from questree.scoring.compared import Scoring
from questree.stages.questions import Bank, Question, numbered
from questree.stages.split import drawn_lists
from questree.stages.split.engine import SplitOptions
from questree.stages.split.videos import read_split, split
from questree.tables.run import Run
from worlds.exported_worlds import exported, records

LIST_OF = {
    "Sequencing": "sequencing",
    "Superlative": "superlative",
    "Duration": "duration",
    "Obj-rel": "object-relationship",
}


@pytest.fixture(scope="module")
def divided(random_run: Run, tmp_path_factory: pytest.TempPathFactory) -> Run:
    run = copy(random_run, tmp_path_factory.mktemp("divided"))
    split(run, SplitOptions(), workers=1)
    return run


def ids_of(run: Run, name: str) -> set[str]:
    """Ids of what a split tests."""
    names, table = Bank(run).names, read_split(run, name)["test"]
    return {*numbered(names.gather(table["video"]), table["number"])}


def questions(run: Run, ids: set[str]) -> dict[str, Question]:
    found = dict[str, Question]()
    for folder in Bank(run).folders():
        shard = Bank(run).shard(folder)
        found |= {id: shard.question(at) for at, id in enumerate(shard.named_ids) if id in ids}
    return found


def some_right(table: pl.DataFrame) -> dict[str, str]:
    """Id -> a prediction; two of three are right."""
    right = np.random.default_rng(1).random(len(table)) < 2 / 3
    rows = zip(table["id"], table["answer"], right, strict=True)
    return {id: answer if true else "something else" for id, answer, true in rows}


def test_a_question_counts_where_the_split_that_was_made_tests_it(divided: Run) -> None:
    """Against a judge that reads the split's files, and walks the programs of novel questions for their lists."""
    asked = agqa_questions.of_run(divided, "test")
    predictions = some_right(asked.table)
    rows = score_agqa(asked, pl.DataFrame({"id": [*predictions], "prediction": [*predictions.values()]})).rows("m")
    found = {(row.by, row.group): row for row in rows if row.metric == "accuracy"}
    truth = dict(asked.table.select("id", "answer").rows())
    novel, videos = ids_of(divided, "novel-compositions"), judge.read(divided.load("facts"))
    assert len(novel) > 100 and novel <= truth.keys()
    lists = {id: said(one.program, videos[one.video]) for id, one in questions(divided, novel).items()}
    wanted = {
        ("novel composition", name): {id for id, own in lists.items() if of in own} for name, of in LIST_OF.items()
    }
    wanted |= {("novel composition", "Overall"): novel, ("more steps", "Overall"): ids_of(divided, "more-steps")}
    for name, ids in wanted.items():
        right = sum(predictions[id] == truth[id] for id in ids)
        assert ids and (found[name].n, found[name].value) == (len(ids), right / len(ids)), name
    flags = agqa_questions.of_run(divided, "test", as_released=True).table
    assert {*flags.filter("novel_comp")["id"]} != novel  # what scores went by before


def test_shard_by_shard_and_at_once_the_same_is_held_out(divided: Run, tmp_path: Path) -> None:
    file = tmp_path / "mine.json"
    predictions = some_right(agqa_questions.of_run(divided, "test").table)
    file.write_text(json.dumps([{"id": id, "prediction": said} for id, said in predictions.items()]))
    how = Scoring(resamples=0)
    for as_released in (False, True):
        shards = scored_agqa([file], [], workers=1, run=divided.folder, how=how, as_released=as_released)
        asked = agqa_questions.of_run(divided, "test", as_released=as_released)
        said = pl.DataFrame({"id": [*predictions], "prediction": [*predictions.values()]})
        own = score_agqa(asked, said).rows("mine")
        assert held(shards.rows) == held(own) and held(own)


def held(rows: list[Score]) -> list[tuple[Any, ...]]:
    """What rows about held-out questions say of a model."""
    return sorted(
        (row.by, row.group, row.value, row.n)
        for row in rows
        if row.model == "mine" and row.by.startswith(("novel", "more", "indirect")) and row.n
    )


def test_without_a_split_flags_decide_and_a_line_says_so(
    random_run: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table = agqa_questions.of_run(random_run, "test").table
    file = tmp_path / "mine.json"
    file.write_text(json.dumps([{"id": id, "prediction": said} for id, said in some_right(table).items()]))
    said = "novel compositions: by the flags of questions, as the run has no split; `questree split "
    for as_released in (False, True):
        agqa(random_run.folder, predictions=[file], how=Scoring(resamples=0), as_released=as_released)
        assert (said in capsys.readouterr().out) == (not as_released)


def test_splits_of_another_selection_are_no_splits(divided: Run, tmp_path: Path) -> None:
    run = copy(divided, tmp_path)
    some = next(run.balanced.glob("*.parquet"))
    pl.read_parquet(some).gather_every(2).write_parquet(some)
    why = "splits: made of another selection than there is now; run `questree split` again"
    with pytest.raises(BadInput, match=why):
        agqa_questions.of_run(run, "test")
    agqa_questions.of_run(run, "test", as_released=True)
    split(run, SplitOptions(all=True), workers=1)  # of all questions, whatever is selected
    assert agqa_questions.of_run(run, "test").table["novel_comp"].any()


def test_words_of_somebody_elses_draw_a_list_that_is_split_scored_and_remembered(
    random_run: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same videos in a vocabulary that is not called AGQA's."""
    run, record = copy(random_run, tmp_path), tmp_path / "made.json"
    words = run.vocabulary_file.read_text("utf-8")
    run.vocabulary_file.write_text(words.replace('name = "agqa"', 'name = "mine"', 1), "utf-8")
    monkeypatch.setattr(drawn_lists, "ENOUGH", 1)  # there are few
    plan = run.questions / "plan.json"  # the questions stay as they are
    plan.write_text(json.dumps(json.loads(plan.read_text()) | {"facts": run.facts_digest()}))
    app(["split", str(run.folder), "--workers", "1", "--json", str(record)], result_action="return_value")
    printed, lists = capsys.readouterr().out, drawn_lists.drawn_for(run)
    assert lists is not None and lists.actions and lists.first and lists.pairs
    assert "Novel compositions, drawn by a hash" in printed and ", ".join(lists.first) in printed
    kept = json.loads((run.folder / "splits" / "report.json").read_text())["splits"]
    for every in (json.loads(record.read_text()), kept):
        (novel,) = (one for one in every if one["name"] == "novel-compositions")
        assert novel["drawn"] == json.loads(msgspec.json.encode(lists)) and novel["test"] > 0
    table = agqa_questions.of_run(run, "test").table
    assert {*table.filter("novel_comp")["id"]} == ids_of(run, "novel-compositions")
    assert not agqa_questions.of_run(run, "test", as_released=True).table["novel_comp"].equals(table["novel_comp"])
    out = exported(run, tmp_path / "agqa")
    marked = {id for id, record in records(out, "balanced", "test").items() if record["novel_comp"]}
    assert marked == ids_of(run, "novel-compositions")
    assert not any(record["novel_comp"] for record in records(out, "balanced", "train").values())
    for flag in ("nc_seq", "nc_sup", "nc_dur", "nc_objrel"):
        wanted = {id for id, record in records(out, "balanced", "test").items() if record[flag]}
        assert {*table.filter(flag)["id"]} == wanted
