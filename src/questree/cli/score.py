"""`questree score`, `compare` and `power`: predictions -> the papers' tables with intervals, and flat ones as JSON."""

from functools import partial
from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

from questree.benchmarks import COVR, chosen
from questree.cli.paper import NO_PAPER, Paper, Plots, check_plots, write_paper, write_pictures, write_scores
from questree.cli.score_tables import (
    counts,
    print_agqa,
    print_curve,
    print_decomp,
    print_differences,
    print_metrics,
    print_policies,
    print_splits,
    print_templates,
    say_close,
)
from questree.cli.shared_options import BenchmarkOption
from questree.cli.terminal import output, print_table, say, watching, write_json, write_json_file
from questree.faults import BadInput, Fault, refuse
from questree.metrics.scores import Resampling, Score
from questree.scoring import compared as scoring
from questree.scoring.compared import ComparingOptions, OnePolicy, Planning, Scoring
from questree.scoring.grids import percent
from questree.svg import COLUMN
from questree.tables.run import Run

RunFolder = Annotated[Path | None, Parameter(help="A run with DAGs (`questree decompose`), instead of files.")]
FilesOption = Annotated[list[Path], Parameter(help="Predictions of one model; may be given again.", negative="")]
ModelsOption = Annotated[list[str] | None, Parameter(help="Model stored in the run; may be given again.", negative="")]
HierarchiesOption = Annotated[
    Path | None, Parameter(help="AGQA-Decomp hierarchies: a folder, one <video>.json per video.")
]
RecordsOption = Annotated[Path | None, Parameter(help="AGQA questions: a JSON file {id: record}.")]
CacheOption = Annotated[
    bool, Parameter(help="With --hierarchies: keep what large folders hold for the next time, and use it.")
]
SplitOption = Annotated[
    Literal["train", "dev", "test"] | None, Parameter(help="With a run: split to score; dev only of image sets.")
]
ScoringOptions = Annotated[Scoring, Parameter(name="*")]
PLANNING_BOTS = ("most-likely", "uniform")  # one that knows what is usual, one that knows nothing
USUAL, ONE_POLICY, COMPARING, PLANNING = Scoring(), OnePolicy(), ComparingOptions(), Planning()


def there(*files: Path, more: str = "") -> None:
    """All files of predictions that do not exist are said at once, before anything is read."""
    from questree.models.predictions import is_given

    wanted = f"expected a file of predictions, got nothing of this name{more}"
    refuse([Fault(str(file), wanted) for file in files if not is_given(file)])


def stored(run: Path | None, wanted: list[str] | None, files: list[Path], benchmark: str) -> tuple[str, ...]:
    """The stored models to score: those that are named, or all if there are no files."""
    if run is None and (wanted or not files):
        raise BadInput.at("", "expected --predictions FILE, or a run with models (`questree answer RUN --model NAME`)")
    if run is None or (files and not wanted):
        return ()
    known = scoring.stored_models(Run(run), chosen(Run(run), benchmark, "decomposed"))
    if not (wanted or known):
        raise BadInput.at(run, "no models are stored here; `questree answer RUN --model NAME` stores one")
    return scoring.known_models(run, wanted or scoring.current_models(Run(run), known, say), known)


@output
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
    split: SplitOption = None,
    benchmark: BenchmarkOption = "",
    how: ScoringOptions = USUAL,
    paper: Paper = NO_PAPER,
) -> None:
    """Accuracy, CA, RWR, Delta, internal consistency, and how accuracy and consistency go together.

    Of a run without --model and --predictions, all models that are stored in it.
    """
    from questree.show.paper.grids import decomp_tables

    files = predictions or []
    there(*files)
    paper.check()
    if train and not hierarchies:
        raise BadInput.at(
            "--train", "expected --hierarchies DIR beside it; in a run Most-Likely is the bot most-likely"
        )
    models = () if train and not files else stored(run, model, files, benchmark)
    with watching():
        corpus = scoring.compared(hierarchies, None, run, split, benchmark, how, say, cache, errors)
        rows = scoring.most_likely(corpus, train, how, say if cache else None) if train else list[Score]()
        found = list(corpus.scored(files, models))
        for name, scored, about in found:
            rows += [*scored.rows(name, how.resampling), *about]
    write_json(rows)
    print_decomp(rows, by_answer)
    models_scored = {name: scored for name, scored, _ in found}
    say_close(models_scored, ("accuracy", "type", "Overall"), how.resampling)
    write_scores(paper, partial(decomp_tables, by_answer=by_answer), rows, models_scored, how.resampling)
    if run:
        from questree.stages.generate.annotated import told

        for line in told(Run(run)):
            say(line)


