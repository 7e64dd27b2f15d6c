"""Answers to questions about image sets: their ids, who may answer, what is refused, and runs with videos besides."""

import json
import os
import shutil
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import polars as pl
import pytest

from conftest import copy
from questree.api.score_tables import score_grid
from questree.cli.answer import answer
from questree.cli.app import extended
from questree.cli.compare import compare, power
from questree.cli.report import report
from questree.cli.score import decomp
from questree.cli.show import show
from questree.cli.terminal import tell
from questree.cli.verify import diff, verify
from questree.faults import BadInput
from questree.metrics.scores import Score
from questree.models.bots import BOTS
from questree.scoring.compared import ComparingOptions, OnePolicy, Scoring
from questree.search.word_tables import default_words
from questree.stages.decompose.dag_shards import DecomposeOptions, decompose
from questree.stages.decompose.set_hierarchies import image_hierarchies, node_keys, set_node_table, set_shards
from questree.stages.decompose.set_shards import decompose_run
from questree.tables.image_questions import answered
from questree.tables.images import IMAGES
from questree.tables.predictions import Stored, models
from questree.tables.questions import with_programs
from questree.tables.run import Run
from worlds.image_run import image_run, spoken_nodes


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Run:
    run = image_run(tmp_path_factory.mktemp("images") / "run")
    decompose_run(run, default_words(), every=True, workers=1)
    return run


@pytest.fixture
def run(made: Run, tmp_path: Path) -> Run:
    return copy(made, tmp_path / "images")


@pytest.fixture(scope="module")
def taken_apart(asked_run: Run, tmp_path_factory: pytest.TempPathFactory) -> Run:
    run = copy(asked_run, tmp_path_factory.mktemp("videos"))
    decompose(run, DecomposeOptions(balanced=False), pool=ThreadPoolExecutor(1))
    return run


@pytest.fixture
def both(taken_apart: Run, tmp_path: Path) -> Run:
    """Videos with DAGs, to which images are added."""
    return copy(taken_apart, tmp_path / "both")


def add_images(run: Run, images: Run) -> None:
    shutil.copytree(images.images, run.images)
    shutil.copytree(images.covr, run.covr)


NODE = {"set": [0, 1, 0, 0, 2], "number": [0, 0, 1, 2, 0]}
TEXTS = pl.Series(["a\n", "b\n", "b\nred"])
TOPS = pl.DataFrame({"id": ["q7"], "node": [2]}, schema={"id": pl.String, "node": pl.UInt32})


def keys(*sets: list[str]) -> list[str]:
    return node_keys(pl.DataFrame(NODE), TEXTS, TOPS, pl.Series(sets)).to_list()


def test_an_id_is_bound_to_the_images_the_program_and_the_word() -> None:
    found = keys(["x", "y"], ["x", "z"], ["z"])
    assert found[2] == "q7" and len(set(found)) == 5
    assert all(len(key) == len("s-") + 12 and key.startswith("s-") for key in found if key != "q7")
    assert keys(["y", "x"], ["x", "z"], ["z"]) == found  # the order of a set says nothing
    other = keys(["x", "y"], ["x", "w"], ["z"])
    assert [a == b for a, b in zip(found, other, strict=True)] == [True, False, True, True, True]


def test_dags_of_an_older_version_are_to_be_made_again(run: Run, tmp_path: Path) -> None:
    answer(run.folder, model="oracle", quiet=True)
    (run.covr / "decomposed" / "words.parquet").unlink()
    asked = answered(run)["id"][0]
    commands = [
        partial(decomp, run.folder),
        partial(show, run.folder, asked, dag=True),
        partial(report, run.folder, out=tmp_path / "r.html"),
        partial(answer, run.folder, model="uniform"),
    ]
    for command in commands:
        with pytest.raises(BadInput, match="got older ones; run `questree decompose` again"):
            command(quiet=True)


def test_ids_of_a_run_are_those_of_no_other_question(made: Run) -> None:
    found = image_hierarchies(made).hierarchies.keys
    assert found.n_unique() == len(found) == len(spoken_nodes(made))
    assert found.str.contains("^(q[0-9]+|s-[0-9a-f]{12})$").all()


def test_stored_answers_about_videos_outlive_new_image_questions(both: Run, run: Run) -> None:
    answer(both.folder, model="oracle", quiet=True)
    add_images(both, run)
    assert Stored.of(both, "oracle").words
    answer(both.folder, model="oracle", name="looks", benchmark="covr", quiet=True)
    assert (models(both, images=False), models(both, images=True)) == (["oracle"], ["looks"])
    next(both.decomposed.glob("*/nodes.parquet")).unlink()
    assert Stored.of(both, "looks").words
    with pytest.raises(BadInput, match="answers to other nodes than the run has now"):
        Stored.of(both, "oracle")


