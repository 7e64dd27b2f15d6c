"""Released DAGs as a run: kept as they came, and packed into the decomposed questions of the run."""

from collections.abc import Sequence
from concurrent.futures import Future
from pathlib import Path

import msgspec

from questree.faults import BadInput
from questree.formats.agqa_run import Importing, chosen_words
from questree.formats.decomp_chunks import DagsTask, chunks_of, deal, files_by_video, owners
from questree.formats.decomp_kept import DecompImported, hierarchy_folders
from questree.formats.decomp_left_out import OddDags
from questree.formats.decomp_tasks import ChunkRead, put_shard, read_chunk
from questree.places import Place
from questree.sources.runs import check_target
from questree.stages.questions import Bank
from questree.tables.run import Run
from questree.tables.store import new_file, new_folder, scratch
from questree.vocabulary.load import parse
from questree.vocabulary.packed import packed_words
from questree.workers import processes, results


def import_dags(
    folder: Path, out: Path, vocabulary: Path | None = None, workers: int = 1
) -> tuple[DecompImported, OddDags | None]:
    """Every DAG into RUN/hierarchies as it came; and into RUN/decomposed, unless the run generated its questions."""
    if out.exists():
        return into(folder, out, vocabulary, workers)
    with new_folder(out) as work:
        return into(folder, work, vocabulary, workers)


def into(folder: Path, out: Path, vocabulary: Path | None, workers: int) -> tuple[DecompImported, OddDags | None]:
    """A run that is there, perhaps empty."""
    folders = hierarchy_folders(folder)
    run = Run(out)
    if not run.hierarchies.is_dir():
        check_target(out)
    asked = run.questions.is_dir()
    if isinstance(out, Place) and out.work is None and not asked:
        raise BadInput.at(out, "expected a run with questions, or a new one; choose a new place in the store")
    there = run.vocabulary_file.is_file()
    text = chosen_words(run if there else None, None, vocabulary)
    packed = not asked or Bank(run).given
    words = packed_words(parse(text, "vocabulary")) if packed else b""
    with scratch(run.decomposed) as place, new_folder(run.hierarchies) as kept:
        task = DagsTask(tuple(folders), run.folder, words, place, kept)
        for source in folders:
            (kept / source.name).mkdir()
        chunks = chunks_of(len(folders), files_by_video(folders))
        made = None
        if not asked:
            made = Importing(run, parse(text, "vocabulary"), run.facts if run.facts.is_dir() else None, workers)
        known = made.known if made and made.facts.told else None
        with processes(workers, tasks=min(workers, len(chunks))) as pool:
            isolated = deal(task, owners(chunks), pool)
            futures = {
                f"videos {chunk.number}": pool.submit(read_chunk, task, chunk, not asked, known) for chunk in chunks
            }
            read = results(futures, "reading DAGs")
        if not there:
            with new_file(run.vocabulary_file) as work:
                work.write_text(text, "utf-8")
        counts = DecompImported(
            {source.name: 0 for source in folders}, {source.name: 0 for source in folders} | isolated
        )
        left = OddDags()
        for own in read:
            counts.add(own.counts)
            left.add(own.left)
        if not packed:
            return counts, None
        if made:
            write_questions(made, read, [source.name for source in folders])
        left.add(put_together(task, owners(chunks), workers))
    return counts, left


def write_questions(made: Importing, read: Sequence[ChunkRead], names: Sequence[str]) -> None:
    """The questions of DAGs that are alone in a run."""
    for _, video in sorted(one for own in read for one in own.videos):
        made.packer.videos[video]
    for piece in (piece for own in read for piece in own.pieces):
        made.add(piece)
    made.write(dict.fromkeys(names, ""), any("unbalanced" not in name for name in names))


def put_together(task: DagsTask, owner: dict[str, int], workers: int) -> OddDags:
    """Shards of the DAGs that chunks have kept. owner: video -> its chunk."""
    bank, left = Bank(Run(task.run)), OddDags()
    shards = [folder.name for folder in bank.folders()]
    ends = [*bank.begins[1:].tolist(), len(bank.ids)]
    with new_folder(bank.run.decomposed) as work, processes(workers, tasks=min(workers, len(shards))) as pool:
        futures = dict[str, Future[OddDags]]()
        for shard, begin, end in zip(shards, bank.begins.tolist(), ends, strict=False):
            videos = bank.ids[begin:end]
            chunks = sorted({owner.get(video, 0) for video in videos})
            futures[f"shard {shard}"] = pool.submit(put_shard, task, shard, videos, chunks, work)
        for own in results(futures, "writing DAGs"):
            left.add(own)
        plan = {"options": {}, "questions": bank.run.questions_digest(), "imported": True}
        (work / "plan.json").write_bytes(msgspec.json.encode(plan))
    return left