@output
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
    how: ScoringOptions = USUAL,
    paper: Paper = NO_PAPER,
) -> None:
    """AGQA: accuracy per category, novel compositions, indirect references, more steps, accuracy against steps.

    Of a run without --model and --predictions, all models that are stored in it.
    """
    from questree.formats.agqa_import import read_questions
    from questree.metrics.answers import fit_rows, most_likely
    from questree.scoring import agqa_questions
    from questree.show.paper.grids import agqa_tables

    files = predictions or []
    there(*files)
    paper.check()
    models = stored(run, model, files, "agqa")
    if (run is None) == (questions is None):
        raise BadInput.at("", "expected one of a run and --questions FILE")
    if run is None and (split or every):
        raise BadInput.at("--split" if split else "--all", "expected a run, got a file, which is scored whole")
    with watching():
        if questions is not None:
            asked = read_questions(questions)
            corpus = scoring.of_records(asked, how, say)
        else:
            assert run is not None
            asked = agqa_questions.of_run(Run(run), split or "test", every)
            corpus = agqa_questions.scored_on(asked, Run(run), how, say)
        rows = most_likely(asked)
        found = list(corpus.scored(files, models))
        for name, scored, about in found:
            rows += [*scored.rows(name, how.resampling), *fit_rows(scored.tallies, name, how.resampling), *about]
    write_json(rows)
    print_agqa(rows)
    models_scored = {name: scored for name, scored, _ in found}
    say_close(models_scored, ("accuracy", "reasoning", "Overall"), how.resampling)
    write_scores(paper, agqa_tables, rows, models_scored, how.resampling)


@output
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
) -> None:
    """Accuracy by template with intervals over images; MAJ and MAJTEMPL as two more models."""
    from questree.scoring import image_sets
    from questree.show.paper.grids import all_tables

    files = predictions or []
    there(*files)
    if run is None and model:
        raise BadInput.at("--model", "goes with a run; of files, give --predictions FILE")
    paper.check()
    place = None if run is None else Run(run)
    with watching():
        found = image_sets.of_run(place, side, held_out, every) if place else image_sets.of_files(questions, train)
        guesses = image_sets.baselines(*found)
        rows = [row for name, scored in guesses.items() for row in scored.rows(name, how.resampling)]
        abouts = list[Score]()
        corpus = image_sets.of_questions(found[0], place, how, say)
        models = dict(guesses)
        for name, scored, about in corpus.scored(files, dict.fromkeys(model or ())):
            rows += scored.rows(name, how.resampling)
            abouts += about
            models[name] = scored
    write_json([*rows, *abouts])
    if not guesses:
        say("no training questions: no baselines; give them with --train FILE")
    print_templates(rows)
    print_metrics(rows)
    print_policies([*rows, *abouts], [("accuracy", "template")])
    real = {name: scored for name, scored in models.items() if name not in guesses}
    say_close(real, ("accuracy", "template", "Overall"), how.resampling)
    write_scores(paper, all_tables, rows, models, how.resampling)


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
    from questree.scoring import image_sets
    from questree.show.paper.grids import all_tables

    paper.check()
    with watching():
        rows, about, splits, models = image_sets.generalization(questions, plan, how, say)
    write_json([*rows, *about])
    print_splits(rows, {name: split.filtered for name, split in splits.items()})
    write_scores(paper, all_tables, rows, models, how.resampling)


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
    from questree.scoring import image_sets
    from questree.show.paper.grids import all_tables

    paper.check()
    check_plots(plots)
    with watching():
        rows, about, models = image_sets.learning_curve(questions, plan, how, say)
    write_json([*rows, *about])
    print_curve(rows, list(models))
    write_scores(paper, all_tables, rows, models, how.resampling)
    if plots:
        from questree.show.report.charts import curve_plot

        write_pictures(plots, [("curve", curve_plot(rows, list(models), COLUMN))])


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
    from questree.cli.fpvg_tables import print_fpvg
    from questree.scoring import grounded
    from questree.show.paper.grids import all_tables

    paper.check()
    there(*all, *rel, *irrel)
    if run is not None and (questions or scene_graphs or detections):
        raise BadInput.at("", "expected a run folder or --questions, --scene-graphs and --detections, got both")
    conditions = {"--all": all, "--rel": rel, "--irrel": irrel}
    runs = grounded.training_runs(conditions, model or [], detections or [], importance or [])
    with watching():
        if run is None:
            judged = grounded.of_files(questions or [], scene_graphs, detections or [], annotations, irrelevant)
        else:
            from questree.stages.ground.grounding import GroundOptions

            judged = grounded.of_run(Run(run), GroundOptions(split, every, sample, benchmark=benchmark), words)
        if write_relevance is not None:
            write_json_file(write_relevance, judged.as_released())
        main, rows, seen_by, models = grounded.score(judged, runs, how, ood, say)
    write_json(rows)
    print_fpvg(main, seen_by)
    write_scores(paper, all_tables, main, models, how.resampling)
    say(judged.said)
    for detector, found in judged.found.items():
        reasons = dict(found["left_out"].value_counts(sort=True).rows())
        evaluated = reasons.pop("", 0)
        left = ", ".join(f"{reason} {count:,}" for reason, count in reasons.items()) or "none"
        called = f"{detector}: " if len(judged.found) > 1 else ""
        say(f"{called}{evaluated:,} of {len(found):,} questions evaluated; left out: {left}")


