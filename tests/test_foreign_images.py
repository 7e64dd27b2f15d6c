"""Image corpora that are not ours go through every command: names with commas, brackets and quotes, verbs for
relations, attributes without relations, relations without attributes."""

import json
import re
from pathlib import Path

import polars as pl
import pytest

from questree.synth.situations import write_situations
from questree.tables.image_questions import answered
from questree.tables.questions import with_programs
from questree.tables.run import Run
from worlds.commands import questree
from worlds.foreign_images import clevr, visual_genome, vrd

CORPORA = {
    "visual-genome": visual_genome,
    "vrd": vrd,
    "clevr": clevr,
    "imsitu": lambda folder: write_situations(folder, 80, seed=1) and folder,
}


@pytest.fixture(scope="module", params=CORPORA)
def built(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """RUN, built with the defaults."""
    folder = tmp_path_factory.mktemp(request.param)
    raw, run = CORPORA[request.param](folder / "raw"), folder / "run"
    done = questree("build", raw, "--out", run, "--questions", 400, "--workers", 1, "--tables")
    assert done.returncode == 0, done.stderr
    (run / "said.txt").write_text(done.stdout + done.stderr)
    return run


def asked(run: Path) -> pl.DataFrame:
    return with_programs(answered(Run(run)))


def well(*words: object) -> str:
    done = questree(*words)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_oracle_is_right_everywhere(built: Path) -> None:
    well("answer", built, "--model", "oracle")
    well("score", built, "--model", "oracle", "--resamples", 0, "--json", built / "score.json")
    scored = json.loads((built / "score.json").read_text())
    accuracy = [row["value"] for row in scored if row["metric"] == "accuracy" and row["value"] is not None]
    assert accuracy
    assert set(accuracy) == {1.0}


def test_commands_that_look_at_it(built: Path) -> None:
    well("audit", built)
    well("report", built, "--resamples", 0, "--out", built.parent / "report.html")
    assert "as locked" in well("verify", built)
    odd = asked(built).filter(pl.col("question").str.contains(r'[,("$]'))
    shown = (odd if len(odd) else asked(built)).row(0, named=True)
    assert shown["question"] in well("show", built, shown["id"])


def test_splits_by_such_words(built: Path) -> None:
    every = asked(built)
    name = next((word for word in every["words"].explode() if '"' in word or "(" in word), every["words"][0][0])
    held_out = f"uses(noun='{name}')"
    (built.parent / "mine.yaml").write_text(json.dumps({"splits": {"mine": {"held out": held_out}}}))
    well("split", built, "--splits", built.parent / "mine.yaml", "--json", built.parent / "splits.json")
    assert "mine" in (built.parent / "splits.json").read_text()


def test_exported_questions_come_back_the_same(built: Path) -> None:
    well("export", "covr", built, "--out", built.parent / "covr", "--all")
    copy = built.parent / "copy"
    (copy / "images").mkdir(parents=True)
    for table in (built / "images").iterdir():
        (copy / "images" / table.name).write_bytes(table.read_bytes())
    well("import", "covr", built.parent / "covr", "--out", copy)
    columns = ("id", "template", "question", "answer", "program")
    assert asked(copy).select(columns).sort("id").equals(asked(built).select(columns).sort("id"))


def test_texts_are_tidy_and_verbs_agree(built: Path) -> None:
    for text in asked(built)["question"]:
        assert text.endswith("?")
        assert not re.search(r"  | \?|\b(is|are|does|do) (is|are|has|wears|sits|holds)\b", text)
        assert not re.search(r"\b(is|are) (wear|have|sit|ride|hold|carry)\b", text)


def test_a_template_without_questions_says_why_and_unknown_words_are_told(built: Path) -> None:
    said, counts = (built / "said.txt").read_text(), asked(built)["template"].value_counts()
    report = json.loads((built / "covr" / "report.json").read_text())
    there = set(counts["template"])
    assert set(report["unmade"]) == set(report["questions"]["train"]) - there
    for template, why in report["unmade"].items():
        assert f"{template}: no question; " in said
        assert why or template.endswith("GROUPBY")
    unknown = any(2 * some < every for some, every in report["known"].values())
    assert ("warning: the shipped word tables know" in said) == unknown
    kinds = {"vrd": {"relations"}, "clevr": {"attributes"}, "imsitu": {"relations"}}
    name = built.parent.name.rstrip("0123456789")
    assert set(report["known"]) == kinds.get(name, {"attributes", "relations"})
    if name == "vrd":
        assert "CHOOSEATTR: no question; " in said
        assert "references without an attribute" in said
        assert "the shipped word tables know 4 of 26 relations of these images" in said
        table = pl.read_parquet(built / "images" / "images.parquet")
        given = dict(zip(range(len(table)), table["split"], strict=True))
        for split, images in answered(Run(built)).select("split", "images").iter_rows():
            assert {given[image] for image in images} == {split}
