"""Bots answer the questions of a run, and what questions are about is written to files."""

from dataclasses import asdict
from os import fspath
from pathlib import Path
from typing import Literal

from questree.api.made import Made
from questree.api.runs import StrPath
from questree.api.runs import open as open_run
from questree.api.stored_answers import named
from questree.benchmarks import COVR
from questree.faults import at_least, refuse
from questree.models.bots import BotOptions, answer_run
from questree.scoring.grounded import attribute_groups
from questree.stages.ground.files import write
from questree.stages.ground.grounding import GroundOptions
from questree.tables import run as tables


def answer(run: StrPath, model: str, *, seed: int = 0, noise: float = 0.1, name: str = "", benchmark: str = "") -> Made:
    """Let a bot answer every question and sub-question, as `questree answer --model` does.

    Parameters
    ----------
    run
        Run folder with DAGs.
    model
        The bot: oracle, most-likely, blind, uniform, always-yes, perception-noise, composition-noise, shortcut.
    seed
        Seed of its mistakes and guesses.
    noise
        Probability that a noisy bot is mistaken.
    name
        Store the answers under another name.
    benchmark
        Of a run with both: agqa or covr.

    >>> questree.answer("images", "always-yes")
    <Made by answer: always-yes: 86 nodes of DAGs answered, stored in images/predictions/always-yes>
    """
    own, options, called = open_run(run, benchmark=benchmark), BotOptions(model, seed, noise), name or model
    faults = options.faults()
    refuse([*faults, *(named(own._place, called, own._own) if name or not faults else [])])
    count = answer_run(own._place, options, called, own._own is COVR)
    said = f"{called}: {count:,} nodes of DAGs answered, stored in {own._place.predictions / called}"
    return Made("answer", [said], {"name": called, **asdict(options), "nodes answered": count})


def ground(
    run: StrPath,
    *,
    out: StrPath,
    format: Literal["jsonl", "parquet"] = "jsonl",
    split: str = "test",
    every: bool = False,
    sample: int = 0,
    seed: int = 0,
    benchmark: str = "",
    words: StrPath | None = None,
) -> Made:
    """Write what each question is about: boxes to keep or to remove, frames to show; as `questree ground` does.

    `split` may be all; `every`: not only the balanced selection; `sample`: number of questions to draw.

    >>> questree.ground("images", out="grounded")
    <Made by ground: wrote grounded>
    """
    refuse(at_least(0, {"sample": sample}))
    place, options = tables.Run(Path(fspath(run))), GroundOptions(split, every, sample, seed, benchmark)
    groups = attribute_groups(place, options, None if words is None else Path(words))
    made = write(place, options, groups, Path(fspath(out)), format)
    left = ", ".join(f"{reason} {count:,}" for reason, count in sorted(made.left_out.items())) or "none"
    per = made.questions or 1
    kept = [
        {"condition": "relevant", "boxes per question": f"{made.relevant / per:.1f}"},
        {"condition": "irrelevant", "boxes per question": f"{made.irrelevant / per:.1f}"},
    ]
    told = f"{made.questions:,} questions, {made.boxes:,} boxes; nothing to compare: {left}"
    record = {"out": str(out), "questions": made.questions, "boxes": made.boxes, "left out": made.left_out}
    return Made("ground", [("Boxes kept", kept), told, f"wrote {out}"], record)
