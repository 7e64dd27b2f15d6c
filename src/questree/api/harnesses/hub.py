"""A run as a dataset of Hugging Face: Parquet files of every split, and a card that says what is in them."""

import re
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import msgspec
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

from questree.api.dag_tables import edge_table, node_table
from questree.api.harnesses.items import ALL, HarnessOptions, said, seen
from questree.api.question_steps import RunSteps
from questree.benchmarks import chosen
from questree.faults import BadInput, Fault, at_least
from questree.stages.decompose.hierarchies import hierarchies_in
from questree.tables.lock import read
from questree.tables.run import Run

SPLITS = ("train", "dev", "test")  # in this order
CONFIGS = ("questions", "edges")
SIZES = (1_000, 10_000, 100_000, 1_000_000, 10_000_000, 100_000_000)
SIZE_NAMES = ("n<1K", "1K<n<10K", "10K<n<100K", "100K<n<1M", "1M<n<10M", "10M<n<100M", "100M<n<1B")
ROWS = 4096  # of a group, in which a picture is kept once
ROOM = 1 << 30  # bytes of pictures that are kept once


@dataclass(frozen=True)
class HubOptions:
    media: Path | None = None
    frames: int = 8
    licence: str = "unknown"
    source: str = ""
    benchmark: str = ""

    def faults(self) -> list[Fault]:
        plain = all(sign.isalnum() or sign in ".-+" for sign in self.licence) and self.licence
        wanted = f"expected a name as mit, cc-by-4.0, other or unknown, got {self.licence!r}"
        return [*at_least(1, {"frames": self.frames}), *([] if plain else [Fault("--licence", wanted)])]

    @property
    def shown(self) -> HarnessOptions:
        return HarnessOptions(ALL, media=self.media, frames=self.frames)


@dataclass(frozen=True)
class Part:
    """One table of one split."""

    config: str
    of: str  # the split
    rows: int
    bytes: int
    features: Mapping[str, Any]

    @property
    def split(self) -> str:
        """As datasets takes it."""
        return re.sub(r"\W", "_", self.of)


def write_tables(run: Run, options: HubOptions, folder: Path) -> tuple[list[Part], pl.DataFrame]:
    """Files by config and split, and all questions with their split."""
    own, parts, every = chosen(run, options.benchmark, "decomposed"), list[Part](), list[pl.DataFrame]()
    for config in CONFIGS:
        (folder / config).mkdir()
    steps = RunSteps(run, own.name, evidence=False)
    there = [split for split in steps.splits.unique().to_list() if steps.count(split)]
    if not there:
        raise BadInput.at(run.folder, "expected decomposed questions, got none")
    for split in sorted(there, key=lambda name: (SPLITS.index(name) if name in SPLITS else len(SPLITS), name)):
        dags = hierarchies_in(run, split, own.name)
        nodes = node_table(dags)
        every.append(nodes.drop("program", "scope").with_columns(split=pl.lit(split)))
        parts.append(write_part(folder, "questions", split, with_pictures(nodes, options)))
        parts.append(write_part(folder, "edges", split, edge_table(dags).to_arrow()))
    return parts, pl.concat(every)


def with_pictures(nodes: pl.DataFrame, options: HubOptions) -> pa.Table:
    """Rows of a scope together; `images`, if they are wanted, as bytes with the name of their file."""
    of_images = nodes.schema["scope"] != pl.String
    order = nodes["scope"].list.join(",") if of_images else nodes["scope"]
    table = nodes[order.rank("dense").arg_sort()]
    if options.media is None:
        return table.to_arrow()
    home = options.media

    @lru_cache(maxsize=1024)
    def picture(name: str) -> dict[str, Any]:
        return {"bytes": (home / name).read_bytes(), "path": name}

    names = seen(table["scope"], options.shown, "images" if of_images else "video").to_list()
    kind = pa.list_(pa.struct({"bytes": pa.binary(), "path": pa.string()}))
    shown = pa.chunked_array(
        [
            pa.array([[picture(name) for name in each] for each in names[at : at + ROWS]], kind)
            for at in range(0, len(names), ROWS)
        ],
        kind,
    )
    return table.to_arrow().append_column("images", shown)


def write_part(folder: Path, config: str, split: str, table: pa.Table) -> Part:
    part = Part(config, split, len(table), 0, {})
    path = folder / config / f"{part.split}.parquet"
    plain = pa.table({name: plainly(table[name]) for name in table.column_names})
    found = {field.name: feature(field) for field in plain.schema}
    known = msgspec.json.encode({"info": {"features": found}})
    pq.write_table(
        plain.replace_schema_metadata({b"huggingface": known}),
        path,
        compression="zstd",
        row_group_size=ROWS,
        dictionary_pagesize_limit=ROOM,
    )
    return replace(part, bytes=path.stat().st_size, features=found)


