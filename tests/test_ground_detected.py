"""What is relevant among boxes of a detector: beside annotated boxes, and beside loops over images and boxes."""

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import questree
from questree.faults import BadInput
from questree.metrics.relevance import Box, iou, overlap
from questree.scoring.grounded import of_run
from questree.sources.detections import read_detections
from questree.stages.ground.detected import relevant_detections
from questree.stages.ground.grounding import GroundOptions, ground, relevant
from questree.tables.run import Run
from worlds.commands import questree as command
from worlds.image_run import GROUPS, image_run

EVERY = GroundOptions("all", all=True)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return image_run(tmp_path_factory.mktemp("detected") / "run")


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
    told, seen = json.loads(file.read_text()), read_detections(file)
    found = relevant_detections(run, EVERY, GROUPS, seen, "detected")
    row, reasons = 0, set[str]()
    for table, boxes in ground(run, EVERY, GROUPS):
        corners = {row[0]: row[1:] for row in boxes.table.select("box", "x1", "y1", "x2", "y2").rows()}
        place_of = dict(boxes.table.select("box", "place").rows())
        for places, about in table.select("place", "relevant").rows():
            near, far, before = [], [], 0
            for place in places:
                own: list[Box] = [corners[box] for box in about if place_of[box] == place]
                detected = np.trunc(np.array(told[place]["bboxes"])).tolist()
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
    assert reasons == {"", "nothing relevant", "nothing irrelevant"}


def test_a_run_is_scored_with_detections(run: Run, tmp_path: Path) -> None:
    file = detector(run, "scored", jitter=0.1, spurious=1)
    judged = of_run(run, EVERY, None, [file])
    answers = judged.questions.select("id", prediction="answer")
    answers.write_ndjson(tmp_path / "all.jsonl")
    answers.with_columns(prediction=pl.lit("?")).write_ndjson(tmp_path / "none.jsonl")
    files = ["--all", tmp_path / "all.jsonl", "--rel", tmp_path / "all.jsonl", "--irrel", tmp_path / "none.jsonl"]
    options = ["--unbalanced", "--split", "all", "--resamples", 0, "--json", tmp_path / "scores.json"]
    done = command("score", "fpvg", run.folder, "--detections", file, *files, *options)
    assert done.returncode == 0, done.stderr
    rows = {(row["metric"], row["by"]): row for row in json.loads((tmp_path / "scores.json").read_text())}
    (found,) = judged.found.values()
    assert rows["FPVG+", "all"]["value"] == 1
    assert rows["FPVG+", "all"]["n"] == (found["left_out"] == "").sum()
    assert "IoU with the evidence of the programs" in done.stdout


def test_videos_have_no_detections(random_run: Run, tmp_path: Path) -> None:
    (tmp_path / "found.json").write_text('{"x": {"bboxes": [], "objectsNum": 0}}')
    with pytest.raises(BadInput, match="expected questions about image sets, got a run of videos"):
        of_run(random_run, GroundOptions("all"), None, [tmp_path / "found.json"])
