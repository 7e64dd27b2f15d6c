"""Decomposed runs and AGQA-Decomp's release: a JSON file of DAGs per video, and isolated.json; read and written."""

import json
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import Executor
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import product
from json import dumps, loads
from pathlib import Path
from typing import Any

import msgspec
import polars as pl

from questree.faults import BadInput
from questree.formats.agqa_csvs import HEADER, file_name
from questree.formats.agqa_records import refuse_unwritable
from questree.formats.decomp_dags import dags_of
from questree.notation import agqa
from questree.notation.decomp import DECOMP
from questree.progress import watch
from questree.rules import VIDEO_DAGS
from questree.stages.decompose.choose import chosen_file
from questree.stages.decompose.spoken import Texts, in_pairs
from questree.stages.questions import Bank
from questree.tables.facts import SPLIT_UNSAID, Facts
from questree.tables.run import Run
from questree.tables.store import new_folder, only_earlier
from questree.tables.table import Table
from questree.workers import processes

ISOLATED = "isolated.json"
ENDING = "_hierarchies"
FIELDS = ("question", "type", "old_program", "new_program", "answer")
NODE_FIELDS = ("key", "type", "program", "answer")
EXAMPLES = 3  # places named per irregularity
FILES = 200  # video files per Parquet file

HIERARCHIES: dict[str, pl.DataType | type[pl.DataType]] = {  # one row per DAG
    "video": pl.String,
    "key": pl.String,
    **dict.fromkeys(FIELDS, pl.String),
    "nodes": pl.List(pl.UInt32),  # rows of the video's nodes, in the order of the file
    "parent": pl.List(pl.UInt32),  # per edge, in the order of the file: row of the video's nodes
    "label": pl.List(pl.UInt8),
    "child": pl.List(pl.UInt32),
    "as_is": pl.String,  # the DAG's own JSON where these columns would give another one
}
VIDEO_NODES: dict[str, pl.DataType | type[pl.DataType]] = {
    "video": pl.String,
    "text": pl.String,
    **dict.fromkeys(NODE_FIELDS, pl.String),
}


def table(name: str) -> Table:
    columns = VIDEO_NODES if name.startswith("nodes") else HIERARCHIES
    return Table(name, columns, frozenset(columns) - {"video"})


@dataclass
class DecompImported:
    """What was read, counted."""

    dags: dict[str, int] = field(default_factory=dict)  # per folder
    isolated: dict[str, int] = field(default_factory=dict)
    kept_as_is: int = 0
    odd: Counter[str] = field(default_factory=Counter)
    examples: dict[str, list[str]] = field(default_factory=dict)

    def note(self, what: str, where: str) -> None:
        self.odd[what] += 1
        if self.odd[what] <= EXAMPLES:
            self.examples.setdefault(what, []).append(where)


def hierarchy_folders(folder: Path) -> list[Path]:
    """The folder itself if it has DAGs, or those inside it that end like the release's."""
    if not folder.is_dir():
        raise BadInput.at(folder, "no such folder")
    if any(folder.glob("*.json")):
        return [folder]
    found = sorted(path for path in folder.iterdir() if path.is_dir() and path.name.endswith(ENDING))
    if not found:
        raise BadInput.at(folder, f"no hierarchies: expected <video>.json files, or folders named ..{ENDING}")
    return found


def import_decomp(folder: Path, target: Path) -> DecompImported:
    """Read all DAGs into `target`, whole or not at all."""
    told, folders = DecompImported(), hierarchy_folders(folder)
    with new_folder(target) as work:
        for source in folders:
            place = work / source.name
            place.mkdir()
            files = sorted(path for path in source.glob("*.json") if path.name != ISOLATED)
            reading = watch(files, f"reading {source.name}", len(files))
            for number, begin in enumerate(range(0, len(files), FILES)):
                few = [path for path, _ in zip(reading, files[begin : begin + FILES], strict=False)]
                read = [read_file(path, told) for path in few]
                for name, at in (("dags", 0), ("nodes", 1)):
                    rows = [row for one in read for row in one[at]]
                    own = table(f"{name}-{number:05d}")
                    own.write(pl.DataFrame(rows, schema=dict(own.columns), orient="row"), place)
                told.dags[source.name] = told.dags.get(source.name, 0) + sum(len(dags) for dags, _ in read)
            told.isolated[source.name] = copy_isolated(source / ISOLATED, place / ISOLATED)
    return told


