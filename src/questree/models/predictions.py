"""Predictions in the forms people have them: JSON, tables, logs of other tools."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
import polars as pl

from questree.faults import UNREADABLE, BadInput, Fault, refuse
from questree.models.logs import (
    FAILED,
    fields,
    is_saved,
    log_in,
    of_inspect,
    of_lmms_eval,
    read_eval,
    read_xlsx,
    saved_files,
)
from questree.tables.silence import silence
from questree.tables.store import content, read_json
from questree.tables.table import DAMAGED, read_parquet

IDS = ("id", "csv_q_id", "questionId", "question_id", "qid", "key", "index")  # the first found counts
PREDICTION, PROBABILITY, OPTIONS = "prediction", "probability", "options"
COLUMNS: dict[str, pl.DataType] = {
    "id": pl.String(),
    PREDICTION: pl.String(),
    PROBABILITY: pl.Float64(),
    OPTIONS: pl.List(pl.String),
}
FORMS = (
    ".jsonl or .ndjson (an object per line; samples of lmms-eval), .json (a list of objects; a log of inspect_ai), "
    ".csv, .tsv, .xlsx, .parquet, .arrow, .eval (inspect_ai); also .gz of texts; or a folder that datasets saved"
)
FAULTS = 20
MOST_COLUMNS = 10_000  # of a table of predictions
Text = str | int | float | bool | None


class PredictionRecord(msgspec.Struct, gc=False):
    """One prediction; numbers are taken as they are written."""

    id: Text = None
    csv_q_id: Text = None
    questionId: Text = None
    question_id: Text = None
    qid: Text = None
    key: Text = None
    index: Text = None
    prediction: Text | msgspec.UnsetType = msgspec.UNSET
    probability: float | None = None
    options: list[str] | None = None


@dataclass(frozen=True)
class Predictions:
    model: str
    table: pl.DataFrame  # id, prediction, probability, options; every id once
    duplicates: int  # rows that a later row with the same id replaced
    place: str = "predictions"  # what faults call it


@dataclass(frozen=True)
class FieldNames:
    """What a file calls the id of a question and what was said; '' for the usual names."""

    id: str = ""
    answer: str = ""

    def own(self, table: pl.DataFrame, path: Path) -> pl.DataFrame:
        """With the usual names for the columns that are called otherwise."""
        for name, usual in ((self.id, "id"), (self.answer, PREDICTION)):
            if name and name not in table.columns:
                raise BadInput.at(path, f"no column {name}; choose from {', '.join(table.columns)}")
            if name and name != usual:
                table = table.drop(usual, strict=False).rename({name: usual})
        return table


USUAL = FieldNames()


def read_predictions(path: Path, model: str = "", names: FieldNames = USUAL) -> Predictions:
    """A later row with the same id wins; a prediction that is null, or a request that failed, is none."""
    if path.is_dir() and not is_given(path):
        path = log_in(path)
    if not is_given(path):
        raise BadInput.at(path, "no such file of predictions")
    suffixes = [suffix for suffix in path.suffixes if suffix != ".gz"]
    form = suffixes[-1].lower() if suffixes else ""
    if path.is_file() and form not in READERS:
        raise BadInput.at(path, f"unknown form of predictions; expected {FORMS}")
    table = READERS[form](path, names) if path.is_file() else _saved(path, names)
    failed = pl.any_horizontal(pl.col(PREDICTION).str.starts_with(text) for text in FAILED)
    known = table.filter(pl.col(PREDICTION).is_not_null() & ~failed)
    last = known.unique("id", keep="last", maintain_order=True)
    return Predictions(model or model_name(path), last, len(known) - len(last))


def is_given(path: Path) -> bool:
    """A file, or a folder that `datasets` saved."""
    return path.is_file() or is_saved(path)


def form_of(path: Path) -> str:
    """What a file of predictions is recognised as, in words."""
    if path.is_dir():
        return "a folder saved by datasets"
    form = "".join(suffix for suffix in path.suffixes[-2:] if suffix != ".gz").lower()
    head = content(path)[:20_000].lstrip() if form.endswith((".json", ".jsonl", ".ndjson")) else b""
    if form.endswith(".eval") or (form.endswith(".json") and head[:1] == b"{"):
        return "a log of inspect_ai"
    if b'"filtered_resps"' in head.split(b"\n", 1)[0]:
        return "samples of lmms-eval"
    if form.endswith(".xlsx"):
        return "a workbook, as of VLMEvalKit"
    lines = form.endswith((".jsonl", ".ndjson"))
    return "JSON Lines" if lines else "a JSON list" if head else f"a table ({path.suffix.removeprefix('.')})"


def model_name(path: Path) -> str:
    """The file's name without its endings."""
    return path.name.split(".")[0] or path.name


