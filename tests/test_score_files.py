"""Predictions scored on folders of hierarchies by groups of files: rows and what is said are those of all at once."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from unittest.mock import patch

import polars as pl
import pytest

from questree.api import score_sets
from questree.faults import BadInput
from questree.formats import decomp_groups
from questree.metrics.catalogue import METRICS, Metric
from questree.scoring import file_scores, shared_files
from questree.scoring.compared import Scoring
from questree.scoring.file_scores import files_together
from worlds.commands import questree
from worlds.decomp_files import by_id, dag, load, random_files

HIERARCHIES = load("agqa_decomp/hierarchies.json.gz")
FREE = ["{}", "True", "I think it is {}.", "Yes, a {}", "{}!", "the {}", "no idea", "False"]
ALL = Scoring("wrong", 20, policy="all")


@pytest.fixture(params=[1, 2, 5])
def grouped(request: pytest.FixtureRequest) -> Iterator[None]:
    """Groups of so many files, however small a folder is."""
    with patch.object(decomp_groups, "FILES", request.param), patch.object(shared_files, "LARGE", 0):
        yield


def written(folder: Path, files: dict[str, Any]) -> Path:
    folder.mkdir()
    for name, content in files.items():
        (folder / name).write_text(content if isinstance(content, str) else json.dumps(content))
    return folder


def lines(path: Path, said: dict[str, str]) -> Path:
    path.write_text("".join(json.dumps({"id": id, "prediction": answer}) + "\n" for id, answer in said.items()))
    return path


def messy(path: Path, said: dict[str, str]) -> Path:
    """Partly in free text: some of it twice, some to no question, some questions left out."""
    found = [
        json.dumps({"id": id, "prediction": FREE[at % 3 and at % len(FREE)].format(answer)})
        for at, (id, answer) in enumerate(said.items())
        for _ in range(2 if at % 50 == 1 else at % 40 != 2)
    ]
    path.write_text("\n".join([*found, '{"id": "nobody-1", "prediction": "yes"}']))
    return path


def told(work: Callable[[Callable[[str], None]], Any]) -> tuple[Any, list[str]]:
    """The rows and what is said, or all that is wrong."""
    said = list[str]()
    try:
        return work(said.append).rows, said
    except BadInput as bad:
        return [str(fault) for fault in bad.faults], said


def alike(folder: Path, files: list[Path], how: Scoring = ALL, **more: Any) -> Any:
    """At once, and by groups."""
    groups = list[object]()

    def counted(*given: Any, **named: Any) -> Any:
        groups.append(files_together(*given, **named))
        return groups[-1]

    whole = told(lambda say: score_sets.dags(None, folder, how=how, say=say, **more).of_files(files))
    with patch.object(file_scores, "files_together", counted):
        parts = told(lambda say: score_sets.scored_dags(files, (), None, folder, how=how, say=say, workers=1, **more))
    assert whole == parts
    assert groups != [None]
    return whole[0]


@pytest.mark.usefixtures("grouped")
@pytest.mark.parametrize("errors", [False, True])
def test_rows_are_those_of_the_whole_folder(tmp_path: Path, errors: bool) -> None:
    folder = written(tmp_path / "dags", HIERARCHIES)
    files = [messy(tmp_path / f"{name}.jsonl", by_id(load(f"agqa_decomp/preds_{name}.json.gz"))) for name in NAMES]
    rows = alike(folder, files, errors=errors)
    assert {row.by for row in rows} >= {"type", "composition", "rule", "policy"}
    assert sum("error" in row.metric for row in rows) == errors * 9 * len(files) * 3
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []


NAMES = ("noisy", "random")


def oddities(seed: int) -> tuple[dict[str, Any], dict[str, str]]:
    """Also files without DAGs, videos that have only isolated questions, and isolated ones that a DAG has too."""
    files, said = random_files(seed)
    more = [f"{video}-{at}" for video in ("U", "V2", "V1-i", "Z") for at in range(2)]
    rows: list[dict[str, str | None]] = [
        {"key": key, "type": "My Type" if key[0] == "U" else "Action", "answer": "a bag"} for key in more
    ]
    rows += [{"key": "nameless", "type": "Object", "answer": None}, {"key": "V2-t3", "type": "And", "answer": "no"}]
    rows += files["isolated.json"]
    nodes = {"a?": ("W-1", "Other Type", "seldom"), "b?": ("W-2", "Object Exists", None)}
    own = {"W.json": {"W-0": dag(nodes, {"a?": {"Odd": ["b?"]}})}, "Q.json": {}, "V.json": {}, "X.json": {}}
    return {**files, **own, "isolated.json": rows}, said | dict.fromkeys([*more, "nameless", "W-1", "W-2"], "a bag")


@pytest.mark.usefixtures("grouped")
@pytest.mark.parametrize("missing", ["error", "wrong", "skip"])
def test_files_with_every_oddity_are_counted_alike(tmp_path: Path, missing: Any) -> None:
    files, said = oddities(3)
    folder, spoken = written(tmp_path / "dags", files), lines(tmp_path / "mine.jsonl", said)
    for policy in ("exact", "vqa", "lenient"):
        rows = alike(folder, [spoken], Scoring(missing, 20, policy=policy))
        assert [row.group for row in rows if "Type" in row.group and row.metric == "accuracy"][:2]


@pytest.mark.usefixtures("grouped")
@pytest.mark.parametrize("left", [("W", "Z"), ("U", "V1-i"), ("V1", "V2")])
def test_what_predictions_lack_is_told_alike(tmp_path: Path, left: tuple[str, str]) -> None:
    """Of isolated questions those that come first in their file."""
    files, said = oddities(4)
    some = {id: answer for id, answer in said.items() if id.rpartition("-")[0] not in left}
    found = alike(written(tmp_path / "dags", files), [lines(tmp_path / "mine.jsonl", some)], Scoring("error", 0))
    assert len(found) == 1 and "no prediction for" in found[0]


@pytest.mark.usefixtures("grouped")
def test_every_broken_file_is_named_as_at_once(tmp_path: Path) -> None:
    files, said = random_files(5)
    bad = {"A.json": '{"A-0": {"subquestion": {}}}', "V11.json": "nonsense", "W.json": "[]"}
    found = {**files, **bad, "isolated.json": '[{"key": "A-1"}]'}
    spoken = lines(tmp_path / "mine.jsonl", said)
    assert len(alike(written(tmp_path / "dags", found), [spoken])) == 4
    many = {f"B{at:02d}.json": "{" for at in range(30)}
    assert len(alike(written(tmp_path / "more", {**files, **many}), [spoken])) == 20
    known = {**oddities(5)[0], "Y.json": {"Y-0": {"subquestion": {}, "hierarchy": {"x": {}}}}}
    assert len(alike(written(tmp_path / "text", known), [spoken])) == 1


@pytest.mark.usefixtures("grouped")
def test_an_id_of_two_videos_is_one_question_and_counted_at_the_client(tmp_path: Path) -> None:
    files = {f"{video}.json": {f"{video}-0": dag({"a?": ("same", "And", "yes")}, {})} for video in "ABCDEF"}
    folder, spoken = written(tmp_path / "dags", files), lines(tmp_path / "mine.jsonl", {"same": "yes"})
    assert files_together(folder, ALL, 1, [spoken]) is None
    said = list[str]()
    score_sets.scored_dags([spoken], (), None, folder, how=Scoring(resamples=0), say=said.append)
    assert said[0].startswith("mine: predictions for 1 of 1 questions")


@pytest.mark.usefixtures("grouped")
@pytest.mark.parametrize("missing", ["wrong", "skip"])
def test_most_likely_learns_by_groups(tmp_path: Path, missing: Any) -> None:
    train, test = written(tmp_path / "train", HIERARCHIES), written(tmp_path / "test", oddities(6)[0])
    spoken = lines(tmp_path / "mine.jsonl", oddities(6)[1])
    for files in ([spoken], []):
        rows = alike(test, files, Scoring(missing, 20), train=train, errors=True)
        assert {row.model for row in rows} == {"Most-Likely", *(["mine"] if files else [])}
    (train / "zz.json").write_text("{")
    assert alike(test, [spoken], train=train)[0].startswith(f"{train / 'zz.json'}: expected")


@pytest.mark.usefixtures("grouped")
def test_metrics_of_plugins_take_part_if_they_say_so(tmp_path: Path) -> None:
    files, said = oddities(7)
    folder, spoken = written(tmp_path / "dags", files), lines(tmp_path / "mine.jsonl", said)
    own = Metric("own", "right / asked", pl.col("correct"), by="answer", by_video=True)
    with patch.dict(METRICS, {"own": own}):
        assert {row.group for row in alike(folder, [spoken]) if row.metric == "own"} > {"yes", "no", "seldom"}
    with patch.dict(METRICS, {"any": Metric("any", "1", lambda table: pl.Series([1] * len(table)))}):
        assert files_together(folder, ALL, 1, [spoken]) is None


@pytest.mark.usefixtures("grouped")
def test_types_of_all_files_tell_what_tables_list(tmp_path: Path) -> None:
    """A file of the types that both kinds of DAGs have belongs to those that the other files are of."""
    images = ["Exists", "Count", "Quantifier", "All Same", "Logic", "Compare Count"]
    files = {f"{at}.json": {"0": dag({"a?": (f"{at}-1", type, "yes")}, {})} for at, type in enumerate(images)}
    files |= {
        f"{at}.json": {"0": dag({"a?": (f"{at}-1", type, "yes")}, {})} for at, type in ((7, "And"), (8, "Choose"))
    }
    said = {f"{at}-1": "yes" for at in range(9)}
    rows = alike(written(tmp_path / "dags", files), [lines(tmp_path / "mine.jsonl", said)])
    assert any(row.group == "Quantifier" for row in rows if row.by == "type")


def test_an_id_with_and_without_a_dag_has_one_prediction_whatever_the_policy(tmp_path: Path) -> None:
    files, said = oddities(7)
    folder, spoken = written(tmp_path / "dags", files), lines(tmp_path / "mine.jsonl", said)
    plain, lenient = (
        score_sets.dags(None, folder, how=Scoring("wrong", 0, policy=policy)).of_files([spoken]).rows
        for policy in ("exact", "lenient")
    )
    assert [row for row in plain if row.by != "policy"] == [row for row in lenient if row.by != "policy"]


def test_a_small_folder_is_read_at_once(tmp_path: Path) -> None:
    folder = written(tmp_path / "dags", HIERARCHIES)
    assert files_together(folder, ALL, 2, []) is None


@pytest.mark.processes
def test_processes_read_groups_of_files(tmp_path: Path) -> None:
    folder = written(tmp_path / "dags", HIERARCHIES)
    spoken = messy(tmp_path / "mine.jsonl", by_id(load("agqa_decomp/preds_random.json.gz")))
    whole = score_sets.dags(None, folder, how=ALL, train=folder).of_files([spoken])
    with patch.object(decomp_groups, "FILES", 2), patch.object(shared_files, "LARGE", 0):
        parts = score_sets.scored_dags([spoken], (), None, folder, how=ALL, workers=2, train=folder)
    assert whole.rows == parts.rows


def test_files_without_questions_have_no_scores_to_compare(tmp_path: Path) -> None:
    for name in ("a.json", "b.json"):
        (tmp_path / name).write_text("{}")
    for name in ("one", "two"):
        (tmp_path / f"{name}.jsonl").write_text('{"id": "a-1", "prediction": "yes"}\n')
    said = [word for name in ("one", "two") for word in ("--predictions", tmp_path / f"{name}.jsonl")]
    done = questree("score", "decomp", "--hierarchies", tmp_path, *said, "--resamples", 5, "--no-cache")
    assert done.returncode == 0 and "N/A" in done.stdout, done.stderr
