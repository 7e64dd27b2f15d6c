"""Networks are trained on the questions of a run and answer them."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Literal

import polars as pl

from questree.api.answering import write_answers
from questree.api.made import Made
from questree.api.runs import StrPath
from questree.api.splits import sides
from questree.api.stored_answers import keep as stored
from questree.api.stored_answers import named
from questree.api.training_questions import dags_of, nodes, questions
from questree.benchmarks import Benchmark, chosen
from questree.faults import BadInput, at_least, refuse
from questree.features.read import FeatureSet, features_folder, open_features
from questree.models.predictions import COLUMNS, Predictions
from questree.networks.catalogue import network, require_torch
from questree.places import path_of
from questree.tables import run as tables
from questree.tables.owners import present, writing
from questree.training.lessons import Lesson, drawn, held_back
from questree.training.options import TrainingOptions, plan, scheduled

SHARE = 0.1  # of the scopes, for validation
VALIDATION = "dev"  # the side of a run that is for it, where there is one


def train(
    run: StrPath,
    *,
    model: str,
    size: Literal["small", "paper"] = "small",
    name: str = "",
    features: str = "",
    blind: bool = False,
    shuffle_features: bool = False,
    split: str = "train",
    validation: str = "",
    parts: bool = False,
    consistency: float = 0.0,
    guided: float = 0.0,
    sample: int = 0,
    sample_parts: int = 0,
    epochs: int | None = None,
    batch: int | None = None,
    rate: float | None = None,
    patience: int | None = None,
    seed: int = 0,
    threads: int = 1,
    again: bool = False,
    benchmark: str = "",
) -> Made:
    """Train a network on questions of a run. Where it was stopped the same command goes on, to the same result.

    Parameters
    ----------
    run
        Run folder with questions.
    model
        The network: hcrn, hme, psac (videos), updn, transformer (objects of videos or image sets), lstm (the question
        alone), or one of a plugin.
    size
        Width of the network: small, or as in its paper.
    name
        Name of the trained model. [default: that of the network, with what is special about its training]
    features
        Features of the run to see by. [default: those it has, if there is one set of them]
    blind
        Show it nothing.
    shuffle_features
        Show it the features of another video or image set.
    split
        Questions to learn: train, or a part of a split that was made, as "more-steps train".
    validation
        Questions to validate on. [default: dev, or a tenth of the videos or image sets]
    parts
        Also learn the sub-questions.
    consistency
        Weight of a loss for answers that break the rules between questions and sub-questions.
    guided
        Image sets: weight of a loss for objects, by which updn and transformer learn which ones a question finds.
    sample
        Largest number of questions to learn; 0 for all.
    sample_parts
        With `parts`: largest number of sub-questions to learn; 0 for all of these questions.
    epochs
        Largest number of epochs. [default: that of the network and its size, as of the next three]
    batch
        Number of questions per step.
    rate
        Learning rate.
    patience
        Number of epochs without a better validation after which training ends.
    seed
        Seed of the weights, of the order of questions and of whatever else is drawn.
    threads
        Number of threads; weights are the same bits for the same number.
    again
        Replace what was trained under this name.
    benchmark
        Benchmark of a run with both: agqa (videos, the default) or covr (image sets).

    >>> questree.train("run", model="lstm", epochs=5)  # doctest: +SKIP
    <Made by train: wrote run/trained/lstm>
    """
    place, own = tables.Run.at(run), network(model)
    bench = chosen(place, benchmark, "questions")
    more = (consistency, guided, sample, sample_parts, seed)
    options = TrainingOptions(model, size, blind, shuffle_features, split, validation, parts, *more)
    counts = {"epochs": epochs, "batch": batch, "patience": patience, "threads": threads}
    called = name or options.usual_name
    strange = named(place, called, bench, "--name" if name else "--model")
    refuse([*options.faults(), *at_least(1, counts), *at_least(1e-9, {"rate": rate}), *strange])
    how = scheduled(own.sizes[size].schedule, {"epochs": epochs, "batch": batch, "rate": rate, "patience": patience})
    seen = features_of(place, features, needed=bool(own.streams) and not blind)
    from questree.training import fitting
    from questree.training.folder import TrainedFolder

    folder = TrainedFolder(place, called)
    lesson = replace(lesson_of(place, bench, options), found=found_objects(place, bench, seen) if guided else None)
    folder.folder.mkdir(parents=True, exist_ok=True)
    try:
        with writing(folder.folder, "train"), fitting.threads(threads):
            if again:
                folder.forget()
            found, standing = fitting.fit(folder, plan(options, how, lesson, seen), how, lesson, seen)
    except BadInput:
        with suppress(OSError):  # a folder in which nothing was begun
            folder.folder.rmdir()
        raise
    best = standing.epochs[standing.best]
    told = f"{called}: {found.parameters:,} parameters, {len(lesson.learn):,} questions learnt"
    record = {
        "name": called,
        "parameters": found.parameters,
        "learnt": len(lesson.learn),
        "validated on": len(lesson.check),
        "best epoch": standing.best + 1,
        "epochs": standing.epochs,
    }
    count = len(standing.epochs)
    which = f"best of {count} epochs is {standing.best + 1}" if count > 1 else "after its only epoch"
    judged = f"{which}: {100 * best.accuracy:.1f} % of validation"
    return Made("train", [told, f"{judged} ({len(lesson.check):,} questions)", f"wrote {folder.folder}"], record)


def lesson_of(run: tables.Run, own: Benchmark, options: TrainingOptions) -> Lesson:
    """What is learnt and what is validated on: questions of no common scope."""
    table = questions(run, own, options.split)
    usual = VALIDATION if options.split == "train" and VALIDATION in sides(run, own) else ""
    aside = options.validation or usual
    if aside:
        learn, check = table, questions(run, own, aside)
    else:
        back = held_back(table["scope"], SHARE, options.seed)
        learn, check = table.filter(~back), table.filter(back)
    for name, found in (("--split", learn), ("--validation", check)):
        if found.is_empty():
            raise BadInput.at(name, f"expected questions of two {own.scopes} or more, got none to take from")
    learn = drawn(learn, options.sample, options.seed)
    if not options.parts and not options.consistency:
        return Lesson(learn, check)
    dags = dags_of(run, own, options.split, set(learn["id"]))
    every = nodes(dags)
    if options.parts:
        below = every.filter(~pl.col("asked") & pl.col("answer").is_not_null())
        learn = pl.concat([learn, drawn(below.select(learn.columns), options.sample_parts, options.seed)])
    return Lesson(learn, check, *((dags.hierarchies, every) if options.consistency else ()))


def found_objects(run: tables.Run, own: Benchmark, seen: FeatureSet | None) -> pl.DataFrame:
    """Which boxes every question and sub-question finds: id, boxes."""
    if seen is not None and seen.detected:
        raise BadInput.at("--guided", f"expected features of annotated boxes, got {seen.folder.name} (--detections)")
    return pl.DataFrame(own.part("found objects")(run))


def features_of(run: tables.Run, name: str, needed: bool) -> FeatureSet | None:
    """Those with this name, or the only ones there are; nobody who sees nothing needs any."""
    there = [path.name for path in present(features_folder(run.folder))]
    if not name and len(there) != 1 and needed:
        known = f"choose from {', '.join(there)}" if there else "`questree features` makes some"
        raise BadInput.at("--features", f"expected features of the run, got none; {known}")
    return open_features(run.folder, name or there[0]) if name or len(there) == 1 else None


def predict(
    run: StrPath,
    *,
    model: str,
    split: str = "",
    name: str = "",
    features: str = "",
    out: StrPath | None = None,
    threads: int = 1,
    benchmark: str = "",
) -> Made:
    """Let a trained model answer every question and sub-question, and store its answers as `questree answer` does.

    Parameters
    ----------
    run
        Run folder with DAGs and a trained model.
    model
        The trained model, by its name.
    split
        Only questions of a split: train, dev, test, or a part of one that was made.
    name
        Store the answers under another name.
    features
        Other features than those it was trained with.
    out
        File for {"id", "prediction"} lines.
    threads
        Number of threads.
    benchmark
        Benchmark of a run with both: agqa (videos, the default) or covr (image sets).

    >>> questree.predict("run", model="lstm").record["answered"]  # doctest: +SKIP
    1335
    """
    refuse(at_least(1, {"threads": threads}))
    place = tables.Run.at(run)
    own, called = chosen(place, benchmark, "decomposed"), name or model
    refuse(named(place, called, own, "--name" if name else "--model"))
    found = predicted(place, model, nodes(dags_of(place, own, split or None)), features, threads=threads)
    rest = [pl.lit(None, dtype).alias(each) for each, dtype in COLUMNS.items() if each not in found.columns]
    counts = stored(place, own, Predictions(called, found.with_columns(rest), 0), {"trained": model, "split": split})
    told = f"{called}: {counts.found:,} of {counts.questions:,} questions and sub-questions answered"
    lines = write_answers(place, own, called, path_of(out)) if out else None
    more = [f"wrote {lines:,} predictions to {out}"] if out else []
    record = {"name": called, "answered": counts.found, "questions": counts.questions, "lines": lines}
    return Made("predict", [f"{told}, stored in {place.predictions / called}", *more], record)


def predicted(
    run: tables.Run,
    model: str,
    table: pl.DataFrame,
    features: str = "",
    keep: Mapping[str, Sequence[int]] | None = None,
    threads: int = 1,
) -> pl.DataFrame:
    """id, prediction, probability of a table with id, scope, question; `keep`: id -> the boxes that are seen."""
    require_torch()
    from questree.training import fitting
    from questree.training.folder import TrainedFolder

    folder = TrainedFolder(run, model)
    with fitting.threads(threads):
        found = fitting.Trained.of(folder)
        usual = str(found.plan.get("features", ""))
        seen = features_of(run, features or usual, needed=bool(found.widths) and not found.plan["blind"])
        return found.predictions(table, seen, keep)


def predict_questions(
    run: StrPath,
    model: str,
    *,
    split: str = "test",
    features: str = "",
    keep: Mapping[str, Sequence[int]] | None = None,
    threads: int = 1,
    benchmark: str = "",
) -> pl.DataFrame:
    """What a trained model says to the questions of a split: id, prediction, probability; nothing is stored."""
    place = tables.Run.at(run)
    asked = questions(place, chosen(place, benchmark, "questions"), split)
    return predicted(place, model, asked, features, keep, threads)


def trained(run: StrPath, model: str) -> bool:
    """Is it trained to the end?"""
    require_torch()
    from questree.training.folder import TrainedFolder

    return TrainedFolder(tables.Run.at(run), model).ended
