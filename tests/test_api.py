"""What `import questree` offers: runs, questions, programs and DAGs as objects, and examples that work."""

import doctest
import re
import shutil
import subprocess
import sys
from contextlib import chdir
from importlib import import_module
from inspect import getdoc, isclass, isfunction
from pathlib import Path
from typing import Any
from unittest import mock

import polars as pl
import pytest

import questree
from questree.benchmarks import BENCHMARKS, STAGES
from questree.notation.own import show
from questree.stages.questions import Bank
from questree.stages.split import steps
from questree.tables.run import Run as Place
from worlds.commands import questree as command

MODULES = ["faults", *sorted(f"api.{path.stem}" for path in (Path(questree.__file__).parent / "api").glob("[a-z]*.py"))]
PUBLIC = [name for name in questree.__all__ if not name.startswith("_")]
WRITING = {  # into their runs
    f"api.{name}" for name in ("answering", "augmenting", "building", "importing", "made", "stages")
}
OPTIONS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


@pytest.fixture
def run(notebook: Path) -> questree.Run:
    return questree.open(notebook / "run")


@pytest.fixture
def images(notebook: Path) -> questree.Run:
    return questree.open(notebook / "images")


@pytest.mark.parametrize("module", MODULES)
def test_examples_in_docstrings_work(module: str, notebook: Path, tmp_path: Path) -> None:
    """They are run in a folder with a run."""
    for place in notebook.iterdir():
        if module in WRITING and place.name in ("run", "images"):
            shutil.copytree(place, tmp_path / place.name)
        else:
            (tmp_path / place.name).symlink_to(place)
    with chdir(tmp_path):
        known: dict[str, Any] = {"questree": questree, "run": questree.open("run")}
        found = doctest.DocTestFinder(exclude_empty=True).find(import_module(f"questree.{module}"))
        runner = doctest.DocTestRunner(optionflags=OPTIONS)
        for test in found:
            test.globs = dict(known)
            runner.run(test)
    assert runner.summarize(verbose=False).failed == 0


@pytest.mark.parametrize(("page", "least"), [("docs/python.md", 20), ("README.md", 4)])
def test_pages_on_python_work(page: str, least: int, notebook: Path, tmp_path: Path) -> None:
    blocks = re.findall(r"```pycon\n(.*?)```", (Path(__file__).parents[1] / page).read_text("utf-8"), re.S)
    for place in ("run", "images"):
        shutil.copytree(notebook / place, tmp_path / place)
    with chdir(tmp_path):
        runner = doctest.DocTestRunner(optionflags=OPTIONS)
        runner.run(doctest.DocTestParser().get_doctest("".join(blocks), {}, page, None, None))
    found = runner.summarize(verbose=False)
    assert (found.failed, found.attempted >= least) == (0, True)


@pytest.mark.parametrize("name", PUBLIC)
def test_every_name_has_an_example(name: str) -> None:
    thing = getattr(questree, name)
    assert ">>> " in (getdoc(thing) or ""), f"{name} has no example"
    for method, value in members(thing).items():
        assert getattr(value, "__doc__", None), f"{name}.{method} has no docstring"
        if isfunction(value):
            assert ">>> " in (getdoc(value) or ""), f"{name}.{method} has no example"


def members(thing: object) -> dict[str, Any]:
    """Public methods and properties of a class, those of our own bases included."""
    bases = (
        [base for base in reversed(thing.__mro__) if base.__module__.startswith("questree")] if isclass(thing) else []
    )
    own = {name: value for base in bases for name, value in vars(base).items() if not name.startswith("_")}
    plain = {name: getattr(value, "__func__", value) for name, value in own.items()}  # of class methods
    return {name: value for name, value in plain.items() if isfunction(value) or hasattr(value, "__get__")}


