"""`questree train` and `questree predict`: the loop, what it keeps, going on after a kill."""

import json
import os
import re
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import chdir, contextmanager
from pathlib import Path
from unittest.mock import ANY

import pytest

import questree
from conftest import copy
from questree.api.training import predict_questions, trained
from questree.tables.run import Run
from worlds.commands import questree as command

pytest.importorskip("torch", reason="PyTorch is not installed; `make test-models` installs it")
FILES = ("weights.safetensors", "state.safetensors", "history.json", "curve.svg")


def kept(run: Run, name: str) -> dict[str, bytes]:
    return {file: (run.folder / "trained" / name / file).read_bytes() for file in FILES}


def test_a_network_learns_answers_and_is_scored(taught: Run) -> None:
    made = command("train", taught.folder, "--model", "lstm", "--epochs", 3)
    assert made.returncode == 0, made.stderr
    assert "questions learnt" in made.stdout
    told = command("predict", taught.folder, "--model", "lstm", "--out", taught.folder / "said.jsonl")
    assert told.returncode == 0, told.stderr
    run = questree.open(taught.folder)
    assert run.models == ["lstm"]
    said = run.predictions("lstm")
    assert len(said) == len(run.nodes()) == len((taught.folder / "said.jsonl").read_text().splitlines())
    learnt = json.loads((taught.folder / "trained" / "lstm" / "model.json").read_text())
    assert set(said["prediction"]) <= set(learnt["answers"])
    assert run.score("lstm", on="questions", resamples=0).frame().height > 0


def test_so_many_questions_and_sub_questions_are_learnt(taught: Run) -> None:
    learnt = [
        questree.train(
            taught.folder, model="lstm", epochs=1, name=f"few {parts}", sample=8, parts=True, sample_parts=parts
        )
        for parts in (5, 0)
    ]
    few, every = (made.record["learnt"] for made in learnt)
    assert few == 13
    assert every > 20


def test_the_same_command_gives_the_same_bits(taught: Run) -> None:
    for name in ("one", "two"):
        questree.train(taught.folder, model="lstm", epochs=2, name=name)
    assert kept(taught, "one") == kept(taught, "two")
    questree.train(taught.folder, model="lstm", epochs=2, name="other", seed=1)
    assert kept(taught, "one")["weights.safetensors"] != kept(taught, "other")["weights.safetensors"]


