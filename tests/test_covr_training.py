"""Training lists of equal size and learning curves: their questions, their files, and the scores of models on them."""

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from questree.cli.formats import export_covr
from questree.cli.paper import PaperOptions
from questree.cli.score import curve
from questree.cli.stages import split as split_command
from questree.faults import BadInput
from questree.formats.covr_export import export
from questree.scoring.compared import OnePolicy
from questree.stages.again import MAKE
from questree.stages.split.image_sets import read_split
from questree.stages.split.lexical import Lexical, count_pairs, drawn_pairs, few_pairs, term_pairs
from questree.stages.split.recipes import read_curve
from questree.stages.split.rows import image_rows
from questree.tables.image_questions import answered
from questree.tables.run import Run
from worlds.image_run import image_run

LISTS = ["iid-size", "train, 0 examples", "train, 2 examples", "train, 5 examples", "train, all examples"]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    run = image_run(tmp_path_factory.mktemp("training") / "run")
    split_command(run.folder, name=["HAS-QUANT", "TPL-VERIFYATTR"], few_shot=2, curve="0, 5,2,all,5", quiet=True)
    return run


def test_an_iid_size_list_is_as_long_as_train_and_of_any_kind(run: Run) -> None:
    every = {*answered(run).filter(split="train")["id"]}
    found = [read_split(run, name) for name in ("HAS-QUANT", "TPL-VERIFYATTR")]
    for parts in found:
        own = parts["iid-size"].to_list()
        assert len(own) == len({*own}) == len(parts["train"]) < len(every)
        assert {*own} < every and {*own} != {*parts["train"]}
    short, long = sorted(({*parts["iid-size"]} for parts in found), key=len)
    assert short < long  # drawn in one order


def test_a_curve_adds_examples_to_examples(run: Run) -> None:
    """Train of the few-shot split has two: it is the list with two."""
    table = answered(run).filter(split="train")
    has = {*table.filter(pl.col("template").is_in(["VERIFYQUANT", "VERIFYQUANTATTR"]))["id"]}
    parts = read_split(run, "HAS-QUANT")
    assert list(parts) == ["train", "dev", "dev held out", "test", *LISTS]
    lists = [{*parts[name]} for name in LISTS[1:]]
    assert [len(own & has) for own in lists] == [0, 2, 5, len(has)] and len(has) > 5
    assert all(few < more for few, more in pairwise(lists))
    assert all(own - has == {*table["id"]} - has for own in lists)
    assert parts["train, 2 examples"].equals(parts["train"])


def test_the_lists_are_made_again_the_same(run: Run) -> None:
    files = {path.name: path.read_bytes() for path in (run.covr / "splits").iterdir()}
    assert {"curve.json", "plan.json", "report.json"} < {*files}
    MAKE["covr/splits"](run, json.loads(files["report.json"])["options"], 1, run)
    assert {path.name: path.read_bytes() for path in (run.covr / "splits").iterdir()} == files


def test_a_split_is_exported_with_its_lists(run: Run, tmp_path: Path) -> None:
    for _ in range(2):  # an earlier export is replaced
        export_covr(run.folder, out=tmp_path / "out", split="has-quant", quiet=True)
    parts = read_split(run, "HAS-QUANT")
    names = ["train", "val", "val-held-out", "test", "iid-size", "train-0", "train-2", "train-5", "train-all"]
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == sorted(f"{name}.jsonl" for name in names)
    for part, name in zip(parts, names, strict=True):
        lines = (tmp_path / "out" / f"{name}.jsonl").read_text().splitlines()
        assert [json.loads(line)["qid"] for line in lines] == parts[part].to_list()
    export(run, tmp_path / "all")
    whole = {*(tmp_path / "all" / "train.jsonl").read_text().splitlines()}
    assert {*(tmp_path / "out" / "train-all.jsonl").read_text().splitlines()} == whole
    with pytest.raises(BadInput, match="no split 'HAS'"):
        export_covr(run.folder, out=tmp_path / "no", split="HAS")
    with pytest.raises(BadInput, match="--all: expected without --split"):
        export_covr(run.folder, out=tmp_path / "no", split="HAS-QUANT", every=True)


