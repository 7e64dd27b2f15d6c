"""`questree experiment`: a paper's experiment on a run, from training to tables beside the published ones."""

from importlib import import_module
from os import fspath
from pathlib import Path
from typing import Any, Literal

from questree.api.experiments.findings import Finding, counted
from questree.api.experiments.folder import check_folder, write_folder
from questree.api.experiments.plan import ExperimentPlan, PaperName
from questree.api.feature_sets import make_features
from questree.api.made import Made, Said
from questree.api.question_tables import question_table
from questree.api.runs import StrPath
from questree.benchmarks import Benchmark, chosen
from questree.faults import BadInput, Fault, at_least, refuse
from questree.features.read import NOTE, features_folder
from questree.metrics.scores import Resampling
from questree.networks.catalogue import network, require_torch
from questree.tables import run as tables
from questree.tables.owners import present, writing

TESTED = "test"  # the side models are scored on
FROM_FACTS = "facts"  # features that are made where a run has none
EPOCHS = 5  # of small networks: so that an experiment on 400 videos ends within minutes
NEEDED = {"agqa": ("decomposed", "splits"), "decomp": ("decomposed",), "covr": ("decomposed", "splits"), "fpvg": ()}


def experiment(
    paper: PaperName,
    run: StrPath,
    *,
    models: str = "",
    size: Literal["small", "paper"] = "small",
    features: str = "",
    splits: str = "",
    epochs: int | None = None,
    batch: int | None = None,
    rate: float | None = None,
    patience: int | None = None,
    sample: int = 0,
    consistency: float = 1.0,
    parts: bool = False,
    sample_parts: int = 0,
    guided: float = 0.0,
    seed: int = 0,
    resamples: int = 1000,
    out: StrPath | None = None,
    again: bool = False,
    benchmark: str = "",
    workers: int = 2,
) -> Made:
    """Run a paper's experiment: train its models, let them answer, score them, and say which of its findings hold here.

    What is trained or answered already is not trained or asked again.

    Parameters
    ----------
    paper
        The experiment: agqa, decomp (videos), covr (image sets) or fpvg (either).
    run
        Run folder with questions, splits and DAGs, as `questree build` makes it.
    models
        Networks, with commas. [default: those of the paper that are there]
    size
        Width of the networks.
    features
        Features of the run to see by. [default: the only ones; made from facts if there are none]
    splits
        covr: splits to train on, with commas. [default: all that were made]
    epochs
        Largest number of epochs. [default: 5, or those of the network if its size is that of the paper]
    batch
        Number of questions per step. [default: that of the network, as of the next two]
    rate
        Learning rate.
    patience
        Number of epochs without a better validation after which training ends.
    sample
        Largest number of questions a model learns; 0 for all.
    consistency
        decomp: weight of the loss for contradictions.
    parts
        covr, fpvg: also learn the sub-questions.
    sample_parts
        With `parts`: largest number of sub-questions a model learns; 0 for all of its questions.
    guided
        covr, fpvg of image sets: weight of a loss by which networks that see learn which objects a question finds.
    seed
        Seed of training and of resampling.
    resamples
        Number of bootstrap resamples behind intervals.
    out
        Folder to write. [default: RUN/experiments/PAPER]
    again
        Train everything again.
    benchmark
        fpvg: benchmark of a run with both, agqa (videos, the default) or covr (image sets).
    workers
        Number of models that are trained at a time, each by one process with one thread.
    """
    place = tables.Run.at(run)
    own = chosen(place, benchmark if paper == "fpvg" else "covr" if paper == "covr" else "agqa", "questions")
    module: Any = import_module(f"questree.api.experiments.{paper}")
    named = tuple(filter(None, models.split(","))) or module.MODELS
    refuse([*at_least(1, {"workers": workers, "epochs": epochs}), *at_least(2, {"resamples": resamples})])
    check_questions(place, own, paper)
    target = place.folder / "experiments" / paper if out is None else Path(fspath(out))
    check_folder(target)
    require_torch()
    for name in named:
        network(name)
    epochs = EPOCHS if epochs is None and size == "small" else epochs
    common = {"size": size, "epochs": epochs, "batch": batch, "rate": rate, "patience": patience, "sample": sample}
    common |= {"sample_parts": sample_parts, "seed": seed, "again": again}
    with writing(place.folder, "experiment"):  # a killed one may have left its sign
        seen = features_to_use(place, features, own.name)
    learnt: dict[str, Any] = {"consistency": consistency, "parts": parts, "guided": guided}
    listed = tuple(filter(None, splits.split(",")))
    drawn = Resampling(resamples, seed)
    plan = ExperimentPlan(place.folder, own.name, named, seen, common, drawn, listed, **learnt, workers=workers)
    found = module.run(plan)
    write_folder(target, paper, plan, found, [f"questree experiment {paper} {place.folder.name}"])
    verdicts = ", ".join(f"{verdict} {count}" for verdict, count in counted(found.findings).items())
    told: list[Said] = [("Findings", [line(each) for each in found.findings]), *found.said, verdicts, f"wrote {target}"]
    return Made("experiment", told, {"paper": paper, "out": str(target), "findings": list(found.findings)})


def check_questions(run: tables.Run, own: Benchmark, paper: PaperName) -> None:
    """Before anything is trained: is there all that models learn from, and something to score them on?"""
    missing = [stage for stage in NEEDED[paper] if not own.has(run, stage)]
    made_by = {"decomposed": "decompose", "splits": "split"}
    refuse(
        [
            Fault(str(run.folder), f"no {stage} questions yet; `questree {made_by[stage]}` makes them")
            for stage in missing
        ]
    )
    if question_table(run, own, TESTED, columns=["id"]).is_empty():
        raise BadInput.at(run.folder, f"expected questions of {TESTED}, on which models are scored, got none")


def line(each: Finding) -> dict[str, str]:
    """For a person: in per cent, what is no share as it is."""

    def text(value: float) -> str:
        return f"{100 * value:.1f}" if each.digits is None else f"{value:.{each.digits}f}"

    room = "" if each.low is None or each.high is None else f" [{text(each.low)}, {text(each.high)}]"
    value = "N/A" if each.value is None else f"{text(each.value)}{room}"
    paper = "" if each.published is None else text(each.published)
    return {"finding": each.name, "here": value, "claimed": each.claimed, "paper": paper, "verdict": each.verdict}


def features_to_use(run: tables.Run, name: str, benchmark: str) -> str:
    """Those that are named, or the only ones; a run without any gets some from its facts."""
    there = [path.name for path in present(features_folder(run.folder)) if (path / NOTE).is_file()]
    if name and name not in there:
        raise BadInput.at("--features", f"expected features of the run, got {name!r}; choose from {', '.join(there)}")
    if not name and len(there) > 1:
        raise BadInput.at("--features", f"expected which to use, got none; choose from {', '.join(there)}")
    if not there:
        make_features(run.folder, from_facts=True, name=FROM_FACTS, benchmark=benchmark)
        return FROM_FACTS
    return name or there[0]