def test_a_killed_training_goes_on_to_the_same_bits(taught: Run) -> None:
    """Killed without warning while it learns; the second command ends with what an undisturbed one gives."""
    options = ["--model", "lstm", "--epochs", "40", "--patience", "40"]
    words = [sys.executable, "-m", "questree", "train", str(taught.folder), *options, "--name", "killed"]
    process = subprocess.Popen(words, env={**os.environ, "OMP_NUM_THREADS": "1"})
    state = taught.folder / "trained" / "killed" / "state.safetensors"
    end = time.monotonic() + 120
    while not state.exists() and process.poll() is None and time.monotonic() < end:
        time.sleep(0.002)
    process.send_signal(signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL
    assert not trained(taught.folder, "killed")
    before = state.read_bytes()
    for name in ("killed", "whole"):
        assert command("train", taught.folder, *options, "--name", name).returncode == 0
    assert state.read_bytes() != before
    assert kept(taught, "killed") == kept(taught, "whole")
    assert trained(taught.folder, "killed")
    assert len(json.loads((state.parent / "history.json").read_text())["epochs"]) == 40


def test_what_stops_after_its_last_epoch_has_everything_of_it(taught: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """Killed once its state is kept: nothing is left to learn, so nothing of the epoch may be missing."""
    from questree.training.folder import TrainedFolder

    questree.train(taught.folder, model="lstm", epochs=1, name="whole")
    save = TrainedFolder.save_state

    def killed(place: TrainedFolder, tensors: dict[str, object], progress: object) -> None:
        save(place, tensors, progress)
        raise KeyboardInterrupt

    with monkeypatch.context() as once, pytest.raises(KeyboardInterrupt):
        once.setattr(TrainedFolder, "save_state", killed)
        questree.train(taught.folder, model="lstm", epochs=1, name="killed")
    questree.train(taught.folder, model="lstm", epochs=1, name="killed")
    assert kept(taught, "killed") == kept(taught, "whole")


def test_what_stops_within_an_epoch_goes_on_there(taught: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    from questree.training import loop

    monkeypatch.setattr(loop, "SAVED", 2)
    questree.train(taught.folder, model="lstm", epochs=2, batch=8, name="whole")
    step, steps = loop.Loop.step, list[tuple[int, int]]()

    def failing(self: loop.Loop, optimizer: object, rows: object, epoch: int, at: int) -> float:
        steps.append((epoch, at))
        if len(steps) == 6:
            raise OSError("the lights went out")
        return step(self, optimizer, rows, epoch, at)

    monkeypatch.setattr(loop.Loop, "step", failing)
    with pytest.raises(OSError, match="lights"):
        questree.train(taught.folder, model="lstm", epochs=2, batch=8, name="broken")
    questree.train(taught.folder, model="lstm", epochs=2, batch=8, name="broken")
    assert steps[5:7] == [(0, 5), (0, 4)]  # states are kept after every second step
    assert kept(taught, "broken") == kept(taught, "whole")


@pytest.mark.parametrize(
    ("at", "wanted"),
    [
        ((0, 1), "nothing of lstm is kept yet"),
        ((1, 3), "1 epochs and 2 steps of lstm are kept; rerun to go on from there"),
    ],
)
def test_who_interrupts_a_training_is_told_what_is_kept(
    at: tuple[int, int], wanted: str, taught: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    from questree.training import loop

    step = loop.Loop.step

    def pressed(self: loop.Loop, optimizer: object, rows: object, epoch: int, number: int) -> float:
        if (epoch, number) == at:
            raise KeyboardInterrupt
        return step(self, optimizer, rows, epoch, number)

    monkeypatch.setattr(loop, "SAVED", 2)
    monkeypatch.setattr(loop.Loop, "step", pressed)
    with pytest.raises(KeyboardInterrupt, match=wanted):
        questree.train(taught.folder, model="lstm", epochs=3, batch=8)


def test_training_ends_when_validation_gets_no_better(taught: Run) -> None:
    questree.train(taught.folder, model="lstm", epochs=60, patience=2, rate=0.05, name="early")
    told = json.loads((taught.folder / "trained" / "early" / "history.json").read_text())
    assert len(told["epochs"]) == told["best"] + 3 < 60
    best = max(told["epochs"], key=lambda epoch: (epoch["accuracy"], -epoch["validation"]))
    assert told["epochs"][told["best"]] == best


def test_weights_are_written_into_the_file_that_is_held(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One beside it would be left by who is terminated, and nobody would know whose it is."""
    import torch

    from questree.tables.store import new_file
    from questree.training import folder

    held = list[int]()

    @contextmanager
    def watched(target: Path) -> Iterator[Path]:
        with new_file(target) as work:
            work.touch()
            held.append(work.stat().st_ino)
            yield work
            held.append(work.stat().st_ino)

    monkeypatch.setattr(folder, "new_file", watched)
    place = folder.TrainedFolder(Run(tmp_path), "x")
    place.folder.mkdir(parents=True)
    place.save_weights({"a": torch.ones(3)})
    place.save_state({"a": torch.ones(3)}, {"step": 7})
    assert held[0] == held[1] and held[2] == held[3]
    assert place.weights()["a"].tolist() == [1, 1, 1] and place.state() == (ANY, {"step": 7})


def test_what_was_begun_otherwise_is_refused(taught: Run) -> None:
    assert "after its only epoch: " in questree.train(taught.folder, model="lstm", epochs=1).said[1]
    with pytest.raises(questree.BadInput, match="trained with epochs 1, got 2; choose another name, or again"):
        questree.train(taught.folder, model="lstm", epochs=2)
    questree.train(taught.folder, model="lstm", epochs=2, again=True)


def test_bad_options_are_told_at_once(taught: Run) -> None:
    said = command("train", taught.folder, "--model", "lstm", "--epochs", 0, "--rate", -1, "--sample", -2).stderr
    assert "--epochs: expected at least 1, got 0" in said
    assert "--rate: expected at least 1e-09, got -1" in said
    assert "--sample: expected at least 0, got -2" in said
    assert (
        "choose from hcrn, hme, psac, updn, transformer, lstm" in command("train", taught.folder, "--model", "x").stderr
    )
    assert "there are none" in command("predict", taught.folder, "--model", "x").stderr
    long = command("predict", taught.folder, "--model", "x" * 300, "--name", "y").stderr
    assert f"expected a trained model, got {'x' * 300!r}" in long
    said = command("train", taught.folder, "--model", "lstm", "--split", "nowhere").stderr
    assert "expected a split, got 'nowhere'" in said
    assert not (taught.folder / "trained").exists()


def test_damaged_weights_are_told_in_one_line(taught: Run) -> None:
    questree.train(taught.folder, model="lstm", epochs=1)
    (taught.folder / "trained" / "lstm" / "weights.safetensors").write_bytes(b"no weights")
    said = command("predict", taught.folder, "--model", "lstm")
    assert said.returncode == 1
    assert len(said.stderr.splitlines()) == 1
    assert "weights.safetensors: damaged" in said.stderr


def test_a_changed_file_of_a_network_is_named_by_verify(taught: Run) -> None:
    questree.train(taught.folder, model="lstm", epochs=1, sample=8)
    assert questree.verify(taught.folder).faults == []
    for file in ("model.json", *FILES):
        path = taught.folder / "trained" / "lstm" / file
        whole = path.read_bytes()
        path.write_bytes(whole.replace(b"e", b"f", 1))
        assert [fault.place for fault in questree.verify(taught.folder).faults] == [str(path)]
        path.write_bytes(whole)


def test_weights_are_tensors_and_nothing_else(taught: Run) -> None:
    questree.train(taught.folder, model="lstm", epochs=1)
    files = sorted(path.name for path in (taught.folder / "trained" / "lstm").iterdir())
    assert files == ["curve.svg", "history.json", "model.json", "state.safetensors", "weights.safetensors"]


def test_a_split_that_was_made_is_learnt(taught: Run) -> None:
    run = questree.open(taught.folder)
    made = questree.train(taught.folder, model="lstm", epochs=1, split="more-steps train")
    few, every = made.record["learnt"], len(run.questions(split="train"))
    assert few + made.record["validated on"] == len(run.questions(split="more-steps train")) < every


def test_sub_questions_are_learnt_too(taught: Run) -> None:
    alone = questree.train(taught.folder, model="lstm", epochs=1).record
    both = questree.train(taught.folder, model="lstm", epochs=1, parts=True).record
    assert (both["name"], both["validated on"]) == ("lstm-parts", alone["validated on"])
    assert both["learnt"] > 1.5 * alone["learnt"]


def test_the_curve_is_a_plot(taught: Run) -> None:
    questree.train(taught.folder, model="lstm", epochs=2)
    drawn = (taught.folder / "trained" / "lstm" / "curve.svg").read_text()
    assert drawn.startswith("<svg")
    assert drawn.count("training, epoch") == drawn.count("validation, epoch") == 2


def test_paths_are_plain(tmp_path: Path) -> None:
    assert (
        "expected a run folder, got nothing there" in command("train", tmp_path / "nowhere", "--model", "lstm").stderr
    )


def test_the_page_on_models_works(taught: Run) -> None:
    """Its commands and its Python, from top to bottom."""
    page = (Path(__file__).parents[2] / "docs" / "models.md").read_text("utf-8")
    commands, python = (re.findall(rf"```{kind}\n(.*?)```", page, re.DOTALL) for kind in ("sh", "python"))
    for line in "".join(commands).splitlines():
        words = shlex.split(line.replace("RUN", "run"), comments=True)[1:]
        done = command(*words, *(("--missing", "skip") if "score" in words else ()), folder=taught.folder.parent)
        assert done.returncode == 0, f"{line}\n{done.stderr}"
    with chdir(taught.folder.parent):
        exec("".join(python), {})
    assert questree.open(taught.folder).models == ["lstm", "updn"]


def test_other_features_may_be_shown(taught: Run) -> None:
    """A network that was trained without any for want of eyes is asked as such; the rest needs features of the run."""
    folder = taught.folder
    with pytest.raises(questree.BadInput, match="got none; `questree features` makes some"):
        questree.train(folder, model="updn", epochs=1)
    questree.train(folder, model="updn", epochs=1, blind=True, sample=32)
    assert questree.predict(folder, model="updn-blind", split="test").record["answered"] > 0
    questree.make_features(folder, from_facts=True, workers=1)
    questree.train(folder, model="hcrn", epochs=1, sample=32)
    kept = {id: list[int]() for id in questree.open(folder).questions(split="test", columns=["id"])["id"]}
    every, none = (predict_questions(folder, "hcrn", keep=each) for each in (None, kept))
    assert every.columns == ["id", "prediction", "probability"]
    assert every.equals(none)  # frames are no boxes
    questree.train(folder, model="updn", epochs=1, sample=32)
    every, none = (predict_questions(folder, "updn", keep=each) for each in (None, kept))
    assert every["id"].equals(none["id"])
    assert not every["probability"].equals(none["probability"])


def test_image_sets_are_learnt_as_videos_are(apart_images: Run, tmp_path: Path) -> None:
    """With sub-questions and rules; the side dev validates; networks of frames are refused."""
    folder = copy(apart_images, tmp_path).folder
    questree.make_features(folder, from_facts=True, workers=1)
    made = questree.train(folder, model="updn", epochs=2, parts=True, consistency=0.5).record
    run = questree.open(folder)
    assert made["validated on"] == len(run.questions(split="dev")) > 0
    assert made["learnt"] > len(run.questions(split="train"))
    told = questree.predict(folder, model=made["name"], split="test").record
    assert 0 < told["answered"] < told["questions"]
    with pytest.raises(questree.BadInput, match="expected appearance and motion for this network, got objects"):
        questree.train(folder, model="hcrn")
