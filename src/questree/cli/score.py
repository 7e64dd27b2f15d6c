"""`questree score`: predictions -> the papers' tables with intervals, and flat ones as JSON."""

from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

from questree.api.choices import OnePolicy, Scoring
from questree.cli.clusters import clustered
from questree.cli.paper import NO_PAPER, Paper, Plots, check_plots, write_pictures, write_scores
from questree.cli.shared_options import (
    BenchmarkOption,
    CacheOption,
    FilesOption,
    HierarchiesOption,
    RecordsOption,
    RunFolder,
    SplitOption,
    UnscoredOption,
    WorkersOption,
)
from questree.cli.terminal import output, say, tell, watching, write_json
from questree.faults import BadInput
from questree.svg import COLUMN

ModelsOption = Annotated[list[str] | None, Parameter(help="Model stored in the run; may be given again.", negative="")]
ScoringOptions = Annotated[Scoring, Parameter(name="*")]
USUAL, ONE_POLICY = Scoring(), OnePolicy()


@output
@clustered
def decomp(
    run: RunFolder = None,
    /,
    *,
    hierarchies: HierarchiesOption = None,
    cache: CacheOption = True,
    predictions: FilesOption | None = None,
    model: ModelsOption = None,
    train: Annotated[
        Path | None,
        Parameter(help="With --hierarchies: hierarchies of the training split, for the baseline Most-Likely."),
    ] = None,
    errors: Annotated[
        bool, Parameter(help="Also tell kinds of errors apart, where a model only fails to choose.", negative="")
    ] = False,
    by_answer: Annotated[bool, Parameter(help="Also print accuracy per true answer.", negative="")] = False,
    unscored: UnscoredOption = None,
    split: SplitOption = None,
    benchmark: BenchmarkOption = "",
    how: ScoringOptions = USUAL,
    paper: Paper = NO_PAPER,
    workers: WorkersOption = 2,
) -> None:
    """Accuracy over questions and over answers, CA, RWR, Delta, internal consistency, and how these go together.

    Of a run without --model and --predictions, all models that are stored in it.
    """
    from questree.api import score_sets, score_tables

    paper.check()
    files = score_sets.given_files(predictions or ())
    with watching(), score_sets.leaving_out(unscored):
        models = () if train and not files else score_sets.stored_models(run, model or (), files, benchmark, say)
        scores = score_sets.scored_dags(
            files,
            models,
            run,
            hierarchies,
            split=split,
            benchmark=benchmark,
            how=how,
            say=say,
            cache=cache,
            errors=errors,
            train=train,
            workers=workers,
        )
    write_json(scores.rows)
    tell(score_tables.decomp_tables(scores.rows, by_answer))
    tell(score_tables.close_pairs(scores.scored, "type", how.resampling))
    write_scores(paper, "decomp", scores.rows, scores.scored, how.resampling, by_answer)
    tell(score_sets.not_asked(run))


@output
@clustered
def agqa(
    run: Annotated[Path | None, Parameter(help="Run folder with questions about videos, instead of a file.")] = None,
    /,
    *,
    questions: RecordsOption = None,
    predictions: FilesOption | None = None,
    model: ModelsOption = None,
    split: Annotated[Literal["train", "test"] | None, Parameter(help="With a run: split to score. [test]")] = None,
    every: Annotated[
        bool, Parameter(name="--all", negative="", help="With a run: every question, not only the balanced selection.")
    ] = False,
    as_released: Annotated[
        bool, Parameter(negative="", help="With a run: what is held out by the flags of questions, not by its splits.")
    ] = False,
    how: ScoringOptions = USUAL,
    paper: Paper = NO_PAPER,
    workers: WorkersOption = 2,
) -> None:
    """AGQA: accuracy per category, novel compositions, indirect references, more steps, accuracy against steps.

    Of a run without --model and --predictions, all models that are stored in it.
    """
    from questree.api import score_sets, score_tables

    paper.check()
    files = score_sets.given_files(predictions or ())
    with watching():
        models = score_sets.stored_models(run, model or (), files, "agqa", say)
        scores = score_sets.scored_agqa(
            files,
            models,
            run=run,
            questions=questions,
            split=split,
            every=every,
            how=how,
            say=say,
            as_released=as_released,
            workers=workers,
        )
    write_json(scores.rows)
    tell(score_tables.agqa_tables(scores.rows))
    tell(score_sets.by_flags(run, as_released))
    tell(score_tables.close_pairs(scores.scored, "reasoning", how.resampling))
    write_scores(paper, "agqa", scores.rows, scores.scored, how.resampling)


