"""What other tools write as predictions: lmms-eval, workbooks of VLMEvalKit, logs of inspect_ai, saved datasets."""

import io
import struct
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import msgspec
import polars as pl

from questree.faults import BadInput

FAILED = (  # a request that failed is no answer
    "[LMMS_EVAL_REQUEST_FAILED",
    "[LMMS_EVAL_BUDGET_EXCEEDED]",
    "Failed to obtain answer via API.",
)
ZSTANDARD = 93  # method of compression that this Python's zipfile does not know
LOCAL_HEADER = struct.Struct("<26xHH")  # ... lengths of name and extra field
MOST = 1 << 30  # bytes of one unpacked member
SAVED, SAVED_SPLITS = "state.json", "dataset_dict.json"  # what `save_to_disk` writes beside its data
LOGS = ("*.eval", "*_samples_*.jsonl", "*_questree.tsv", "*_questree.xlsx")  # as harnesses name them
SHOWN = 5
FIELDS = 20  # of a record, that a message names
SHEET = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"


def fields(records: Sequence[Mapping[str, Any]]) -> str:
    """What the first record has, for a message."""
    names = [f"{name:.40}" for name in map(str, islice(records[0], FIELDS + 1))] if records else []
    return (
        f"the fields are {', '.join([*names[:FIELDS], *['...'] * (len(names) > FIELDS)])}" if names else "it is empty"
    )


def of_lmms_eval(record: Mapping[str, Any], ids: Sequence[str]) -> dict[str, Any]:
    """A line of its samples: what was said, and the id that `process_results` put into a metric, or that of `doc`."""
    said = record["filtered_resps"]
    while isinstance(said, list):
        said = said[0] if said else None
    inner: list[Mapping[str, Any]] = [value for value in record.values() if isinstance(value, dict)]
    place = next((each for each in inner if any(name in each for name in ids)), record)
    id = next((place[name] for name in ids if name in place), None)
    return {"id": id, "prediction": said}


