"""An exporter: `questree export chat RUN --out DIR` writes the balanced questions as JSON lines for a chat model."""

import json
from pathlib import Path

import polars as pl

from questree.plugins import Run, exporter, questions


@exporter("chat", says="JSON lines of messages, one file per split.")
def write(run: Run, folder: Path) -> dict[str, int]:
    """Fill the folder, which takes the place of DIR when all is written; return what to count on the screen."""
    counts = {"train": 0, "dev": 0, "test": 0}
    for table in questions(run):
        for row in table.filter(pl.col("balanced")).iter_rows(named=True):
            asked = {"role": "user", "about": row["about"], "content": row["question"]}
            record = {"id": row["id"], "messages": [asked, {"role": "assistant", "content": row["answer"]}]}
            with (folder / f"{row['split']}.jsonl").open("a", encoding="utf-8") as file:
                file.write(json.dumps(record) + "\n")
            counts[row["split"]] += 1
    return counts
