"""From a made-up world to scores: who looks beats who does not, and what is seen of another video helps nobody."""

from pathlib import Path

import pytest

from questree.api.experiments.findings import Finding, finding
from questree.api.experiments.results import ScoredModels
from questree.metrics.scores import Resampling
from questree.scoring import agqa_questions, question_scores
from questree.scoring.compared import Scoring
from questree.tables.run import Run
from worlds.commands import run as carried_out

pytest.importorskip("torch", reason="PyTorch is not installed; `make test-models` installs it")
WORLD = """
questree synth --videos 200 --seed 3 --unasked-objects 0 --workers 1 --out world --quiet
questree build world --out run --phrases 8 --workers 1 --quiet
questree features run --from-facts --workers 1 --quiet
questree answer run --model most-likely --quiet
questree answer run --model blind --quiet
"""
LEARNT = {"updn": 10, "lstm": 8}  # network -> epochs


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("eyes")
    for line in WORLD.strip().splitlines():
        carried_out(line, folder)
    return folder


def taught(world: Path, model: str, special: str = "") -> str:
    """Trained and asked; its name."""
    name = model + special.replace("--", "-")
    how = f"--epochs {LEARNT[model]} --batch 32 --patience 10"
    carried_out(f"questree train run --model {model} {special} --name {name} {how} --quiet", world)
    carried_out(f"questree predict run --model {name} --split test --quiet", world)
    return name


def difference(world: Path, one: str, other: str) -> Finding:
    """Of the accuracies of two models on the test questions, with its interval over videos."""
    run = Run(world / "run")
    asked = agqa_questions.of_run(run, "test")
    scores = ScoredModels(question_scores.scored_on(asked, run, Scoring(), [one, other]), Resampling(500, 0))
    return finding("difference", f"{one} beats {other}", scores(one) - scores(other), "above")


def test_who_looks_beats_who_does_not_and_what_others_see_helps_nobody(world: Path) -> None:
    sees, blind, shuffled = (taught(world, "updn", special) for special in ("", "--blind", "--shuffle-features"))
    assert difference(world, sees, blind).verdict == "holds"
    assert difference(world, sees, "most-likely").verdict == "holds"
    assert difference(world, shuffled, blind).verdict != "holds"


def test_a_network_that_reads_the_question_alone_gets_no_more_than_the_audit_says(world: Path) -> None:
    assert difference(world, taught(world, "lstm"), "blind").verdict != "holds"
