"""COVR's accuracy by template and its two baselines, on questions few enough to count."""

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from judges.scores_at_once import set_questions
from questree.cli.answer import answer as answer_command
from questree.cli.paper import PaperOptions
from questree.cli.score import covr as command
from questree.cli.score import generalization
from questree.cli.stages import split as split_command
from questree.faults import BadInput
from questree.formats.covr_export import export
from questree.metrics.sets import majority, score_covr
from questree.models.predictions import truths_read
from questree.models.stored import image_predictions
from questree.scoring.compared import Scoring
from questree.scoring.image_sets import of_records
from questree.search.word_tables import default_words
from questree.sources.covr import read_records
from questree.stages.decompose.set_shards import decompose_run
from questree.stages.split.image_sets import read_split
from questree.tables.image_questions import answered
from questree.tables.run import Run
from worlds.image_run import image_run
from worlds.papers import compiled

TRAIN = pl.DataFrame(
    {
        "template": ["COUNT", "COUNT", "COUNT", "VERIFYATTR", "VERIFYATTR", "QUERYATTR"],
        "answer": ["2", "1", "2", "yes", "no", "red"],
    }
)
ASKED = pl.DataFrame(
    {
        "id": ["a", "b", "c", "d"],
        "template": ["COUNT", "VERIFYATTR", "VERIFYATTR", "CHOOSEREL"],
        "answer": ["2", "no", "yes", "on"],
        "image": ["1", "1", "2", "3"],
        "options": [None, None, None, None],
    },
    schema_overrides={"options": pl.List(pl.String)},
)


def said(answers: dict[str, str]) -> pl.DataFrame:
    return pl.DataFrame({"id": list(answers), "prediction": list(answers.values())})


def test_the_baselines_say_the_commonest_answer_of_training() -> None:
    found = {name: dict(table.rows()) for name, table in majority(TRAIN, ASKED).items()}
    assert found["MAJ"] == dict.fromkeys("abcd", "2")
    # yes and no are equally common: the first in the alphabet; a template that training lacks gets the answer of MAJ
    assert found["MAJTEMPL"] == {"a": "2", "b": "no", "c": "no", "d": "2"}


def test_of_a_choice_one_of_its_two_options_is_drawn() -> None:
    """Whatever training says most often; half of the options are the first, and the same ones every time."""
    asked = pl.DataFrame({"id": [f"q{at}" for at in range(400)]}).with_columns(
        template=pl.lit("CHOOSEREL"), answer=pl.lit("on"), options=pl.lit(["on", "near"])
    )
    learnt = pl.DataFrame({"template": ["CHOOSEREL"] * 3, "answer": ["under"] * 3})
    guesses = [majority(learnt, asked)["MAJTEMPL"]["prediction"] for _ in range(2)]
    assert guesses[0].equals(guesses[1]) and set(guesses[0]) == {"on", "near"}
    assert 170 < (guesses[0] == "on").sum() < 230
    assert set(majority(learnt, asked)["MAJ"]["prediction"]) == {"under"}


def test_the_options_of_a_choice_are_read_off_its_program(run: Run, tmp_path: Path) -> None:
    asked, _ = set_questions(run, "test")
    found = dict(asked.select("template", "options").unique("template").rows())
    choices = {"CHOOSEATTR": ["red", "blue"], "CHOOSEOBJECT": ["table", "chair"], "CHOOSEREL": ["on", "near"]}
    assert found == dict.fromkeys(found) | choices
    export(run, tmp_path / "out")
    assert of_records(read_records(tmp_path / "out" / "test.jsonl")).equals(asked)


@pytest.mark.parametrize("policy", ["exact", "vqa", "lenient"])
def test_true_and_false_are_yes_and_no(run: Run, tmp_path: Path, policy: Any) -> None:
    """As COVR's own predictor writes them."""
    test = answered(run).filter(split="test")
    said = {id: {"yes": "True", "no": "False"}.get(answer, answer) for id, answer in test.select("id", "answer").rows()}
    assert {"True", "False"} <= {*said.values()}
    path, how = written(tmp_path / "covr.jsonl", said), Scoring(resamples=0, policy=policy)
    command(run.folder, predictions=[path], json=tmp_path / "scores.json", quiet=True, how=how)
    found = rows(tmp_path / "scores.json")
    assert found["accuracy", "Overall", "covr"]["value"] == 1
    assert found["unparsed", policy, "covr"]["value"] == 0


