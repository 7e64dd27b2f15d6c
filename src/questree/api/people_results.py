"""What people answered about a run: how far they agree, who is left out, what they find wrong."""

from typing import Any

import polars as pl

from questree.api.made import Made, Said
from questree.api.people import percent
from questree.api.runs import StrPath
from questree.faults import at_least, refuse
from questree.metrics.raters import rows as agreement_rows
from questree.metrics.scores import Resampling, Score
from questree.people.book import Book
from questree.people.results import Answered, Rule
from questree.tables.run import Run


def answered(run: StrPath, task: str, rule: Rule | None = None) -> Answered:
    """A task with its answers; typed ones are read as answers of the run."""
    place = Run.at(run)
    book = Book.of(place)
    known, options = book.task(task)

    def read(given: pl.DataFrame) -> pl.Series:
        from questree.scoring.compared import Scoring, run_reader

        _, reader = run_reader(place, None, options.benchmark, Scoring(policy="lenient"))
        return reader.understood(given, "lenient").table["prediction"]

    return Answered.read(book, task, rule, read if known.ask == "text" else None)


def agreement(
    run: StrPath,
    task: str = "verify",
    *,
    least_gold: float = 0.7,
    bots: bool = True,
    threshold: float = 0.7,
    least: int = 5,
    resamples: int = 1000,
    seed: int = 0,
) -> Made:
    """How far people agree, who is left out, faults, time, and how often they find what the benchmark says.

    Parameters
    ----------
    run
        Run folder.
    task
        Name of the task.
    least_gold
        Share of gold somebody must have right to count; 0 keeps everybody.
    bots
        Count bots as people.
    threshold
        Types that the majority finds right less often are proposed as unscored.
    least
        Items of a type before it is proposed.
    resamples
        Number of draws of annotators behind intervals; 0 for none.
    seed
        Seed of the draws.
    """
    refuse(at_least(0, {"resamples": resamples, "least_gold": least_gold, "least": least}))
    found = answered(run, task, Rule(least_gold, bots=bots))
    how = Resampling(resamples, seed) if resamples else None
    measured = agreement_rows(found.judged, how, task)
    gold = found.gold
    people = [
        {
            "annotator": f"{row['kind']} {row['annotator']}",
            "answers": row["answers"],
            "seconds": round(row["seconds"], 1),
            "gold": row["gold"],
            "right": percent(row["share"]),
            "counts": "no" if row["out"] else "yes",
        }
        for row in gold.iter_rows(named=True)
    ]
    said: list[Said] = [("Annotators", people), f"{found.rule}: {int(gold['out'].sum())} of {len(gold)}"]
    said += [("Agreement", [shown(row) for row in measured])]
    record: dict[str, Any] = {"agreement": measured, "annotators": gold.to_dicts(), "rule": str(found.rule)}
    if found.task.faults or found.task.means("no"):
        said.append(("Faults", found.faults()))
        record["faults"] = found.faults()
    if found.task.about == "models":
        said.append(("Models", [row | {"right": percent(row["right"])} for row in found.compared()]))
        record["models"] = found.compared()
    elif found.task.ask not in ("checklist", "paraphrase"):
        types = found.types(threshold, least)
        said += told_types(types, threshold)
        record["types"] = types
    return Made("people agreement", said, record)


def told_types(types: list[dict[str, Any]], threshold: float) -> list[Said]:
    if not types:
        return ["no item has all its votes yet"]
    n, right = sum(row["items"] for row in types), sum(row["items"] * row["right"] for row in types)
    every = [*types, {"type": "all", "items": n, "right": right / n, "unscored": False}]
    rows = [row | {"right": percent(row["right"]), "unscored": "proposed" * row["unscored"]} for row in every]
    low = [row["type"] for row in types if row["unscored"]]
    return [("Found right by the majority", rows), f"types under {threshold:.0%}: {', '.join(low) or 'none'}"]


def shown(row: Score) -> dict[str, Any]:
    value = f"{row.value:.3f}" if row.value is not None else "N/A"
    between = f"{row.low:.3f} to {row.high:.3f}" if row.low is not None and row.high is not None else ""
    return {"measure": row.metric, "value": value, "95 % interval": between, "units": row.n}