def copy_isolated(source: Path, target: Path) -> int:
    if not source.is_file():
        return 0
    rows = decoded(source, source.read_bytes())
    if not isinstance(rows, list):
        raise BadInput.at(source, f"expected a list of questions, got {type(rows).__name__}")
    target.write_bytes(source.read_bytes())
    return len(rows)


def decoded(path: Path, text: bytes) -> Any:
    try:
        return json.loads(text)
    except ValueError as error:
        raise BadInput.at(path, f"not JSON: {error}") from error


def read_file(path: Path, told: DecompImported) -> tuple[list[tuple[Any, ...]], list[tuple[Any, ...]]]:
    """(rows of DAGs, rows of nodes) of one video."""
    dags = decoded(path, path.read_bytes())
    if not isinstance(dags, dict):
        raise BadInput.at(path, f"expected an object of DAGs, got {type(dags).__name__}")
    video = VideoNodes(path.stem, told)
    rows = [video.row(key, dag) for key, dag in dags.items()]
    return rows, [(path.stem, *node) for node in video.listed]


@dataclass
class VideoNodes:
    """The nodes of a video, numbered as they come."""

    name: str
    told: DecompImported
    nodes: dict[tuple[Any, ...], int] = field(default_factory=dict)  # (text, key, type, program, answer) -> number
    listed: list[tuple[Any, ...]] = field(default_factory=list)  # the same by number
    known: dict[str, tuple[Any, ...]] = field(default_factory=dict)  # text -> what was said first about it

    def row(self, key: str, dag: Any) -> tuple[Any, ...]:
        try:
            found = self.columns(key, dag)
        except (KeyError, TypeError, AttributeError, ValueError):
            self.told.note("DAG: not of the shape the release has; kept as it is", f"{self.name} {key}")
            found = None
        if found is not None and json.dumps(rebuilt(found, self.listed)) == json.dumps(dag):
            return (*found, None)
        self.told.kept_as_is += 1
        return (self.name, key, *[None] * (len(HIERARCHIES) - 3), json.dumps(dag))

    def columns(self, key: str, dag: Any) -> tuple[Any, ...]:
        if set(dag) != {*FIELDS, "subquestion", "hierarchy"}:
            raise ValueError(key)
        place, number = f"{self.name} {key}", dict[str, int]()
        for text, node in dag["subquestion"].items():
            number[text] = self.node(text, node, place)
        if dag["question"] not in number:
            self.told.note("root: the question is not among its sub-questions", place)
        edges: list[tuple[int, int, int]] = []
        for text, compositions in dag["hierarchy"].items():
            for label, children in compositions.items():
                if label not in VIDEO_DAGS.compositions:
                    self.told.note(f"composition: {label!r} is none of the {len(VIDEO_DAGS.compositions)}", place)
                for child in children:
                    if child not in number or text not in number:
                        self.told.note("edge: a question that is not among the sub-questions", place)
                    edges.append((number[text], VIDEO_DAGS.compositions.index(label), number[child]))
        parents, labels, parts = ([edge[at] for edge in edges] for at in range(3))
        return (self.name, key, *(dag[name] for name in FIELDS), list(number.values()), parents, labels, parts)

    def node(self, text: str, node: dict[str, Any], place: str) -> int:
        if set(node) != set(NODE_FIELDS):
            raise ValueError(text)
        said = (text, *(node[name] for name in NODE_FIELDS))
        if said not in self.nodes:
            self.nodes[said] = len(self.listed)
            self.listed.append(said)
            if node["type"] not in VIDEO_DAGS.types:
                self.told.note(f"type: {node['type']!r} is none of the {len(VIDEO_DAGS.types)}", place)
            if self.known.setdefault(text, said) != said:
                self.told.note("text: its key, type, program or answer differs within the video", place)
        return self.nodes[said]


