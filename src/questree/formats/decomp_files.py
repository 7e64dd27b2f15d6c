"""AGQA-Decomp's folders, a JSON file of DAGs per video and isolated.json, as tables for scores.

Many DAGs repeat an entry, a text and what is said about it: each different one is decoded once.
"""

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import polars as pl
from msgspec import Raw

from questree.columns.joins import Ints, ranges
from questree.faults import UNREADABLE, BadInput, Fault, refuse
from questree.progress import watch
from questree.tables.hierarchies import NOTHING, Hierarchies, HierarchyPart, Numbers, together

ISOLATED, ENDING = "isolated.json", "_hierarchies"
OBJECT = re.compile(r"objExists\(([^()]*)\)")
CHUNK = 50  # files read at a time by one process
ONE_PROCESS = 2_000_000_000  # bytes; starting others for less does not pay
FAULTS = 20  # a folder that is not what we want has too many to print
Written = dict[str, list[str]]  # composition -> texts of its children
Entry = tuple[str, bytes]  # a text, and the JSON of what is said about it


class ReleasedNode(msgspec.Struct, gc=False):
    key: str
    type: str
    answer: str | None = None
    program: str | None = None
    question: str | None = None  # of an isolated one


class ReleasedDag(msgspec.Struct, gc=False):
    """Entries stay as they are written."""

    subquestion: dict[str, Raw]
    hierarchy: dict[str, Raw]


class WholeDag(msgspec.Struct, gc=False):
    subquestion: dict[str, ReleasedNode]
    hierarchy: dict[str, Written]


DAGS_OF, WHOLE = msgspec.json.Decoder(dict[str, ReleasedDag]), msgspec.json.Decoder(dict[str, WholeDag])
NODE, WRITTEN = msgspec.json.Decoder(ReleasedNode), msgspec.json.Decoder(Written)
LOOSE = msgspec.json.Decoder(list[ReleasedNode])


def object_of(program: str | None) -> str | None:
    """The o of objExists(o), None of any other program."""
    found = OBJECT.fullmatch(program) if program and program.startswith("objExists(") else None
    return found[1].strip() if found else None


def file_of(video: str) -> str:
    """The file of a video; as in addresses %2F stands for /, which no name of a file has."""
    name = video.replace("%", "%25").replace("/", "%2F") + ".json"
    return f"%69{name[1:]}" if name == ISOLATED else name


def video_of(path: Path) -> str:
    """The video whose file this is."""
    return path.stem.replace("%69", "i").replace("%2F", "/").replace("%25", "%")


def video_named(key: str) -> str:
    """A question without a DAG belongs to the video its key begins with: "1FXJT-12"."""
    return key.rpartition("-")[0] or key


def video_files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.glob("*.json") if path.name != ISOLATED)


def read_hierarchies(folder: Path, workers: int | None = None) -> Hierarchies:
    """The DAGs of every `<video>.json`, in order of file name, and the questions of isolated.json."""
    files, several = hierarchy_files(folder), workers or cores()
    if several == 1 or sum(path.stat().st_size for path in files) <= ONE_PROCESS:
        return combined(read_file(path) for path in watch(files, "hierarchies", len(files)))
    chunks = [files[at : at + CHUNK] for at in range(0, len(files), CHUNK)]
    from questree.workers import processes  # pools take a while to import

    with processes(several) as pool:
        return combined(watch(pool.map(read_chunk, chunks), "hierarchies", len(chunks)))