def _list(path: Path, names: FieldNames) -> pl.DataFrame:
    text = content(path)
    if text.lstrip()[:1] == b"{":  # a log of inspect_ai, or nothing we know
        log: dict[str, Any] = read_json(path, dict[str, Any], f"a JSON list of {{{IDS[1]}, prediction}}")
        if "samples" not in log:
            raise BadInput.at(path, f"expected a JSON list of {{{IDS[1]}, prediction}}, got an object; {fields([log])}")
        return _of_records(path, of_inspect(log), names)
    if names != USUAL:
        wanted = f"a JSON list of {{{names.id or 'id'}, {names.answer or PREDICTION}}}"
        return _of_records(path, read_json(path, list[dict[str, Any]], wanted), names)
    records: list[PredictionRecord] = read_json(
        path, list[PredictionRecord], f"a JSON list of {{{IDS[1]}, prediction}}"
    )
    return _frame(path, records, "record")


def _lines(path: Path, names: FieldNames) -> pl.DataFrame:
    lines = content(path).splitlines()
    given = [line for line in lines if line.strip()]
    if names != USUAL or (given and b'"filtered_resps"' in given[0]):
        return _of_records(path, [_record(path, line, number) for number, line in enumerate(lines, 1) if line], names)
    decoder, rows, faults = msgspec.json.Decoder(PredictionRecord), list[PredictionRecord](), list[Fault]()
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            rows.append(decoder.decode(line))
        except UNREADABLE as error:
            faults.append(Fault(f"{path}, line {number}", str(error)))
            if len(faults) == FAULTS:
                break
    refuse(faults)
    return _frame(path, rows, "line")


def _record(path: Path, line: bytes, number: int) -> dict[str, Any]:
    try:
        record: dict[str, Any] = msgspec.json.decode(line, type=dict[str, Any])
    except UNREADABLE as error:
        raise BadInput.at(f"{path}, line {number}", str(error)) from error
    if "filtered_resps" not in record:
        return record
    told = of_lmms_eval(record, IDS)
    if told["id"] is None:
        hint = "let `process_results` return it inside a metric"
        raise BadInput.at(f"{path}, line {number}", f"no question id in the samples of lmms-eval; {hint}")
    return told


def _of_records(path: Path, records: list[dict[str, Any]], names: FieldNames) -> pl.DataFrame:
    """Records with fields of any names and values."""
    there = list(dict.fromkeys(name for record in records for name in record))
    columns = {name: [_text(record.get(name)) for record in records] for name in there if name not in (OPTIONS,)}
    table = pl.DataFrame(columns, schema=dict.fromkeys(columns, pl.String))
    return _named(path, names.own(table, path))


def _frame(path: Path, rows: list[PredictionRecord], called: str) -> pl.DataFrame:
    ids = _ids(rows)
    said = [row.prediction for row in rows]
    faults = [
        Fault(f"{path}, {called} {number}", f"no id; expected one of {', '.join(IDS)}")
        for number, id in enumerate(ids, 1)
        if id is None
    ]
    faults += [
        Fault(f"{path}, {called} {number}", f"no {PREDICTION}")
        for number, value in enumerate(said, 1)
        if value is msgspec.UNSET
    ]
    if faults:  # what is there instead
        faults[0] = Fault(faults[0].place, f"{faults[0].message}; {_there(path, called)}")
    refuse(faults[:FAULTS])
    columns: dict[str, list[Any]] = {
        "id": [id if type(id) is str else str(id) for id in ids],  # most are texts, and there are many
        PREDICTION: [value if type(value) is str else _text(value) for value in said],
        PROBABILITY: [row.probability for row in rows],
        OPTIONS: [row.options for row in rows],
    }
    return pl.DataFrame(columns, schema=COLUMNS)