def rebuilt(row: tuple[Any, ...], nodes: list[tuple[Any, ...]]) -> dict[str, Any]:
    """The DAG a row stands for."""
    _, _, *values, own, parents, labels, parts = row
    hierarchy: dict[str, dict[str, list[str]]] = {}
    for parent, label, part in zip(parents, labels, parts, strict=True):
        hierarchy.setdefault(nodes[parent][0], {}).setdefault(VIDEO_DAGS.compositions[label], []).append(nodes[part][0])
    entries = {nodes[at][0]: dict(zip(NODE_FIELDS, nodes[at][1:], strict=True)) for at in own}
    return {**dict(zip(FIELDS, values, strict=True)), "subquestion": entries, "hierarchy": hierarchy}


def stored(folder: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """(video, its DAGs) of an imported folder, as they were."""
    for path in sorted(folder.glob("dags-*.parquet")):
        dags, nodes = table(path.stem).read(folder), table(path.stem.replace("dags", "nodes")).read(folder)
        own = {str(video): few.drop("video").rows() for (video,), few in nodes.group_by("video", maintain_order=True)}
        for (video,), few in dags.group_by("video", maintain_order=True):
            yield (
                str(video),
                {
                    row[1]: json.loads(row[-1]) if row[-1] else rebuilt(row[:-1], own.get(str(video), []))
                    for row in few.iter_rows()
                },
            )


ISOLATED = "isolated.json"
SPLITS = ("train", "test")
CSVS = "csvs"
ALL_PARTS, TO_TRAIN = "decomp", "augmented"  # CSVs: questions and all below them, or what was chosen to train on


def folder_name(set: str, split: str) -> str:
    return f"{set}_{split}_hierarchies"


def export_decomp(run: Run, out: Path, workers: int = 2, pool: Executor | None = None) -> dict[str, dict[str, int]]:
    """Write `<set>_<split>_hierarchies/`, whole or not at all; counts of DAGs and isolated questions per folder."""
    check_target(out)
    if not run.decomposed.is_dir() and run.hierarchies.is_dir():
        return export_imported(run, out)
    if not run.decomposed.is_dir():
        raise BadInput.at(run.decomposed, "not there yet; `questree decompose` writes it")
    name, bank = set_of(run), Bank(run)
    refuse_unwritable(bank.edition, lambda node: DECOMP.write(in_pairs(node), bank.vocabulary))
    refuse_unwritable(bank.edition, lambda node: agqa.write(node, bank.vocabulary, bank.edition.name))
    counts = {split: {"DAGs": 0, "isolated": 0} for split in SPLITS}
    loose: dict[str, list[str]] = {split: [] for split in SPLITS}
    with new_folder(out) as folder, processes(workers, pool) as executor:
        for place in (CSVS, *(folder_name(name, split) for split in SPLITS)):
            (folder / place).mkdir()
        shards = sorted(path.name for path in run.decomposed.iterdir() if path.is_dir())
        futures = [executor.submit(write_shard, run.folder, shard, folder, name) for shard in shards]
        for future in watch(futures, "export", len(futures)):
            for split, (dags, isolated) in future.result().items():
                counts[split]["DAGs"] += dags
                counts[split]["isolated"] += len(isolated)
                loose[split] += isolated
        for split in SPLITS:
            write_json(folder / folder_name(name, split) / ISOLATED, loose[split], "[]")
        join_csvs(folder / CSVS, name)
    return {folder_name(name, split): found for split, found in counts.items()}


def export_imported(run: Run, out: Path) -> dict[str, dict[str, int]]:
    """Write what was imported."""
    counts = {}
    with new_folder(out) as folder:
        for source in sorted(path for path in run.hierarchies.iterdir() if path.is_dir()):
            place = folder / source.name
            place.mkdir()
            found = {"DAGs": 0, "isolated": 0}
            for video, dags in stored(source):
                write_json(place / f"{video}.json", [f"{dumps(key)}: {dumps(dag)}" for key, dag in dags.items()], "{}")
                found["DAGs"] += len(dags)
            if (source / ISOLATED).is_file():
                text = (source / ISOLATED).read_bytes()
                (place / ISOLATED).write_bytes(text)
                found["isolated"] = len(loads(text))
            counts[source.name] = found
    return counts


def check_target(out: Path) -> None:
    """An earlier export may be replaced, nothing else."""
    only_earlier(out, lambda name: name.endswith("_hierarchies") or name == CSVS)


def set_of(run: Run) -> str:
    plan = msgspec.json.decode((run.decomposed / "plan.json").read_bytes())
    return "balanced" if plan["options"]["balanced"] else "unbalanced"


def write_json(path: Path, members: list[str], ends: str) -> None:
    """One member per line."""
    path.write_text(ends[0] + "\n" + ",\n".join(members) + "\n" + ends[1] + "\n", "utf-8")


@lru_cache(maxsize=1)
def corpus(run: Path) -> tuple[Bank, Facts, Texts, pl.DataFrame | None]:
    """What all shards share; the sub-questions chosen to train on, if any were."""
    bank, path = Bank(Run(run)), chosen_file(Run(run))
    return bank, Run(run).load("facts"), Texts(bank.vocabulary), pl.read_parquet(path) if path.is_file() else None


def write_shard(run: Path, name: str, out: Path, set: str) -> dict[str, tuple[int, list[str]]]:
    """The files of the shard's videos; per split the number of DAGs, and the isolated questions."""
    bank, facts, said, chosen = corpus(run)
    made = dags_of(bank.shard(bank.run.questions / name), facts, said, bank.run.decomposed / name)
    found: dict[str, tuple[int, list[str]]] = {split: (0, []) for split in SPLITS}
    for video, dags, isolated in made.videos():
        id, split = facts.videos["id"][video], facts.videos["split"][video] or SPLIT_UNSAID
        if dags:
            write_json(out / folder_name(set, split) / f"{id}.json", dags, "{}")
        before, loose = found[split]
        found[split] = (before + len(dags), loose + isolated)
    for video, question in made.isolated_negatives():
        found[facts.videos["split"][video] or SPLIT_UNSAID][1].append(question)
    write_rows(made.rows(), facts, out / CSVS, name, ALL_PARTS)
    if chosen is not None:
        own = chosen.join(made.said.select("video").unique(), on="video", how="semi")
        write_rows(made.rows(own["node"].to_numpy()), facts, out / CSVS, name, TO_TRAIN)
    return found


def write_rows(rows: pl.DataFrame, facts: Facts, folder: Path, shard: str, kind: str) -> None:
    """The shard's part of the CSV files of a kind; to train on, a row needs an answer."""
    split = facts.videos["split"].replace("", SPLIT_UNSAID).gather(rows["video"])
    id = facts.videos["id"].gather(rows["video"])
    table = rows.select("key", "question", "answer", vid_id=id, gif_name=id, description=pl.lit("none"))
    answered = rows["answer"].is_not_null()
    table.filter((split == "train") & answered).write_parquet(folder / f"{kind}-train-{shard}.parquet")
    if kind != TO_TRAIN:
        table.filter(split == "test").write_parquet(folder / f"{kind}-test-{shard}.parquet")


def join_csvs(folder: Path, set: str) -> None:
    """Parts into files, rows numbered through."""
    for kind, split in product((ALL_PARTS, TO_TRAIN), SPLITS):
        parts, number = sorted(folder.glob(f"{kind}-{split}-*.parquet")), 0
        if not parts and kind == TO_TRAIN:
            continue
        with (folder / file_name(split.capitalize(), "", f"{set}-{kind}")).open("wb") as file:
            file.write(HEADER.encode())
            for part in parts:
                table = pl.read_parquet(part)
                table.with_row_index("", number).write_csv(file, include_header=False)
                number += len(table)
                part.unlink()
