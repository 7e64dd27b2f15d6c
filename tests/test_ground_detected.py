"""What is relevant among boxes of a detector: beside annotated boxes, and beside loops over views and boxes."""

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import questree
from conftest import copy
from questree.metrics.relevance import Box, iou, overlap
from questree.scoring.grounded import of_run
from questree.sources.detections import read_detections
from questree.stages.ground.detected import relevant_detections
from questree.stages.ground.grounding import GroundOptions, ground, relevant
from questree.tables.run import Run
from worlds.commands import questree as command
from worlds.image_run import GROUPS, image_run

EVERY, FILMED = GroundOptions("all", all=True), GroundOptions("all", all=True, sample=300)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return image_run(tmp_path_factory.mktemp("detected") / "run")


@pytest.fixture(scope="module")
def filmed(asked_run: Run, tmp_path_factory: pytest.TempPathFactory) -> Run:
    return copy(asked_run, tmp_path_factory.mktemp("filmed"))


def detector(run: Run, name: str, **noise: float) -> Path:
    questree.make_features(run.folder, from_facts=True, detections=True, name=name, workers=1, **noise)  # type: ignore[arg-type]
    return run.folder / "features" / name / "detections.json"


def test_a_detector_that_finds_everything_changes_nothing(run: Run) -> None:
    """The boxes of these rooms do not overlap."""
    file = detector(run, "exact", jitter=0, spurious=0)
    found = relevant_detections(run, EVERY, GROUPS, read_detections(file), "detected")
    assert found.equals(relevant(run, EVERY, GROUPS)[1])
    assert found["left_out"].n_unique() > 1


def test_a_poor_detector_is_judged_image_by_image(run: Run) -> None:
    file = detector(run, "poor", jitter=0.5, miss=0.2, spurious=1, seed=5)
    assert judged_by_loops(run, EVERY, file) == {"", "nothing relevant", "nothing irrelevant"}


def test_a_poor_detector_is_judged_frame_by_frame(filmed: Run) -> None:
    file = detector(filmed, "poor", jitter=0.3, miss=0.95, spurious=1, seed=5)
    assert judged_by_loops(filmed, FILMED, file) == {"", "nothing relevant"}


def judged_by_loops(run: Run, options: GroundOptions, file: Path) -> set[str]:
    """Why questions are left out. An image is one view, a video has a view per annotated frame."""
    told, seen = json.loads(file.read_text()), read_detections(file)
    found = relevant_detections(run, options, GROUPS, seen, "detected")
    row, reasons = 0, set[str]()
    for table, boxes in ground(run, options, GROUPS):
        corners = {row[0]: row[1:] for row in boxes.table.select("box", "x1", "y1", "x2", "y2").rows()}
        shown = {
            box: place if frame is None else f"{place}/{frame:06}"
            for box, place, frame in boxes.table.select("box", "place", "frame").rows()
        }
        for places, about, *frames in table.select("place", "relevant", "relevant_frames", "irrelevant_frames").rows():
            numbers = sorted(frames[0] + frames[1])
            near, far, before = [], [], 0
            for view in [f"{places[0]}/{number:06}" for number in numbers] or places:
                own: list[Box] = [corners[box] for box in about if shown[box] == view]
                detected = np.trunc(np.array(told[view]["bboxes"])).tolist()
                for at, box in enumerate(tuple(each) for each in detected):
                    if any(iou(box, each) > 0.5 for each in own):
                        near.append(before + at)
                    elif not any(overlap(box, each) > 0.25 for each in own):
                        far.append(before + at)
                before += len(detected)
            left = "nothing relevant" if not near else "nothing irrelevant" if not far else ""
            assert found.row(row) == (near, far, before, left)
            reasons.add(left)
            row += 1
    assert row == len(found)
    return reasons


@pytest.mark.parametrize(("medium", "options"), [("run", EVERY), ("filmed", FILMED)])
def test_a_run_is_scored_with_detections(
    request: pytest.FixtureRequest, medium: str, options: GroundOptions, tmp_path: Path
) -> None:
    run: Run = request.getfixturevalue(medium)
    file = detector(run, "scored", jitter=0.1, spurious=1)
    judged = of_run(run, options, None, [file])
    answers = judged.questions.select("id", prediction="answer")
    answers.write_ndjson(tmp_path / "all.jsonl")
    answers.with_columns(prediction=pl.lit("?")).write_ndjson(tmp_path / "none.jsonl")
    files = ["--all", tmp_path / "all.jsonl", "--rel", tmp_path / "all.jsonl", "--irrel", tmp_path / "none.jsonl"]
    words = ["--unbalanced", "--split", "all", "--sample", options.sample, "--resamples", 0]
    told = ["--json", tmp_path / "scores.json"]
    done = command("score", "fpvg", run.folder, "--detections", file, *files, *words, *told)
    assert done.returncode == 0, done.stderr
    rows = {(row["metric"], row["by"]): row for row in json.loads((tmp_path / "scores.json").read_text())}
    (found,) = judged.found.values()
    assert rows["FPVG+", "all"]["value"] == 1
    assert rows["FPVG+", "all"]["n"] == (found["left_out"] == "").sum() > 20
    assert "IoU with the evidence of the programs" in done.stdout


def test_a_detector_that_never_looked_leaves_all_questions_out(filmed: Run, tmp_path: Path) -> None:
    (tmp_path / "found.json").write_text('{"x": {"bboxes": [], "objectsNum": 0}}')
    (found,) = of_run(filmed, FILMED, None, [tmp_path / "found.json"]).found.values()
    assert found["left_out"].unique().to_list() == ["no detections"]