def test_the_reference_has_every_name(tmp_path: Path) -> None:
    """Names, methods, properties, and the special methods that have an example."""
    script = Path(__file__).parents[1] / "docs" / "reference.py"
    done = subprocess.run([sys.executable, script, tmp_path], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    there = set(re.findall(r'id="([\w.]+)"', (tmp_path / "questree.html").read_text("utf-8")))
    wanted = set(PUBLIC) | {f"{name}.{own}" for name in PUBLIC for own in members(getattr(questree, name))}
    assert wanted | {"Run.__getitem__", "Rewards.__call__", "Scores.__getitem__"} <= there


def test_importing_it_is_quick() -> None:
    """Nothing else is imported before a name is asked for."""
    script = "import sys, questree; print(len([m for m in sys.modules if m.split('.')[0] in ('numpy', 'polars')]))"
    assert subprocess.run([sys.executable, "-c", script], capture_output=True, text=True).stdout == "0\n"
    assert set(dir(questree)) == set(questree.__all__)


def test_questions_are_in_words(run: questree.Run) -> None:
    table, bank = run.questions(balanced=False), Bank(run._place)
    assert table.columns[:8] == ["id", "scope", "split", "question", "answer", "program", "template", "steps"]
    for name in table["id"].gather_every(997):
        row, asked = table.row(by_predicate=pl.col("id") == name, named=True), bank.find(name)
        said = (row["question"], row["answer"], row["program"], row["template"], row["steps"])
        assert said == (asked.text, asked.answer, show(asked.program), asked.template.name, asked.row["steps"])
        assert row["scope"] == bank.ids[asked.video]


def test_the_selection_is_the_default(run: questree.Run) -> None:
    some, every = run.questions(), run.questions(balanced=False)
    assert some["balanced"].all()
    assert 0 < len(some) < len(every)
    assert every.filter("balanced").drop("balanced").equals(some.drop("balanced"))
    sides = [run.questions(split=side) for side in some["split"].unique()]
    assert pl.concat(sides).sort("id").equals(some.sort("id"))
    assert run.questions(columns=["answer", "id"]).columns == ["answer", "id"]
    assert run.questions(raw=True)["template"].dtype == pl.UInt8
    assert len(run.questions(raw=True)) == len(some)


def test_questions_about_image_sets(images: questree.Run) -> None:
    table = images.questions()
    assert table["scope"].dtype == pl.List(pl.String)
    for name in table["id"]:
        asked = images[name]
        row = table.row(by_predicate=pl.col("id") == name, named=True)
        assert (row["question"], row["answer"], row["program"]) == (asked.text, asked.answer, str(asked.program))
        assert asked.program is not None
        assert asked.program.answer(images, images=row["scope"]) == asked.answer


def test_programs_answer_what_questions_say(run: questree.Run) -> None:
    table = run.questions().filter(~pl.col("template").is_in(["notInPrograms"])).gather_every(20)
    for name, scope, answer in table.select("id", "scope", "answer").iter_rows():
        asked = run[name]
        assert asked.program is not None
        assert asked.program.answer(run, video=scope) == answer == asked.dag.nodes[0].answer


def test_a_dag_is_a_graph(run: questree.Run) -> None:
    dag = run[run.questions()["id"][0]].dag
    assert [node.number for node in dag] == list(range(len(dag)))
    assert all(edge.parent < edge.child for edge in dag.edges)
    assert dag.to_dot().count(" -> ") == len(dag.edges)
    assert dag._repr_html_().count('class="node"') == len(dag)
    assert dag.frame()["parts"].list.len().sum() <= len(dag.edges)


def test_what_is_not_there_is_said_as_the_command_says_it(notebook: Path, run: questree.Run) -> None:
    with pytest.raises(questree.BadInput, match="expected a run folder, got nothing there"):
        questree.open(notebook / "nowhere")
    with pytest.raises(questree.BadInput, match="no question 'x'"):
        run["x"]
    with pytest.raises(questree.BadInput, match="expected a split, got 'dev'; choose from"):
        run.questions(split="dev")
    with pytest.raises(questree.BadInput, match="expected a column, got 'text'; choose from id, scope"):
        run.questions(columns=["text"])
    text = "within(interaction(holding, phone), afters(sitting down))"
    with pytest.raises(questree.BadInput) as raised:
        questree.program(text)
    printed = command("program", "read", text).stderr
    assert printed == f"error: {raised.value}\n"


def test_reprs_are_short_lines(run: questree.Run, images: questree.Run) -> None:
    for own in (run, images):
        asked = own[own.questions()["id"][0]]
        for thing in (own, asked, asked.program, asked.dag):
            assert "\n" not in repr(thing)
            assert " at 0x" not in repr(thing)
            assert len(repr(thing)) < 200
        assert "<table>" in own._repr_html_()
        assert "questree-dag" in asked._repr_html_()


def test_a_run_may_hold_both(notebook: Path, tmp_path: Path) -> None:
    shutil.copytree(notebook / "run", tmp_path / "both")
    for name in ("images", "covr"):
        shutil.copytree(notebook / "images" / name, tmp_path / "both" / name)
    assert questree.open(tmp_path / "both").benchmark == "agqa"
    assert questree.open(tmp_path / "both").benchmarks == ["agqa", "covr"]
    assert "scope" in questree.open(tmp_path / "both", benchmark="covr").questions().columns


def test_imported_questions_without_facts(imported: Place) -> None:
    asked = questree.open(imported.folder)
    table = asked.questions(columns=["id", "question", "program", "answer"])
    assert table["question"].str.ends_with("?").all()
    one = asked[table["id"][0]]
    assert one.text == table["question"][0]


@pytest.mark.parametrize("name", ["run", "images"])
def test_a_question_judges_what_a_stored_model_says(notebook: Path, name: str, tmp_path: Path) -> None:
    """As the scores of the whole run count it: checks that apply, and those that are kept."""
    shutil.copytree(notebook / name, tmp_path / "run")
    questree.answer(tmp_path / "run", "composition-noise", noise=0.3, seed=2)
    run = questree.open(tmp_path / "run")
    known = run.predictions("composition-noise")
    asked = run.questions()["id"].to_list()
    broken = 0
    for id in asked[:: max(1, len(asked) // 20)]:
        q = run[id]
        found = q.consistency("composition-noise")
        assert q.predictions()["composition-noise"] == known.filter(id=id)["prediction"].first()
        again = questree.consistency(found.dag, found.verdict.said)
        assert (again.checked, again.kept) == (found.checked, found.kept)
        right = dict(zip((node.question for node in found.dag), found.right, strict=True))
        assert right[found.dag[0].question] in (None, q.predictions()["composition-noise"] == q.answer)
        broken += len(found.broken)
    assert broken
    with pytest.raises(questree.BadInput, match="expected a stored model, got 'nobody'; choose from composition-noise"):
        q.consistency("nobody")


def test_questions_that_no_model_was_asked_say_so(notebook: Path) -> None:
    run = questree.open(notebook / "run")
    every = run.questions(balanced=False, columns=["id", "balanced"])
    q = run[every.filter(~every["balanced"])["id"][0]]
    assert q.predictions() == {"perception-noise": None}
    with pytest.raises(questree.BadInput, match="is not among the decomposed questions"):
        q.consistency("perception-noise")


def test_questions_of_any_split_that_was_made(notebook: Path, tmp_path: Path) -> None:
    for name in ("run", "images"):
        shutil.copytree(notebook / name, tmp_path / name)
    questree.split(tmp_path / "run", workers=1)
    run = questree.open(tmp_path / "run")
    every = run.questions(balanced=False, columns=["id"])["id"].to_list()
    for split in [name for name in run.splits if " " in name]:
        folder, side = split.rsplit(" ", 1)
        table = pl.read_parquet(tmp_path / "run" / "splits" / folder / f"{side}.parquet")
        held = {f"{run.scopes[video]}-{number}" for video, number in table.select("video", "number").iter_rows()}
        for balanced in (True, False):
            found = run.questions(split=split, balanced=balanced, columns=["id"])["id"].to_list()
            assert found == [id for id in every if id in held], "the balanced selection was split"
            assert len(run.questions(split=split, balanced=balanced, raw=True)) == len(held)
    assert {"test", "train", "indirect test", "videos train"} <= {*run.splits}
    with pytest.raises(
        questree.BadInput,
        match=r"got 'indirect'; choose from test, train, or a part of indirect, .* as \"indirect train\"",
    ):
        run.questions(split="indirect")

    questree.split(tmp_path / "images", name=["HAS-QUANT"], workers=1)
    images = questree.open(tmp_path / "images")
    table = pl.read_parquet(tmp_path / "images" / "covr" / "splits" / "has-quant.parquet")
    for part in table["part"].unique():
        ids = images.questions(split=f"HAS-QUANT {part}", columns=["id"])["id"]
        assert {*ids} == {*table.filter(part=part)["id"]}
        assert f"has-quant {part}" in images.splits
    with pytest.raises(
        questree.BadInput, match=r'got .x.; choose from dev, test, train, or a part of has-quant as "has-quant train"'
    ):
        images.questions(split="x")


@pytest.mark.parametrize("name", ["run", "images"])
def test_questions_come_in_pieces_and_are_the_same(notebook: Path, name: str) -> None:
    run = questree.open(notebook / name)
    for balanced in (True, False):
        whole = run.questions(balanced=balanced)
        with mock.patch.object(steps, "of_run", wraps=steps.of_run) as looked:
            pieces = list(run.iter_questions(balanced=balanced, size=700))
        assert pl.concat(pieces).equals(whole)
        assert max(map(len, pieces)) <= 700
        assert looked.call_count <= 1, "all shards are looked at once, not for every piece"
    with pytest.raises(questree.BadInput, match="size: expected at least 1, got 0"):
        run.iter_questions(size=0)


def test_more_questions_than_fit_into_memory_are_refused(notebook: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = questree.open(notebook / "run")
    monkeypatch.setattr("questree.api.question_tables.available", lambda: 2e7)
    assert len(run.questions()) == 198
    few = run.questions(balanced=False, columns=["id", "answer"])
    wanted = f"{len(few):,} questions, 0 GB are free; take them by `iter_questions`"
    assert len(few) > 30_000
    with pytest.raises(questree.BadInput, match=wanted):
        run.questions(balanced=False)
    assert sum(map(len, run.iter_questions(balanced=False, columns=["id"]))) == len(few)


def test_benchmarks_declare_the_same_parts_and_all_are_there() -> None:
    first, *others = BENCHMARKS.values()
    for own in (first, *others):
        assert own.parts.keys() == first.parts.keys()
        assert own.recipes.keys() == STAGES.keys()
        for name in own.parts:
            assert own.part(name)
