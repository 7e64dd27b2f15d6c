"""`questree score fpvg`: whether a model looks at what a question is about, from three files of predictions."""

from collections import Counter
from pathlib import Path
from typing import Annotated, Any, Literal

from cyclopts import Parameter

from questree.api.scoring import PredictionReader
from questree.cli.scoring import MissingOption, Resamples, Seed, print_grid, resampling, shown, there
from questree.cli.shared_options import BenchmarkOption
from questree.cli.terminal import output, print_table, say, watching, write_json, write_json_file
from questree.faults import BadInput
from questree.metrics.scores import Score


@output
def fpvg(
    run: Annotated[
        Path | None, Parameter(help="Run with generated questions; relevant is what their programs rest on.")
    ] = None,
    /,
    *,
    questions: Annotated[Path | None, Parameter(name="--questions", help="GQA questions {id: record}.")] = None,
    scene_graphs: Annotated[
        Path | None, Parameter(name="--scene-graphs", help="GQA scene graphs {image: graph}.")
    ] = None,
    detections: Annotated[
        Path | None, Parameter(name="--detections", help="Detections {image: {bboxes, objectsNum}}.")
    ] = None,
    all: Annotated[list[Path], Parameter(name="--all", help="Predictions with all objects; may be given again.")],
    rel: Annotated[list[Path], Parameter(name="--rel", help="Predictions with the relevant objects only.")],
    irrel: Annotated[list[Path], Parameter(name="--irrel", help="Predictions with the irrelevant objects only.")],
    annotations: Annotated[
        Literal["path", "final"],
        Parameter(name="--annotations", help="Relevant objects: all annotated ones, or only the answer's."),
    ] = "path",
    irrelevant: Annotated[
        Literal["detected", "annotated"],
        Parameter(
            name="--irrelevant", help="Box whose area the overlap is measured by: as released, or as in the paper."
        ),
    ] = "detected",
    split: Annotated[str, Parameter(name="--split", help="With a run: train, dev, test, or all.")] = "test",
    every: Annotated[bool, Parameter(name="--unbalanced", help="With a run: score every question.")] = False,
    sample: Annotated[int, Parameter(name="--sample", help="With a run: size of `ground`'s sample, of seed 0.")] = 0,
    benchmark: BenchmarkOption = "",
    words: Annotated[
        Path | None, Parameter(name="--words", help="With a run: folder of word tables. [default: the shipped ones]")
    ] = None,
    ood: Annotated[Path | None, Parameter(name="--ood", help="JSON list of the out-of-distribution questions.")] = None,
    importance: Annotated[
        Path | None,
        Parameter(name="--importance", help="Importance of detections to the model, {question: [numbers]}."),
    ] = None,
    write_relevance: Annotated[
        Path | None, Parameter(name="--write-relevance", help="File for the relevant and irrelevant detections.")
    ] = None,
    missing: MissingOption = "error",
    resamples: Resamples = 1000,
    seed: Seed = 0,
) -> None:
    """Whether a model relies on the objects a question is about, from its answers to three inputs."""
    from questree.metrics.comparison import over_runs
    from questree.metrics.fpvg import CONDITIONS, score_fpvg
    from questree.metrics.relevance import as_released
    from questree.models.predictions import model_name
    from questree.sources.grounded import read_ids, read_importance

    how = resampling(resamples, seed)
    there(*all, *rel, *irrel)
    if run is not None and (questions or scene_graphs or detections):
        raise BadInput.at("", "expected a run folder or --questions, --scene-graphs and --detections, got both")
    if not len(all) == len(rel) == len(irrel):
        raise BadInput.at("", f"expected as many --all as --rel and --irrel, got {len(all)}, {len(rel)}, {len(irrel)}")
    with watching():
        if run is None:
            read, found, about_relevance = of_files(questions, scene_graphs, detections, annotations, irrelevant)
        else:
            read, found, about_relevance = of_run(run, split, every, sample, benchmark, words)
        ids, answers = read.questions["id"], read.questions["answer"].unique(maintain_order=True).to_list()
        reader = PredictionReader(ids, ids, answers, ("exact",), missing, say=say)
        outside = None if ood is None else set(read_ids(ood))
        ranks = None if importance is None else read_importance(importance)
        runs, about = list[list[Score]](), list[Score]()
        for files in zip(all, rel, irrel, strict=True):
            readings = [reader.read(file, model_name(file))[0] for file in files]
            said = {name: reading.table for name, (_, reading, _) in zip(CONDITIONS, readings, strict=True)}
            runs.append(score_fpvg(read, found, said, missing == "skip", outside, ranks).rows(readings[0][0], how))
            about += [row for _, _, rows in readings for row in rows]
    main = runs[0] if len(runs) == 1 else over_runs(runs)
    rows = [row for run in runs for row in run] + (main if len(runs) > 1 else []) + about
    if write_relevance is not None:
        write_json_file(write_relevance, as_released(read, found))
    write_json(rows)
    print_fpvg(main)
    reasons = Counter(one.left_out for one in found if one.left_out)
    left = ", ".join(f"{reason} {count:,}" for reason, count in reasons.items()) or "none"
    evaluated = len(found) - sum(reasons.values())
    say(about_relevance)
    say(f"{evaluated:,} of {len(found):,} questions evaluated; left out: {left}")


def of_files(
    questions: Path | None, scene_graphs: Path | None, detections: Path | None, annotations: Any, irrelevant: Any
) -> tuple[Any, Any, str]:
    """Questions in GQA's formats, what is relevant to them, and how that was found."""
    from questree.metrics.relevance import relevance
    from questree.sources.grounded import read_grounded

    if questions is None or scene_graphs is None or detections is None:
        raise BadInput.at("", "expected a run folder, or --questions, --scene-graphs and --detections")
    read = read_grounded(questions, scene_graphs, detections, annotations)
    said = f"annotations: {annotations}; irrelevant: overlap by the {irrelevant} box's area"
    return read, relevance(read, irrelevant), said


def of_run(
    folder: Path, split: str, every: bool, sample: int, benchmark: str, words: Path | None
) -> tuple[Any, Any, str]:
    """The questions of a run, what their programs visit, and how that was found."""
    from questree.cli.ground import attribute_groups
    from questree.stages.ground.grounding import GroundOptions, relevant
    from questree.tables.run import Run

    options = GroundOptions(split, every, sample, benchmark=benchmark)
    read, found = relevant(Run(folder), options, attribute_groups(Run(folder), options, words))
    return read, found, "relevance: the evidence of the programs, on annotated boxes; no detector"


def print_fpvg(rows: list[Score]) -> None:
    """As Table 2 of the FPVG paper, then per structural type, then the rest."""
    main = ["Acc_all", "Acc_rel", "Acc_irrel", "FPVG+", "FPVG-", "FPVG+T", "FPVG+F", "FPVG-T", "FPVG-F"]
    for by, title in (("all", "Evaluated questions"), ("everything", "All questions")):
        here = [row for row in rows if row.by == by and row.metric in main]
        print_table(title, [{"metric": r.metric, "value": shown(r, True), "n": r.n} for r in here])
    print_grid("By structural type", "Structural type", rows, "structural", [*main[3:], main[0]])
    others = [row for row in rows if row.metric not in main and row.by not in ("structural", "policy")]
    ratio = ("c2i",)
    lines = [
        {
            "metric": row.metric,
            "by": row.by,
            "group": row.group,
            "value": f"{row.value:.3f}" if row.metric in ratio and row.value is not None else shown(row, True),
            "n": row.n,
        }
        for row in others
    ]
    print_table("Further", lines)
