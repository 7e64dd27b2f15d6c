"""`questree build`: raw files in, a benchmark out."""

import json
from pathlib import Path
from typing import Any

import pytest

from questree.api.ingesting import remarks
from questree.cli.app import app
from questree.faults import BadInput
from questree.progress import Reporter, reporter
from questree.sources.catalogue import kind_of
from questree.sources.own_json import write
from questree.stages.again import made_again
from questree.synth.images import write_images
from questree.synth.video import Rates
from questree.synth.world import write_world
from questree.tables.image_questions import BALANCED, answered
from questree.tables.lock import verify
from questree.tables.run import Run
from questree.vocabulary.load import default
from worlds.commands import questree
from worlds.exported_worlds import exported

CALL: dict[str, Any] = {"exit_on_error": False, "result_action": "return_value"}
STAGES = ["ingest", "augment", "generate", "balance", "split", "decompose"]


def build(source: Path, folder: Path, *options: str) -> tuple[Run, dict[str, Any]]:
    common = ["--out", str(folder / "run"), "--workers", "1", "--json", str(folder / "built.json")]
    app(["build", str(source), *common, *options], **CALL)
    return Run(folder / "run"), json.loads((folder / "built.json").read_text())


def test_raw_files_become_a_decomposed_balanced_split_benchmark(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_world(tmp_path / "world", 6, 4, Rates(), 1)
    shown: list[str] = []
    watch: Reporter = lambda label, done, total: shown.append(label)  # noqa: E731
    token = reporter.set(watch)
    try:
        run, built = build(tmp_path / "world", tmp_path)
    finally:
        reporter.reset(token)
    stages = ["raw", "truth", "facts", "questions", "balanced", "splits", "decomposed"]
    assert all((run.folder / stage).is_dir() for stage in stages)
    assert (run.decomposed / "subquestions.parquet").is_file()
    assert built["source"] == "action-genome" and list(built["seconds"]) == STAGES
    assert built["made"]["generate"] > built["made"]["balance"] > 0 < built["made"]["decompose"]
    assert verify(run)[0] == [], "the lock file knows all of it"
    plan = json.loads((run.decomposed / "plan.json").read_text())["options"]
    assert plan["balanced"] and plan["closed"], "the balanced selection, in a world whose truth is known"
    said = capsys.readouterr().out.splitlines()
    stages_said = [line for line in said if not line.startswith("    ")]
    reading, cleaning = (said[said.index(stages_said[at]) + 1 : said.index(stages_said[at + 1])] for at in (0, 1))
    assert all(line.startswith("    left out or odd: action that ends after its video") for line in reading)
    assert [line.split()[1].rstrip(":") for line in stages_said[:6]] == STAGES, "one line per stage"
    assert len(stages_said) == 7 and cleaning[0].startswith("    removed: "), "what was removed follows its stage"
    split = said[said.index(stages_said[4]) + 1 : said.index(stages_said[5])]
    assert "    warning: videos: test is empty" in split, "and what is odd about splits theirs"
    ledger = {rule["number"]: rule for rule in json.loads(run.ledger.read_text())["rules"]}
    merged = next(change["removed"] for change in ledger[2]["changes"] if change["what"] == "object annotations")
    assert cleaning[0].startswith(f"    removed: {merged:,} object annotations and ")
    assert all(line.startswith("    warning: rule ") for line in cleaning[1:])
    assert {"generate", "decompose"} <= set(shown), "whoever watches the build sees the progress of its stages"


def test_own_videos_and_released_graphs_are_told_by_their_files(
    cleaned_run: Run, random_run: Run, tmp_path: Path
) -> None:
    facts = cleaned_run.load("raw").between(0, 3)
    write(facts, default(), tmp_path / "own" / "mine.json")
    graphs = exported(random_run, tmp_path / "out", csv=False) / "AGQA_scene_graphs"
    assert kind_of(tmp_path / "own") == kind_of(tmp_path / "own" / "mine.json") == "json"
    assert kind_of(graphs) == "agqa"
    run, built = build(tmp_path / "own", tmp_path)
    assert built["source"] == "json" and built["made"]["ingest"] == 3
    plan = json.loads((run.decomposed / "plan.json").read_text())["options"]
    assert not plan["closed"], "real videos show more than is annotated"


def test_build_leaves_out_rules_of_cleaning(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_world(tmp_path / "world", 2, 4, Rates(), 1)
    run, _ = build(tmp_path / "world", tmp_path, "--without", "5", "--without", "drop-sparse-spatial-relations")
    ledger = json.loads(run.ledger.read_text())
    assert ledger["options"]["without"] == ["settle above and beneath", "drop sparse spatial relations"]
    assert "rule 5" not in capsys.readouterr().out
    with pytest.raises(BadInput, match="--without: expected a rule that can be left out, got 'x'"):
        build(tmp_path / "world", tmp_path / "new", "--without", "x")
    assert not (tmp_path / "new").exists()
    write_images(tmp_path / "pictures", 4, 1)
    with pytest.raises(BadInput, match=r"--without: expected raw files of video, got images \(gqa\)"):
        build(tmp_path / "pictures", tmp_path, "--without", "5")


def test_what_cannot_be_built_is_told_before_anything_is_done(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="expected a folder or file, got nothing of this name"):
        build(tmp_path / "nothing", tmp_path)
    with pytest.raises(BadInput, match="expected raw files, got none; choose from object_bbox"):
        (tmp_path / "empty").mkdir()
        build(tmp_path / "empty", tmp_path)
    (tmp_path / "mine.json").write_text("{}")
    with pytest.raises(BadInput, match="--fps: expected raw files without seconds, got json"):
        build(tmp_path / "mine.json", tmp_path, "--fps", "3")
    assert not (tmp_path / "run").exists()


def test_images_become_a_decomposed_balanced_split_benchmark(tmp_path: Path) -> None:
    write_images(tmp_path / "pictures", 60, 1)
    run, built = build(tmp_path / "pictures", tmp_path, "--questions", "400")
    assert built["source"] == "gqa" and list(built["seconds"]) == [name for name in STAGES if name != "augment"]
    assert built["made"]["ingest"] == 60 and 0 < built["made"]["balance"] <= built["made"]["generate"] <= 400
    assert built["made"]["decompose"] > 0 and (run.covr / "splits" / "has-quant.parquet").is_file()
    assert verify(run)[0] == [], "the lock file knows all of it"
    assert made_again(run, 1) == [], "and all of it comes out the same again"
    app(["audit", str(run.folder), "--json", str(tmp_path / "audit.json"), "--quiet"], **CALL)
    found = {
        (each["name"], each["type"]): each for each in json.loads((tmp_path / "audit.json").read_text())["measures"]
    }
    asked = answered(run).filter(split="test")
    kept = asked.join(BALANCED.read(run.covr), on="id", how="semi")
    whole = found["question-only model", "all"]
    assert (whole["before"]["n"], whole["after"]["n"]) == (len(asked), len(kept))
    train = answered(run).filter(split="train", template="COUNT")["answer"].value_counts()
    best = train.sort(["count", "answer"], descending=[True, False])["answer"][0]
    counted = asked.filter(template="COUNT")["answer"]
    share = found["most likely answer of the type", "template: COUNT"]["before"]
    assert share == {"value": (counted == best).mean(), "n": len(counted)}
    assert (run.covr / "audit" / "answers.svg").is_file() and verify(run)[0] == []
    BALANCED.write(BALANCED.read(run.covr).head(3), run.covr)
    assert [Path(fault.place).name for fault in verify(run)[0]] == ["balanced.parquet"]
    assert "balanced.parquet" in {Path(fault.place).name for fault in made_again(run, 1)}


def test_a_run_of_videos_takes_images_beside_them_and_verifies(tmp_path: Path) -> None:
    write_world(tmp_path / "world", 4, 4, Rates(), 1)
    write_images(tmp_path / "pictures", 60, 1)
    run, _ = build(tmp_path / "world", tmp_path)
    app(["ingest", "gqa", str(tmp_path / "pictures"), "--out", str(run.folder), "--quiet"], **CALL)
    assert verify(run)[0] == []
    before = sorted(run.questions.iterdir())
    app(["generate", str(run.folder), "--benchmark", "covr", "--questions", "200", "--quiet"], **CALL)
    assert verify(run)[0] == [] and sorted(run.questions.iterdir()) == before and run.covr.is_dir()
    with pytest.raises(BadInput, match="--questions: expected a run of image sets, got videos"):
        app(["balance", str(run.folder), "--questions", "10"], **CALL)
    with pytest.raises(BadInput, match="--benchmark: expected a benchmark, got 'gqa'; choose from agqa, covr"):
        app(["balance", str(run.folder), "--benchmark", "gqa"], **CALL)


def test_tables_of_a_newer_schema_are_refused(tmp_path: Path) -> None:
    (tmp_path / "lock.json").write_text(json.dumps({"vocabulary": "", "schema": 3}))
    with pytest.raises(BadInput, match="expected tables of schema 2 or older, got 3; upgrade questree"):
        Run(tmp_path)


def test_what_was_made_of_other_questions_is_refused_by_name(tmp_path: Path) -> None:
    write_world(tmp_path / "world", 4, 4, Rates(unasked_objects=0), 1)
    here = ("--out", tmp_path / "run", "--workers", "1", "--quiet")
    assert questree("build", tmp_path / "world", *here).returncode == 0
    assert questree("answer", tmp_path / "run", "--model", "oracle").returncode == 0
    assert questree("generate", tmp_path / "run", "--phrases", "2", "--workers", "1").returncode == 0
    balanced = "balanced: was selected from other questions than there are now; run `questree balance`"
    decomposed = "decomposed: made of other questions than there are now; run `questree decompose` again"
    for said, words in (
        (balanced, ("export", "agqa", tmp_path / "run", "--out", tmp_path / "agqa")),
        (balanced, ("decompose", tmp_path / "run")),
        (decomposed, ("export", "decomp", tmp_path / "run", "--out", tmp_path / "dags")),
        (decomposed, ("answer", tmp_path / "run", "--model", "shortcut")),
        (decomposed, ("score", tmp_path / "run", "--model", "oracle")),
    ):
        done = questree(*words)
        assert done.returncode == 1 and done.stderr.endswith(f"{said}\n"), (words, done.stderr)


def test_what_ingestion_left_out_is_told() -> None:
    assert remarks({"action of another than the person, left out": 1087, "strange": 1}) == [
        "left out or odd: action of another than the person, left out (1,087 times)",
        "left out or odd: strange (once)",
    ]
