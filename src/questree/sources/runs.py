"""A reading becomes a run folder: facts, the words they refer to, and what is in them, counted."""

from collections import Counter
from collections.abc import Iterable, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Protocol

import msgspec
import numpy as np
import polars as pl
from numpy.typing import NDArray

from questree.faults import BadInput
from questree.tables.facts import Facts
from questree.tables.owners import present, remove
from questree.tables.run import Run
from questree.tables.store import new_file, new_folder, own_note
from questree.vocabulary.words import Vocabulary

COUNTED = ("frames", "objects", "persons", "actions")  # tables with a row per thing
SHOWN = ("videos", "frames", "objects", "persons", "relations", "actions")


def check_target(folder: Path) -> None:
    """Before hours of work: is this a place where a run can be written?"""
    if folder.exists() and not folder.is_dir():
        raise BadInput.at(folder, "expected a folder, got a file")
    if present(folder):
        run = Run(folder)
        if not any(path.exists() for path in (run.vocabulary_file, run.raw, run.images)):
            raise BadInput.at(folder, "not empty and not a run folder; choose a new folder")


class Saved(Protocol):
    """Facts, wherever they are."""

    def save(self, folder: Path) -> None: ...


def write_run(folder: Path, vocabulary_text: str, facts: Saved, truth: Saved | None = None) -> None:
    """All of it or nothing. What an earlier run made of other facts is taken away, image facts stay."""
    check_target(folder)
    if not folder.exists():
        with new_folder(folder) as work:
            _write(Run(work), vocabulary_text, facts, truth)
        return
    run = Run(folder)
    _write(run, vocabulary_text, facts, truth)
    for stale in (run.facts, *([] if truth else [run.truth])):
        remove(stale)
    run.ledger.unlink(missing_ok=True)


def _write(run: Run, vocabulary_text: str, facts: Saved, truth: Saved | None) -> None:
    with ExitStack() as parts:  # everything is complete before the first part gets its name
        parts.enter_context(new_file(run.vocabulary_file)).write_text(vocabulary_text, "utf-8")
        facts.save(parts.enter_context(new_folder(run.raw)))
        if truth:
            truth.save(parts.enter_context(new_folder(run.truth)))


SplitCounts = Mapping[str, Mapping[str, int]]  # split -> what -> how many


def split_counts(facts: Facts, vocabulary: Vocabulary) -> SplitCounts:
    """Videos, frames, ... per split; a relation is counted once per frame, `annotated` not at all."""
    found = {name: np.bincount(getattr(facts, name)["video"], minlength=len(facts.videos)) for name in COUNTED}
    counts = {"videos": np.ones(len(facts.videos), np.int64), **found}  # [video] each
    counts["relations"] = _relations(facts, vocabulary)
    split = facts.videos["split"].to_numpy()
    return {name: {what: int(counts[what][split == name].sum()) for what in SHOWN} for name in set(split)}


def summary(parts: Iterable[SplitCounts]) -> list[dict[str, str | int]]:
    """What parts of the videos have, added up per split and in all."""
    total, every = dict[str, Counter[str]](), Counter[str]()
    for part in parts:
        for name, own in part.items():
            total.setdefault(name, Counter()).update(own)
            every.update(own)
    named = {name or "no split": total[name] for name in sorted(total, reverse=True)} | {"all": every}
    return [{"split": name, **{what: own[what] for what in SHOWN}} for name, own in named.items()]


def _relations(facts: Facts, vocabulary: Vocabulary) -> NDArray[np.int64]:
    """How many frames the relations of each video have, all taken together. # [video]"""
    derived = vocabulary.group("derived").tolist()
    words = facts.tracks.filter(~pl.col("relation").is_in(derived)).select("video", "bits").explode("bits")
    total = np.zeros(len(facts.videos), np.int64)
    np.add.at(total, words["video"].to_numpy(), np.bitwise_count(words["bits"].to_numpy()).astype(np.int64))
    return total


LEFT_OUT = "left_out.json"


def note_left_out(facts: Path, skipped: Mapping[str, int]) -> None:
    """Beside the facts, what was left out of them or is odd: what -> how many times."""
    with new_file(facts / LEFT_OUT) as work:
        work.write_bytes(msgspec.json.encode(dict(skipped)))


def left_out(facts: Path) -> dict[str, int]:
    """The same as it was noted; nothing in a folder that was written before it was."""
    file = facts / LEFT_OUT
    return own_note(file) if file.is_file() else {}


COUNTED_IMAGES = ("images", "things", "attributes", "relations", "prepositions", "words")
