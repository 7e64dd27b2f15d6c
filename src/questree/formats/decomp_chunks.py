"""Folders of released DAGs shared out by videos: which files and isolated questions a worker packs."""

from collections.abc import Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import msgspec
import polars as pl

from questree.faults import UNREADABLE
from questree.formats.decomp_files import ISOLATED, video_files, video_of
from questree.formats.decomp_kept import read_json
from questree.formats.decomp_packed import DagPacker, PlacedId, decoded
from questree.tables.store import for_others, new_file
from questree.tables.table import Table
from questree.vocabulary.packed import unpacked_words
from questree.workers import over

VIDEOS = 100  # of a chunk
VideoFiles = dict[str, list[tuple[int, str]]]  # video -> its files: number of the folder and name
OWNERS = Table("owners", {"video": pl.String, "chunk": pl.UInt32})
LIST = msgspec.json.Decoder(list[msgspec.Raw])
DEALT = msgspec.msgpack.Decoder(dict[int, bytes])


class Keyed(msgspec.Struct, gc=False):
    key: str


@dataclass(frozen=True)
class DagChunk:
    """Videos whose DAGs are read together."""

    number: int
    files: tuple[tuple[str, ...], ...]  # [folder] in order


@dataclass(frozen=True)
class DagsTask:
    """What chunks are read with; small enough to send anywhere that sees the run and the folders."""

    folders: tuple[Path, ...]
    run: Path
    words: bytes  # the vocabulary, packed; nothing if DAGs are only kept
    scratch: Path
    kept: Path  # for DAGs as they came, by folders

    def isolated(self, folder: int, chunk: int) -> Path:
        return self.scratch / f"isolated-{folder}-{chunk:06d}"

    def packed(self, chunk: int) -> Path:
        return self.scratch / f"packed-{chunk:06d}"


def files_by_video(folders: Sequence[Path]) -> VideoFiles:
    """Videos and their files come in the order of the folders."""
    found: VideoFiles = {}
    for at, folder in enumerate(folders):
        for path in video_files(folder):
            found.setdefault(video_of(path), []).append((at, path.name))
    return found


def chunks_of(folders: int, files: VideoFiles) -> list[DagChunk]:
    """Some videos at a time; one chunk even if there are isolated questions alone."""
    videos = list(files)
    some = [videos[at : at + VIDEOS] for at in range(0, len(videos), VIDEOS)] or [[]]
    return [DagChunk(number, _files(folders, files, own)) for number, own in enumerate(some)]


def _files(folders: int, files: VideoFiles, videos: Sequence[str]) -> tuple[tuple[str, ...], ...]:
    found = [list[str]() for _ in range(folders)]
    for video in videos:
        for at, name in files[video]:
            found[at].append(name)
    return tuple(tuple(sorted(own)) for own in found)


def owners(chunks: Sequence[DagChunk]) -> dict[str, int]:
    """Video -> the chunk that has it; the first has those that are not here."""
    return {video_of(Path(name)): chunk.number for chunk in chunks for own in chunk.files for name in own}


def deal(task: DagsTask, owner: Mapping[str, int], pool: Executor) -> dict[str, int]:
    """Keep isolated questions, and deal them to the chunks of their videos; how many each folder has."""
    there = [at for at, folder in enumerate(task.folders) if (folder / ISOLATED).is_file()]
    OWNERS.write_piece(pl.DataFrame([list(owner), list(owner.values())], dict(OWNERS.columns)), task.scratch)
    counts = over(pool, "isolated questions", "folder", there, deal_isolated, task)
    return {task.folders[at].name: count for at, count in zip(there, counts, strict=True)}


def deal_isolated(task: DagsTask, folder: int) -> int:
    """Keep the isolated questions of a folder, and write those of each chunk; how many there are."""
    source = task.folders[folder]
    count = len(read_json(source / ISOLATED, list, "a list of questions"))
    with new_file(task.kept / source.name / ISOLATED) as file:
        file.write_bytes((source / ISOLATED).read_bytes())
    if not task.words:
        return count
    owner, dealt = dict(OWNERS.read_piece(task.scratch).iter_rows()), dict[int, dict[int, bytes]]()
    every: list[msgspec.Raw] = decoded(source / ISOLATED, LIST)
    for number, raw in enumerate(every):
        dealt.setdefault(owner.get(video_asked(raw), 0), {})[number] = bytes(raw)
    for chunk, own in dealt.items():
        with for_others(task.isolated(folder, chunk)) as work:
            work.write_bytes(msgspec.msgpack.encode(own))
    return count


def video_asked(raw: msgspec.Raw) -> str:
    try:
        return msgspec.json.decode(raw, type=Keyed).key.rpartition("-")[0]
    except UNREADABLE:
        return ""


@lru_cache(maxsize=1)
def reading(words: bytes) -> DagPacker:
    """Programs that are met again are not read again."""
    return DagPacker(unpacked_words(words))


def pack_chunk(task: DagsTask, chunk: DagChunk) -> tuple[DagPacker, list[list[PlacedId]]]:
    """The DAGs of a chunk, and of every folder those that were read."""
    packer, ids = reading(task.words).empty(), list[list[PlacedId]]()
    for at, folder in enumerate(task.folders):
        found = [one for name in chunk.files[at] for one in packer.file(at, folder / name)]
        dealt = task.isolated(at, chunk.number)
        ids.append(found + (packer.isolated(at, DEALT.decode(dealt.read_bytes())) if dealt.is_file() else []))
    return packer, ids
