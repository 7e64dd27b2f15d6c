"""What people said as files, without their names: answers, a model named Human, what other stages take; and back."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import polars as pl

from questree.api.made import Made, Said
from questree.api.people_results import answered
from questree.api.runs import StrPath
from questree.benchmarks import chosen
from questree.faults import BadInput, Fault, refuse
from questree.people.book import Book
from questree.people.exchange import from_csv, from_lines, table, take
from questree.people.label_studio import Files, from_studio, looks_of, studio_config, studio_files, studio_tasks
from questree.people.results import Answered, Rule
from questree.people.scenes import Scenes
from questree.people.terms import terms_of
from questree.places import path_of
from questree.tables.run import Run
from questree.tables.store import new_file


def export(
    run: StrPath,
    task: str = "verify",
    *,
    out: StrPath | None = None,
    label_studio: StrPath | None = None,
    media: StrPath | None = None,
    media_url: str = "",
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
    media
        Folder of films, frames or images that these tasks show.
    media_url
        Address of that folder for Label Studio; that of files beside it (`/data/local-files/?d=NAME/`), if left out.
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
    files = media_files(run, found, media, media_url) if label_studio else {}
    for name, path in paths.items():
        with new_file(path) as work:
            if name == "unscored":
                record[name] = _unscored(found.types(threshold, least), work)
            elif name == "label-studio":
                record[name] = _studio(found, files, work)
            else:
                record[name] = WRITERS[path.suffix if name == "out" else name](found, work)
        said.append(f"wrote {path} ({record[name]:,} {UNITS[name]})")
    if label_studio:
        beside = paths["label-studio"].with_suffix(".xml")
        with new_file(beside) as work:
            work.write_text(studio_config(found.task, looks_of(files)), "utf-8")
        said.append(f"wrote {beside}")
    if store:
        record["stored"] = kept(Run.at(run), found, store)
        said.append(f"{store}: answers of the majority to {record['stored']:,} questions, stored as a model")
    return Made("people export", said, record)


def export_faults(found: Answered, paths: dict[str, Path], store: str) -> list[Fault]:
    """Files that a task does not give."""
    answers = found.task.answers
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


def media_files(run: StrPath, found: Answered, media: StrPath | None, prefix: str) -> Files:
    if media is None:
        refuse([Fault("--media-url", "expected --media DIR beside it")] if prefix else [])
        return {}
    scenes = Scenes(Run.at(run), path_of(media))

    def frames(video: str) -> list[int]:
        return scenes.of_video(video).frames["number"].to_list() if video in scenes.video_at else []

    return studio_files(found, path_of(media), prefix, frames)


def _studio(found: Answered, files: Files, path: Path) -> int:
    tasks = studio_tasks(found, files)
    path.write_bytes(msgspec.json.format(msgspec.json.encode(tasks)) + b"\n")
    return len(tasks)


WRITERS: dict[str, Callable[[Answered, Path], int]] = {
    ".csv": lambda found, path: _columns(table(found), path),
    ".jsonl": lambda found, path: _lines(table(found), path),
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
    refuse(named(run, name, own, "--store"))
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
        Label Studio's JSON export, or .csv or .jsonl of item or id, annotator and value (or text, marked).
    task
        Name of the task.
    """
    path, place = path_of(file), Run.at(run)
    read = {".json": from_studio, ".jsonl": from_lines}.get(path.suffix, from_csv)
    taken = take(Book.of(place), task, read(path), terms_of(place))
    said = f"{task}: {taken.answers:,} answers of {taken.people} people, {taken.repeated:,} repeated (the last counts)"
    return Made("people import", [said], taken._asdict())
