"""Reads predictions in the forms people have them: JSON Lines, JSON lists, CSV, Parquet; ids stay strings."""

import gzip
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
import polars as pl

from questree.faults import BadInput, Fault, refuse

IDS = (
    "id",
    "csv_q_id",
    "questionId",
    "question_id",
    "qid",
    "key",
)  # what the question's id is called, first found wins
PREDICTION, PROBABILITY, OPTIONS = "prediction", "probability", "options"
COLUMNS: dict[str, pl.DataType] = {
    "id": pl.String(),
    PREDICTION: pl.String(),
    PROBABILITY: pl.Float64(),
    OPTIONS: pl.List(pl.String),
}
FORMS = ".jsonl or .ndjson (an object per line), .json (a list of objects), .csv, .parquet; also .gz of the first three"
FAULTS = 20
Text = str | int | float | bool | None


class PredictionRecord(msgspec.Struct, gc=False):
    """One prediction; numbers are taken as they are written."""

    id: Text = None
    csv_q_id: Text = None
    questionId: Text = None
    question_id: Text = None
    qid: Text = None
    key: Text = None
    prediction: Text | msgspec.UnsetType = msgspec.UNSET
    probability: float | None = None
    options: list[str] | None = None


@dataclass(frozen=True)
class Predictions:
    model: str
    table: pl.DataFrame  # id, prediction, probability, options; every id once
    duplicates: int  # rows that a later row with the same id replaced


def read_predictions(path: Path, model: str = "") -> Predictions:
    """A later row with the same id wins; a prediction that is null is none."""
    if not path.is_file():
        raise BadInput.at(path, "no such file of predictions")
    forms = {".jsonl": _lines, ".ndjson": _lines, ".json": _list, ".csv": _csv, ".parquet": _parquet}
    suffixes = [suffix for suffix in path.suffixes if suffix != ".gz"]
    read = forms.get(suffixes[-1] if suffixes else "")
    if read is None:
        raise BadInput.at(path, f"unknown form of predictions; expected {FORMS}")
    table = read(path)
    known = table.filter(pl.col(PREDICTION).is_not_null())
    last = known.unique("id", keep="last", maintain_order=True)
    return Predictions(model or model_name(path), last, len(known) - len(last))


def model_name(path: Path) -> str:
    """The file's name without its endings."""
    return path.name.split(".")[0] or path.name


def _content(path: Path) -> bytes:
    content = path.read_bytes()
    if content[:2] != b"\x1f\x8b":
        return content
    try:
        return gzip.decompress(content)
    except (OSError, EOFError) as error:
        raise BadInput.at(path, "a damaged gzip file") from error


def _list(path: Path) -> pl.DataFrame:
    try:
        return _frame(path, msgspec.json.decode(_content(path), type=list[PredictionRecord]), "record")
    except msgspec.DecodeError as error:
        raise BadInput.at(path, f"expected a JSON list of {{{IDS[1]}, prediction}}; {error}") from error


def _lines(path: Path) -> pl.DataFrame:
    decoder, rows, faults = msgspec.json.Decoder(PredictionRecord), list[PredictionRecord](), list[Fault]()
    for number, line in enumerate(_content(path).splitlines(), 1):
        if not line.strip():
            continue
        try:
            rows.append(decoder.decode(line))
        except msgspec.DecodeError as error:
            faults.append(Fault(f"{path}, line {number}", str(error)))
            if len(faults) == FAULTS:
                break
    refuse(faults)
    return _frame(path, rows, "line")


def _frame(path: Path, rows: list[PredictionRecord], called: str) -> pl.DataFrame:
    ids = [next((value for name in IDS if (value := getattr(row, name)) is not None), None) for row in rows]
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
    refuse(faults[:FAULTS])
    columns: dict[str, list[Any]] = {
        "id": [str(id) for id in ids],
        PREDICTION: [_text(value) for value in said],
        PROBABILITY: [row.probability for row in rows],
        OPTIONS: [row.options for row in rows],
    }
    return pl.DataFrame(columns, schema=COLUMNS)


def _text(value: Any) -> str | None:
    """Truth values are answered yes and no."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return None if value is None else str(value)


def _csv(path: Path) -> pl.DataFrame:
    try:  # everything as text, so that leading zeros stay; an empty field is an empty prediction
        return _named(path, pl.read_csv(_content(path), infer_schema=False)).with_columns(
            pl.col(PREDICTION).fill_null("")
        )
    except pl.exceptions.PolarsError as error:
        raise BadInput.at(path, f"not a readable CSV file ({type(error).__name__})") from error


def _parquet(path: Path) -> pl.DataFrame:
    try:
        return _named(path, pl.read_parquet(path))
    except pl.exceptions.PolarsError as error:
        raise BadInput.at(path, f"not a readable Parquet file ({type(error).__name__})") from error


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
