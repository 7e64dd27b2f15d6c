"""A run is scored as the hierarchies it exports would be, whether predictions are stored in it or come from files."""

import json
import shlex
import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from bench.stages import answer as bench
from conftest import copy
from questree.cli.answer import answer
from questree.cli.app import app
from questree.cli.compare import compare
from questree.cli.score import agqa, decomp
from questree.faults import BadInput
from questree.formats.agqa import ExportOptions, export
from questree.formats.decomp import export_decomp
from questree.formats.decomp_files import read_hierarchies
from questree.models.bot_runs import answer_run
from questree.models.bots import BotOptions
from questree.models.policies import Policy
from questree.scoring.compared import ComparingOptions, Scoring
from questree.stages.decompose.dag_shards import DecomposeOptions, decompose
from questree.stages.decompose.hierarchies import run_hierarchies
from questree.tables.hierarchies import Hierarchies
from questree.tables.predictions import Stored, models
from questree.tables.run import Run
from test_pages import commands
from worlds.commands import questree

SPLITS = ("train", "test")


@pytest.fixture(scope="module")
def run(random_run: Run, tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Some questions of small random worlds, in an open world: some answers are not published."""
    run = copy(random_run, tmp_path_factory.mktemp("score"))
    decompose(run, DecomposeOptions(balanced=True, closed=False), pool=ThreadPoolExecutor(1))
    return run


@pytest.fixture(scope="module")
def released(run: Run, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Its hierarchies as files, by split."""
    out = tmp_path_factory.mktemp("released") / "out"
    export_decomp(run, out, pool=ThreadPoolExecutor(1))
    return {split: out / f"balanced_{split}_hierarchies" for split in SPLITS}


def spelled(found: Hierarchies) -> list[pl.DataFrame]:
    """The tables with names for numbers."""
    words, types = np.array([*found.words, None], object), np.array(found.types, object)
    nodes, loose = (
        table.select(pl.exclude("key", "text", "type", "answer", "object")).with_columns(
            key=found.keys.gather(table["key"]),
            type=pl.Series(types[table["type"].to_numpy()].tolist(), dtype=pl.String),
            answer=pl.Series(words[table["answer"].to_numpy()].tolist(), dtype=pl.String),
        )
        for table in (found.nodes, found.isolated)
    )
    objects = pl.Series(words[found.nodes["object"].to_numpy()].tolist(), dtype=pl.String)
    labels = pl.Series(found.compositions).gather(found.composed["composition"])
    composed = found.composed.with_columns(composition=labels)
    return [nodes.with_columns(object=objects), composed, found.edges, found.dags, loose]


@pytest.mark.parametrize("split", SPLITS)
def test_the_tables_are_those_that_are_read_from_the_files(run: Run, released: dict[str, Path], split: str) -> None:
    here, there = run_hierarchies(run, split, workers=1).hierarchies, read_hierarchies(released[split])
    assert here.videos == there.videos and len(here.nodes) > 1000 and len(here.isolated) > 5
    for one, other in zip(spelled(here), spelled(there), strict=True):
        assert one.equals(other)
    texts = pl.DataFrame({"here": here.nodes["text"], "there": there.nodes["text"]})
    assert texts.n_unique() == texts["here"].n_unique() == texts["there"].n_unique()


@pytest.mark.processes
def test_processes_read_the_same(run: Run) -> None:
    one, two = (run_hierarchies(run, workers=workers, few=0) for workers in (1, 2))
    assert all(a.equals(b) for a, b in zip(spelled(one.hierarchies), spelled(two.hierarchies), strict=True))
    assert one.hierarchies.videos == sorted(one.hierarchies.videos)


@pytest.mark.parametrize("split", SPLITS)
def test_scores_of_a_run_are_those_of_its_files(
    run: Run, released: dict[str, Path], split: str, tmp_path: Path
) -> None:
    bots = ("composition-noise", "perception-noise", "uniform")
    for bot in bots:
        answer(run.folder, model=bot, out=tmp_path / f"{bot}.jsonl", noise=0.3, quiet=True)
    stored, files = tmp_path / "stored.json", tmp_path / "files.json"
    decomp(run.folder, model=[*bots], split=split, json=stored, quiet=True, how=Scoring(resamples=20))
    lines = [tmp_path / f"{bot}.jsonl" for bot in bots]
    decomp(hierarchies=released[split], predictions=lines, json=files, quiet=True, how=Scoring(resamples=20))
    assert len(scores(stored)) > 800 and scores(stored) == scores(files)
    decomp(run.folder, predictions=lines, split=split, json=stored, quiet=True, how=Scoring(resamples=20))
    assert stored.read_bytes() == files.read_bytes()


def scores(path: Path) -> list[dict[str, Any]]:
    """Without how many predictions of a file are no answers: a file may have some for other questions."""
    return [row for row in json.loads(path.read_text()) if row["metric"] != "unparsed"]


def test_whoever_answers_a_question_and_the_same_part_differently_is_stored_as_said(
    run: Run, released: dict[str, Path], tmp_path: Path
) -> None:
    """A question keeps AGQA's wording, so the same program has one key as a question and one as a part."""
    ids = ids_of(released)
    odd = [{"id": id, "prediction": "yes" if "-s" in id else "no"} for id in ids]
    (tmp_path / "odd.jsonl").write_text("\n".join(json.dumps(row) for row in odd))
    found = tmp_path / "found.json"
    answer(run.folder, model="odd", predictions=tmp_path / "odd.jsonl", out=tmp_path / "again.jsonl", json=found)
    told = json.loads(found.read_text())
    assert told == {"name": "odd", "questions": len(ids), "found": len(ids), "unknown": 0, "repeated": 0} | {
        "lines": len(ids)
    }
    again = map(json.loads, (tmp_path / "again.jsonl").read_text().splitlines())
    assert {row["id"]: row["prediction"] for row in again} == {row["id"]: row["prediction"] for row in odd}
    stored, files = tmp_path / "stored.json", tmp_path / "files.json"
    decomp(run.folder, model=["odd"], split="test", json=stored, quiet=True, how=Scoring(resamples=0))
    decomp(
        hierarchies=released["test"],
        predictions=[tmp_path / "odd.jsonl"],
        json=files,
        quiet=True,
        how=Scoring(resamples=0),
    )
    assert scores(stored) == scores(files)


@pytest.mark.parametrize("wording", ["as asked", "Tell me."])
def test_free_text_gets_the_same_score_whether_it_is_stored_or_comes_from_a_file(
    run: Run, released: dict[str, Path], wording: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both are read by the type of the question, also where its wording says nothing."""
    if wording != "as asked":
        for place in ("stages.decompose.question_texts", "scoring.as_read"):
            monkeypatch.setattr(f"questree.{place}.texts_at", lambda _, rows: pl.Series([wording] * len(rows)))
    said = ("There was a towel.", "Yes: holding a towel.", "I would say no, walking past a door", "gibberish", "2")
    rows = [{"id": id, "prediction": said[at % len(said)]} for at, id in enumerate(ids_of(released))]
    file, stored, files = (tmp_path / name for name in ("talker.jsonl", "stored.json", "files.json"))
    file.write_text("\n".join(map(json.dumps, rows)))
    answer(run.folder, model="talker", predictions=file, quiet=True)
    for policy in ("vqa", "lenient"):
        how = Scoring(resamples=0, policy=policy)
        decomp(run.folder, model=["talker"], json=stored, quiet=True, how=how)
        decomp(run.folder, predictions=[file], json=files, quiet=True, how=how)
        assert stored.read_bytes() == files.read_bytes(), policy
    unparsed = next(row for row in json.loads(files.read_text()) if row["metric"] == "unparsed")
    assert unparsed["n"] == len(rows) and 0 < unparsed["value"] < 1


def test_free_text_to_questions_alone_gets_the_same_score_in_a_run_and_in_its_question_file(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    export(run, tmp_path / "out", ExportOptions(csv=False, graphs=False), pool=ThreadPoolExecutor(1))
    questions = tmp_path / "out" / "AGQA_balanced" / "test_balanced.txt"
    monkeypatch.setattr("questree.scoring.question_scores.looked_up", lambda _: None)  # no wording tells anything
    said = ("There was a towel.", "I would say no", "gibberish")
    rows = [{"id": id, "prediction": said[at % 3]} for at, id in enumerate(json.loads(questions.read_text()))]
    file, stored, files = (tmp_path / name for name in ("talker.jsonl", "stored.json", "files.json"))
    file.write_text("\n".join(map(json.dumps, rows)))
    answer(run.folder, model="talker", predictions=file, quiet=True)
    how = Scoring("skip", resamples=0, policy="lenient")
    agqa(run.folder, model=["talker"], json=stored, quiet=True, how=how)
    agqa(questions=questions, predictions=[file], json=files, quiet=True, how=how)
    assert len(json.loads(files.read_text())) > 30 and stored.read_bytes() == files.read_bytes()


def ids_of(released: dict[str, Path]) -> list[str]:
    """Every key in the files, once."""
    found: dict[str, None] = {}
    for folder in released.values():
        for path in sorted(folder.glob("*.json")):
            read: Any = json.loads(path.read_text())
            asked = (
                read if path.stem == "isolated" else [n for dag in read.values() for n in dag["subquestion"].values()]
            )
            found |= dict.fromkeys(node["key"] for node in asked)
    return list(found)


def test_what_is_missing_in_a_stored_model_is_refused_or_counted(
    run: Run, released: dict[str, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ids = ids_of(released)
    rows = [{"id": id, "prediction": "Yes."} for id in ids[::2]] + [{"id": "nobody-7", "prediction": "no"}]
    (tmp_path / "half.json").write_text(json.dumps(rows))
    answer(run.folder, model="half", predictions=tmp_path / "half.json")
    assert f"{len(ids[::2]):,} of {len(ids):,} questions and sub-questions" in capsys.readouterr().out
    with pytest.raises(BadInput, match=r"no prediction for [\d,]+ of [\d,]+ questions, for example"):
        decomp(run.folder, model=["half"], quiet=True)
    shares: dict[Policy, float] = {"exact": 1.0, "lenient": 0.0}
    for policy, wanted in shares.items():
        found = tmp_path / "found.json"
        decomp(run.folder, model=["half"], json=found, quiet=True, how=Scoring("skip", 0, policy=policy))
        (unparsed,) = [row for row in json.loads(found.read_text()) if row["metric"] == "unparsed"]
        assert (unparsed["value"], unparsed["n"], unparsed["group"]) == (wanted, len(ids[::2]), policy)


def test_all_stored_models_are_scored_unless_some_are_named(run: Run, tmp_path: Path) -> None:
    place = copy(run, tmp_path)
    for name in list(models(place)):
        shutil.rmtree(place.predictions / name)
    with pytest.raises(BadInput, match="no models are stored here"):
        decomp(place.folder, quiet=True)
    for bot in ("oracle", "always-yes"):
        answer_run(place, BotOptions(bot))
    decomp(place.folder, json=tmp_path / "found.json", quiet=True, how=Scoring(resamples=0))
    assert {row["model"] for row in json.loads((tmp_path / "found.json").read_text())} == {"oracle", "always-yes"}
    with pytest.raises(BadInput) as wrong:
        decomp(place.folder, model=["x", "oracle", "y"], quiet=True)
    said = "choose from always-yes, oracle"
    assert [fault.message for fault in wrong.value.faults] == [
        f"expected a stored model, got {name!r}; {said}" for name in "xy"
    ]


def test_answers_to_nodes_that_are_no_more_are_refused(run: Run, tmp_path: Path) -> None:
    place = copy(run, tmp_path)
    answer_run(place, BotOptions("oracle"))
    decompose(place, DecomposeOptions(balanced=False), pool=ThreadPoolExecutor(1))
    with pytest.raises(BadInput, match="answers to other nodes than the run has now"):
        Stored.of(place, "oracle")


def test_models_that_answered_other_nodes_are_left_out_where_none_is_named(
    run: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    place = copy(run, tmp_path)
    answer_run(place, BotOptions("oracle"))
    decompose(place, DecomposeOptions(balanced=False), pool=ThreadPoolExecutor(1))
    answer_run(place, BotOptions("most-likely"))
    decomp(place.folder, json=tmp_path / "scores.json")
    told = capsys.readouterr()
    assert "oracle: left out, answers to other nodes than the run has now" in told.out + told.err
    rows = json.loads((tmp_path / "scores.json").read_text("utf-8"))
    assert {row["model"] for row in rows} == {"most-likely"}
    with pytest.raises(BadInput, match="answers to other nodes than the run has now"):
        decomp(place.folder, model=["oracle"], quiet=True)


def test_two_stored_models_compare_like_their_files(run: Run, released: dict[str, Path], tmp_path: Path) -> None:
    for bot in ("perception-noise", "composition-noise"):
        answer(run.folder, model=bot, out=tmp_path / f"{bot}.jsonl", quiet=True)
    names = [Path(bot) for bot in ("perception-noise", "composition-noise")]
    files = [tmp_path / f"{name}.jsonl" for name in names]
    one, two = tmp_path / "one.json", tmp_path / "two.json"
    compare(*names, run=run.folder, split="test", json=one, quiet=True, how=ComparingOptions(resamples=20))
    compare(*files, hierarchies=released["test"], json=two, quiet=True, how=ComparingOptions(resamples=20))
    assert one.read_bytes() == two.read_bytes()
    compare(names[0], files[1], run=run.folder, split="test", json=one, quiet=True, how=ComparingOptions(resamples=20))
    assert one.read_bytes() == two.read_bytes()
    with pytest.raises(BadInput, match="expected a file of predictions"):
        compare(names[0], Path("nobody"), run=run.folder, quiet=True)


def test_what_does_not_go_together_is_said(run: Run, released: dict[str, Path], tmp_path: Path) -> None:
    (tmp_path / "p.jsonl").write_text('{"id": "a", "prediction": "yes"}')
    file = [tmp_path / "p.jsonl"]
    with pytest.raises(BadInput, match="expected one of a run, --hierarchies DIR"):
        decomp(run.folder, hierarchies=released["test"], predictions=file, quiet=True)
    with pytest.raises(BadInput, match="--split: expected a run, got files"):
        decomp(hierarchies=released["test"], predictions=file, split="test", quiet=True)
    with pytest.raises(BadInput, match="expected --predictions FILE, or a run with models"):
        decomp(hierarchies=released["test"], quiet=True)
    with pytest.raises(BadInput, match="expected a new name, got 'oracle', which is a bot"):
        answer(run.folder, model="oracle", predictions=file[0], quiet=True)
    with pytest.raises(BadInput, match="expected a run folder, got nothing there"):
        decomp(tmp_path / "nowhere", predictions=file, quiet=True)
    with pytest.raises(BadInput, match="`questree decompose` writes it"):
        answer(copy_without_dags(run, tmp_path).folder, model="uniform", quiet=True)


def copy_without_dags(run: Run, folder: Path) -> Run:
    found = copy(run, folder / "bare")
    shutil.rmtree(found.decomposed)
    return found


@pytest.mark.parametrize("page", ["docs/bots.md", "docs/score.md"])
def test_commands_of_the_pages_work(page: str, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = copy(run, tmp_path).folder
    shutil.rmtree(place / "predictions", ignore_errors=True)
    monkeypatch.chdir(tmp_path)
    answer(place, model="uniform", out=tmp_path / "hcrn.jsonl", quiet=True)
    answer(place, model="uniform", name="hme", quiet=True)
    lines = [line for line in commands(page) if "RUN" in line]
    assert len(lines) >= 5
    for line in lines:
        less = " --resamples 2" if " score " in line or " compare " in line else ""
        app(shlex.split(line.replace("RUN", str(place)) + less + " --quiet")[1:], result_action="return_value")


def test_a_test_set_is_planned_by_bots_before_there_is_a_model_and_by_models_then(run: Run, tmp_path: Path) -> None:
    place = copy(run, tmp_path)
    shutil.rmtree(place.predictions, ignore_errors=True)
    plan = ("power", place.folder, "--resamples", 20, "--json", tmp_path / "plan.json")
    done = questree(*plan)
    assert done.returncode == 0, done.stderr
    assert "planned by most-likely, uniform\n" in done.stdout and "bots stand in for one" in done.stdout
    assert " answer " not in done.stdout.replace("the answers of", "")
    before = json.loads((tmp_path / "plan.json").read_text())
    single = {}
    for name in ("most-likely", "uniform"):
        assert questree(*plan, "--model", name).returncode == 0
        single[name] = {row["group"]: row["videos"] for row in json.loads((tmp_path / "plan.json").read_text())}
    for row in before:
        assert (row["videos"] or 0) == max(single[name][row["group"]] or 0 for name in single)
        assert row["videos"] == single[row["model"]][row["group"]]
    answer_run(place, BotOptions("uniform", seed=7), "mine")
    done = questree(*plan)
    assert "planned by mine\n" in done.stdout and "bots stand in" not in done.stdout
    done = questree(*plan, "--model", "nobody")
    assert "expected a stored model, got 'nobody'; choose from mine, oracle" in done.stderr


def test_the_benchmark_says_what_each_step_takes(tmp_path: Path) -> None:
    bench(videos=3, per_video=20, files=True, workers=1, json=tmp_path / "found.json", quiet=True)
    steps = json.loads((tmp_path / "found.json").read_text())
    names = ["answer by perception-noise", "DAGs of the run", "score", "DAGs of files"]
    assert [step["name"] for step in steps] == names
    assert steps[1]["rows"] == steps[2]["rows"] == steps[3]["rows"] > steps[0]["rows"] > 100
