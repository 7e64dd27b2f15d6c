"""AGQA's question files, as released or as exported here, read into a run."""

from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

import msgspec
import polars as pl

from questree.benchmarks.agqa.records import AS_JSON, FIELDS, TEST, lines, quoted
from questree.faults import BadInput, Fault, refuse
from questree.formats.agqa_programs import AgqaShapes
from questree.formats.json_records import decoded, pieces
from questree.sources.agqa import FILES as GRAPHS
from questree.sources.agqa import read_agqa
from questree.sources.runs import check_target
from questree.tables.facts import Facts
from questree.tables.questions import PROGRAM
from questree.tables.run import Run
from questree.tables.store import new_file, new_folder
from questree.tables.table import Table
from questree.vocabulary.load import default_text, parse
from questree.vocabulary.words import Vocabulary

SETS, SPLITS = ("balanced", "unbalanced"), ("train", "test")
COLUMNS = {
    "id": pl.String,
    **TEST,  # the fields of the record; null where the file does not have them
    "as_is": pl.String,  # the record's own text, where the fields would give another one
    **PROGRAM,  # null if it cannot be read
    "fault": pl.String,  # what is irregular about the record; null if nothing is
}

AS_READ = Table("read", COLUMNS | {"form": pl.String, "words": pl.List(pl.String)})  # pieces of a table to be


def table(name: str) -> Table:
    return Table(name, COLUMNS, frozenset(COLUMNS) - {"id"}, "questree import agqa")


def files(folder: Path, name: str) -> list[str]:
    """The files of a set, in order: train, then test; paths inside `folder`."""
    found = sorted((folder / name).glob("*.parquet"), key=lambda path: (SPLITS.index(_split(path)), path.name))
    return [f"{name}/{path.name}" for path in found]


def split_of(file: str) -> str:
    return _split(Path(file))


def _split(path: Path) -> str:
    return path.name.partition("-")[0]


def read(folder: Path, file: str) -> pl.DataFrame:
    path = folder / file
    return table(path.stem).read(path.parent)


Small = Annotated[int, msgspec.Meta(ge=0, le=255)]
EXAMPLES = 3  # ids named per fault
ROWS = 1 << 16  # of a table on disk


@dataclass
class AgqaImported:
    """What was read, counted."""

    questions: dict[str, int] = field(default_factory=dict)  # per file
    shapes: set[str] = field(default_factory=set)
    kept_as_is: int = 0
    faults: Counter[str] = field(default_factory=Counter)
    examples: dict[str, list[str]] = field(default_factory=dict)  # fault -> some ids


def _struct(split: str) -> type[msgspec.Struct]:
    """A record of a file, strictly: these fields and no others."""

    def kind(name: str) -> Any:
        if name in AS_JSON:
            return msgspec.Raw
        if TEST[name] == pl.UInt8:
            return Small
        return str | None if name == "direct_equiv" else str

    return msgspec.defstruct(
        f"{split.capitalize()}Record", [(n, kind(n)) for n in FIELDS[split]], forbid_unknown_fields=True
    )


RECORDS = {split: msgspec.json.Decoder(_struct(split)) for split in FIELDS}
GROUNDS = msgspec.json.Decoder(dict[str, msgspec.Raw])


def question_files(folder: Path) -> dict[tuple[str, str], Path]:
    """(set, split) -> file, in the layout of the release or all in one folder."""
    found = {}
    for name in SETS:
        for split in FIELDS:
            file = f"{split}_{name}.txt"
            there = [path for path in (folder / f"AGQA_{name}" / file, folder / file) if path.is_file()]
            if there:
                found[name, split] = there[0]
    if not found:
        raise BadInput.at(folder, "no question files: expected AGQA_balanced/train_balanced.txt or another of its kind")
    return found


def import_questions(folder: Path, target: Path, vocabulary: Vocabulary) -> AgqaImported:
    """Read all question files of a folder into `target`, whole or not at all."""
    told, shapes = AgqaImported(), AgqaShapes(vocabulary)
    with new_folder(target) as work:
        for (name, split), path in question_files(folder).items():
            (work / name).mkdir(exist_ok=True)
            hashes = []
            for number, part in enumerate(grown(read_file(path, split, shapes))):
                table(f"{split}-{number:05d}").write(part, work / name)
                hashes.append(part["id"].hash())
                tally(part, told)
            told.questions[path.name] = sum(map(len, hashes))
            refuse_repeated(pl.concat(hashes), work, name, split, path)
    return told


def grown(parts: Iterator[pl.DataFrame]) -> Iterator[pl.DataFrame]:
    """The same rows in tables of at least ROWS, but for the last; one table even if there is nothing."""
    waiting: list[pl.DataFrame] = []
    for part in parts:
        waiting.append(part)
        if sum(map(len, waiting)) >= ROWS:
            yield pl.concat(waiting)
            waiting = []
    yield pl.concat([AS_READ.empty(), *waiting])


def refuse_repeated(hashes: pl.Series, folder: Path, name: str, split: str, path: Path) -> None:
    """Ids that occur twice in a file. Equal hashes only say where to look."""
    twice = hashes.filter(hashes.is_duplicated()).unique()
    if twice.is_empty():
        return
    own = (read(folder, file)["id"] for file in files(folder, name) if split_of(file) == split)
    ids = pl.concat([part.filter(part.hash().is_in(twice.to_list())) for part in own])
    refuse([Fault(str(path), f"id {id!r} is there twice") for id in ids.filter(ids.is_duplicated()).unique().sort()])


