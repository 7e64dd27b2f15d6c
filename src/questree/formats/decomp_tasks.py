"""Workers' part in reading released DAGs into a run: chunks of videos become questions, and shards of DAGs."""

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import polars as pl

from questree.domains.video import VIDEO
from questree.formats.agqa_import import AS_READ, SETS
from questree.formats.agqa_packed import Packer
from questree.formats.agqa_tasks import LEFT, PackedPiece, pack
from questree.formats.agqa_tasks import reading as reading_questions
from questree.formats.decomp_chunks import DagChunk, DagsTask, pack_chunk
from questree.formats.decomp_left_out import DagPlace, LeftOut
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


class AskedChunk(NamedTuple):
    """The questions of a chunk, packed folder by folder."""

    pieces: list[PackedPiece]
    videos: list[tuple[DagPlace, str]]  # where a video is first asked about
    left: LeftOut


def ask_chunk(task: DagsTask, chunk: DagChunk, known: Path | None, place: Path) -> AskedChunk:
    """Pack the DAGs of a chunk, keep them for shards, and pack the questions they are of."""
    packer, ids = pack_chunk(task, chunk)
    _, shapes, shared = reading_questions(task.words, known is not None)
    questions = Packer(shared.vocabulary, more_videos=known is None, _known=shared._known)
    for name in [] if known is None else StoredFacts.of(known).videos["id"].to_list():
        questions.videos[name]
    questions.resolve = packer.meant(questions.videos)
    made, asked = AskedChunk([], [], packer.left), set[str]()
    for at, own in enumerate(ids):
        if not own:
            continue
        table = records(packer, own, shapes)
        name, before = task.folders[at].name, len(questions.videos)
        folder, side = place / f"{at:03d}-{chunk.number:06d}", "train" if "train" in name else "test"
        piece = pack(questions, table, folder, SETS["unbalanced" in name], side, own=known is None)
        made.pieces.append(piece)
        asked |= set(table.filter(pl.col("form").is_not_null())["id"])
        made.videos.extend(first_asked(table, own, list(questions.videos)[before:]))
        leave_out(packer, piece, own)
    left_unasked(packer, asked, packer.left)
    keep_packed(packer.packed(), task.packed(chunk.number))
    return made


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


def left_unasked(dags: DagPacker | PackedDags, asked: set[str], left: LeftOut) -> None:
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


def pack_shard(task: DagsTask, chunk: DagChunk, out: Path) -> LeftOut:
    """Pack the DAGs of a chunk and write the shard it is of, if it is of one."""
    packer, _ = pack_chunk(task, chunk)
    if chunk.shard is None:
        left_unasked(packer, set(), packer.left)
    else:
        packer.left.add(write_shard(task, chunk.shard, asked_in(task, chunk.shard), packer.packed(), out))
    return packer.left


def put_shard(task: DagsTask, shard: str, chunks: Sequence[int], out: Path) -> LeftOut:
    """Write a shard of DAGs that were kept by chunks."""
    questions = asked_in(task, shard)
    dags = kept_packed((task.packed(number) for number in chunks), set(questions["name"]))
    return write_shard(task, shard, questions, dags, out)


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


def write_shard(task: DagsTask, shard: str, questions: pl.DataFrame, dags: PackedDags, out: Path) -> LeftOut:
    left = LeftOut()
    left_unasked(dags, set(questions["id"]), left)
    made = dags.tables(questions, bank_of(task.run).vocabulary.wide)
    with new_folder(out / shard) as folder:
        for table in (*DECOMPOSED, GIVEN):
            table.write(made[table.name], folder)
    return left
