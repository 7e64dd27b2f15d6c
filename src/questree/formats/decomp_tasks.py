"""Workers' part in reading released DAGs into a run: chunks of videos become questions, and shards of DAGs."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

import polars as pl

from questree.domains.video import VIDEO
from questree.formats.agqa_import import AS_READ, SETS
from questree.formats.agqa_packed import Packer
from questree.formats.agqa_tasks import LEFT, PackedPiece, pack
from questree.formats.agqa_tasks import reading as reading_questions
from questree.formats.decomp_chunks import DagChunk, DagsTask, pack_chunk
from questree.formats.decomp_kept import DecompImported, keep_files
from questree.formats.decomp_left_out import DagPlace, OddDags
from questree.formats.decomp_packed import DagPacker, PlacedId
from questree.formats.decomp_tables import PackedDags, keep_packed, kept_packed
from questree.notation.agqa import AgqaProgram, AgqaShapes
from questree.notation.own import parse, show
from questree.readings.categories import steps
from questree.readings.forms import lifted
from questree.stages.questions import Bank
from questree.tables.facts import StoredFacts
from questree.tables.nodes import DECOMPOSED, GIVEN
from questree.tables.run import Run, kept_while
from questree.tables.store import new_folder
from questree.terms import Node, Word

NO_QUESTION = "its question is none of the run"
LAST = DagPlace(1 << 32)  # examples in the order of their ids


@dataclass
class ChunkRead:
    """What is told about a chunk of DAGs; of a run of DAGs alone also their questions, packed folder by folder."""

    counts: DecompImported
    left: OddDags = field(default_factory=OddDags)
    pieces: list[PackedPiece] = field(default_factory=list)
    videos: list[tuple[DagPlace, str]] = field(default_factory=list)  # where a video is first asked about


def read_chunk(task: DagsTask, chunk: DagChunk, alone: bool, known: Path | None) -> ChunkRead:
    """Keep the DAGs of a chunk as they came, pack them for shards, and if they are alone their questions, too.

    known: folder of facts about all videos that may be asked about."""
    read = ChunkRead(DecompImported({folder.name: 0 for folder in task.folders}))
    for at, (folder, names) in enumerate(zip(task.folders, chunk.files, strict=True)):
        if names:
            read.counts.add(keep_files(folder, at, names, task.kept / folder.name, f"{chunk.number:06d}"))
    if not task.words:
        return read
    packer, ids = pack_chunk(task, chunk)
    read.left = packer.left
    if alone:
        asked = ask_chunk(task, chunk, packer, ids, known, read)
    else:
        videos, nodes = set(bank_of(task.run).ids), list(packer.nodes)
        asked = {id for id, top in packer.tops.items() if nodes[top.node].video in videos}
    left_unasked(packer, asked, packer.left)
    keep_packed(packer.packed(), task.packed(chunk.number))
    return read


def ask_chunk(
    task: DagsTask,
    chunk: DagChunk,
    packer: DagPacker,
    ids: Sequence[Sequence[PlacedId]],
    known: Path | None,
    read: ChunkRead,
) -> set[str]:
    """Pack the questions of DAGs; their ids."""
    _, shapes, shared = reading_questions(task.words, known is not None)
    questions = Packer(shared.vocabulary, more_videos=known is None, _known=shared._known)
    for name in [] if known is None else StoredFacts.of(known).videos["id"].to_list():
        questions.videos[name]
    questions.resolve = packer.meant(questions.videos)
    asked = set[str]()
    for at, own in enumerate(ids):
        if not own:
            continue
        table = records(packer, own, shapes)
        name, before = task.folders[at].name, len(questions.videos)
        folder, side = task.scratch / f"asked-{at:03d}-{chunk.number:06d}", "train" if "train" in name else "test"
        piece = pack(questions, table, folder, SETS["unbalanced" in name], side, own=known is None)
        read.pieces.append(piece)
        asked |= set(table.filter(pl.col("form").is_not_null())["id"])
        read.videos.extend(first_asked(table, own, list(questions.videos)[before:]))
        leave_out(packer, piece, own)
    return asked


def first_asked(table: pl.DataFrame, ids: Sequence[PlacedId], videos: Sequence[str]) -> list[tuple[DagPlace, str]]:
    """Where these videos are first asked about in a folder."""
    at = {one.id: one.at for one in reversed(ids)}
    read = table.filter(pl.col("form").is_not_null() & pl.col("video_id").is_in(list(videos)))
    return [(at[id], video) for id, video in read.unique("video_id", keep="first").select("id", "video_id").iter_rows()]


def leave_out(packer: DagPacker, piece: PackedPiece, ids: Sequence[PlacedId]) -> None:
    """DAGs whose questions cannot be packed."""
    at = {one.id: one.at for one in reversed(ids)}
    for id, why in pl.read_parquet(piece.folder / LEFT, glob=False).iter_rows():
        packer.tops.pop(id, None)
        packer.left.note(why, at[id], id)


def left_unasked(dags: DagPacker | PackedDags, asked: set[str], left: OddDags) -> None:
    for id in dags.tops.keys() - asked:
        del dags.tops[id]
        left.note(NO_QUESTION, LAST, id)


def records(packer: DagPacker, ids: Sequence[PlacedId], shapes: AgqaShapes) -> pl.DataFrame:
    """The questions of DAGs with the fields that a DAG says."""
    rows = []
    for id, _ in ids:
        if id not in packer.asked:
            continue
        video, text, answer, program = packer.asked[id]
        form, words, fault = shapes.program(program) if isinstance(program, str) else spelled(program)
        count = 0 if form is None else steps_of(form)
        rows.append((id, video, text, answer, form, words, fault, count))
    names = ("id", "video_id", "question", "answer", "form", "words", "fault", "steps")
    table = pl.DataFrame(rows, schema={name: AS_READ.columns[name] for name in names}, orient="row")
    rest = [pl.lit(None, dtype).alias(name) for name, dtype in AS_READ.columns.items() if name not in names]
    return AS_READ.frame(table.with_columns(rest))


@lru_cache(maxsize=1 << 12)
def steps_of(form: str) -> int:
    return steps(parse(form, VIDEO))


def spelled(program: Node) -> AgqaProgram:
    form, words = lifted(program, "", once=True)
    return AgqaProgram(show(form), [word.name for word in words if isinstance(word, Word)], None)


@kept_while("vocabulary.toml", "facts", "ledger.json", "questions")
def bank_of(run: Path) -> Bank:
    """Read once per process."""
    return Bank(Run(run))


def asked_in(task: DagsTask, shard: str) -> pl.DataFrame:
    """video, number, id, name: the questions of a shard."""
    bank = bank_of(task.run)
    own = bank.shard(bank.run.questions / shard)
    name = bank.names.gather(own.questions["video"])
    return own.questions.select("video", "number").with_columns(own.named_ids.alias("id"), name.alias("name"))


def put_shard(task: DagsTask, shard: str, videos: Sequence[str], chunks: Sequence[int], out: Path) -> OddDags:
    """Write a shard of the DAGs of these videos, which are in these chunks."""
    questions, left = asked_in(task, shard), OddDags()
    dags = kept_packed((task.packed(number) for number in chunks), set(videos))
    left_unasked(dags, set(questions["id"]), left)
    made = dags.tables(questions, bank_of(task.run).vocabulary.wide)
    with new_folder(out / shard) as folder:
        for table in (*DECOMPOSED, GIVEN):
            table.write(made[table.name], folder)
    return left
