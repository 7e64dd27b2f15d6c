"""Released DAGs as a run: kept as they came, and packed into the decomposed questions of the run."""

from pathlib import Path

import msgspec
import polars as pl

from questree.domains.video import VIDEO
from questree.faults import BadInput
from questree.formats.agqa_import import AS_READ, SETS
from questree.formats.agqa_run import Importing, chosen_words
from questree.formats.decomp_files import DecompImported, hierarchy_folders, import_decomp
from questree.formats.decomp_packed import DagPacker
from questree.notation.agqa import AgqaProgram, AgqaShapes
from questree.notation.own import parse, show
from questree.places import Place
from questree.readings.categories import steps
from questree.readings.forms import lifted
from questree.sources.runs import check_target
from questree.stages.questions import Bank
from questree.tables.nodes import DECOMPOSED, GIVEN
from questree.tables.run import Run
from questree.tables.store import new_file, new_folder
from questree.terms import Node, Word

NO_QUESTION = "its question is none of the run"


def import_dags(folder: Path, out: Path, vocabulary: Path | None = None) -> tuple[DecompImported, DagPacker | None]:
    """Every DAG into RUN/hierarchies as it came; and into RUN/decomposed, unless the run generated its questions."""
    if out.exists():
        return into(folder, out, vocabulary)
    with new_folder(out) as work:
        return into(folder, work, vocabulary)


def into(folder: Path, out: Path, vocabulary: Path | None) -> tuple[DecompImported, DagPacker | None]:
    """A run that is there, perhaps empty."""
    folders = hierarchy_folders(folder)
    run = Run(out)
    if not run.hierarchies.is_dir():
        check_target(out)
    if isinstance(out, Place) and out.work is None and not run.questions.is_dir():
        raise BadInput.at(out, "expected a run with questions, or a new one; choose a new place in the store")
    there = run.vocabulary_file.is_file()
    text = chosen_words(run if there else None, None, vocabulary)
    told = import_decomp(folder, run.hierarchies)
    if not there:
        with new_file(run.vocabulary_file) as work:
            work.write_text(text, "utf-8")
    if run.questions.is_dir() and not Bank(run).given:
        return told, None
    packer = DagPacker(run.vocabulary())
    ids = {source.name: packer.folder(source) for source in folders}
    if not run.questions.is_dir():
        questions_of(run, packer, ids)
    write(run, packer)
    return told, packer


def questions_of(run: Run, packer: DagPacker, ids: dict[str, list[str]]) -> None:
    """A run of DAGs alone: the questions they are of. A folder tells set and split by its name."""
    made = Importing(run, packer.vocabulary, run.facts if run.facts.is_dir() else None)
    made.packer.resolve = packer.meant(made.packer.videos)
    shapes = AgqaShapes(packer.vocabulary)
    for name, own in ids.items():
        side = "train" if "train" in name else "test"
        made.take(SETS["unbalanced" in name], side, records(packer, own, shapes))
    made.write(dict.fromkeys(ids, ""), any("unbalanced" not in name for name in ids))
    for table in made.left_out:
        for id, why in table.iter_rows():
            del packer.tops[id]
            packer.leave_out(id, why)


def records(packer: DagPacker, ids: list[str], shapes: AgqaShapes) -> pl.DataFrame:
    """The questions of DAGs with the fields that a DAG says."""
    rows = []
    for id in ids:
        if id not in packer.asked:
            continue
        video, text, answer, program = packer.asked[id]
        form, words, fault = shapes.program(program) if isinstance(program, str) else spelled(program)
        count = 0 if form is None else steps(parse(form, VIDEO))
        rows.append((id, video, text, answer, form, words, fault, count))
    names = ("id", "video_id", "question", "answer", "form", "words", "fault", "steps")
    table = pl.DataFrame(rows, schema={name: AS_READ.columns[name] for name in names}, orient="row")
    rest = [pl.lit(None, dtype).alias(name) for name, dtype in AS_READ.columns.items() if name not in names]
    return AS_READ.frame(table.with_columns(rest))


def spelled(program: Node) -> AgqaProgram:
    form, words = lifted(program, "", once=True)
    return AgqaProgram(show(form), [word.name for word in words if isinstance(word, Word)], None)


def write(run: Run, packer: DagPacker) -> None:
    bank = Bank(run)
    videos = {name: at for at, name in enumerate(bank.ids)}
    asked = set[str]()
    with new_folder(run.decomposed) as work:
        for folder in bank.folders():
            shard = bank.shard(folder)
            ids = shard.named_ids
            asked |= set(ids)
            name = bank.names.gather(shard.questions["video"])
            own = shard.questions.select("video", "number").with_columns(ids.alias("id"), name.alias("name"))
            (work / folder.name).mkdir()
            made = packer.tables(own, videos)
            for table in (*DECOMPOSED, GIVEN):
                table.write(made[table.name], work / folder.name)
        plan = {"options": {}, "questions": run.questions_digest(), "imported": True}
        (work / "plan.json").write_bytes(msgspec.json.encode(plan))
    for id in packer.tops.keys() - asked:
        packer.leave_out(id, NO_QUESTION)
