"""Sub-questions about image sets as lines of JSON, shard by shard."""

from concurrent.futures import Executor
from dataclasses import dataclass
from pathlib import Path

from questree.stages.decompose.image_sets import questions_of
from questree.stages.decompose.set_hierarchies import image_ids, read_sets, set_corpus, set_shards
from questree.stages.decompose.spoken import say
from questree.tables.nodes import FORMS, SETS
from questree.tables.run import Run
from questree.tables.store import end_to_end, new_folder
from questree.workers import over

FILE = "sub_questions.jsonl"


@dataclass(frozen=True)
class LinesTask:
    run: Path
    scratch: Path


def write_sub_questions(run: Run, out: Path, scratch: Path, pool: Executor) -> int:
    """A line per node, questions among them: id, question, scenes, answer, type; how many."""
    names = [folder.name for folder in set_shards(run)]
    counts = over(pool, "writing sub-questions", "shard", names, write_lines, LinesTask(run.folder, scratch))
    end_to_end([scratch / f"dags-{name}" / FILE for name in names], out)
    return sum(counts)


def write_lines(task: LinesTask, name: str) -> int:
    """In a worker."""
    corpus = set_corpus(task.run)
    tables = read_sets(Run(task.run).covr / "decomposed" / name)
    forms, nodes = tables[FORMS.name], tables["nodes"]
    said = say(forms, nodes, corpus.texts, columns=("answer", "type"))
    lines = said.select(
        nodes["key"].alias("id"),
        questions_of(forms, nodes, corpus.texts).alias("question"),
        image_ids(tables[SETS.name]["images"], corpus.images).gather(nodes["set"]).alias("scenes"),
        "answer",
        "type",
    )
    with new_folder(task.scratch / f"dags-{name}") as folder:
        lines.write_ndjson(folder / FILE)
    return len(lines)
