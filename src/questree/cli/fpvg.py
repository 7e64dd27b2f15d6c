"""`questree score fpvg`: whether models look at what questions are about."""

from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

from questree.api.choices import OnePolicy
from questree.cli.paper import NO_PAPER, Paper, write_scores
from questree.cli.shared_options import BenchmarkOption
from questree.cli.terminal import output, say, tell, watching, write_json

ONE_POLICY = OnePolicy()


@output
def fpvg(
    run: Annotated[
        Path | None, Parameter(help="Run with generated questions; relevant is what their programs rest on.")
    ] = None,
    /,
    *,
    questions: Annotated[
        list[Path] | None, Parameter(help="GQA questions {id: record}; may be given again.", negative="")
    ] = None,
    scene_graphs: Annotated[Path | None, Parameter(help="GQA scene graphs {image: graph}.")] = None,
    detections: Annotated[
        list[Path] | None, Parameter(help="Detections {image: {bboxes, objectsNum}}: of all, or per run.", negative="")
    ] = None,
    all: Annotated[list[Path], Parameter(help="Predictions with all objects; again for every run.", negative="")],
    rel: Annotated[list[Path], Parameter(help="Predictions with the relevant objects only.", negative="")],
    irrel: Annotated[list[Path], Parameter(help="Predictions with the irrelevant objects only.", negative="")],
    model: Annotated[
        list[str] | None,
        Parameter(help="Name of each run's model; runs of one name are summed up. [default: one model]", negative=""),
    ] = None,
    annotations: Annotated[
        Literal["path", "final"], Parameter(help="Relevant objects: all annotated ones, or only the answer's.")
    ] = "path",
    irrelevant: Annotated[
        Literal["detected", "annotated"],
        Parameter(help="Box whose area the overlap is measured by: as released, or as in the paper."),
    ] = "detected",
    split: Annotated[str, Parameter(help="With a run: train, dev, test, or all.")] = "test",
    every: Annotated[bool, Parameter(name="--unbalanced", help="With a run: score every question.")] = False,
    sample: Annotated[int, Parameter(help="With a run: size of `ground`'s sample, of seed 0.")] = 0,
    benchmark: BenchmarkOption = "",
    words: Annotated[
        Path | None, Parameter(help="With a run: folder of word tables. [default: the shipped ones]")
    ] = None,
    ood: Annotated[
        Path | None, Parameter(help="Out-of-distribution questions: a JSON list of ids, or questions {id: record}.")
    ] = None,
    importance: Annotated[
        list[Path] | None,
        Parameter(help="Importance of detections to each run's model, {question: [numbers]}.", negative=""),
    ] = None,
    write_relevance: Annotated[Path | None, Parameter(help="File for the relevant and irrelevant detections.")] = None,
    how: Annotated[OnePolicy, Parameter(name="*")] = ONE_POLICY,
    paper: Paper = NO_PAPER,
) -> None:
    """Whether models rely on the objects a question is about, from their answers to three inputs."""
    from questree.api.grounding_scores import ThreeAnswers, score_grounding

    paper.check()
    answers = ThreeAnswers(all, rel, irrel, model or (), importance or ())
    with watching():
        found = score_grounding(
            answers, run, questions=questions or (), scene_graphs=scene_graphs, detections=detections or (),
            annotations=annotations, irrelevant=irrelevant, split=split, every=every, sample=sample,
            benchmark=benchmark, words=words, ood=ood, write_relevance=write_relevance, how=how, say=say,
        )  # fmt: skip
    write_json(found.rows)
    tell(found.told())
    write_scores(paper, "fpvg", found.main, found.scored, how.resampling)
    tell(found.evaluated())
