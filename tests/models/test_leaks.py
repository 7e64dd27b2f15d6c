"""Nobody sees the answer: inputs do not change with answers, and answers drawn at random cannot be learnt."""

from dataclasses import asdict, replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import polars as pl
import pytest

from questree.faults import BadInput
from questree.networks.catalogue import network
from questree.tables.run import Run
from questree.training.lessons import Lesson
from questree.training.options import TrainingOptions, scheduled
from worlds.seen_rooms import Rooms

torch = pytest.importorskip("torch", reason="PyTorch is not installed; `make test-models` installs it")
ROOMS = Rooms.of(80, 3)


def at_random(table: pl.DataFrame, seed: int) -> pl.DataFrame:
    draw = np.random.default_rng(seed)
    return table.with_columns(answer=pl.Series(draw.choice(["yes", "no"], len(table))))


def learnt(folder: Path, model: str = "updn") -> float:
    """The share of right answers to questions of other rooms, where all answers are drawn."""
    from questree.training import fitting
    from questree.training.examples import Examples
    from questree.training.folder import TrainedFolder
    from questree.training.loop import judged

    options = TrainingOptions(model, "small", False, False, "train", "", False, 0.0, 0.0, 0, 0, 0)
    how = scheduled(network(model).sizes["small"].schedule, {"epochs": 6, "batch": 16, "patience": 6})
    lesson = Lesson(at_random(ROOMS.questions(0, 40), 1), at_random(ROOMS.questions(40), 2))
    with fitting.threads(1):
        found, _ = fitting.fit(TrainedFolder(Run(folder), "x"), {**asdict(options), **asdict(how)}, how, lesson, ROOMS)
        check = Examples.of(lesson.check, found.known, found.eyes(ROOMS, lesson.check["scope"]))
        return judged(found.module, check)[1]


def telling(self: Any, rows: Any) -> Any:
    """A batch that has the answer as one more word."""
    given = plain(self, rows)
    told = self.truth(rows)[:, None] + 2
    return replace(given, words=torch.cat([told, given.words], 1))


def plain(self: Any, rows: Any) -> Any:
    from questree.networks.batches import QuestionBatch

    seen = self.eyes.of([self.scopes[row] for row in rows.tolist()])
    return QuestionBatch(torch.from_numpy(self.words[rows]), seen)


def test_answers_drawn_at_random_cannot_be_learnt(tmp_path: Path) -> None:
    """240 questions: within three standard errors of a half; one who sees the answers gets nearly all of them."""
    assert abs(learnt(tmp_path / "honest") - 0.5) < 3 * np.sqrt(0.25 / 240)
    with (
        patch("questree.training.examples.Examples.batch", telling),
        patch("questree.training.fitting.refuse_leaks"),
    ):
        assert learnt(tmp_path / "cheat", "lstm") > 0.9


def test_a_network_that_is_told_the_answer_is_refused(tmp_path: Path) -> None:
    with (
        patch("questree.training.examples.Examples.batch", telling),
        pytest.raises(BadInput, match="the answers are told by what the network is given: words"),
    ):
        learnt(tmp_path)
    assert not (tmp_path / "trained" / "x" / "weights.safetensors").exists()