@output
@clustered
def covr(
    run: Annotated[Path | None, Parameter(help="Run folder with image questions.")] = None,
    /,
    *,
    questions: Annotated[Path | None, Parameter(help="COVR questions: a JSON list or JSON lines.")] = None,
    train: Annotated[Path | None, Parameter(help="COVR questions of the training set, for the baselines.")] = None,
    predictions: FilesOption | None = None,
    model: ModelsOption = None,
    side: Annotated[str, Parameter(help="With a run: split to score, dev or test.")] = "test",
    held_out: Annotated[
        str, Parameter(help="With a run: score what this split holds out; baselines learn from its train.")
    ] = "",
    every: Annotated[
        bool, Parameter(name="--all", help="With a run: score every question, not only the balanced selection.")
    ] = False,
    how: ScoringOptions = USUAL,
    paper: Paper = NO_PAPER,
    workers: WorkersOption = 2,
) -> None:
    """Accuracy by template with intervals over images; MAJ and MAJTEMPL as two more models."""
    from questree.api import score_sets, score_tables

    paper.check()
    files = score_sets.given_files(predictions or ())
    if run is None and model:
        raise BadInput.at("--model", "goes with a run; of files, give --predictions FILE")
    with watching():
        scores = score_sets.scored_covr(
            files,
            [*dict.fromkeys(model or ())],
            run=run,
            questions=questions,
            train=train,
            split=side,
            held_out=held_out,
            every=every,
            how=how,
            say=say,
            workers=workers,
        )
    write_json(scores.rows)
    if not scores.guesses:
        say("no training questions: no baselines; give them with --train FILE")
    tell(score_tables.covr_tables(scores.rows))
    tell(score_tables.close_pairs(scores.scored, "template", how.resampling))
    write_scores(paper, "all", scores.rows, {**scores.guesses, **scores.scored}, how.resampling)


@output
def generalization(
    *,
    questions: Annotated[Path, Parameter(help="COVR questions: qid, answer, scenes.")],
    plan: Annotated[
        Path, Parameter(help="JSON {split: {text, model, iid-size, iid: files of predictions, questions: ids}}.")
    ],
    how: Annotated[OnePolicy, Parameter(name="*")] = ONE_POLICY,
    paper: Paper = NO_PAPER,
) -> None:
    """How much of the gap between a text-only model and one trained on everything each split's model closes."""
    from questree.api.trained_on_splits import generalization as work

    paper.check()
    with watching():
        found = work(questions, plan, how, say)
    write_json([*found.rows, *found.about])
    tell(found.told())
    write_scores(paper, "all", found.rows, found.models, how.resampling)


@output
def curve(
    *,
    questions: Annotated[Path, Parameter(help="COVR questions: qid, answer, scenes.")],
    plan: Annotated[
        Path, Parameter(help="JSON {split: {models: {number of examples: file of predictions}, questions: ids}}.")
    ],
    how: Annotated[OnePolicy, Parameter(name="*")] = ONE_POLICY,
    paper: Paper = NO_PAPER,
    plots: Plots = None,
) -> None:
    """Accuracy on what splits hold out, of models trained with more and more examples of it: a learning curve."""
    from questree.api.trained_on_splits import learning_curve

    paper.check()
    check_plots(plots)
    with watching():
        found = learning_curve(questions, plan, how, say)
    write_json([*found.rows, *found.about])
    tell(found.told())
    write_scores(paper, "all", found.rows, found.models, how.resampling)
    write_pictures(plots, found.plots(COLUMN))