def _there(path: Path, called: str) -> str:
    text = content(path)
    first = text.split(b"\n", 1)[0] if called == "line" else text
    try:
        records = msgspec.json.decode(first)
    except UNREADABLE as error:  # in a field that nobody asked for
        return str(error)
    return fields(records if isinstance(records, list) else [records])


def _ids(rows: list[PredictionRecord]) -> list[Text]:
    """[row] the first of its names for an id that has a value."""
    columns = ([getattr(row, name) for row in rows] for name in IDS)
    found = next(columns)
    for column in columns:
        if None not in found:
            break
        found = [other if own is None else own for own, other in zip(found, column, strict=True)]
    return found


def _text(value: Any) -> str | None:
    """Truth values are answered yes and no."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return None if value is None else str(value)


def _csv(path: Path, names: FieldNames, separator: str = ",") -> pl.DataFrame:
    data = content(path)
    if (columns := data.partition(b"\n")[0].count(separator.encode())) > MOST_COLUMNS:
        raise BadInput.at(path, f"expected at most {MOST_COLUMNS:,} columns, got {columns + 1:,}")
    try:  # everything as text, so that leading zeros stay; an empty field is an empty prediction
        table = pl.read_csv(data, infer_schema=False, separator=separator)
    except pl.exceptions.PolarsError as error:
        raise BadInput.at(path, f"not a readable CSV file ({type(error).__name__})") from error
    return _named(path, names.own(table, path)).with_columns(pl.col(PREDICTION).fill_null(""))


def _workbook(path: Path, names: FieldNames) -> pl.DataFrame:
    return _named(path, names.own(read_xlsx(path), path))


def _eval(path: Path, names: FieldNames) -> pl.DataFrame:
    return _of_records(path, read_eval(path), names)


def _parquet(path: Path, names: FieldNames) -> pl.DataFrame:
    return _named(path, names.own(read_parquet(path), path))


def _arrow(path: Path, names: FieldNames) -> pl.DataFrame:
    """As `datasets` saves them to disk, a stream; or an Arrow file."""
    for read in (pl.read_ipc_stream, pl.read_ipc):
        try:
            with silence():
                table = read(path)
        except DAMAGED:
            continue
        return _named(path, names.own(table, path))
    raise BadInput.at(path, "not a readable Arrow file")


def _saved(folder: Path, names: FieldNames) -> pl.DataFrame:
    return pl.concat([_arrow(file, names) for file in saved_files(folder)])


def _named(path: Path, table: pl.DataFrame) -> pl.DataFrame:
    id = next((name for name in IDS if name in table.columns), None)
    faults = [] if id else [f"no column with the id; expected one of {', '.join(IDS)}"]
    faults += [] if PREDICTION in table.columns else [f"no column {PREDICTION}"]
    came = f"; the columns are {', '.join(table.columns)}"
    refuse([Fault(str(path), fault + came) for fault in faults])
    there = [
        pl.col(name).cast(dtype, strict=False) if name in table.columns else pl.lit(None, dtype).alias(name)
        for name, dtype in list(COLUMNS.items())[1:]
        if name != OPTIONS or isinstance(table.schema.get(OPTIONS), pl.List) or OPTIONS not in table.columns
    ]
    return table.select(pl.col(str(id)).cast(pl.String).alias("id"), *there)


READERS: dict[str, Callable[[Path, FieldNames], pl.DataFrame]] = {
    ".jsonl": _lines,
    ".ndjson": _lines,
    ".json": _list,
    ".csv": _csv,
    ".tsv": partial(_csv, separator="\t"),
    ".xlsx": _workbook,
    ".parquet": _parquet,
    ".arrow": _arrow,
    ".eval": _eval,
}
TRUTHS = {"True": "yes", "true": "yes", "False": "no", "false": "no"}  # COVR's own predictor writes True and False


def truths_read(said: pl.Series, answers: Iterable[str]) -> pl.Series:
    """Truth values that were written as text are yes and no, where these are answers and the text itself is none."""
    known = set(answers)
    meant = {text: word for text, word in TRUTHS.items() if word in known and text not in known}
    return said.replace(meant) if meant else said
