"""Networks that point at objects are told which ones a question finds."""

import math
from pathlib import Path
from typing import Any

import pytest

import questree
from conftest import copy
from questree.api.feature_sets import make_features
from questree.api.found_objects import of_image_sets
from questree.faults import BadInput
from questree.features.read import open_features
from questree.tables.run import Run

torch = pytest.importorskip("torch", reason="PyTorch is not installed; `make test-models` installs it")


@pytest.fixture
def rooms(apart_images: Run, tmp_path: Path) -> Run:
    """Image sets, taken apart, and what is seen of them."""
    run = copy(apart_images, tmp_path / "rooms")
    make_features(run.folder, from_facts=True, workers=1)
    return run


def test_as_many_objects_are_found_as_a_question_counts(rooms: Run) -> None:
    """All things of these images have a box; programs were executed apart from this."""
    nodes = questree.open(rooms.folder).nodes()
    found = dict(of_image_sets(rooms).iter_rows())
    assert set(found) == set(nodes["id"])
    counted = {
        id: int(answer)
        for id, question, answer in nodes.select("id", "question", "answer").iter_rows()
        if question.startswith("How many") and "images" not in question and answer is not None
    }
    assert len(counted) > 20
    assert {id: len(found[id]) for id in counted} == counted


def test_what_is_found_is_marked_where_it_is_shown(rooms: Run) -> None:
    """Every object that is found, and no padding; the loss is 2 log 2 for a logit of 0, and 0 for who is right."""
    from questree.training.examples import Examples
    from questree.training.eyes import Eyes
    from questree.training.guidance import Guide
    from questree.training.words import KnownWords

    seen, nodes = open_features(rooms.folder, "facts"), questree.open(rooms.folder).nodes()
    table = nodes.with_columns(scope=nodes["scope"].list.join("\0"))
    known = KnownWords.of(table["question"], table["answer"])
    examples = Examples.of(table, known, Eyes({"objects": seen.streams["objects"].width}, seen))
    guide = Guide.of(2.0, of_image_sets(rooms))
    rows = torch.arange(len(table)).numpy()
    marks, told = guide.marks(examples, rows)
    assert told.all()
    assert marks.sum(1).int().tolist() == [len(guide.found[id]) for id in table["id"]]
    batch = examples.batch(rows)
    there = batch.streams["objects"].there
    assert marks.shape == there.shape
    assert not marks[~there].any()
    one = next(row for row in rows.tolist() if 0 < marks[row].sum() < there[row].sum())
    loss = guide.loss(torch.zeros(1, there[one].sum()), examples.batch(rows[[one]]), examples, rows[[one]])
    assert float(loss) == pytest.approx(2 * math.log(2), rel=1e-6)
    right = torch.where(marks[[one], : there[one].sum()] > 0, 30.0, -30.0)
    assert float(guide.loss(right, examples.batch(rows[[one]]), examples, rows[[one]])) < 1e-9
    nobody = Guide(2.0, {})
    assert float(nobody.loss(right, examples.batch(rows[[one]]), examples, rows[[one]])) == 0


@pytest.mark.parametrize("model", ["updn", "transformer"])
def test_who_is_guided_points_better(model: str, rooms: Run) -> None:
    """After as many epochs, at the objects that questions find."""
    from questree.training.examples import Examples
    from questree.training.fitting import Trained
    from questree.training.folder import TrainedFolder
    from questree.training.guidance import Guide

    losses = dict[str, float]()
    nodes = questree.open(rooms.folder).nodes()
    table = nodes.with_columns(scope=nodes["scope"].list.join("\0"))
    for name, weight in (("plain", 0.0), ("told", 5.0)):
        how: dict[str, Any] = {"parts": True, "epochs": 2, "name": name, "batch": 16}
        questree.train(rooms.folder, model=model, guided=weight, **how)
        found = Trained.of(TrainedFolder(rooms, name))
        features = open_features(rooms.folder, "facts")
        examples = Examples.of(table, found.known, found.eyes(features, table["scope"]))
        rows, guide = torch.arange(len(table)).numpy(), Guide.of(1.0, of_image_sets(rooms))
        with torch.inference_mode():
            batch = examples.batch(rows)
            losses[name] = float(guide.loss(found.module.eval().pointed(batch)[1], batch, examples, rows))
    assert losses["told"] < 0.8 * losses["plain"]


def test_who_cannot_be_guided_is_told_why(rooms: Run, taught: Run) -> None:
    with pytest.raises(BadInput, match=r"guided: expected a network that points at objects, got lstm"):
        questree.train(rooms.folder, model="lstm", guided=1)
    assert not (rooms.folder / "trained" / "lstm-guided").exists()
    with pytest.raises(BadInput, match=r"guided: expected a network that sees, got"):
        questree.train(rooms.folder, model="updn", guided=1, blind=True)
    make_features(rooms.folder, from_facts=True, name="detected", detections=True, workers=1)
    with pytest.raises(BadInput, match=r"guided: expected features of annotated boxes, got detected"):
        questree.train(rooms.folder, model="updn", guided=1, features="detected")
    make_features(taught.folder, from_facts=True, workers=1)
    with pytest.raises(BadInput, match=r"guided: expected a run of image sets \(covr\), got videos"):
        questree.train(taught.folder, model="updn", guided=1)
