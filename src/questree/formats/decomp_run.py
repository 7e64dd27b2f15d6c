"""Released DAGs as a run: kept as they came, and packed into the decomposed questions of the run."""

from collections.abc import Sequence
from concurrent.futures import Executor
from pathlib import Path

import msgspec
import numpy as np

from questree.faults import BadInput
from questree.formats.agqa_run import Importing, chosen_words
from questree.formats.decomp_chunks import DagsTask, chunks_of, deal, files_by_video, owners
from questree.formats.decomp_kept import DecompImported, hierarchy_folders, import_decomp
from questree.formats.decomp_left_out import LeftOut
from questree.formats.decomp_tasks import ask_chunk, pack_shard, put_shard
from questree.places import Place
from questree.sources.runs import check_target
from questree.stages.questions import Bank
from questree.tables.run import Run
from questree.tables.store import new_file, new_folder, scratch
from questree.vocabulary.packed import packed_words
from questree.workers import processes, results


def import_dags(
    folder: Path, out: Path, vocabulary: Path | None = None, workers: int = 1
) -> tuple[DecompImported, LeftOut | None]:
    """Every DAG into RUN/hierarchies as it came; and into RUN/decomposed, unless the run generated its questions."""
    if out.exists():
        return into(folder, out, vocabulary, workers)
    with new_folder(out) as work:
        return into(folder, work, vocabulary, workers)


def into(folder: Path, out: Path, vocabulary: Path | None, workers: int) -> tuple[DecompImported, LeftOut | None]:
    """A run that is there, perhaps empty."""
    folders = hierarchy_folders(folder)
    run = Run(out)
    if not run.hierarchies.is_dir():
        check_target(out)
    if isinstance(out, Place) and out.work is None and not run.questions.is_dir():
        raise BadInput.at(out, "expected a run with questions, or a new one; choose a new place in the store")
    there = run.vocabulary_file.is_file()
    text = chosen_words(run if there else None, None, vocabulary)
    told = import_decomp(folder, run.hierarchies, workers)
    if not there:
        with new_file(run.vocabulary_file) as work:
            work.write_text(text, "utf-8")
    if run.questions.is_dir() and not Bank(run).given:
        return told, None
    with scratch(run.decomposed) as place:
        task = DagsTask(tuple(folders), run.folder, packed_words(run.vocabulary()), place)
        if run.questions.is_dir():
            return told, beside_questions(task, workers)
        return told, alone(task, workers)


def beside_questions(task: DagsTask, workers: int) -> LeftOut:
    """DAGs of the questions that a run has: a worker packs the videos of a shard."""
    bank = Bank(Run(task.run))
    shards = [folder.name for folder in bank.folders()]
    number = np.searchsorted(bank.begins, np.arange(len(bank.ids)), side="right") - 1
    shard_of = {video: shards[at] for video, at in zip(bank.ids, number.tolist(), strict=True)}
    chunks = chunks_of(len(task.folders), files_by_video(task.folders), shards, shard_of)
    with (
        new_folder(bank.run.decomposed) as work,
        processes(workers, tasks=min(workers, len(chunks))) as pool,
    ):
        deal(task, owners(chunks, shard_of), pool)
        futures = {
            f"DAGs {chunk.shard or chunk.number}": pool.submit(pack_shard, task, chunk, work) for chunk in chunks
        }
        left = together(results(futures, "packing DAGs"))
        write_plan(bank.run, work)
    return left


def alone(task: DagsTask, workers: int) -> LeftOut:
    """A run of DAGs alone: first the questions they are of, by chunks of videos, then their shards."""
    run = Run(task.run)
    chunks = chunks_of(len(task.folders), files_by_video(task.folders))
    owner = owners(chunks)
    made = Importing(run, run.vocabulary(), run.facts if run.facts.is_dir() else None, workers)
    with processes(workers, tasks=min(workers, len(chunks))) as pool:
        deal(task, owner, pool)
        known = made.known if made.facts.told else None
        futures = {f"videos {chunk.number}": pool.submit(ask_chunk, task, chunk, known, made.place) for chunk in chunks}
        asked = results(futures, "packing DAGs")
    for _, video in sorted(one for each in asked for one in each.videos):
        made.packer.videos[video]
    for piece in (piece for each in asked for piece in each.pieces):
        made.add(piece)
    names = [folder.name for folder in task.folders]
    made.write(dict.fromkeys(names, ""), any("unbalanced" not in name for name in names))
    left = together([each.left for each in asked])
    with processes(workers, tasks=min(workers, len(chunks))) as pool:
        left.add(put_together(task, owner, pool))
    return left


def put_together(task: DagsTask, owner: dict[str, int], pool: Executor) -> LeftOut:
    """Shards of the DAGs that chunks have kept. owner: video -> its chunk."""
    bank = Bank(Run(task.run))
    chunk = np.array([owner.get(video, 0) for video in bank.ids], np.int64)
    shards = [folder.name for folder in bank.folders()]
    wanted = [np.unique(own).tolist() for own in np.split(chunk, bank.begins[1:])]
    with new_folder(bank.run.decomposed) as work:
        futures = {
            f"shard {shard}": pool.submit(put_shard, task, shard, own, work)
            for shard, own in zip(shards, wanted, strict=False)
        }
        left = together(results(futures, "writing DAGs"))
        write_plan(bank.run, work)
    return left


def together(parts: Sequence[LeftOut]) -> LeftOut:
    left = LeftOut()
    for own in parts:
        left.add(own)
    return left


def write_plan(run: Run, work: Path) -> None:
    plan = {"options": {}, "questions": run.questions_digest(), "imported": True}
    (work / "plan.json").write_bytes(msgspec.json.encode(plan))
