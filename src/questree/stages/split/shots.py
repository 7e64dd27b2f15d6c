"""Splitting the image questions of a run: train, dev and test of every split, proved before anything is written."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
import polars as pl

from questree.benchmarks.covr.splits import FEW_SHOT, LEXICAL, PROGRAM, ZERO_SHOT
from questree.faults import BadInput, Fault, refuse
from questree.progress import watch
from questree.stages.split import properties as splits
from questree.stages.split.declared import PLUGGED, Given, Split, own
from questree.stages.split.program_rows import ImageRows, stored_rows
from questree.stages.split.proofs import Proof
from questree.stages.split.properties import Drawing
from questree.stages.split.properties_language import read
from questree.stages.split.rows import Truth
from questree.tables.image_questions import BALANCED, answered
from questree.tables.images import IMAGES
from questree.tables.run import Run
from questree.tables.store import new_folder
from questree.tables.table import Table

NAMES = (*FEW_SHOT, *ZERO_SHOT, PROGRAM, LEXICAL)
PARTS = ("train", "dev", "dev held out", "test")
SIDES = Table("split", {"id": pl.String, "part": pl.String})  # RUN/covr/splits/<name>.parquet


class File(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A user's own splits."""

    splits: dict[str, Given] = {}


@dataclass(frozen=True)
class Options:
    drawing: Drawing = field(default_factory=Drawing)
    draws: int = 3  # of the program split and of the lexical split, each with the next seed
    names: tuple[str, ...] = ()  # only these
    file: Path | None = None  # the user's splits
    all: bool = False  # every question, not only the balanced selection


@dataclass(frozen=True)
class Made:
    name: str
    file: str
    counts: dict[str, int]  # part -> questions
    filtered: int  # questions taken out of train
    kept: int  # questions with the property that stay in train
    images: dict[str, int]
    warnings: list[str] = field(default_factory=list)
    held_out: list[Any] | None = None


def selected(run: Run, every: bool = False) -> pl.DataFrame:
    """The image questions of a run: the balanced selection, if there is one."""
    table = answered(run)
    if every or not (run.covr / f"{BALANCED.name}.parquet").is_file():
        return table
    kept = table.join(BALANCED.read(run.covr), on="id", how="semi", maintain_order="left")
    if kept.is_empty():
        raise BadInput.at(run.covr, "the balanced selection is empty; `questree balance` makes another, or use --all")
    return kept


def rows_of(questions: pl.DataFrame) -> ImageRows:
    table = questions.select(
        "id", "template", "answer", "images", side="split", spoken=~pl.col("answer").is_in(["yes", "no"])
    )
    return stored_rows(table, questions["program"])


def split_run(run: Run, options: Options) -> list[Made]:
    """Write RUN/covr/splits; a violated proof writes nothing."""
    questions = selected(run, options.all)
    ids = IMAGES.read(run.images)["id"].to_list()
    rows = rows_of(questions)
    side = {name: (questions["split"] == name).to_numpy() for name in ("train", "dev", "test")}
    file = read_file(options.file) if options.file else File()
    wanted = list(declared(rows, options, file, side))
    made, faults = [], list[Fault]()
    with new_folder(run.covr / "splits") as folder:
        plan: dict[str, Any] = {}
        for split, drawn, warnings in watch(wanted, "splitting", len(wanted)):
            inside = sides_of(split, rows, side)
            proof = Proof(split)
            proof.see(rows, inside["train"], inside["test"] | inside["dev held out"])
            faults += proof.faults(ids)
            write(folder, split.name, questions["id"], inside)
            assert split.test is not None
            found = report(split, proof, inside, side["train"], split.test.holds(rows))
            made.append(Made(*found, [*proof.warnings(), *warnings], drawn))
            made[-1].warnings.extend(empty_handed(made[-1], options.drawing.few_shot))
            plan[split.name] = planned(made[-1], questions["id"].filter(pl.Series(inside["test"])).to_list())
        refuse(faults)
        (folder / "report.json").write_bytes(msgspec.json.format(msgspec.json.encode(note(options, made))))
        (folder / "plan.json").write_bytes(msgspec.json.format(msgspec.json.encode(plan)))
    return made