def test_a_run_with_both_kinds_scores_videos_unless_images_are_asked_for(both: Run, run: Run, tmp_path: Path) -> None:
    add_images(both, run)
    answer(both.folder, model="oracle", quiet=True)
    answer(both.folder, model="oracle", name="looks", benchmark="covr", quiet=True)
    for benchmark, name, type in (("agqa", "oracle", "Object Exists"), ("covr", "looks", "Count Images")):
        decomp(
            both.folder,
            benchmark=benchmark,
            json=tmp_path / "found.json",
            quiet=True,
            how=Scoring("wrong", 0),
        )
        rows = json.loads((tmp_path / "found.json").read_text())
        assert {row["model"] for row in rows} == {name}
        assert type in {row["group"] for row in rows if row["by"] == "type"}
    with pytest.raises(BadInput, match="'looks' has answered about image sets here; choose another name"):
        answer(both.folder, model="oracle", name="looks", quiet=True)


def test_a_file_without_predictions_is_refused(run: Run, tmp_path: Path) -> None:
    (tmp_path / "p.jsonl").write_text("")
    with pytest.raises(BadInput, match="there is no prediction in it"):
        answer(run.folder, model="e", predictions=tmp_path / "p.jsonl", quiet=True)
    assert models(run) == []


def test_predictions_for_another_run_are_refused(run: Run, tmp_path: Path) -> None:
    (tmp_path / "p.jsonl").write_text('{"id": "s505", "prediction": "yes"}\n')
    with pytest.raises(BadInput, match="none of 1 predictions is for a question of this run; their ids are like s505"):
        answer(run.folder, model="e", predictions=tmp_path / "p.jsonl", quiet=True)
    assert models(run) == []


@pytest.mark.parametrize("name", ["a,b", "<b>", ".hidden", "a/b", "a\nb", " "])
def test_names_that_are_no_word_of_a_list_are_refused_in_one_line(run: Run, name: str) -> None:
    with pytest.raises(BadInput) as wrong:
        answer(run.folder, model="oracle", name=name, quiet=True)
    (fault,) = wrong.value.faults
    assert fault.message.startswith(f"{name!r} cannot be the name of a model; expected letters, digits, spaces and . _")


def test_names_with_signs_that_mean_nothing_are_taken(run: Run) -> None:
    answer(run.folder, model="oracle", name="Größe-2.1 a_b+c:d@e=f", quiet=True)
    assert models(run) == ["Größe-2.1 a_b+c:d@e=f"]


def test_who_answers_before_there_are_parts_hears_which_command_makes_them(asked_run: Run, run: Run) -> None:
    with pytest.raises(BadInput, match="`questree decompose` makes them"):
        answer(asked_run.folder, model="oracle", quiet=True)
    shutil.rmtree(run.covr)
    with pytest.raises(BadInput, match="`questree decompose` writes it"):
        answer(run.folder, model="oracle", quiet=True)


