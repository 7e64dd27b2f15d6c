"""AGQA's question files, {question id: record}, released or exported here: read into a run, or to be scored."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
import polars as pl

from questree.benchmarks.agqa.records import AS_JSON, FIELDS, TEST, AgqaRecord, lines, quoted, strict
from questree.faults import UNREADABLE, BadInput
from questree.formats.json_records import JsonPiece, JsonSpan, decoded, spans
from questree.notation.agqa import AgqaShapes
from questree.readings.forms import met
from questree.tables.questions import PROGRAM
from questree.tables.scored import ASKED, FLAGS, QuestionRecords
from questree.tables.store import content, new_file
from questree.tables.table import Table

SETS = ("balanced", "unbalanced")
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
    return [f"{name}/{path.name}" for split in FIELDS for path in sorted((folder / name).glob(f"{split}-*.parquet"))]


def split_of(file: str) -> str:
    return Path(file).name.partition("-")[0]


def read(folder: Path, file: str) -> pl.DataFrame:
    path = folder / file
    return table(path.stem).read(path.parent)


EXAMPLES = 3  # ids named per fault
ROWS = 1 << 16  # of a table on disk: what one process reads at once


@dataclass
class AgqaImported:
    """What was read, counted."""

    questions: dict[str, int] = field(default_factory=dict)  # per file
    shapes: set[str] = field(default_factory=set)
    kept_as_is: int = 0
    faults: Counter[str] = field(default_factory=Counter)
    examples: dict[str, list[str]] = field(default_factory=dict)  # fault -> some ids
    left_out: list[pl.DataFrame] = field(default_factory=list)  # id, why: what no question of a run can be made of
    videos: int = 0
    facts: bool = False  # is anything known about them?

    def add(self, other: "AgqaImported") -> None:
        """What was counted in a further part."""
        for file, count in other.questions.items():
            self.questions[file] = self.questions.get(file, 0) + count
        self.shapes |= other.shapes
        self.kept_as_is += other.kept_as_is
        self.faults.update(other.faults)
        for fault, ids in other.examples.items():
            self.examples[fault] = [*self.examples.get(fault, []), *ids][:EXAMPLES]

    def without_question(self) -> tuple[Counter[str], dict[str, list[str]]]:
        """Why there is no question in the run of so many records, and some of their ids."""
        rows = pl.concat(self.left_out).unique(maintain_order=True)
        every = dict[str, list[str]]()
        for id, why in rows.iter_rows():
            every.setdefault(why, []).append(id)
        return Counter({why: len(ids) for why, ids in every.items()}), {w: ids[:EXAMPLES] for w, ids in every.items()}


RECORDS = {split: msgspec.json.Decoder(strict(split)) for split in FIELDS}
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


@dataclass(frozen=True)
class FilePart:
    """Records of a question file that stand next to each other, and the table they become."""

    path: Path
    set: str
    split: str
    number: int
    spans: tuple[JsonSpan, ...]
    out: Path  # folder of the set

    @property
    def name(self) -> str:
        return f"{self.split}-{self.number:05d}"


def file_parts(folder: Path, out: Path) -> Iterator[FilePart]:
    """All records of a folder's question files, in parts of at least ROWS, but for the last of a file; one part even
    if there is nothing."""
    for (name, split), path in question_files(folder).items():
        number, waiting = 0, list[JsonSpan]()
        for span in spans(path):
            waiting.append(span)
            if sum(own.members for own in waiting) >= ROWS:
                yield FilePart(path, name, split, number, tuple(waiting), out / name)
                number, waiting = number + 1, []
        if waiting or not number:
            yield FilePart(path, name, split, number, tuple(waiting), out / name)


def read_part(part: FilePart, shapes: AgqaShapes) -> tuple[pl.DataFrame, AgqaImported]:
    """The records, which are also written to their table, and what is odd about them."""
    read = [columns(members(part.path, span.piece(part.path)), part.split, shapes) for span in part.spans]
    found, told = pl.concat([AS_READ.empty(), *read]), AgqaImported()
    with new_file(part.out / f"{part.name}.parquet") as file:
        table(part.name).write_to(found, file)
    told.questions[part.path.name] = len(found)
    tally(found, told)
    return found, told


def members(path: Path, piece: JsonPiece) -> dict[str, str]:
    """Id -> the text of a record."""
    found = decoded(path, piece, msgspec.Raw)
    try:
        return {id: bytes(raw).decode() for id, raw in found.items()}
    except UnicodeDecodeError as error:
        raise BadInput.at(path, f"not text in UTF-8 ({error})") from error


def tally(part: pl.DataFrame, told: AgqaImported) -> None:
    told.shapes.update(part["form"].drop_nulls().unique())
    told.kept_as_is += int(part["as_is"].is_not_null().sum())
    for id, fault in part.filter(pl.col("fault").is_not_null()).select("id", "fault").iter_rows():
        told.faults[fault] += 1
        if told.faults[fault] <= EXAMPLES:
            told.examples.setdefault(fault, []).append(id)


def columns(members: dict[str, str], split: str, shapes: AgqaShapes) -> pl.DataFrame:
    """The fields of records, their programs as shapes, and what is irregular about them."""
    rows = zip(*(row(id, raw, split, shapes) for id, raw in members.items()), strict=True)
    names = (*FIELDS[split], "form", "words", "fault")
    found = pl.DataFrame([pl.Series(name, own, AS_READ.columns[name]) for name, own in zip(names, rows, strict=True)])
    found = found.with_columns(pl.Series("id", list(members), pl.String))
    missing = [pl.lit(None, dtype).alias(name) for name, dtype in TEST.items() if name not in FIELDS[split]]
    text = pl.Series(list(members.values()), dtype=pl.String)
    return AS_READ.frame(found.with_columns(own_text(found, text, split), *missing))


def row(id: str, raw: str, split: str, shapes: AgqaShapes) -> tuple[Any, ...]:
    """The fields of one record, its shape and words, its fault."""
    try:
        values = msgspec.structs.asdict(RECORDS[split].decode(raw))
    except UNREADABLE as error:
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


SCORED = {"video": "video_id", "reasoning": "global", "direct": "direct_equiv"}  # column -> field of another name


def read_questions(path: Path) -> QuestionRecords:
    asked = records_of(scored_fields(decoded(path, JsonPiece(content(path), 0), AgqaRecord)))
    if not asked.videos:
        raise BadInput.at(path, "no questions")
    return replace(asked, texts=partial(read_texts, path))


class AskedText(msgspec.Struct, gc=False):
    """expected {question}"""

    question: str | None = None


def read_texts(path: Path) -> pl.DataFrame:
    """id, question of every record; null where it has no text."""
    records = decoded(path, JsonPiece(content(path), 0), AskedText)
    columns = {"id": list(records), "question": [each.question for each in records.values()]}
    return pl.DataFrame(columns, schema=dict.fromkeys(columns, pl.String))


def scored_fields(records: Mapping[str, Any]) -> pl.DataFrame:
    """Id -> AgqaRecord, as columns of ASKED."""
    names = [name for name in ASKED.columns if name not in ("id", "binary")]
    columns: dict[str, Any] = {
        name: [getattr(row, SCORED.get(name, name)) for row in records.values()] for name in names
    }
    columns |= {flag: list(map(bool, columns[flag])) for flag in FLAGS}
    columns |= {"id": list(records), "binary": [row.ans_type != "open" for row in records.values()]}
    columns["reasoning"] = lists(columns["reasoning"])
    return ASKED.frame(pl.DataFrame(columns, schema_overrides=ASKED.columns))


def lists(given: Sequence[Sequence[str]]) -> pl.Series:
    """Few of them differ; polars is slow at taking many, one by one."""
    known = dict[tuple[str, ...], int]()
    place = [known.setdefault(tuple(one), len(known)) for one in given]
    return pl.Series([[*one] for one in known], dtype=pl.List(pl.String)).gather(place)


def records_of(asked: pl.DataFrame) -> QuestionRecords:
    """Videos in the order they are met."""
    videos, place = met(asked["video"])
    return QuestionRecords(asked, videos, place)


REASONING = msgspec.json.Decoder(list[str])
LENIENT = msgspec.json.Decoder(AgqaRecord)


def imported_fields(records: pl.DataFrame) -> pl.DataFrame:
    """Imported records as columns of ASKED; what is no record at all is left out, as it has no answer."""
    plain, odd = records.filter(pl.col("answer").is_not_null()), records.filter(pl.col("answer").is_null())
    reasoning = lists([REASONING.decode(text) for text in plain["global"]])
    found = plain.select(
        "id",
        *("answer", "semantic", "structural", "steps"),
        *(pl.col(name).fill_null(0).cast(pl.Boolean) for name in FLAGS),
        video="video_id",
        reasoning=reasoning,
        binary=pl.col("ans_type") != "open",
        direct="direct_equiv",
    )
    lenient = dict[str, Any]()
    for id, text in odd.select("id", "as_is").iter_rows():
        with suppress(msgspec.MsgspecError):
            lenient[id] = LENIENT.decode(text)
    every = pl.concat([ASKED.frame(found), scored_fields(lenient)]) if lenient else ASKED.frame(found)
    return records.select("id").join(every, on="id", how="inner", maintain_order="left")
