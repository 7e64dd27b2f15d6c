"""Tables that shards write for queries over all of them, as Arrow files in a scratch folder."""

import os
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from questree.tables.store import for_others


@dataclass(frozen=True)
class ShardTables:
    """Tables of several kinds; small enough to send anywhere that sees the folder."""

    scratch: Path

    def write(self, kind: str, name: str, rows: pl.DataFrame | pl.LazyFrame) -> None:
        """What a shard, or a piece of one, has of a kind; names are sorted as shards are."""
        with for_others(self.scratch / kind / f"{name}.arrow") as file:
            rows.lazy().sink_ipc(os.fspath(file))

    def files(self, kind: str) -> list[str]:
        return [os.fspath(file) for file in sorted((self.scratch / kind).glob("*.arrow"))]

    def scan(self, kind: str) -> pl.LazyFrame:
        """What all shards wrote, in their order."""
        return pl.scan_ipc(self.files(kind), glob=False)