def test_the_same_bots_are_listed_for_runs_of_either_kind(
    run: Run, asked_run: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    for place in (run, asked_run):
        answer(place.folder, model="?")
        said = capsys.readouterr().out
        assert {name for name in BOTS if name in said} == BOTS.keys()
    with pytest.raises(BadInput, match="expected a bot, got 'oracel'; choose from oracle, most-likely"):
        answer(run.folder, model="oracel", quiet=True)


def test_a_model_that_is_not_stored_is_answered_with_those_that_are(run: Run) -> None:
    answer(run.folder, model="oracle", quiet=True)
    answer(run.folder, model="uniform", quiet=True)
    with pytest.raises(
        BadInput,
        match=r"nosuch: expected a file .*; stored in .*: oracle, uniform",
    ):
        compare(Path("oracle"), Path("nosuch"), run=run.folder, quiet=True)


def test_correlations_are_printed_as_they_are(run: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for bot in ("uniform", "shortcut"):
        answer(run.folder, model=bot, quiet=True)
    found = tmp_path / "found.json"
    compare(
        Path("uniform"),
        Path("shortcut"),
        run=run.folder,
        json=found,
        how=ComparingOptions(missing="wrong", resamples=2),
    )
    (row,) = [row for row in json.loads(found.read_text()) if row["by"] == "dag"]
    (line,) = [line for line in capsys.readouterr().out.splitlines() if row["metric"] in line][:1]
    assert row["a"] is not None and f"{row['a']:.3f}" in line and f"{100 * row['a']:.2f}" not in line


def test_a_cell_that_only_another_model_has_is_not_available(capsys: pytest.CaptureFixture[str]) -> None:
    rows = [Score("RWR-1", "type", "Count", 0.5, 2, None, None, name) for name in "ab"]
    rows += [Score("RWR-2", "type", "Count", 0.25, 4, None, None, "a")]
    tell(score_grid("Title", "Type", rows, "type", ["RWR-1", "RWR-2"]))
    assert [line.split() for line in capsys.readouterr().out.splitlines()[2:4]] == [
        ["Count", "a", "50.00", "25.00", "2"],
        ["Count", "b", "50.00", "N/A", "a", "2"],
    ]


def test_an_interruption_while_modules_are_loaded_is_said_in_one_line(tmp_path: Path) -> None:
    stop = f"import os\nos.kill(os.getpid(), {int(signal.SIGINT)})\n"
    (tmp_path / "cyclopts.py").write_text(stop)  # stands for a library that takes long to load
    place = {**os.environ, "PYTHONPATH": str(tmp_path)}
    done = subprocess.run([sys.executable, "-m", "questree", "--help"], env=place, capture_output=True, text=True)
    assert done.returncode == 130
    assert done.stderr == "interrupted; nothing half-written is left, finished shards are kept\n"


def test_a_run_of_images_is_locked_and_verified(run: Run, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(BadInput, match="there is no lock file"):
        verify(run.folder)
    verify(run.folder, write=True)
    verify(run.folder)
    assert "every file is as locked" in capsys.readouterr().out
    verify(run.folder, again=True)
    assert "comes out the same again" in capsys.readouterr().out
    (set_shards(run)[0] / "tops.parquet").unlink()
    with pytest.raises(BadInput, match=r"tops.parquet: is missing"):
        verify(run.folder, quiet=True)


def test_runs_of_images_are_compared_table_by_table(
    run: Run, made: Run, asked_run: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    diff(run.folder, made.folder)
    assert "the runs are the same" in capsys.readouterr().out
    (folder,) = set_shards(run)
    table = set_node_table(folder)
    table.write(table.read(folder).head(5), folder)
    diff(run.folder, made.folder, json=tmp_path / "d.json", quiet=True)
    (found,) = [one for one in json.loads((tmp_path / "d.json").read_text()) if one["first"] == "5 rows"]
    assert found["place"] == "covr/decomposed, nodes"
    diff(run.folder, asked_run.folder, json=tmp_path / "d.json", quiet=True)
    first = json.loads((tmp_path / "d.json").read_text())[0]
    assert first == {"place": "vocabulary", "first": "not there", "second": "there"}


def test_one_question_one_image_and_one_dag_are_shown(
    run: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = with_programs(answered(run)).filter(template="VERIFYLOGIC").row(0, named=True)
    show(run.folder, asked["id"], json=tmp_path / "shown.json")
    said, record = capsys.readouterr().out, json.loads((tmp_path / "shown.json").read_text())
    assert said.startswith(f"{asked['question']}  {asked['answer']}\n{asked['id']}: VERIFYLOGIC; split ")
    assert record["program"] == asked["program"] and len(record["images"]) == len(asked["images"])
    show(run.folder, asked["id"], svg=tmp_path / "dag.svg")
    assert f"0. {asked['question']}" in capsys.readouterr().out and (tmp_path / "dag.svg").is_file()
    show(run.folder)
    name = IMAGES.read(run.images)["id"][0]
    assert f"image {name}, no split: 2 things, 1 relations\n  red cup  at " in capsys.readouterr().out
    with pytest.raises(BadInput, match="no image or question 'nowhere' among its"):
        show(run.folder, "nowhere")
    with pytest.raises(BadInput, match="--stage: expected a run of videos, got image sets"):
        show(run.folder, name, stage="raw")


def test_of_a_run_with_both_an_id_says_what_is_shown(both: Run, run: Run, capsys: pytest.CaptureFixture[str]) -> None:
    add_images(both, run)
    show(both.folder)
    assert capsys.readouterr().out.startswith("video ")
    show(both.folder, "q0" if "q0" in answered(run)["id"] else answered(run)["id"][0])
    assert "what it rests on:\n" in capsys.readouterr().out
    show(both.folder, benchmark="covr")
    assert capsys.readouterr().out.startswith("image ")


def test_a_run_says_how_many_images_an_interval_needs(run: Run, tmp_path: Path) -> None:
    answer(run.folder, model="uniform", quiet=True)
    power(
        run.folder,
        model="uniform",
        json=tmp_path / "needed.json",
        quiet=True,
        how=OnePolicy("wrong", 5),
    )
    assert {row["metric"] for row in json.loads((tmp_path / "needed.json").read_text())} == {"question accuracy"}
    with pytest.raises(BadInput, match="expected a model, as --predictions FILE, or a run"):
        power(quiet=True)
    assert extended(["score", str(run.folder), "-q"]) == ["score", "decomp", str(run.folder), "-q"]
