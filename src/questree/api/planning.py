"""How many videos or images a test set needs for intervals of a given width."""

from os import PathLike
from pathlib import Path
from typing import Any, Unpack

from questree.api.choices import Planning, ScoringOptions, chosen
from questree.api.made import Made
from questree.api.score_sets import given_files, models_in, scored_models
from questree.benchmarks import AGQA, Said
from questree.benchmarks import chosen as benchmark_of
from questree.faults import BadInput
from questree.metrics.comparison import Need, most_needed, needs
from questree.metrics.scores import Resampling, Scored, titled
from questree.models.bots import BOTS
from questree.places import path_of
from questree.scoring.compared import known_models
from questree.scoring.dag_scores import scored_bots
from questree.scoring.grids import percent
from questree.tables.run import Run

StrPath = str | PathLike[str]
PLANNING_BOTS = ("most-likely", "uniform")  # one that knows what is usual, one that knows nothing


def power(
    run: StrPath | None = None,
    *,
    predictions: StrPath | None = None,
    model: str = "",
    split: str | None = None,
    benchmark: str = "",
    hierarchies: StrPath | None = None,
    questions: StrPath | None = None,
    half_width: float = 0.01,
    metric: str = "",
    by: str | None = None,
    cache: bool = False,
    **how: Unpack[ScoringOptions],
) -> Made:
    """Videos or images needed for every cell of a metric, as `questree power` tells; `frame()` has a row per cell.

    Parameters
    ----------
    run, hierarchies, questions
        One of them: a run with DAGs, AGQA-Decomp hierarchies, a file of AGQA questions.
    predictions, model
        The model to plan by: a file, or one that is stored in the run, or a bot. Of a run without either its stored
        models, or bots before there is one; of several the one that needs most counts.
    split, benchmark
        Of a run: the questions of train, dev or test; agqa or covr.
    half_width
        Wanted half-width of the 95 % interval, as a fraction.
    metric, by
        Metric to plan for, accuracy over questions if left out, and its table; without it all but `answer`.
    cache
        Keep what large folders of hierarchies hold for the next time, and use it.
    how
        missing, policy, resamples, seed, vocabulary, synonyms, id_column, answer_column.

    >>> questree.power("run", half_width=0.1, resamples=100, missing="skip").frame().columns
    ['metric', 'by', 'group', 'value', 'half_width', 'videos', 'model']
    """
    place, file, released, asked = (
        None if path is None else path_of(path) for path in (run, predictions, hierarchies, questions)
    )
    own, options, said = benchmark or getattr(run, "benchmark", ""), chosen(Planning, how), list[Said]()
    if not 0 < half_width < 1:
        raise BadInput.at("--half-width", f"expected a fraction above 0 and below 1, got {half_width}")
    files = given_files([file] if file else [])
    models, bots = planned_by(place, model, files, own)
    given = files, models, place, released, asked
    found_by = dict(scored_models(*given, split=split, benchmark=own, how=options, say=said.append, cache=cache))
    asked_of = benchmark_of(Run(place), own, "decomposed") if place else AGQA
    found_by |= scored_bots(Run(place), asked_of, bots, split, options) if place and bots else {}
    resampling = Resampling(options.resamples, options.seed)
    rows = most_needed(row for name, scored in found_by.items() for row in needs(scored, half_width, resampling, name))
    cells, unit = cells_of(rows, metric, by), asked_of.counted
    said.append(told(found_by, unit, half_width))
    said += ["no model is stored here yet: bots stand in for one"] * (bool(bots) and not model)
    title = f"{unit.capitalize()} for a half-width of {percent(half_width)} points"
    said.append((title, [line(row, unit, len(found_by) > 1) for row in cells]))
    return Made("power", said, cells)


def planned_by(
    run: Path | None, model: str, files: list[Path], benchmark: str
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The stored models and the bots to plan by."""
    if run is None and (model or not files):
        raise BadInput.at("", "expected a model, as --predictions FILE, or a run")
    if run is None or (files and not model):
        return (), ()
    known = models_in(run, benchmark)
    if model in BOTS and model not in known:
        return (), (model,)
    if model:
        return known_models(run, [model], list(dict.fromkeys((*known, *BOTS)))), ()
    return tuple(known), () if known else PLANNING_BOTS


def cells_of(rows: list[Need], metric: str, by: str | None) -> list[Need]:
    known = list(dict.fromkeys(row.metric for row in rows))
    wanted = metric or known[0]
    if wanted not in known:
        raise BadInput.at("--metric", f"expected a metric, got {metric!r}; choose from {', '.join(known)}")
    found = [row for row in rows if row.metric == wanted and by in (None, row.by) and (by or row.by != "answer")]
    if not found:
        tables = dict.fromkeys(row.by for row in rows if row.metric == wanted)
        raise BadInput.at("--by", f"expected a table of {wanted}, got {by!r}; choose from {', '.join(tables)}")
    return found


def told(found_by: dict[str, Scored], unit: str, half_width: float) -> str:
    here = len(next(iter(found_by.values())).tallies.total)
    return f"{here:,} {unit} here; wanted: ±{percent(half_width)} points; planned by {', '.join(found_by)}"


def line(row: Need, unit: str, several: bool) -> dict[str, Any]:
    return {
        "by": row.by,
        "group": row.group,
        titled(row.metric, row.by): percent(row.value),
        "half-width now": percent(row.half_width),
        f"{unit} needed": "N/A" if row.videos is None else f"{row.videos:,}",
        **({"by the answers of": row.model} if several else {}),
    }
