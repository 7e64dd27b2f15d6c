"""AGQA-Decomp's folders kept in a run as they came: every entry of a video once, and DAGs as numbers of them."""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
import polars as pl
from msgspec import Raw

from questree.faults import BadInput
from questree.formats.decomp_files import ENDING, ISOLATED, WRITTEN, ReleasedDag, file_of, video_of
from questree.formats.decomp_left_out import DagPlace, OddDags
from questree.rules import VIDEO_DAGS
from questree.tables.hierarchies import Numbers
from questree.tables.run import Run
from questree.tables.store import new_file, new_folder
from questree.tables.table import Table

FIELDS = ("question", "type", "old_program", "new_program", "answer")
STORED: dict[str, dict[str, Any]] = {
    "dags": {
        "video": pl.String,
        "key": pl.String,
        **dict.fromkeys(FIELDS, pl.String),  # as JSON
        "subquestion": pl.List(pl.UInt32),  # rows of the video's entries, in the order of the file
        "hierarchy": pl.List(pl.UInt32),
        "as_is": pl.String,  # the DAG's own JSON where these columns would give another one
    },
    "entries": {"video": pl.String, "entry": pl.String},  # `"text": {...}`
}


class StrictDag(ReleasedDag, forbid_unknown_fields=True):
    """The fields of the release and no others."""

    question: str
    type: Raw
    old_program: Raw
    new_program: Raw
    answer: Raw


class StrictNode(msgspec.Struct, forbid_unknown_fields=True):
    key: Any
    type: Any
    program: Any
    answer: Any


STRICT_DAG, STRICT_NODE = msgspec.json.Decoder(StrictDag), msgspec.json.Decoder(StrictNode)


def stored(name: str) -> Table:
    columns = STORED[name.partition("-")[0]]
    return Table(name, columns, frozenset(columns) - {"video"})


@dataclass
class DecompImported:
    """What was read, counted."""

    dags: dict[str, int] = field(default_factory=dict)  # per folder
    isolated: dict[str, int] = field(default_factory=dict)
    kept_as_is: int = 0
    odd: OddDags = field(default_factory=OddDags)

    def add(self, other: "DecompImported") -> None:
        """What was counted in a further part."""
        for name, count in other.dags.items():
            self.dags[name] += count
        self.kept_as_is += other.kept_as_is
        self.odd.add(other.odd)


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


def keep_files(source: Path, folder: int, names: Sequence[str], place: Path, part: str) -> DecompImported:
    """Some files of a folder, which has this number, as tables."""
    counts = DecompImported()
    videos = [VideoEntries(folder, name, counts) for name in names]
    dags = [row for video in videos for row in video.rows(source)]
    entries = [(video_of(Path(video.file)), member) for video in videos for member in video.known]
    for name, rows in (("dags", dags), ("entries", entries)):
        own = stored(f"{name}-{part}")
        with new_file(place / f"{own.name}.parquet") as file:
            own.write_to(pl.DataFrame(rows, schema=dict(own.columns), orient="row"), file)
    counts.dags[source.name] = len(dags)
    return counts


def read_json(path: Path, kind: type, wanted: str) -> Any:
    try:
        found = json.loads(path.read_bytes())
    except (ValueError, RecursionError) as error:
        raise BadInput.at(path, f"not JSON: {error}") from error
    if not isinstance(found, kind):
        raise BadInput.at(path, f"expected {wanted}, got {type(found).__name__}")
    return found


