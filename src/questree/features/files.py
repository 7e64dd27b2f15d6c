"""Shards of features on disk: safetensors (a header in JSON, then the numbers as they are) or Parquet."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

import msgspec
import numpy as np
import polars as pl
from numpy.typing import NDArray

from questree.columns.joins import listed, starts
from questree.faults import UNREADABLE, BadInput
from questree.features.rows import StreamRows
from questree.tables.store import new_file
from questree.tables.table import Table, read_parquet

FeatureFormat = Literal["safetensors", "parquet"]
NUMPY = {"F32": np.float32, "I64": np.int64, "I32": np.int32}
NAMES = {np.dtype(kind): name for name, kind in NUMPY.items()}
ALIGNED = 8  # bytes: where numbers begin
PARTS = ("values", "start", "number")
# Parquet: a row per frame, clip or object; `place` counts the places of the shard
ITEMS = Table("items", {"stream": pl.String, "place": pl.UInt32, "number": pl.Int64, "values": pl.List(pl.Float32)})


def write_shard(path: Path, streams: Mapping[str, StreamRows]) -> None:
    """Whole or not at all; the ending of its name is its format."""
    with new_file(path) as work:
        if path.suffix == ".parquet":
            pl.concat([_items(name, rows) for name, rows in streams.items()]).write_parquet(work)
        else:
            named = {f"{name}.{part}": getattr(rows, part) for name, rows in streams.items() for part in PARTS}
            work.write_bytes(packed({name: _kept(array) for name, array in named.items()}))


def read_shard(path: Path, places: int) -> dict[str, StreamRows]:
    """Stream -> its rows, of so many places; of safetensors the numbers stay on disk until they are taken."""
    if path.suffix == ".parquet":
        return _streams(path, places)
    arrays = mapped(path)
    names = dict.fromkeys(name.rpartition(".")[0] for name in arrays)
    try:
        return {name: StreamRows(*(arrays[f"{name}.{part}"] for part in PARTS)) for name in names}
    except KeyError as missing:
        raise BadInput.at(path, f"damaged: it has no {missing.args[0]}; make the features again") from missing


def _kept(array: NDArray[Any]) -> NDArray[Any]:
    return np.ascontiguousarray(array, np.float32 if array.dtype.kind == "f" else np.int64)


def packed(arrays: Mapping[str, NDArray[Any]]) -> bytes:
    """As safetensors has it."""
    header, at = dict[str, Any](), 0
    for name, array in arrays.items():
        end = at + array.nbytes
        header[name] = {"dtype": NAMES[array.dtype], "shape": array.shape, "data_offsets": (at, end)}
        at = end
    said = msgspec.json.encode(header)
    said += b" " * (-len(said) % ALIGNED)
    return b"".join([len(said).to_bytes(8, "little"), said, *(array.tobytes() for array in arrays.values())])


def mapped(path: Path) -> dict[str, NDArray[Any]]:
    """The arrays of a safetensors file, on disk until they are used."""
    try:
        with path.open("rb") as file:
            size = int.from_bytes(file.read(8), "little")
            header = msgspec.json.decode(file.read(size), type=dict[str, dict[str, Any]])
        content = np.memmap(path, np.uint8, "r", 8 + size)
        return {name: _view(content, each) for name, each in header.items() if name != "__metadata__"}
    except (OSError, ValueError, KeyError, MemoryError, OverflowError, *UNREADABLE) as error:
        raise BadInput.at(path, f"not a readable safetensors file ({type(error).__name__})") from error


def _view(content: NDArray[np.uint8], said: Mapping[str, Any]) -> NDArray[Any]:
    begin, end = said["data_offsets"]
    return content[begin:end].view(NUMPY[said["dtype"]]).reshape(said["shape"])


def _items(name: str, rows: StreamRows) -> pl.DataFrame:
    count, width = rows.values.shape
    values = listed(np.ascontiguousarray(rows.values, np.float32).reshape(-1), np.arange(count + 1) * width)
    place = np.repeat(np.arange(len(rows.start) - 1), np.diff(rows.start))
    return ITEMS.frame({"stream": [name] * count, "place": place, "number": rows.number, "values": values})


def _streams(path: Path, places: int) -> dict[str, StreamRows]:
    table = read_parquet(path)
    found = dict[str, StreamRows]()
    for (name,), own in table.group_by("stream", maintain_order=True):
        values = own["values"].explode().to_numpy().reshape(len(own), -1)
        start = starts(own["place"].to_numpy(), places)
        found[str(name)] = StreamRows(values, start, own["number"].to_numpy())
    return found