def plainly(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Types that every reader knows."""
    known = {pa.large_string(): pa.string(), pa.string_view(): pa.string()}
    if pa.types.is_large_list(column.type):
        return column.cast(pa.list_(known.get(column.type.value_type, column.type.value_type)))
    return column.cast(known.get(column.type, column.type))


def feature(field: pa.Field) -> dict[str, Any]:
    """As datasets describes a column."""
    if pa.types.is_list(field.type):
        inner = field.type.value_type
        one = {"_type": "Image"} if pa.types.is_struct(inner) else {"dtype": str(inner), "_type": "Value"}
        return {"feature": one, "_type": "List"}
    return {"dtype": str(field.type), "_type": "Value"}


def card_head(parts: list[Part], options: HubOptions) -> str:
    """The YAML of a card."""
    total = sum(part.rows for part in parts if part.config == CONFIGS[0])
    lines = [
        f"license: {options.licence}",
        "language: [en]",
        "task_categories: [visual-question-answering]",
        "tags: [compositional, sub-questions, questree]",
        f"size_categories: ['{SIZE_NAMES[sum(total >= size for size in SIZES)]}']",
        "configs:",
    ]
    for config in CONFIGS:
        lines += [f"- config_name: {config}", *(["  default: true"] if config == CONFIGS[0] else []), "  data_files:"]
        for part in of_config(parts, config):
            lines += [f"  - split: {part.split}", f"    path: {config}/{part.split}.parquet"]
    lines += ["dataset_info:"]
    for config in CONFIGS:
        lines += [f"- config_name: {config}", "  features:"]
        for name, found in next(of_config(parts, config)).features.items():
            lines += [f"  - name: {name}", f"    {in_yaml(found)}"]
        lines += ["  splits:"]
        for part in of_config(parts, config):
            lines += [f"  - name: {part.split}", f"    num_bytes: {part.bytes}", f"    num_examples: {part.rows}"]
    return "\n".join(lines)


def in_yaml(found: Mapping[str, Any]) -> str:
    inner = found.get("feature", found)
    name = "image" if inner["_type"] == "Image" else inner["dtype"]
    return f"list: {name}" if found["_type"] == "List" else f"dtype: {name}"


def of_config(parts: list[Part], config: str) -> Iterator[Part]:
    return (part for part in parts if part.config == config)


def statistics(parts: list[Part], every: pl.DataFrame) -> str:
    """Counts by split, and types with their commonest answer, as tables of Markdown."""
    rows = ["| split | questions | sub-questions | with an answer | edges |", "|---|---|---|---|---|"]
    edges = {part.of: part.rows for part in of_config(parts, "edges")}
    for (split,), own in every.group_by("split", maintain_order=True):
        asked, known = int(own["asked"].sum()), len(own) - own["answer"].null_count()
        rows.append(f"| {split} | {asked:,} | {len(own) - asked:,} | {known:,} | {edges[str(split)]:,} |")
    rows += ["", "| type | questions and sub-questions | different answers | the commonest | its share |"]
    rows += ["|---|---|---|---|---|"]
    counts = every.group_by("type").len().sort("len", "type", descending=[True, False])
    for kind, count in counts.iter_rows():
        answers = (
            every.filter(type=kind)["answer"]
            .drop_nulls()
            .value_counts(sort=True)
            .sort("count", "answer", descending=[True, False])
        )
        known = sum(answers["count"])
        best, share = (answers["answer"][0], f"{100 * answers['count'][0] / known:.1f} %") if known else ("", "")
        rows.append(f"| {kind} | {count:,} | {len(answers):,} | {best} | {share} |")
    return "\n".join(rows)


def history(run: Run) -> str:
    """The stages of the run with their options, from its lock file."""
    if not run.lock_file.is_file():
        return "The run has no lock file."
    lock = read(run)
    lines = ["| stage | options |", "|---|---|"]
    for name, stage in lock.stages.items():
        told = msgspec.json.encode(stage.options).decode() if stage.options else ""
        lines.append(f"| {name} | {f'`{told}`' if told else ''} |".replace("  |", " |"))
    return "\n".join(lines)


def words(run: Run, options: HubOptions, parts: list[Part], every: pl.DataFrame) -> dict[str, str]:
    """Of the card."""
    own = ["--benchmark", options.benchmark] if options.benchmark else []
    questions = [*of_config(parts, CONFIGS[0])]
    first, last = questions[0], questions[-1]
    about = "the ids of the images" if first.features["scope"]["_type"] == "List" else "the id of the video"
    shown = "| `images` | what is seen, as pictures |\n" if "images" in first.features else ""
    return {
        "head": card_head(parts, options),
        "statistics": statistics(parts, every),
        "history": history(run),
        "licence": options.licence,
        "source": options.source or "scene annotations; whoever publishes this should say which",
        "about": about,
        "shown": shown,
        "split": last.split,
        "of": shlex.quote(last.of),
        "own": said(own),
    }
