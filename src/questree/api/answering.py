"""Bots answer the questions of a run, and what questions are about is written to files."""

from dataclasses import asdict
from pathlib import Path
from typing import Any, Literal

from questree.api.made import Made
from questree.api.runs import StrPath
from questree.api.stored_answers import keep, named
from questree.benchmarks import AGQA, Benchmark, chosen
from questree.faults import BadInput, Fault, at_least, refuse
from questree.models.bot_runs import answer_run
from questree.models.bots import BOTS, BotOptions
from questree.models.predictions import FieldNames, read_predictions
from questree.models.stored import said as stored_answers
from questree.models.stored import write_lines
from questree.places import path_of
from questree.scoring.grounded import attribute_groups
from questree.stages.decompose.hierarchies import hierarchies_in
from questree.stages.ground.files import write
from questree.stages.ground.grounding import GroundOptions
from questree.tables import run as tables
from questree.tables.predictions import Stored


def answer(
    run: StrPath,
    model: str = "",
    *,
    predictions: StrPath | None = None,
    id_column: str = "",
    answer_column: str = "",
    seed: int = 0,
    noise: float = 0.1,
    name: str = "",
    out: StrPath | None = None,
    facts: StrPath | None = None,
    released_last: bool = False,
    benchmark: str = "",
    workers: int = 1,
) -> Made:
    """Let a bot answer every question and sub-question, or store anybody's predictions, as `questree answer` does.

    Without a model imported questions are answered again by executing their programs.

    Parameters
    ----------
    run
        Run folder with DAGs, or with imported questions.
    model
        The bot: oracle, most-likely, blind, uniform, always-yes, perception-noise, composition-noise, shortcut; or
        the name of the model whose `predictions` are stored.
    predictions, id_column, answer_column
        File of predictions to store, and its columns if they have other names than usual.
    seed
        Seed of a bot's mistakes and guesses.
    noise
        Probability that a noisy bot is mistaken.
    name
        Store the bot's answers under another name.
    out
        File for {"id", "prediction"} lines.
    facts, released_last
        Imported questions: facts to answer from; read `last` and between as the released generator does.
    benchmark
        Of a run with both: agqa or covr.
    workers
        Number of processes.

    >>> questree.answer("images", "always-yes")
    <Made by answer: always-yes: 86 nodes of DAGs answered, stored in images/predictions/always-yes>
    """
    place, own = _chosen(run, benchmark)
    if own is AGQA and (not model or (model == "oracle" and not place.decomposed.is_dir())):
        from questree.api.answered_again import answer_again

        return answer_again(run, facts=facts, released_last=released_last)
    options, called = BotOptions(model, seed, noise), model if predictions else name or model
    taken = [Fault("--model", f"expected a new name, got {model!r}, which is a bot")] if model in BOTS else []
    faults = taken if predictions else options.faults()
    given = "--name" if name and not predictions else "--model"
    refuse([*faults, *(named(place, called, own, given) if predictions or name or not faults else [])])
    if predictions:
        told, record = _kept(place, own, path_of(predictions), model, FieldNames(id_column, answer_column))
    else:
        count, nodes = answer_run(place, options, called, own.of_images, workers)
        most = f" of {nodes:,}" * (nodes > count)  # a bot may have no answer to some
        told = f"{count:,}{most} nodes of DAGs answered, stored in {place.predictions / called}"
        record = {**asdict(options), "nodes answered": count}
    lines = write_answers(place, own, called, path_of(out)) if out else None
    more = [f"wrote {lines:,} predictions to {out}"] if out else []
    return Made("answer", [f"{called}: {told}", *more], {"name": called, **record, "lines": lines})


def bots(run: StrPath, benchmark: str = "") -> list[dict[str, str]]:
    """Who may answer a run, and what each says."""
    _chosen(run, benchmark)
    return [{"model": name, "answers": bot.says} for name, bot in BOTS.items()]


def _chosen(run: StrPath, benchmark: str) -> tuple[tables.Run, Benchmark]:
    place = tables.Run.at(run)
    own = chosen(place, benchmark, "decomposed")
    if own is AGQA:
        place.vocabulary()
    return place, own


def _kept(run: tables.Run, own: Benchmark, file: Path, model: str, names: FieldNames) -> tuple[str, dict[str, Any]]:
    given = read_predictions(file, model, names)
    if given.table.is_empty():
        raise BadInput.at(file, "there is no prediction in it")
    found = keep(run, own, given, {"file": file.name})
    said = (
        f"predictions for {found.found:,} of {found.questions:,} questions and sub-questions stored in "
        f"{run.predictions / model}, {found.unknown:,} for no question here, {given.duplicates:,} repeated ids"
    )
    return said, {**found._asdict(), "repeated": given.duplicates}


def write_answers(run: tables.Run, own: Benchmark, model: str, out: Path) -> int:
    """Write predictions that are stored; how many."""
    asked = hierarchies_in(run, benchmark=own.name)
    return write_lines(out, asked, stored_answers(asked, Stored.of(run, model)))


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
    """Write what each question is about, from the evidence of its program: boxes to keep or to remove, frames to show.

    Parameters
    ----------
    run
        Run folder with questions about videos or about images.
    out
        Folder to write; an earlier grounding there is replaced.
    format
        Form of the files.
    split
        Split to take: train, dev (image sets), test, or all.
    every
        Take every question, not only the balanced selection.
    sample
        Number of questions to draw; 0 for all.
    seed
        Seed of the sample.
    benchmark
        Benchmark of a run with both: agqa (videos, the default) or covr (image sets).
    words
        Image sets: folder of word tables. [default: the shipped ones]

    >>> questree.ground("images", out="grounded")
    <Made by ground: wrote grounded>
    """
    refuse(at_least(0, {"sample": sample}))
    place, options = tables.Run.at(run), GroundOptions(split, every, sample, seed, benchmark)
    groups = attribute_groups(place, options, None if words is None else path_of(words))
    made = write(place, options, groups, path_of(out), format)
    left = ", ".join(f"{reason} {count:,}" for reason, count in sorted(made.left_out.items())) or "none"
    per = made.questions or 1
    kept = [
        {"condition": "relevant", "boxes per question": f"{made.relevant / per:.1f}"},
        {"condition": "irrelevant", "boxes per question": f"{made.irrelevant / per:.1f}"},
    ]
    told = f"{made.questions:,} questions, {made.boxes:,} boxes; nothing to compare: {left}"
    record = {"out": str(out), "questions": made.questions, "boxes": made.boxes, "left out": made.left_out}
    return Made("ground", [("Boxes kept", kept), told, f"wrote {out}"], record)