@output
def compare(
    a: Annotated[Path, Parameter(help="Predictions of the first model; with --run also a model stored there.")],
    b: Annotated[Path, Parameter(help="Predictions of the second model, likewise.")],
    *,
    run: Annotated[Path | None, Parameter(help="A run with DAGs (`questree decompose`).")] = None,
    split: SplitOption = None,
    benchmark: BenchmarkOption = "",
    hierarchies: HierarchiesOption = None,
    cache: CacheOption = True,
    questions: RecordsOption = None,
    level: Annotated[float, Parameter(help="False discovery rate up to which a difference counts.")] = 0.05,
    metric: Annotated[str | None, Parameter(help="Print only this metric. [default: those of the main tables]")] = None,
    by: Annotated[str | None, Parameter(help="Print only this table, such as type, composition, answer.")] = None,
    significant: Annotated[bool, Parameter(help="Print only differences that count.", negative="")] = False,
    how: Annotated[ComparingOptions, Parameter(name="*")] = COMPARING,
    paper: Paper = NO_PAPER,
    plots: Plots = None,
) -> None:
    """The second model minus the first, on the same resampled videos; Benjamini-Hochberg over the whole table."""
    from questree.metrics.comparison import compare as work

    paper.check()
    check_plots(plots)
    known = scoring.stored_models(Run(run), chosen(Run(run), benchmark, "decomposed")) if run else []
    models = [str(one) for one in (a, b) if str(one) in known]
    files = [one for one in (a, b) if str(one) not in models]
    there(*files, more=f"; stored in {run}: {', '.join(known) or 'no models'}" if run else "")
    called = dict(zip(map(str, files), scoring.names(files), strict=True))
    first, second = (called.get(str(one), str(one)) for one in (a, b))
    with watching():
        corpus = scoring.compared(hierarchies, questions, run, split, benchmark, how, say, cache)
        found = {model: scored for model, scored, _ in corpus.scored(files, models)}
        rows = work(found[first], found[second], Resampling(how.resamples, how.seed))
    usual = [row for row in rows if row.by != "answer" and not row.metric.startswith("RWR-")]  # a paper's main table
    kept = rows if metric or by or significant else usual
    wanted = [row for row in kept if metric in (None, row.metric) and by in (None, row.by)]
    if not wanted:
        tables = ", ".join(dict.fromkeys(f"{row.metric} by {row.by}" for row in rows))
        raise BadInput.at("--metric, --by", f"expected cells of the table, got none; choose from {tables}")
    write_json(rows)
    shown = [row for row in wanted if counts(row, level)] if significant else wanted
    print_differences(rows, shown, first, second, level)
    if paper.wanted:
        from questree.show.paper.grids import difference_grids

        n = {(row.metric, row.by, row.group): row.n for row in found[first].rows(first)}
        write_paper(list(difference_grids(shown, (first, second), n, level, how.resamples)), paper)
    if plots:
        from questree.show.report.charts import differences_plot

        told = dict.fromkeys(row.by for row in shown)
        draw = partial(differences_plot, names=(first, second), level=level, wide=COLUMN)
        drawn = [(f"differences-{table}", draw([row for row in shown if row.by == table])) for table in told]
        write_pictures(plots, drawn)