def declared(
    rows: ImageRows, options: Options, file: File, side: dict[str, Truth]
) -> Iterator[tuple[Split, list[Any] | None, tuple[str, ...]]]:
    """Each split, what was drawn for it, and what is to be said about it."""
    added = PLUGGED["images"]
    known = (*NAMES, *added, *file.splits)
    unknown = [name for name in options.names if name not in known]
    refuse([Fault("--name", f"no split {name!r}; there are {', '.join(known)}") for name in unknown])
    wanted = [name for name in NAMES if not options.names or name in options.names]
    for name in wanted:
        if name in FEW_SHOT:
            yield splits.few_shot(splits.named(name, rows), rows, side["train"], options.drawing), None, ()
        elif name in ZERO_SHOT:
            yield splits.zero_shot(splits.named(name, rows)), None, ()
        for seed in range(options.drawing.seed, options.drawing.seed + options.draws):
            if name == PROGRAM:
                held = splits.program_split(rows, seed)
            elif name == LEXICAL:
                held = splits.lexical_split(rows, seed, side["train"], side["test"], options.drawing.lexical)
            else:
                break
            yield splits.zero_shot(held, f"{name} {seed}"), held.drawn, held.warnings
    taken, reader = set(map(slug, NAMES)), partial(read, rows=rows)
    given = own(added, added.places.__getitem__, reader, taken)
    given += own(file.splits, lambda name: f"{options.file}, {name}", reader, {*taken, *added})
    for split in given:
        if not options.names or split.name in options.names:
            yield split, None, ()


def read_file(path: Path) -> File:
    try:
        return msgspec.yaml.decode(path.read_bytes(), type=File)
    except OSError as error:
        raise BadInput.at(path, f"cannot be read ({error.strerror})") from error
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise BadInput.at(path, f"{' '.join(str(error).split())}; wanted `splits:`") from error


def sides_of(split: Split, rows: ImageRows, side: dict[str, Truth]) -> dict[str, Truth]:
    """Which questions are in each part: train and dev without what is held out, test with it alone."""
    assert split.train is not None
    assert split.test is not None
    learnt, held = split.train.holds(rows), split.test.holds(rows)
    return {
        "train": side["train"] & learnt,
        "dev": side["dev"] & learnt,
        "dev held out": side["dev"] & held,
        "test": side["test"] & held,
    }


def slug(name: str) -> str:
    """The name as a file's: has-count-and-rm-v-c."""
    spelled = name.lower().replace("&", "and").replace("|", "or")
    return re.sub(r"[^a-z0-9]+", "-", spelled).strip("-")


def write(folder: Path, name: str, ids: pl.Series, inside: dict[str, Truth]) -> None:
    parts = [pl.DataFrame({"id": ids.filter(pl.Series(at))}).with_columns(part=pl.lit(p)) for p, at in inside.items()]
    Table(slug(name), SIDES.columns).write(pl.concat(parts), folder)


def report(
    split: Split, proof: Proof, inside: dict[str, Truth], train: Truth, held: Truth
) -> tuple[str, str, dict[str, int], int, int, dict[str, int]]:
    counts = {part: int(at.sum()) for part, at in inside.items()}
    images = {side: len(found) for side, found in proof.places.items()}
    kept = int((inside["train"] & held).sum())
    return split.name, f"{slug(split.name)}.parquet", counts, int(train.sum()) - counts["train"], kept, images


def empty_handed(made: Made, few_shot: int) -> list[str]:
    """Warnings about a split that holds nothing out of train, or has nothing to test with."""
    found = []
    if made.kept and not made.filtered:
        found.append(f"{made.name}: all {made.kept:,} questions with it stay in train; --few-shot is {few_shot:,}")
    untested = f"{made.name}: test is empty"
    return found + ([] if made.counts["test"] or untested in made.warnings else [untested])


def planned(made: Made, test: list[str]) -> dict[str, Any]:
    """A row of the plan that `questree score generalization` reads, with names for files that models will write."""
    own = slug(made.name)
    files = {"text": "text.json", "model": f"{own}.json", "iid-size": f"{own}-iid-size.json", "iid": "iid.json"}
    return files | {"questions": test, "filtered": made.filtered}


def note(options: Options, made: list[Made]) -> dict[str, Any]:
    given = options.file.read_text("utf-8") if options.file else ""
    used = {"drawing": options.drawing, "draws": options.draws, "names": options.names, "all": options.all}
    return {"options": used | {"file": given}, "splits": made}


def read_split(run: Run, name: str) -> dict[str, pl.Series]:
    """Part -> ids of its questions."""
    folder = run.covr / "splits"
    there = sorted(path.stem for path in folder.glob("*.parquet"))
    if slug(name) not in there:
        wanted = ", ".join(there) or "none: run `questree split`"
        raise BadInput.at(folder, f"no split {name!r}; there are {wanted}")
    table = Table(slug(name), SIDES.columns).read(folder)
    return {part: table.filter(pl.col("part") == part)["id"] for part in PARTS}
