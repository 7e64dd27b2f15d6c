"""Messy answers whose meaning is known: under `lenient` every way to score them finds what was meant."""

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from conftest import copy
from questree.cli.answer import answer
from questree.cli.app import app
from questree.cli.score import agqa, covr, decomp
from questree.formats.decomp import export_decomp
from questree.formats.decomp_files import hierarchy_files, read_hierarchies, read_texts
from questree.metrics.answered import needed
from questree.scoring.compared import OnePolicy, Scoring
from questree.show.page.questions import Questions
from questree.show.report.failures import failures
from questree.show.video_view import VideoView
from questree.stages.decompose.dag_shards import DecomposeOptions, decompose
from questree.stages.decompose.hierarchies import run_hierarchies
from questree.stages.decompose.question_texts import texts_by_id
from questree.tables.hierarchies import NOTHING
from questree.tables.run import Run

LENIENT, EXACT = (Scoring("wrong", 0, policy=policy) for policy in ("lenient", "exact"))
WAYS = {
    "yes": ["Yes.", "They did.", "I think yes", "<answer>yes</answer>", "Based on the video, yes."],
    "no": ["NO", "They didn't.", "\\boxed{no}", "No, the person did not do that.", '{"answer": "no"}'],
    "": ["{}.", "The {}!", "The answer is {}.", "<think>Hard to see.</think> **{}**", "Answer: {}"],
}
OTHER = {"yes": "no", "no": "yes", "before": "after", "after": "before"}
UNREAD = ["No idea.", "I'm sorry, I cannot watch videos.", ""]


@pytest.fixture(scope="module")
def run(random_run: Run, tmp_path_factory: pytest.TempPathFactory) -> Run:
    run = copy(random_run, tmp_path_factory.mktemp("policies"))
    decompose(run, DecomposeOptions(balanced=True), pool=ThreadPoolExecutor(1))
    return run