def tally(part: pl.DataFrame, told: AgqaImported) -> None:
    told.shapes.update(part["form"].drop_nulls().unique())
    told.kept_as_is += int(part["as_is"].is_not_null().sum())
    for id, fault in part.filter(pl.col("fault").is_not_null()).select("id", "fault").iter_rows():
        told.faults[fault] += 1
        if told.faults[fault] <= EXAMPLES:
            told.examples.setdefault(fault, []).append(id)


def read_file(path: Path, split: str, shapes: AgqaShapes) -> Iterator[pl.DataFrame]:
    """The records of a file as tables of a few megabytes each, in order."""
    for piece in pieces(path):
        members = decoded(path, piece, msgspec.Raw)
        yield columns(members, split, shapes)


def columns(members: dict[str, msgspec.Raw], split: str, shapes: AgqaShapes) -> pl.DataFrame:
    """The fields of records, their programs as shapes, and what is irregular about them."""
    rows = zip(*(row(id, raw, split, shapes) for id, raw in members.items()), strict=True)
    names = (*FIELDS[split], "form", "words", "fault")
    found = pl.DataFrame([pl.Series(name, own, AS_READ.columns[name]) for name, own in zip(names, rows, strict=True)])
    found = found.with_columns(pl.Series("id", list(members), pl.String))
    missing = [pl.lit(None, dtype).alias(name) for name, dtype in TEST.items() if name not in FIELDS[split]]
    text = pl.Series([bytes(raw).decode() for raw in members.values()], dtype=pl.String)
    return AS_READ.frame(found.with_columns(own_text(found, text, split), *missing))


def row(id: str, raw: msgspec.Raw, split: str, shapes: AgqaShapes) -> tuple[Any, ...]:
    """The fields of one record, its shape and words, its fault."""
    try:
        values = msgspec.structs.asdict(RECORDS[split].decode(raw))
    except msgspec.MsgspecError as error:
        return (*(None,) * len(FIELDS[split]), None, None, f"record: {error}")
    values |= {name: bytes(values[name]).decode() for name in AS_JSON}
    shape, words, fault = shapes.program(values["program"])
    other = values["video_id"] != id.rpartition("-")[0]
    fault = fault or grounding_fault(values) or ("record: its id names another video than video_id" if other else None)
    return (*values.values(), shape, words, fault)


def own_text(records: pl.DataFrame, text: pl.Series, split: str) -> pl.Series:
    """[record] its text, where its fields put together would give another one; else null."""
    member = pl.concat_str(quoted(records["id"]), pl.lit(": "), text)
    return pl.select(pl.when(member != lines(records, split)).then(text)).to_series().alias("as_is")


def grounding_fault(record: dict[str, Any]) -> str | None:
    """Is every span of the grounding inside the question?"""
    try:
        grounds = GROUNDS.decode(record["sg_grounding"])
    except msgspec.MsgspecError:
        return "grounding: expected an object from spans to vertices"
    size = len(record["question"])
    for span in grounds:
        begin, _, end = span.partition("-")
        if not begin.isdigit() or not end.isdigit():
            return "grounding: a span that is not begin-end (a negative offset?)"
        if not int(begin) <= int(end) <= size:
            return "grounding: a span outside the question"
    return None


def import_agqa(folder: Path, out: Path, facts: Path | None = None) -> AgqaImported:
    """Questions of a folder into a run, new or not, with the facts of another run or of scene graphs."""
    question_files(folder)
    check_target(out)
    run = Run(out)
    there = run.vocabulary_file.is_file()
    if facts and there and run.newest():
        raise BadInput.at(out, "this run has facts already; leave out --facts, or choose a new folder")
    words = Run(facts).vocabulary_file if facts and Run(facts).vocabulary_file.is_file() else None
    source = run.vocabulary_file if there else words
    text = source.read_text("utf-8") if source else default_text()
    with ExitStack() as parts:
        work = run if there else Run(parts.enter_context(new_folder(out)))
        if not there:
            parts.enter_context(new_file(work.vocabulary_file)).write_text(text, "utf-8")
        if facts:
            stage, found = read_facts(facts, text)
            found.save(parts.enter_context(new_folder(getattr(work, stage))))
        return import_questions(folder, work.imported, parse(text, source or "agqa.toml"))


def read_facts(place: Path, text: str) -> tuple[str, Facts]:
    """(stage they belong to, facts) of a run, or of the scene graphs in a folder."""
    run = Run(place)
    if run.vocabulary_file.is_file():
        found = run.newest()
        if found is None:
            raise BadInput.at(place, "this run has no facts; `questree ingest` reads them")
        if run.vocabulary_file.read_text("utf-8") != text:
            raise BadInput.at(place, "its vocabulary is not the one of the run the questions go to")
        return ("facts" if run.facts.is_dir() else "raw"), found
    for folder in (place, place / "AGQA_scene_graphs"):
        if any((folder / name).is_file() for name in GRAPHS.values()):
            return "raw", read_agqa(folder, parse(text, "vocabulary")).facts
    raise BadInput.at(place, f"neither a run folder nor a folder with {' or '.join(GRAPHS.values())}")