def of_inspect(log: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Samples of a log of inspect_ai; of several epochs the last counts."""
    samples = sorted(log.get("samples") or (), key=lambda sample: sample.get("epoch", 1))
    return [{"id": sample.get("id"), "prediction": _completion(sample)} for sample in samples]


def _completion(sample: Mapping[str, Any]) -> str | None:
    choices = (sample.get("output") or {}).get("choices") or []
    if sample.get("error") or not choices:
        return None
    content = choices[0].get("message", {}).get("content")
    if isinstance(content, list):
        return " ".join(part.get("text", "") for part in content if part.get("type", "text") == "text")
    return None if content is None else str(content)


def read_eval(path: Path) -> list[dict[str, Any]]:
    """A zipped log of inspect_ai: a file per sample."""
    try:
        with zipfile.ZipFile(path) as archive:
            names = [name for name in archive.namelist() if name.startswith("samples/") and name.endswith(".json")]
            samples = [msgspec.json.decode(_member(path, archive, name)) for name in names]
    except (zipfile.BadZipFile, msgspec.DecodeError, OSError, struct.error, ValueError) as error:
        raise BadInput.at(path, f"not a readable log of inspect_ai ({type(error).__name__})") from error
    return of_inspect({"samples": samples})


def _member(path: Path, archive: zipfile.ZipFile, name: str) -> bytes:
    info = archive.getinfo(name)
    if info.file_size > MOST:
        raise BadInput.at(path, f"{name} unpacks to {info.file_size:,} bytes, more than {MOST:,}")
    if info.compress_type != ZSTANDARD:
        return archive.read(name)
    import pyarrow as pa

    with path.open("rb") as file:
        file.seek(info.header_offset)
        name_length, extra = LOCAL_HEADER.unpack(file.read(LOCAL_HEADER.size))
        file.seek(name_length + extra, io.SEEK_CUR)
        packed = file.read(info.compress_size)
    return bytes(pa.decompress(packed, decompressed_size=info.file_size, codec="zstd"))


def read_xlsx(path: Path) -> pl.DataFrame:
    """The first sheet of a workbook, every cell as text; its first row are the names."""
    try:
        with zipfile.ZipFile(path) as archive:
            there = archive.namelist()
            shared = "xl/sharedStrings.xml"
            texts = [_text(item) for item in _xml(path, archive, shared)] if shared in there else []
            sheet = min((name for name in there if name.startswith("xl/worksheets/sheet")), default="")
            if not sheet:
                raise BadInput.at(path, "a workbook without a sheet")
            rows = list(_rows(_xml(path, archive, sheet), texts))
    except (zipfile.BadZipFile, ElementTree.ParseError, OSError, ValueError, IndexError) as error:
        raise BadInput.at(path, f"not a readable workbook ({type(error).__name__})") from error
    names = list(filter(None, rows[0].values())) if rows else []
    places = {name: at for at, name in (rows[0].items() if rows else ()) if name}
    columns = {name: [row.get(places[name]) for row in rows[1:]] for name in names}
    return pl.DataFrame(columns, schema=dict.fromkeys(names, pl.String))


def _xml(path: Path, archive: zipfile.ZipFile, name: str) -> ElementTree.Element:
    text = _member(path, archive, name)
    if b"<!DOCTYPE" in text[:4096] or b"<!ENTITY" in text:
        raise BadInput.at(path, f"{name} declares entities, which no workbook needs")
    return ElementTree.fromstring(text)


def _text(item: ElementTree.Element) -> str:
    return "".join(part.text or "" for part in item.iter(f"{SHEET}t"))


def _rows(sheet: ElementTree.Element, texts: Sequence[str]) -> Iterator[dict[str, str | None]]:
    """Column letters -> value of every row."""
    for row in sheet.iter(f"{SHEET}row"):
        cells = {}
        for cell in row.iter(f"{SHEET}c"):
            value, kind = cell.find(f"{SHEET}v"), cell.get("t")
            if kind == "inlineStr":
                said: str | None = _text(cell)
            elif value is None or value.text is None:
                said = None
            else:
                said = texts[int(value.text)] if kind == "s" else value.text
            cells[(cell.get("r") or "").rstrip("0123456789")] = said
        yield cells


def log_in(folder: Path) -> Path:
    """The one log that a harness left below a folder; of several one must be named."""
    found = sorted(path for pattern in LOGS for path in folder.rglob(pattern) if path.is_file())
    if len(found) > 1:
        few = f"{', '.join(map(str, found[:SHOWN]))}{' ...' if len(found) > SHOWN else ''}"
        raise BadInput.at(folder, f"expected one log of a harness, got {len(found)}; choose from {few}")
    return found[0] if found else folder


def is_saved(folder: Path) -> bool:
    """Was it written by the `save_to_disk` of Hugging Face's datasets?"""
    return any((folder / name).is_file() for name in (SAVED, SAVED_SPLITS))


def saved_files(folder: Path) -> list[Path]:
    """The Arrow files of such a folder, in their order; of several splits one must be named."""
    try:
        if (folder / SAVED_SPLITS).is_file():
            splits = msgspec.json.decode((folder / SAVED_SPLITS).read_bytes(), type=dict[str, list[str]])["splits"]
            inside = [folder / Path(split).name for split in splits]
            if len(inside) == 1:
                return saved_files(inside[0])
            known = ", ".join(map(str, inside))
            raise BadInput.at(folder, f"expected one split, got {len(inside)}; choose from {known}")
        state = msgspec.json.decode((folder / SAVED).read_bytes())
        found = [folder / Path(part["filename"]).name for part in state["_data_files"]]  # names only: never outside it
    except (msgspec.DecodeError, KeyError, TypeError, OSError) as error:
        raise BadInput.at(folder, f"not a readable folder of datasets ({type(error).__name__})") from error
    if not found:
        raise BadInput.at(folder, f"expected data files in {SAVED}, got none")
    return found