@pytest.fixture(scope="module")
def folder(run: Run, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("policies") / "out"
    export_decomp(run, out, pool=ThreadPoolExecutor(1))
    return out / "balanced_test_hierarchies"


def truths(folder: Path) -> dict[str, str]:
    """Key -> its answer, of all that have one."""
    found = read_hierarchies(folder)
    rows = pl.concat([found.nodes.select("key", "answer"), found.isolated.select("key", "answer")])
    rows = rows.filter(pl.col("answer") != NOTHING)
    return {found.keys[key]: found.words[answer] for key, answer in rows.iter_rows()}


@pytest.fixture(scope="module")
def messy(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A file of answers in other words, and the same in the words of the data: a third wrong, some say nothing."""
    true, plain, said = truths(folder), [], []
    keys = read_hierarchies(folder)
    for at, id in enumerate(keys.keys.gather(needed(keys, scored=False))):
        meant = true.get(id, "")
        meant = OTHER.get(meant, "") if at % 3 == 0 else meant
        ways = WAYS.get(meant, WAYS[""]) if meant else UNREAD
        plain.append({"id": id, "prediction": meant or "?"})
        said.append({"id": id, "prediction": ways[at % len(ways)].replace("{}", meant)})
    place = tmp_path_factory.mktemp("messy")
    for name, rows in (("messy", said), ("plain", plain)):
        (place / f"{name}.jsonl").write_text("\n".join(map(json.dumps, rows)))
    return place / "messy.jsonl", place / "plain.jsonl"


def rows_of(path: Path) -> list[dict[str, Any]]:
    """All but names: what was scored, and how much of it could not be read."""
    hidden = ("model", "group")
    rows = [
        {k: v for k, v in row.items() if k not in hidden} | {"at": row["group"]} for row in json.loads(path.read_text())
    ]
    return [row | {"at": ""} if row["by"] == "policy" else row for row in rows]


def test_the_texts_of_a_run_are_those_of_its_files(run: Run, folder: Path) -> None:
    asked, told = run_hierarchies(run, "test", workers=1), read_texts(hierarchy_files(folder))
    known = told.filter(pl.col("question").is_not_null())
    assert len(known) > 500
    assert texts_by_id(asked, known["id"]).to_list() == known["question"].to_list()
    assert texts_by_id(asked, pl.Series(["nobody-1"])).to_list() == [None]


def test_messy_answers_score_as_what_they_mean(
    run: Run, folder: Path, messy: tuple[Path, Path], tmp_path: Path
) -> None:
    said, plain = messy
    wanted, found = tmp_path / "wanted.json", tmp_path / "found.json"
    decomp(hierarchies=folder, predictions=[plain], json=wanted, quiet=True, how=EXACT)
    decomp(hierarchies=folder, predictions=[said], json=found, quiet=True, how=LENIENT)
    assert rows_of(found) == rows_of(wanted)
    decomp(run.folder, predictions=[said], split="test", json=found, quiet=True, how=LENIENT)
    assert rows_of(found) == rows_of(wanted)
    answer(run.folder, model="messy", predictions=said, quiet=True)
    decomp(run.folder, model=["messy"], split="test", json=found, quiet=True, how=LENIENT)
    assert rows_of(found) == rows_of(wanted)


def questree_check(file: Path, more: list[str], tmp_path: Path) -> dict[str, Any]:
    app(
        ["predictions", "check", str(file), *more, "--json", str(tmp_path / "check.json")], result_action="return_value"
    )
    found: dict[str, Any] = json.loads((tmp_path / "check.json").read_text())
    return found


def test_a_check_counts_what_is_odd_in_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    texts = {
        "a-1": ("Did they hold a phone?", "yes"),
        "a-2": ("What were they holding?", "phone"),
        "a-3": ("Did they sit down before or after opening a door?", "before"),
        "a-4": ("Did they open a door?", "no"),
        "a-5": ("Did they close a door?", "no"),
    }
    record = {
        "video_id": "a",
        "ans_type": "open",
        "global": [],
        "semantic": "object",
        "structural": "query",
        "steps": 1,
    }
    record |= {"program": "", "sg_grounding": {}}
    (tmp_path / "q.json").write_text(
        json.dumps({id: record | {"question": text, "answer": answer} for id, (text, answer) in texts.items()})
    )
    said = [("a-1", "They did."), ("a-2", "Yes."), ("a-3", "No idea."), ("a-4", "phone"), ("z-9", "no")]
    rows = [{"id": id, "prediction": text} for id, text in [*said, ("a-4", "the phone")]]
    (tmp_path / "m.jsonl").write_text("\n".join(map(json.dumps, rows)))
    found = questree_check(tmp_path / "m.jsonl", ["--questions", str(tmp_path / "q.json")], tmp_path)
    assert found["coverage"] == {"needed": 5, "found": 4, "unknown": 1, "examples": ["a-5"]}
    assert (found["unknown"], found["duplicates"], found["predictions"], found["exact"]) == (["z-9"], 1, 4, 0)
    assert found["rules"] == {"as it stands": 1, "statement": 1, "yes or no": 1}
    assert found["reasons"] == {"unsure": 1} and found["unread"] == [["unsure", "No idea.", 1]]
    assert (found["looked"], found["suspicious"], found["unparsed"]) == (3, 2, 1)
    assert [(id, said) for id, _, said, _ in found["examples"]] == [("a-2", "yes"), ("a-4", "phone")]
    capsys.readouterr()
    agqa(questions=tmp_path / "q.json", predictions=[tmp_path / "m.jsonl"], how=EXACT)
    loud = (
        "warning: m: 100.0% of the predictions are no answer under --policy=exact; --policy=lenient reads free text, "
    )
    assert capsys.readouterr().err == f"{loud}`questree predictions check` lists them\n"


def test_the_page_and_the_report_show_what_was_said_beside_what_is_read(run: Run, messy: tuple[Path, Path]) -> None:
    answer(run.folder, model="messy", predictions=messy[0], quiet=True)
    said = {row["id"]: row["prediction"] for row in map(json.loads, messy[0].read_text().splitlines())}
    meant = {row["id"]: row["prediction"] for row in map(json.loads, messy[1].read_text().splitlines())}
    asked = Questions.read(VideoView(run), OnePolicy(policy="lenient"))
    some = [at for at in range(0, len(asked), 97) if meant.get(asked.question(at).id, "?") != "?"]
    assert len(some) > 5
    for at in some:
        question = asked.question(at)
        _, read, raw = asked.dag(at, question)
        words = said[question.id]
        assert (read["messy"][0], raw["messy"][0]) == (
            meant[question.id],
            words if words != meant[question.id] else None,
        )
    told = list(failures(run, ("messy",), "test", shown=5, how=OnePolicy(policy="lenient")))
    for one in told:
        (_, word, _), words = one.said[0], said[one.id]
        assert one.raw == ({} if word == words else {"messy": words}) and (meant[one.id] in ("?", word))
    assert told


def test_questions_about_images_tell_what_short_answers_mean(tmp_path: Path) -> None:
    asked = [
        ("white", "Is the cup that is near a chair red or white?", "(B)"),
        (3, "How many dogs are there?", "I can see three dogs in total."),
        (True, "Is there a dog near a red car?", "There is a dog near the red car."),
        ("dog", "What is near the red car?", "dogs"),
    ]
    records = [{"qid": str(at), "answer": a, "scenes": ["s"], "utterance": q} for at, (a, q, _) in enumerate(asked)]
    (tmp_path / "q.json").write_text(json.dumps(records))
    said = [{"id": str(at), "prediction": text} for at, (_, _, text) in enumerate(asked)]
    (tmp_path / "m.json").write_text(json.dumps(said))
    found = questree_check(tmp_path / "m.json", ["--questions", str(tmp_path / "q.json")], tmp_path)
    assert found["rules"] == {"as it stands": 1, "letter": 1, "number": 1, "statement": 1} and not found["suspicious"]
    scores = tmp_path / "scores.json"
    covr(questions=tmp_path / "q.json", predictions=[tmp_path / "m.json"], json=scores, quiet=True, how=LENIENT)
    (overall,) = [r for r in json.loads(scores.read_text()) if (r["metric"], r["group"]) == ("accuracy", "Overall")]
    assert (overall["value"], overall["n"]) == (1, 4)
