"""A run folder for imported questions: the words their programs use, and facts to answer them on, if there are any."""

from contextlib import ExitStack
from pathlib import Path

from questree.faults import BadInput
from questree.formats.import_agqa import Told, import_questions, question_files
from questree.sources.agqa import FILES as GRAPHS
from questree.sources.agqa import read_agqa
from questree.sources.runs import check_target
from questree.tables.facts import Facts
from questree.tables.run import Run
from questree.tables.store import new_file, new_folder
from questree.vocabulary.load import default_text, parse


def import_agqa(folder: Path, out: Path, facts: Path | None = None) -> Told:
    """Questions of a folder into a run, new or not, with the facts of another run or of scene graphs."""
    question_files(folder)
    check_target(out)
    run = Run(out)
    there = run.vocabulary_file.is_file()
    if facts and there and run.newest():
        raise BadInput.at(out, "this run has facts already; leave out --facts, or choose a new folder")
    words = Run(facts).vocabulary_file if facts and Run(facts).vocabulary_file.is_file() else None
    source = run.vocabulary_file if there else words
    text = source.read_text("utf-8") if source else default_text()
    with ExitStack() as parts:
        work = run if there else Run(parts.enter_context(new_folder(out)))
        if not there:
            parts.enter_context(new_file(work.vocabulary_file)).write_text(text, "utf-8")
        if facts:
            stage, found = read_facts(facts, text)
            found.save(parts.enter_context(new_folder(getattr(work, stage))))
        return import_questions(folder, work.imported, parse(text, source or "agqa.toml"))


def read_facts(place: Path, text: str) -> tuple[str, Facts]:
    """(stage they belong to, facts) of a run, or of the scene graphs in a folder."""
    run = Run(place)
    if run.vocabulary_file.is_file():
        found = run.newest()
        if found is None:
            raise BadInput.at(place, "this run has no facts; `questree ingest` reads them")
        if run.vocabulary_file.read_text("utf-8") != text:
            raise BadInput.at(place, "its vocabulary is not the one of the run the questions go to")
        return ("facts" if run.facts.is_dir() else "raw"), found
    for folder in (place, place / "AGQA_scene_graphs"):
        if any((folder / name).is_file() for name in GRAPHS.values()):
            return "raw", read_agqa(folder, parse(text, "vocabulary")).facts
    raise BadInput.at(place, f"neither a run folder nor a folder with {' or '.join(GRAPHS.values())}")