@output
def power(
    run: RunFolder = None,
    /,
    *,
    predictions: Annotated[
        Path | None, Parameter(help="Predictions of a model to plan by, such as a pilot or a baseline.")
    ] = None,
    model: Annotated[
        str,
        Parameter(help="Stored model or bot to plan by. [default: those stored; bots if there is none]"),
    ] = "",
    split: SplitOption = None,
    benchmark: BenchmarkOption = "",
    hierarchies: HierarchiesOption = None,
    cache: CacheOption = True,
    questions: RecordsOption = None,
    half_width: Annotated[float, Parameter(help="Half-width of the 95 % interval, as a fraction.")] = 0.01,
    metric: Annotated[str, Parameter(help="Metric to plan for.")] = "accuracy",
    by: Annotated[str | None, Parameter(help="Table of the metric. [default: all but answer]")] = None,
    how: Annotated[Planning, Parameter(name="*")] = PLANNING,
) -> None:
    """Videos (or images) needed for every cell of a metric, judged by how much it varies between those there are.

    Of a run without --model and --predictions by its stored models; before there is one, by bots. Of several the one
    that needs most counts.
    """
    from questree.metrics.comparison import most_needed, needs

    if half_width <= 0:
        raise BadInput.at("--half-width", f"expected more than 0, got {half_width}")
    files = [predictions] if predictions else []
    there(*files)
    models, bots = planned_by(run, model, files, benchmark)
    resampling = Resampling(how.resamples, how.seed)
    with watching():
        corpus = scoring.compared(hierarchies, questions, run, split, benchmark, how, say, cache)
        found_by = {name: scored for name, scored, _ in corpus.scored(files, models)}
        if run and bots:
            from questree.scoring.run_scores import scored_bot

            own = chosen(Run(run), benchmark, "decomposed")
            found_by |= {name: scored_bot(corpus, own, name) for name in bots}
        rows = most_needed(
            row for name, scored in found_by.items() for row in needs(scored, half_width, resampling, name)
        )
    known = list(dict.fromkeys(row.metric for row in rows))
    if metric not in known:
        raise BadInput.at("--metric", f"expected a metric, got {metric!r}; choose from {', '.join(known)}")
    found = [row for row in rows if row.metric == metric and by in (None, row.by) and (by or row.by != "answer")]
    if not found:
        tables = dict.fromkeys(row.by for row in rows if row.metric == metric)
        raise BadInput.at("--by", f"expected a table of {metric}, got {by!r}; choose from {', '.join(tables)}")
    write_json(found)
    unit = "images" if run and chosen(Run(run), benchmark, "decomposed") is COVR else "videos"
    lines = [
        {
            "by": row.by,
            "group": row.group,
            metric: percent(row.value),
            "half-width now": percent(row.half_width),
            f"{unit} needed": "N/A" if row.videos is None else f"{row.videos:,}",
            **({"by the answers of": row.model} if len(found_by) > 1 else {}),
        }
        for row in found
    ]
    here = len(next(iter(found_by.values())).tallies.total)
    say(f"{here:,} {unit} here; wanted: ±{percent(half_width)} points; planned by {', '.join(found_by)}")
    if bots and not model:
        say("no model is stored here yet: bots stand in for one")
    print_table(f"{unit.capitalize()} for a half-width of {percent(half_width)} points", lines)


def planned_by(
    run: Path | None, model: str, files: list[Path], benchmark: str
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The stored models and the bots to plan by."""
    from questree.models.bots import BOTS

    if run is None and (model or not files):
        raise BadInput.at("", "expected a model, as --predictions FILE, or a run")
    if run is None or (files and not model):
        return (), ()
    known = scoring.stored_models(Run(run), chosen(Run(run), benchmark, "decomposed"))
    if model in BOTS and model not in known:
        return (), (model,)
    if model:
        return scoring.known_models(run, [model], list(dict.fromkeys((*known, *BOTS)))), ()
    return tuple(known), () if known else PLANNING_BOTS
