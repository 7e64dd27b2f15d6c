"""Nothing of anybody's is replaced unasked, and what is missing or empty is said in one line."""

import json
import shutil
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from questree.cli.formats import export_covr as export_command
from questree.cli.formats import import_covr as import_command
from questree.cli.ground import ground as ground_command
from questree.cli.score import covr as score_command
from questree.cli.score import decomp as decomp_command
from questree.cli.stages import generate
from questree.cli.stages import split as split_command
from questree.faults import BadInput
from questree.formats.covr_import import import_covr
from questree.models.predictions import read_predictions
from questree.scoring.compared import Scoring
from questree.search.word_tables import default_words
from questree.stages.balance.pairs import balance
from questree.stages.decompose.set_hierarchies import image_hierarchies
from questree.stages.decompose.set_shards import decompose_run
from questree.stages.split.engine import SplitOptions
from questree.stages.split.image_sets import read_split, split_run
from questree.tables.image_questions import ANSWERED, BALANCED, answered, question_folders
from questree.tables.questions import with_programs
from questree.tables.run import Run
from questree.tables.store import new_folder
from worlds import image_run as made
from worlds.image_run import GROUPS
from worlds.question_shards import write_questions


@pytest.fixture
def run(tmp_path: Path) -> Run:
    return made.image_run(tmp_path / "run")


