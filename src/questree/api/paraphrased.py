"""How much a model loses where people ask in their own words: the same questions, asked twice."""

from os import fspath
from pathlib import Path
from typing import Any

import msgspec
import polars as pl

from questree.api.made import Made, Said
from questree.api.runs import StrPath
from questree.api.score_tables import untested
from questree.benchmarks import AGQA, Benchmark, chosen
from questree.faults import BadInput, Fault, at_least, refuse
from questree.metrics.comparison import ModelDifference, compare, ranked
from questree.metrics.scores import Resampling
from questree.models.predictions import PREDICTION, is_given, read_predictions
from questree.models.stored import image_predictions, video_predictions
from questree.places import path_of
from questree.scoring.footnotes import WEAK
from questree.scoring.run_questions import scored_questions
from questree.tables.predictions import models
from questree.tables.run import Run

SHOWN = 3  # ids of questions without a prediction


def paraphrased_scores(
    run: StrPath,
    *,
    questions: StrPath,
    original: str,
    predictions: StrPath,
    resamples: int = 1000,
    seed: int = 0,
    benchmark: str = "",
) -> Made:
    """Accuracy on the same questions, asked as they were written and in people's own words, with the change.

    Parameters
    ----------
    run
        Run folder with DAGs.
    questions
        The set, as `questree people export --paraphrased` writes it.
    original
        Predictions for the questions as they were: a file, or a model that is stored.
    predictions
        Predictions for the same ids, asked in people's words.
    resamples
        Number of bootstrap resamples; videos or images are drawn.
    seed
        Seed of the resampling.
    benchmark
        Benchmark of a run with both: agqa (videos, the default) or covr (image sets).
    """
    refuse(at_least(1, {"resamples": resamples}))
    place = Run.at(run)
    own = chosen(place, benchmark, "decomposed")
    ids = asked_ids(path_of(questions))
    first = predicted(place, own, original, ids)
    second = predicted(place, own, fspath(predictions), ids)
    scoring = scored_questions(place, own, None)
    known = ids.filter(ids.is_in(scoring.asked["id"].implode()))
    if known.is_empty():
        raise BadInput.at(questions, "none of these is a question that the run scores")
    a, b = (scoring.score(said.filter(pl.col("id").is_in(known.implode())), "skip") for said in (first, second))
    every = [row for row in compare(a, b, Resampling(resamples, seed)) if row.difference is not None]
    found = ranked(row for row in every if row.metric == "accuracy") + [
        row for row in every if row.metric != "accuracy"
    ]
    table = [shown(row) for row in found if row.metric == "accuracy"]
    said: list[Said] = [("In people's own words", table), *untested(found)]
    return Made("score paraphrased", [*said, f"{len(known):,} questions, asked twice"], found)


def asked_ids(path: Path) -> pl.Series:
    try:
        return pl.Series(
            [str(msgspec.json.decode(line)["id"]) for line in path.read_bytes().splitlines() if line.strip()],
            dtype=pl.String,
        )
    except (OSError, msgspec.DecodeError, KeyError, TypeError) as error:
        raise BadInput.at(path, f"expected lines of {{id, question, ...}} ({error})") from error


def predicted(run: Run, own: Benchmark, given: str, ids: pl.Series) -> pl.DataFrame:
    """id, prediction of all these questions."""
    if is_given(path_of(given)):
        table = read_predictions(path_of(given)).table
    elif given in models(run):
        table = (video_predictions if own is AGQA else image_predictions)(run, given, ids).table
    else:
        there = f"a file of predictions or a stored model ({', '.join(models(run)) or 'there are none'})"
        raise BadInput.at(given, f"expected {there}, got neither")
    lacking = ids.filter(~ids.is_in(table["id"].implode()))
    message = f"no prediction for {len(lacking):,} of {len(ids):,} questions: {', '.join(lacking[:SHOWN])}, ..."
    refuse([Fault(str(given), message)] if len(lacking) else [])
    return table.select("id", PREDICTION).filter(pl.col("id").is_in(ids.implode()))


def shown(row: ModelDifference) -> dict[str, Any]:
    def percent(value: float | None) -> str:
        return "" if value is None else f"{100 * value:.2f}"

    between = f"{percent(row.low)} to {percent(row.high)}" if row.low is not None else ""
    between += WEAK * row.weak
    drop = f"{100 * row.difference:+.2f}" if row.difference is not None else ""
    p = None if row.p is None else f"{row.p:.3f}"
    names = {"by": row.by, "group": row.group, "original": percent(row.a), "paraphrased": percent(row.b)}
    return names | {"change": drop, "95 % interval": between, "n": row.n_a, "p": p}
