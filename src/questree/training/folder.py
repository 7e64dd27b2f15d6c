"""RUN/trained/<name>/: what a trained network is, its weights, how far training is, the curve of its loss."""

from pathlib import Path
from typing import Any

import msgspec
from safetensors import safe_open
from safetensors.torch import load_file, save

from questree.faults import BadInput
from questree.tables.digests import write_note
from questree.tables.run import Run
from questree.tables.store import new_file, own_note
from questree.training.options import same

MODEL, WEIGHTS, STATE, HISTORY, CURVE = (
    "model.json",
    "weights.safetensors",
    "state.safetensors",
    "history.json",
    "curve.svg",
)
PROGRESS = "progress"  # in the state: where training stands, as JSON


class TrainedFolder:
    """Every file is written whole or not at all; weights and states are tensors and texts, never code."""

    def __init__(self, run: Run, name: str):
        self.folder, self.name = run.folder / "trained" / name, name

    @property
    def begun(self) -> bool:
        return (self.folder / MODEL).is_file()

    @property
    def ended(self) -> bool:
        return (self.folder / HISTORY).is_file() and bool(own_note(self.folder / HISTORY, "ended")["ended"])

    def model(self) -> dict[str, Any]:
        known = trained_names(self.folder.parent)
        if self.name not in known:  # not looked for as a file: it may be longer than any file's name
            there = ", ".join(known) or "none; `questree train` makes one"
            raise BadInput.at("--model", f"expected a trained model, got {self.name!r}; there are {there}")
        return own_note(self.folder / MODEL, "plan", "words", "answers", "streams")

    def write(self, file: str, content: Any) -> None:
        with new_file(self.folder / file) as work:
            work.write_bytes(msgspec.json.format(msgspec.json.encode(content)) + b"\n")

    def write_text(self, file: str, text: str) -> None:
        with new_file(self.folder / file) as work:
            work.write_text(text, "utf-8")

    def begin(self, told: dict[str, Any], again: bool = False) -> None:
        """What is trained here; what was begun goes on only as it was begun, or makes room."""
        if again:
            self.forget()
        if self.begun:
            same(self.model()["plan"], told["plan"], self.folder)
        else:
            self.write(MODEL, told)

    def end(self, told: dict[str, Any]) -> None:
        """The history, which knows the digests of all that was trained."""
        files = [path for name in (MODEL, WEIGHTS, STATE, CURVE) if (path := self.folder / name).is_file()]
        with new_file(self.folder / HISTORY) as work:
            write_note(work, told, files, self.folder)

    def forget(self) -> None:
        """What was trained here before."""
        for file in (HISTORY, STATE, WEIGHTS, CURVE, MODEL):
            (self.folder / file).unlink(missing_ok=True)

    def save_weights(self, tensors: dict[str, Any]) -> None:
        with new_file(self.folder / WEIGHTS) as work:
            work.write_bytes(save(tensors))  # into the file that is ours: `save_file` makes one beside it

    def weights(self) -> dict[str, Any]:
        if not (self.folder / WEIGHTS).is_file():
            raise BadInput.at(self.folder, "not trained for an epoch yet; run `questree train` again")
        return _read(self.folder / WEIGHTS)

    def save_state(self, tensors: dict[str, Any], progress: Any) -> None:
        """Tensors and how far training is, in one file."""
        with new_file(self.folder / STATE) as work:
            work.write_bytes(save(tensors, {PROGRESS: msgspec.json.encode(progress).decode()}))

    def state(self) -> tuple[dict[str, Any], dict[str, Any]] | None:
        path = self.folder / STATE
        if not path.is_file():
            return None
        tensors = _read(path)
        with safe_open(path, "pt") as file:
            progress: dict[str, Any] = msgspec.json.decode(file.metadata()[PROGRESS])
        return tensors, progress


def _read(path: Path) -> dict[str, Any]:
    try:
        found: dict[str, Any] = load_file(path)
    except Exception as error:  # safetensors has no class of its own for damaged files
        raise BadInput.at(path, f"damaged ({error}); `questree train` with --again trains anew") from error
    return found


def trained_names(folder: Path) -> list[str]:
    return sorted(path.parent.name for path in folder.glob(f"*/{MODEL}"))