def test_a_text_that_is_an_answer_stays_what_it_is() -> None:
    texts = pl.Series(["True", "false", "TRUE"])
    assert truths_read(texts, ["yes", "no"]).to_list() == ["yes", "no", "TRUE"]
    assert truths_read(texts, ["yes", "True"]).to_list() == ["True", "false", "TRUE"]


def test_stored_predictions_are_read_so_too(run: Run, tmp_path: Path) -> None:
    """Whoever reads them from the run, the page included, sees yes and no."""
    decompose_run(run, default_words(), every=True)
    test = answered(run).filter(split="test", template="VERIFYATTR")
    said = {id: {"yes": "True", "no": "False"}[answer] for id, answer in test.select("id", "answer").rows()}
    answer_command(run.folder, model="theirs", predictions=written(tmp_path / "covr.jsonl", said), quiet=True)
    assert {*image_predictions(run, "theirs", test["id"]).table["prediction"]} == {*test["answer"]}


def test_accuracy_is_counted_per_template_and_over_all() -> None:
    scored = score_covr(ASKED, said({"a": "2", "b": "yes", "c": "yes"}), ["COUNT", "VERIFYATTR", "CHOOSEREL"])
    rows = [(row.group, row.value, row.n) for row in scored.rows("m")]
    assert rows == [("COUNT", 1.0, 1), ("VERIFYATTR", 0.5, 2), ("CHOOSEREL", 0.0, 1), ("Overall", 0.5, 4)]
    skipped = score_covr(ASKED, said({"a": "2", "b": "yes", "c": "yes"}), ["CHOOSEREL"], skip_missing=True)
    rows = [(row.group, row.value, row.n) for row in skipped.rows("m")]
    assert rows == [("CHOOSEREL", None, 0), ("COUNT", 1.0, 1), ("VERIFYATTR", 0.5, 2), ("Overall", 2 / 3, 3)]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    run = image_run(tmp_path_factory.mktemp("score") / "run")
    split_command(run.folder, few_shot=2, lexical_alone=2, lexical_together=2, quiet=True)
    return run


def written(path: Path, answers: dict[str, str]) -> Path:
    path.write_text("\n".join(json.dumps({"id": id, "prediction": answer}) for id, answer in answers.items()))
    return path


def rows(path: Path) -> dict[tuple[str, str, str], Any]:
    found = json.loads(path.read_text())
    assert all(list(row) == ["metric", "by", "group", "value", "n", "low", "high", "model"] for row in found)
    return {(row["metric"], row["group"], row["model"]): row for row in found}


def test_a_run_is_scored_on_its_test_questions(run: Run, tmp_path: Path) -> None:
    test = answered(run).filter(split="test")
    perfect = written(tmp_path / "perfect.jsonl", dict(test.select("id", "answer").rows()))
    command(run.folder, predictions=[perfect], json=tmp_path / "scores.json", quiet=True, how=Scoring(resamples=50))
    found = rows(tmp_path / "scores.json")
    assert found["accuracy", "Overall", "perfect"]["value"] == 1 == found["coverage", "exact", "perfect"]["value"]
    train = answered(run).filter(split="train")
    common = train.group_by("answer").len().sort(["len", "answer"], descending=[True, False])["answer"][0]
    share = (test["answer"] == common).mean()
    overall = found["accuracy", "Overall", "MAJ"]
    assert overall["value"] == share and overall["n"] == len(test)
    assert overall["low"] <= share <= overall["high"] and overall["low"] < overall["high"]