@dataclass
class VideoEntries:
    """The entries of a video, `"text": {...}`, numbered as they come."""

    folder: int
    file: str
    counts: DecompImported
    known: Numbers[str] = field(default_factory=Numbers)
    said: dict[str, str] = field(default_factory=dict)  # text -> the entry that came first

    def rows(self, source: Path) -> Iterator[tuple[Any, ...]]:
        video = video_of(Path(self.file))
        for number, (key, dag) in enumerate(read_json(source / self.file, dict, "an object of DAGs").items()):
            text, odd = (
                json.dumps(dag),
                partial(self.counts.odd.note, at=DagPlace(self.folder, False, self.file, number)),
            )
            try:
                read = STRICT_DAG.decode(text)
                for fault in self.faults(read):
                    odd(fault, named=f"{video} {key}")
                parts = [[entry(*each) for each in own.items()] for own in (read.subquestion, read.hierarchy)]
                head = [json.dumps(read.question), *(bytes(getattr(read, name)).decode() for name in FIELDS[1:])]
            except msgspec.MsgspecError:
                odd("DAG: not of the shape the release has; kept as it is", named=f"{video} {key}")
            else:
                if rebuilt(head, *parts) == text:
                    yield (video, key, *head, *([self.known[each] for each in own] for own in parts), None)
                    continue
            self.counts.kept_as_is += 1
            yield (video, key, *[None] * (len(FIELDS) + 2), text)

    def faults(self, dag: StrictDag) -> Iterator[str]:
        """What is odd about a DAG, of entries that are new in the video."""
        for text, raw in dag.subquestion.items():
            own = entry(text, raw)
            if own not in self.known:
                node = STRICT_NODE.decode(raw)
                if node.type not in VIDEO_DAGS.types:
                    yield f"type: {node.type!r} is none of the {len(VIDEO_DAGS.types)}"
                if self.said.setdefault(text, own) != own:
                    yield "text: its key, type, program or answer differs within the video"
                self.known[own]
        if dag.question not in dag.subquestion:
            yield "root: the question is not among its sub-questions"
        for text, raw in dag.hierarchy.items():
            for label, children in WRITTEN.decode(raw).items():
                if label not in VIDEO_DAGS.compositions:
                    yield f"composition: {label!r} is none of the {len(VIDEO_DAGS.compositions)}"
                for child in children:
                    if not {text, child} <= dag.subquestion.keys():
                        yield "edge: a question that is not among the sub-questions"


def entry(text: str, raw: Raw) -> str:
    return f"{json.dumps(text)}: {bytes(raw).decode()}"


def rebuilt(head: Sequence[str], nodes: Iterable[str], written: Iterable[str]) -> str:
    """The JSON of a DAG from its fields and entries."""
    fields = ", ".join(f'"{name}": {value}' for name, value in zip(FIELDS, head, strict=True))
    return f'{{{fields}, "subquestion": {{{", ".join(nodes)}}}, "hierarchy": {{{", ".join(written)}}}}}'


def export_imported(run: Run, out: Path) -> dict[str, dict[str, int]]:
    """Write what was imported; counts of DAGs and isolated questions per folder."""
    counts = {}
    with new_folder(out) as folder:
        for source in sorted(path for path in run.hierarchies.iterdir() if path.is_dir()):
            place = folder / source.name
            place.mkdir()
            found = {"DAGs": 0, "isolated": 0}
            for path in sorted(source.glob("dags-*.parquet")):
                entries = stored(path.stem.replace("dags", "entries")).read(source)
                of_video = dict(entries.group_by("video").agg("entry").iter_rows())
                for (video,), few in stored(path.stem).read(source).group_by("video", maintain_order=True):
                    members = [_member(row, of_video.get(video, [])) for row in few.iter_rows()]
                    write_json(place / file_of(str(video)), members, "{}")
                    found["DAGs"] += len(few)
            if (source / ISOLATED).is_file():
                (place / ISOLATED).write_bytes((source / ISOLATED).read_bytes())
                found["isolated"] = len(json.loads((place / ISOLATED).read_bytes()))
            counts[source.name] = found
    return counts


def _member(row: Sequence[Any], entries: Sequence[str]) -> str:
    """`"key": {...}` of a DAG."""
    _, key, *head, nodes, written, as_is = row
    dag = as_is or rebuilt(head, *([entries[at] for at in own] for own in (nodes, written)))
    return f"{json.dumps(key)}: {dag}"


def write_json(path: Path, members: list[str], ends: str) -> None:
    """One member per line."""
    path.write_text(ends[0] + "\n" + ",\n".join(members) + "\n" + ends[1] + "\n", "utf-8")
