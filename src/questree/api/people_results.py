"""What people answered about a run: how far they agree, who is left out, files, and a model named Human."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import polars as pl

from questree.api.made import Made, Said
from questree.api.people import percent
from questree.api.runs import StrPath
from questree.benchmarks import chosen
from questree.faults import BadInput, Fault, at_least, refuse
from questree.metrics.raters import rows as agreement_rows
from questree.metrics.scores import Resampling, Score
from questree.people.book import Book
from questree.people.exchange import studio_config, studio_tasks, table, take
from questree.people.results import Answered, Rule
from questree.places import path_of
from questree.tables.run import Run
from questree.tables.store import new_file


def answered(run: StrPath, task: str, rule: Rule | None = None) -> Answered:
    """A task with its answers; typed ones are read as answers of the run."""
    place = Run(path_of(run))
    book = Book.of(place)
    known, options = book.task(task)

    def read(given: pl.DataFrame) -> pl.Series:
        from questree.scoring.compared import Scoring, of_run

        reader = of_run(place, None, options.benchmark, Scoring(policy="lenient")).reader
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


def export(
    run: StrPath,
    task: str = "verify",
    *,
    out: StrPath | None = None,
    label_studio: StrPath | None = None,
    human: StrPath | None = None,
    store: str = "",
    absent: StrPath | None = None,
    rejected: StrPath | None = None,
    paraphrased: StrPath | None = None,
    unscored: StrPath | None = None,
    least_gold: float = 0.7,
    threshold: float = 0.7,
    least: int = 5,
    bots: bool = True,
) -> Made:
    """Write what people said, without their names: answers, a model named Human, files for other stages.

    Parameters
    ----------
    run
        Run folder.
    task
        Name of the task.
    out
        Every answer: .csv or .jsonl.
    label_studio
        Tasks for Label Studio, .json; its labelling interface goes beside it, .xml.
    human
        Answers of the majority as predictions, .jsonl.
    store
        Keep these predictions in the run, as a model of this name.
    absent
        absent: objects that are nowhere, for `questree decompose --absent`.
    rejected
        Questions that the majority does not find right, for `questree balance --without`.
    paraphrased
        paraphrase: questions in people's own words, for `questree score paraphrased`.
    unscored
        Types under the threshold, for `questree score --unscored`.
    least_gold
        Share of gold somebody must have right to count; 0 keeps everybody.
    threshold
        Types that the majority finds right less often are unscored.
    least
        Items of a type before it is unscored.
    bots
        Count bots as people.
    """
    found = answered(run, task, Rule(least_gold, bots=bots))
    given = {"out": out, "label-studio": label_studio, "human": human, "absent": absent, "rejected": rejected}
    given |= {"paraphrased": paraphrased, "unscored": unscored}
    paths = {name: path_of(path) for name, path in given.items() if path}
    if not (paths or store):
        raise BadInput.at("people export", f"expected one of {', '.join('--' + name for name in given)}, --store")
    refuse(export_faults(found, paths, store))
    said, record = list[Said](), dict[str, Any]()
    for name, path in paths.items():
        with new_file(path) as work:
            if name == "unscored":
                record[name] = _unscored(found.types(threshold, least), work)
            else:
                record[name] = WRITERS[path.suffix if name == "out" else name](found, work)
        said.append(f"wrote {path} ({record[name]:,} {UNITS[name]})")
    if label_studio:
        beside = paths["label-studio"].with_suffix(".xml")
        with new_file(beside) as work:
            work.write_text(studio_config(found.task), "utf-8")
        said.append(f"wrote {beside}")
    if store:
        record["stored"] = kept(Run(path_of(run)), found, store)
        said.append(f"{store}: answers of the majority to {record['stored']:,} questions, stored as a model")
    return Made("people export", said, record)


def export_faults(found: Answered, paths: dict[str, Path], store: str) -> list[Fault]:
    """Files that a task does not give."""
    answers = found.task.about == "questions" and found.task.ask in ("choice", "options", "text")
    fits = {
        "human": answers,
        "rejected": answers,
        "unscored": answers,
        "absent": found.task.ask == "checklist",
        "paraphrased": found.task.ask == "paraphrase",
    }
    wrong = [name for name in paths if not fits.get(name, True)] + ["store"] * (bool(store) and not answers)
    message = f"expected another task, got {found.name!r}, which has nothing for it"
    faults = [Fault(f"--{name}", message) for name in wrong]
    if "out" in paths and paths["out"].suffix not in (".csv", ".jsonl"):
        faults.append(Fault("--out", f"expected a name that ends in .csv or .jsonl, got {paths['out'].name!r}"))
    return faults


def _lines(rows: pl.DataFrame, path: Path) -> int:
    rows.write_ndjson(path)
    return len(rows)


def _columns(rows: pl.DataFrame, path: Path) -> int:
    rows.write_csv(path)
    return len(rows)


def _unscored(types: list[dict[str, Any]], path: Path) -> int:
    low = [row["type"] for row in types if row["unscored"]]
    path.write_text("".join(f"{type}\n" for type in low), "utf-8")
    return len(low)


def _absent(found: Answered, path: Path) -> int:
    labels = found.absent()
    path.write_bytes(msgspec.json.format(msgspec.json.encode(labels)) + b"\n")
    return sum(map(len, labels.values()))


def _studio(found: Answered, path: Path) -> int:
    tasks = studio_tasks(found)
    path.write_bytes(msgspec.json.format(msgspec.json.encode(tasks)) + b"\n")
    return len(tasks)


WRITERS: dict[str, Callable[[Answered, Path], int]] = {
    ".csv": lambda found, path: _columns(table(found), path),
    ".jsonl": lambda found, path: _lines(table(found), path),
    "label-studio": _studio,
    "human": lambda found, path: _lines(found.human(), path),
    "absent": _absent,
    "rejected": lambda found, path: _columns(found.rejected(), path),
    "paraphrased": lambda found, path: _lines(found.paraphrases(), path),
}
UNITS = {
    "out": "answers",
    "label-studio": "tasks",
    "human": "predictions",
    "absent": "labels",
    "rejected": "questions",
    "paraphrased": "questions",
    "unscored": "types",
}


def kept(run: Run, found: Answered, name: str) -> int:
    """Store the answers of the majority as a model that was asked a sample."""
    from questree.api.given_predictions import predictions_of
    from questree.api.stored_answers import keep, named

    own = chosen(run, found.options.benchmark, "decomposed")
    refuse(named(run, name, own))
    answers = found.human()
    if answers.is_empty():
        raise BadInput.at(found.name, "no item has all its votes yet")
    keep(run, own, predictions_of(answers, name), {"people": found.name, "sample": True})
    return len(answers)


def take_in(run: StrPath, file: StrPath, *, task: str = "verify") -> Made:
    """Read answers that people gave elsewhere.

    Parameters
    ----------
    run
        Run folder.
    file
        Label Studio's JSON export, or a CSV of item or id, annotator and value (or text, marked).
    task
        Name of the task.
    """
    path = path_of(file)
    taken = take(Book.of(Run(path_of(run))), task, path)
    said = f"{task}: {taken.answers:,} answers of {taken.people} people, {taken.repeated:,} repeated (the last counts)"
    return Made("people import", [said], taken._asdict())