def test_models_that_are_too_close_are_named_and_tables_are_written(
    run: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    said = dict(answered(run).filter(split="test").select("id", "answer").rows())
    first, *_ = said
    models = {"one": said, "two": {**said, first: "nonsense"}, "three": dict.fromkeys(said, "nonsense")}
    files = [written(tmp_path / f"{name}.jsonl", own) for name, own in models.items()]
    paper = PaperOptions(markdown=tmp_path / "t.md", latex=tmp_path / "t.tex")
    command(run.folder, predictions=files, how=Scoring(resamples=300), paper=paper)
    told = capsys.readouterr().out.splitlines()
    close = [line for line in told if "too small a difference" in line]
    assert [line.partition(":")[0] for line in close] == ["two minus one", "three minus two"]
    assert "p 0.2500" in close[1], "three images, and less than a quarter of all patterns of signs cannot be"
    assert any(line.startswith("three minus one: -100.00 ") and "]? in accuracy; ? no test" in line for line in told)
    text = (tmp_path / "t.md").read_text()
    assert "| Overall | one | **100.00**<br>" in text and "| Overall | three | 0.00<br>" in text
    assert compiled(tmp_path, (tmp_path / "t.tex").read_text()) == []


def test_a_split_is_scored_on_what_it_holds_out(run: Run, tmp_path: Path) -> None:
    command(run.folder, held_out="HAS-QUANT", json=tmp_path / "scores.json", quiet=True, how=Scoring(resamples=0))
    found = rows(tmp_path / "scores.json")
    assert found["accuracy", "Overall", "MAJ"]["n"] == len(read_split(run, "HAS-QUANT")["test"])
    assert {group for _, group, _ in found} == {"VERIFYQUANT", "VERIFYQUANTATTR", "Overall"}


def test_files_are_scored_like_runs(run: Run, tmp_path: Path) -> None:
    export(run, tmp_path / "out")
    command(run.folder, json=tmp_path / "run.json", quiet=True)
    files: dict[str, Any] = {"questions": tmp_path / "out" / "test.jsonl", "train": tmp_path / "out" / "train.jsonl"}
    command(**files, json=tmp_path / "files.json", quiet=True)
    assert (tmp_path / "run.json").read_bytes() == (tmp_path / "files.json").read_bytes()


def test_without_training_questions_there_are_no_baselines(
    run: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    export(run, tmp_path / "out")
    command(questions=tmp_path / "out" / "test.jsonl", json=tmp_path / "scores.json")
    assert json.loads((tmp_path / "scores.json").read_text()) == []
    assert "no training questions: no baselines" in capsys.readouterr().out


def test_the_plan_of_the_splits_is_scored_for_generalization(run: Run, tmp_path: Path) -> None:
    """Models that know everything, and one that knows nothing of what is asked without looking."""
    export(run, tmp_path / "out")
    plan = json.loads((run.covr / "splits" / "plan.json").read_text())
    few = {name: plan[name] for name in ("HAS-QUANT", "TPL-VERIFYATTR")}
    truth = dict(answered(run).select("id", "answer").rows())
    for split in few.values():
        for role in ("text", "model", "iid-size", "iid"):
            answers = {id: truth[id] if role != "text" else "?" for id in split["questions"]}
            path = tmp_path / split[role]
            rows = [{"id": id, "prediction": answer} for id, answer in answers.items()]
            path.write_text(json.dumps([*(json.loads(path.read_text()) if path.exists() else []), *rows]))
    (tmp_path / "plan.json").write_text(json.dumps(few))
    generalization(
        questions=tmp_path / "out" / "test.jsonl",
        plan=tmp_path / "plan.json",
        json=tmp_path / "g.json",
        quiet=True,
        paper=PaperOptions(markdown=tmp_path / "g.md"),
    )
    text = (tmp_path / "g.md").read_text()
    assert "| Overall | text-only | | 0.00<br>" in text and "| Overall | iid | | **100.00**<br>" in text
    found = {
        row["group"]: row["value"] for row in json.loads((tmp_path / "g.json").read_text()) if "score" in row["metric"]
    }
    assert found == {"HAS-QUANT": 1.0, "TPL-VERIFYATTR": 1.0, "Overall": 1.0}


def test_wrong_options_are_refused(run: Run) -> None:
    with pytest.raises(BadInput, match="expected either a run folder or --questions"):
        command()
    with pytest.raises(BadInput, match="--side: expected dev or test, got 'train'"):
        command(run.folder, side="train")
    with pytest.raises(BadInput, match="no split 'HAS'"):
        command(run.folder, held_out="HAS")