def content(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def write_out(command: str, run: Run, out: Path, **more: Any) -> None:
    {"ground": ground_command, "export": export_command}[command](run.folder, out=out, quiet=True, **more)


@pytest.mark.parametrize("command", ["ground", "export"])
def test_a_run_and_somebodys_own_files_are_never_replaced(command: str, run: Run, tmp_path: Path) -> None:
    own = tmp_path / "own"
    own.mkdir()
    (own / "thesis.txt").write_text("mine")
    for out in (own, run.folder, run.covr, run.images):
        before = content(out)
        with pytest.raises(BadInput, match=r"not empty and not an earlier \w+ \(it has .*\); choose a new folder"):
            write_out(command, run, out)
        assert content(out) == before


@pytest.mark.parametrize("command", ["ground", "export"])
def test_an_empty_folder_and_an_earlier_result_may_be_replaced(command: str, run: Run, tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    write_out(command, run, out)
    first = content(out)
    write_out(command, run, out)
    assert content(out) == first != {}
    if command == "ground":
        write_out(command, run, out, format="parquet")
        assert set(content(out)) == {"questions.parquet", "boxes.parquet"}


@pytest.mark.parametrize("name", ["train.jsonl", "questions.jsonl"])
def test_a_file_that_only_has_the_name_of_one_of_ours_stays(name: str, run: Run, tmp_path: Path) -> None:
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / name).write_text("mine")
    for command in ("ground", "export"):
        with pytest.raises(BadInput, match=f"it has {name}"):
            write_out(command, run, tmp_path / "own")


def test_the_folder_one_is_in_is_no_place_for_a_new_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for out in (".", ".."):
        with pytest.raises(BadInput, match="expected a folder with a name"), new_folder(Path(out)):
            pass
    assert list(tmp_path.iterdir()) == []


def test_an_import_replaces_questions_only_when_told_to(
    run: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    export_command(run.folder, out=tmp_path / "out", quiet=True)
    decompose_run(run, default_words())
    BALANCED.write(answered(run).select("id"), run.covr)
    with pytest.raises(BadInput, match="there are image questions already; remove the folder first, or give --replace"):
        import_command(tmp_path / "out", out=run.folder, quiet=True)
    assert (run.covr / "decomposed").is_dir()
    import_command(tmp_path / "out", out=run.folder, replace=True)
    assert "replaced earlier questions; their balanced selection and DAGs are gone" in capsys.readouterr().out
    assert not (run.covr / "decomposed").exists()


def test_an_import_that_was_killed_before_its_lock_is_made_again(run: Run, tmp_path: Path) -> None:
    export_command(run.folder, out=tmp_path / "out", quiet=True)
    import_command(tmp_path / "out", out=run.folder, replace=True, quiet=True)
    whole = content(run.folder)
    locked = json.loads(run.lock_file.read_text())
    del locked["stages"]["covr/questions"]
    run.lock_file.write_text(json.dumps(locked))
    import_command(tmp_path / "out", out=run.folder, quiet=True)
    assert content(run.folder) == whole
    with pytest.raises(BadInput, match="there are image questions already"):
        import_command(tmp_path / "out", out=run.folder, quiet=True)


def test_generating_again_says_what_is_gone(run: Run, capsys: pytest.CaptureFixture[str]) -> None:
    split_run(run, SplitOptions())
    decompose_run(run, default_words())
    balance(run)
    generate(run.folder, questions=10, workers=1)
    assert "replaced earlier questions; their balanced selection, splits and DAGs are gone" in capsys.readouterr().out
    generate(run.folder, questions=10, workers=1)
    assert "replaced earlier questions\n" in capsys.readouterr().out


def test_an_import_of_no_question_is_refused(tmp_path: Path) -> None:
    run = Run(tmp_path / "run")
    made.write_images(run)
    (tmp_path / "in").mkdir()
    for lines, complaint in (
        ([], "no question to import (the files are empty)"),
        ([{"qid": "a", "answer": 1, "scenes": ["nowhere"]}], "no question to import (1: "),
    ):
        (tmp_path / "in" / "test.jsonl").write_text("\n".join(map(json.dumps, lines)))
        with pytest.raises(BadInput) as bad:
            import_covr(tmp_path / "in", run, GROUPS)
        assert len(bad.value.faults) == 1 and complaint in str(bad.value)
    assert not run.covr.exists()


def everything(run: Run, out: Path) -> list[Any]:
    return [
        lambda: balance(run),
        lambda: split_run(run, SplitOptions()),
        lambda: decompose_run(run, default_words()),
        lambda: export_command(run.folder, out=out, quiet=True),
        lambda: score_command(run.folder, quiet=True),
    ]


def test_a_run_without_questions_is_told_which_command_makes_them(tmp_path: Path) -> None:
    run = Run(tmp_path / "run")
    made.write_images(run)
    for command in everything(run, tmp_path / "out"):
        with pytest.raises(BadInput, match="no image questions here; `questree generate` makes them"):
            command()


def test_empty_tables_are_refused_in_one_line(run: Run, tmp_path: Path) -> None:
    BALANCED.write(BALANCED.empty(), run.covr)
    for command in everything(run, tmp_path / "out")[1:]:
        with pytest.raises(BadInput, match="the balanced selection is empty"):
            command()
    write_questions(ANSWERED.empty(), run)
    for command in everything(run, tmp_path / "out"):
        with pytest.raises(BadInput, match="the table of image questions is empty"):
            command()


def test_a_table_of_an_older_version_is_refused_in_one_line(run: Run, tmp_path: Path) -> None:
    (folder,) = question_folders(run)
    with_programs(answered(run)).drop("form", "words").write_parquet(folder / "questions.parquet")
    said = "made by an older version: run `questree generate` or `questree import covr` again"
    for command in everything(run, tmp_path / "out"):
        with pytest.raises(BadInput, match=said):
            command()
    (folder / "questions.parquet").rename(run.covr / "questions.parquet")
    shutil.rmtree(run.covr / "questions")
    for command in everything(run, tmp_path / "out"):
        with pytest.raises(BadInput, match="no image questions of this version here; `questree generate` makes them"):
            command()


def store(run: Run, tmp_path: Path, answers: dict[str, str]) -> None:
    """As `questree answer --predictions` does."""
    from questree.models.stored import store as keep

    path = tmp_path / "somebody.jsonl"
    path.write_text("\n".join(json.dumps({"qid": id, "prediction": said}) for id, said in answers.items()))
    keep(run, image_hierarchies(run), read_predictions(path), {})


def test_a_stored_model_is_scored_like_its_file(run: Run, tmp_path: Path) -> None:
    decompose_run(run, default_words())
    answers = dict(answered(run).select("id", "answer").rows())
    test = answered(run).filter(split="test")["id"].to_list()
    answers |= dict.fromkeys(test[::3], "wrong")
    store(run, tmp_path, answers)
    more: dict[str, Any] = {"how": Scoring(resamples=0), "quiet": True}
    score_command(run.folder, model=["somebody"], json=tmp_path / "stored.json", **more)
    score_command(run.folder, predictions=[tmp_path / "somebody.jsonl"], json=tmp_path / "file.json", **more)
    stored, file = (json.loads((tmp_path / f"{name}.json").read_text()) for name in ("stored", "file"))
    assert stored == file
    overall = next(row for row in stored if (row["model"], row["group"]) == ("somebody", "Overall"))
    assert overall["value"] == (len(test) - len(test[::3])) / len(test)
    with pytest.raises(BadInput, match="no predictions of a model 'nobody'"):
        score_command(run.folder, model=["nobody"], quiet=True)
    with pytest.raises(BadInput, match="--model: goes with a run"):
        score_command(questions=tmp_path / "x.json", model=["somebody"], quiet=True)


def test_the_dags_of_dev_are_scored_alone(run: Run, tmp_path: Path) -> None:
    decompose_run(run, default_words())
    table = answered(run)
    store(run, tmp_path, dict(table.select("id", "answer").rows()))
    more: dict[str, Any] = {"how": Scoring("skip", 0), "quiet": True}
    nodes = {}
    for split in (None, "train", "dev", "test"):
        decomp_command(run.folder, split=split, json=tmp_path / "scores.json", **more)
        rows = json.loads((tmp_path / "scores.json").read_text())
        nodes[split] = next(row["n"] for row in rows if row["metric"] == "coverage")
    assert min(nodes.values()) > 0
    assert nodes[None] == nodes["train"] + nodes["dev"] + nodes["test"]  # no image, so no node, is of two splits


def test_predictions_for_questions_that_are_not_scored_are_not_counted(
    run: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    split_command(run.folder, few_shot=2, quiet=True)
    held = set(read_split(run, "HAS-QUANT")["test"].to_list())
    truth = dict(answered(run).select("id", "answer").rows())
    lines = [{"id": id, "prediction": said if id in held else "never said"} for id, said in truth.items()]
    (tmp_path / "m.json").write_text(json.dumps(lines))
    score_command(run.folder, held_out="HAS-QUANT", predictions=[tmp_path / "m.json"], how=Scoring(resamples=0))
    assert f"0 of {len(held)} predictions are no answer of this data" in capsys.readouterr().out


def test_a_split_that_holds_nothing_out_says_so(run: Run, capsys: pytest.CaptureFixture[str]) -> None:
    table = answered(run)
    split_command(run.folder, name=["HAS-QUANT"], few_shot=2)
    assert "stay in train" not in capsys.readouterr().err
    count = len(table.filter(split="train").filter(pl.col("template").str.starts_with("VERIFYQUANT")))
    split_command(run.folder, name=["HAS-QUANT"], few_shot=count)
    said = f"warning: HAS-QUANT: all {count} questions with it stay in train; --few-shot is {count}"
    assert said in " ".join(capsys.readouterr().err.split())


def test_a_split_without_test_says_so_though_dev_has_some(run: Run) -> None:
    table = answered(run)
    quant = pl.col("template").str.starts_with("VERIFYQUANT")
    write_questions(table.filter((pl.col("split") != "test") | ~quant), run)
    warnings = split_run(run, SplitOptions(names=("HAS-QUANT",)))[0].warnings
    assert warnings.count("HAS-QUANT: test is empty") == 1


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.jsonl", '{"qid": "7", "prediction": "red"}\n'),
        ("a.json", '[{"qid": 7, "prediction": "red"}]'),
        ("a.csv", "qid,prediction\n7,red\n"),
    ],
)
def test_predictions_may_call_their_id_qid(name: str, text: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(text)
    assert read_predictions(tmp_path / name).table.select("id", "prediction").rows() == [("7", "red")]