def cores() -> int:
    """Number of cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def read_texts(files: Iterable[Path]) -> pl.DataFrame:
    """id, question: the texts behind the keys of files that were read; isolated questions may have none."""
    texts = dict[str, str | None]()
    for path in files:
        if path.name == ISOLATED:
            for row in LOOSE.decode(path.read_bytes()):
                texts.setdefault(row.key, row.question)
            continue
        for text, raw in different([dag.subquestion for dag in DAGS_OF.decode(path.read_bytes()).values()])[1]:
            texts.setdefault(NODE.decode(raw).key, text)
    columns = {"id": list(texts), "question": list(texts.values())}
    return pl.DataFrame(columns, schema=dict.fromkeys(columns, pl.String))


def hierarchy_files(folder: Path) -> list[Path]:
    """The files of a folder of hierarchies, isolated.json last."""
    if not folder.is_dir():
        raise BadInput.at(folder, "no such folder; expected one with a <video>.json per video")
    loose = folder / ISOLATED
    files = [*video_files(folder), *([loose] if loose.is_file() else [])]
    if not files:
        raise BadInput.at(folder, "no hierarchies here: expected <video>.json files of {top key: DAG}")
    return files


def hierarchies_of(files: Mapping[str, Any]) -> Hierarchies:
    """The same from memory: {file name: its content}."""
    names = sorted(files, key=lambda name: (name == ISOLATED, name))
    return combined(file_tables(Path(name), msgspec.json.encode(files[name])) for name in names)


FileTables = HierarchyPart | list[Fault]  # the tables of files, or what is wrong with them


def read_chunk(paths: Sequence[Path]) -> FileTables:
    """What a process reads, in one piece."""
    try:
        return combined(map(read_file, paths)).part
    except BadInput as bad:
        return bad.faults


def combined(parts: Iterable[FileTables]) -> Hierarchies:
    """All of it, or all that is wrong with it."""
    every = list(parts)
    refuse([fault for faults in every if isinstance(faults, list) for fault in faults][:FAULTS])
    return together(part for part in every if isinstance(part, HierarchyPart))


def read_file(path: Path) -> FileTables:
    return file_tables(path, path.read_bytes())


def file_tables(path: Path, content: bytes) -> FileTables:
    if path.name == ISOLATED:
        try:
            return isolated_tables(LOOSE.decode(content))
        except UNREADABLE as error:
            return [Fault(str(path), f"expected a list of {{key, type, answer}}; {error}")]
    try:
        return video_tables(video_of(path), list(DAGS_OF.decode(content).values()))
    except (*UNREADABLE, LookupError):
        return video_faults(path, content)


def video_faults(path: Path, content: bytes) -> list[Fault]:
    """What is wrong with a file: its form, or texts its hierarchies mention that are no sub-question."""
    try:
        dags = WHOLE.decode(content)
    except UNREADABLE as error:
        return [Fault(str(path), f"expected {{top key: {{subquestion, hierarchy}}}}; {error}")]
    faults = list[Fault]()
    for top, dag in dags.items():
        listed = (one for written in dag.hierarchy.values() for one in written.values())
        for text in sorted(set(dag.hierarchy).union(*listed) - dag.subquestion.keys()):
            what = f"the hierarchy mentions {text!r}, which `subquestion` does not have"
            faults.append(Fault(f"{path}, DAG {top}", what))
    return faults


def isolated_tables(questions: Sequence[ReleasedNode]) -> HierarchyPart:
    videos, types, keys, words = (Numbers[str]() for _ in range(4))
    columns = {
        "video": [videos[video_named(one.key)] for one in questions],
        "type": [types[one.type] for one in questions],
        "key": [keys[one.key] for one in questions],
        "answer": [NOTHING if one.answer is None else words[one.answer] for one in questions],
    }
    names = {"videos": list(videos), "types": list(types), "words": list(words)}
    return HierarchyPart({"isolated": columns}, names, list(keys))


def video_tables(video: str, dags: Sequence[ReleasedDag]) -> HierarchyPart:
    """The tables of one file; an error if a hierarchy mentions a text that is no sub-question."""
    types, compositions, words, keys, texts = (Numbers[str]() for _ in range(5))

    node, entries = different([dag.subquestion for dag in dags])
    read = [NODE.decode(raw) for _, raw in entries]
    dag = np.repeat(np.arange(len(dags)), array([len(dag.subquestion) for dag in dags]))
    text = array([texts[text] for text, _ in entries])[node]
    columns = {
        "type": [types[own.type] for own in read],
        "key": [keys[own.key] for own in read],
        "answer": [NOTHING if own.answer is None else words[own.answer] for own in read],
        "object": [NOTHING if (name := object_of(own.program)) is None else words[name] for own in read],
    }
    nodes = {"dag": dag, "text": text, **{name: array(own)[node] for name, own in columns.items()}}
    place = dag * len(texts) + text  # a text is one node of its DAG
    order = np.argsort(place)

    def find(dag: Ints, text: Ints) -> Ints:
        """[row] the node of a DAG that has a text."""
        wanted = dag * len(texts) + text
        at = np.searchsorted(place, wanted, sorter=order)
        if (text == NOTHING).any() or (at == len(place)).any() or not np.array_equal(place[order[at]], wanted):
            raise LookupError("a hierarchy mentions a text that is no sub-question")
        return np.asarray(order[at])

    entry, entries = different([dag.hierarchy for dag in dags])
    written = [WRITTEN.decode(raw) for _, raw in entries]
    label = array([compositions[name] for own in written for name in own])
    size = array([len(listed) for own in written for listed in own.values()])
    child = array([texts.get(text, NOTHING) for own in written for listed in own.values() for text in listed])
    labels, edges = starts([len(own) for own in written]), starts(size)  # where those of an entry, a label begin
    again = repeats(np.repeat(np.arange(len(written)), np.diff(edges[labels])) * len(texts) + child)

    of_dag = np.repeat(np.arange(len(dags)), array([len(dag.hierarchy) for dag in dags]))
    parent = find(of_dag, array([texts.get(text, NOTHING) for text, _ in entries])[entry])  # [entry of a DAG]
    by_parent = np.argsort(parent)
    row, which = ranges(labels[entry[by_parent]], labels[entry[by_parent] + 1])
    parents = parent[by_parent][row]
    edge_of, edge = ranges(edges[which], edges[which + 1])
    composed = {"parent": parents, "composition": label[which], "first": starts(size[which])[:-1], "edges": size[which]}
    found = {
        "nodes": nodes | {"parent": np.isin(np.arange(len(dag)), parent)},
        "composed": composed,
        "edges": {"child": find(dag[parents[edge_of]], child[edge]), "repeated": again[edge]},
        "dags": {"video": np.zeros(len(dags), np.int64)},
    }
    names = {"videos": [video], "types": list(types), "compositions": list(compositions), "words": list(words)}
    return HierarchyPart(found, names, list(keys))


def different(entries: Sequence[Mapping[str, Raw]]) -> tuple[Ints, list[Entry]]:
    """([entry of every DAG] which of the different ones it is, those)."""
    known = Numbers[Entry]()
    return array([known[text, bytes(raw)] for own in entries for text, raw in own.items()]), list(known)


def array(numbers: Sequence[int]) -> Ints:
    return np.array(numbers, np.int64)


def starts(sizes: Sequence[int] | Ints) -> Ints:
    """[span + 1] where spans of these sizes begin, one after the other."""
    return np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)])


def repeats(numbers: Ints) -> Ints:
    """[row] was the number there before?"""
    found = np.ones(len(numbers), bool)
    found[np.unique(numbers, return_index=True)[1]] = False
    return found