def test_a_curve_is_scored_and_drawn(run: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A model with M examples knows M of the answers, the one with all of them knows all."""
    export(run, tmp_path)
    plan: dict[str, Any] = json.loads((run.covr / "splits" / "curve.json").read_text())
    answers = dict(answered(run).select("id", "answer").rows())
    asked = plan["HAS-QUANT"]["questions"]
    assert asked == read_split(run, "HAS-QUANT")["dev held out"].to_list() and len(asked) > 5
    assert plan["HAS-QUANT"]["models"]["5"] == "curve-has-quant-5.json"
    few = {"HAS-QUANT": plan["HAS-QUANT"]}
    for count, file in few["HAS-QUANT"]["models"].items():
        right = asked[: int(count)] if count != "all" else asked
        said = [{"id": id, "prediction": answers[id] if id in right else "?"} for id in asked]
        (tmp_path / file).write_text(json.dumps(said))
    (tmp_path / "curve.json").write_text(json.dumps(few))
    given = {"questions": tmp_path / "val.jsonl", "plan": tmp_path / "curve.json", "how": OnePolicy(resamples=20)}
    paper = PaperOptions(markdown=tmp_path / "t.md")
    curve(**given, plots=tmp_path / "plots", paper=paper, json=tmp_path / "scores.json")
    rows = [row for row in json.loads((tmp_path / "scores.json").read_text()) if row["metric"] == "accuracy"]
    found = [(row["group"], row["model"], row["value"], row["n"]) for row in rows]
    n = len(asked)
    values = {"0": 0.0, "2": 2 / n, "5": 5 / n, "all": 1.0}
    assert found == [("HAS-QUANT", f"{count} examples", value, n) for count, value in values.items()]
    assert "Accuracy by number of examples" in capsys.readouterr().out
    drawn = (tmp_path / "plots/curve.svg").read_text()
    assert drawn.count("<polyline") == 1 and all(f">{count}<" in drawn for count in values)
    text = (tmp_path / "t.md").read_text()
    assert "| HAS-QUANT | all examples | **100.00**<br>" in text
    assert "| HAS-QUANT | 0 examples | 0.00<br>" in text  # no star: none and all differ by 100 in every resample
    assert "Benjamini-Hochberg" in text


def test_a_plan_that_does_not_fit_is_refused(run: Run, tmp_path: Path) -> None:
    export(run, tmp_path)
    plan = {"A": {"models": {"few": "no.json"}, "questions": ["x"]}, "B": {"models": {}}}
    (tmp_path / "curve.json").write_text(json.dumps(plan))
    with pytest.raises(BadInput) as bad:
        curve(questions=tmp_path / "val.jsonl", plan=tmp_path / "curve.json")
    assert [fault.message for fault in bad.value.faults] == [
        "expected a number of examples or all, got 'few'",
        "few examples: no such file no.json",
        "expected models {number of examples: file}, got none",
    ]
    with pytest.raises(BadInput, match="curve: expected numbers of examples or all, as in 0,50,250,all, got '-1'"):
        read_curve("3,-1")


def test_an_empty_lexical_split_says_why(run: Run) -> None:
    table = answered(run)
    rows, side = image_rows(table), {name: (table["split"] == name).to_numpy() for name in ("train", "test")}

    def why(pairs: int, alone: int, together: int, judged: Any = side["test"]) -> tuple[str, ...]:
        found, lexical = term_pairs(count_pairs(rows, side["train"], judged).lazy()), Lexical(pairs, alone, together)
        return few_pairs(found, drawn_pairs(found, lexical, 0), lexical)

    most = "LEXICAL: nothing is held out: no pair of terms is in 9999 evaluated questions, the most frequent in "
    (said,) = why(5, 1, 9999)
    assert said.startswith(most) and said.endswith("; make more questions or lower --lexical-together")
    (said,) = why(5, 9999, 2)
    assert "of none has train 9999 questions with each term alone, at most " in said
    assert why(5, 1, 1, side["test"] & False) == ("LEXICAL: nothing is held out: no evaluated question has two terms",)
    assert why(2, 2, 2) == ()
