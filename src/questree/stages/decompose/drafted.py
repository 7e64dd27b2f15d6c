"""Questions about image sets -> their DAGs of sub-questions, each answered by execution."""

from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec
import polars as pl

from questree.benchmarks.covr.parts import Part, node_type, number_in, parts
from questree.benchmarks.covr.sub_questions import text
from questree.domains.images import IMAGES
from questree.domains.images.batches import execute
from questree.domains.images.corpus import Corpus, corpus
from questree.notation import own
from questree.program import Node
from questree.progress import report
from questree.rules import IMAGE_DAGS
from questree.search.word_tables import Words
from questree.sources.covr_questions import answer_text
from questree.stages.split.shots import selected
from questree.tables.image_nodes import DECOMPOSED, EDGES, NODES, SETS, TOPS
from questree.tables.images import Images
from questree.tables.run import Run
from questree.tables.store import new_folder

ImageSet = tuple[int, ...]  # a set of images: rows, ascending
Key = tuple[int, Node, str | None]  # set, program, the option it confirms in a choice


@dataclass(frozen=True)
class Summary:
    questions: int
    unknown: int  # questions that no template asks: left out
    without_parts: int
    nodes: int
    edges: int
    types: dict[str, int]
    undefined: dict[str, int]  # nodes without an answer, by type
    different: list[str]  # ids of questions whose stored answer is not the executed one


@dataclass
class Gathered:
    """Nodes as they are met; numbers are given at the end, parents first."""

    height: dict[Key, int] = field(default_factory=dict)  # longest way down
    edges: dict[Key, list[tuple[str, Key]]] = field(default_factory=dict)
    wording: dict[Key, str] = field(default_factory=dict)

    def add(self, key: Key) -> int:
        """The height of a node, with all below it gathered."""
        if key not in self.height:
            below = [(part.label, self._key(key[0], part)) for part in parts(key[1])]
            self.edges[key] = below
            self.height[key] = 1 + max((self.add(child) for _, child in below), default=-1)
        return self.height[key]

    def _key(self, images: int, part: Part) -> Key:
        key = (images, part.node, part.option or number_in(part.node))
        if key not in self.wording:
            self.wording[key] = text(part.node)
        return key


def decompose_run(
    run: Run, words: Words, every: bool = False, workers: int = 1, words_from: Path | None = None
) -> Summary:
    """Write RUN/covr/decomposed/, whole or not at all; the balanced questions, or every one."""
    questions = selected(run, every)
    known = corpus(Images.load(run.images), words.attribute_group)
    tables, summary = decompose(questions, known, workers)
    with new_folder(run.covr / "decomposed") as folder:
        for table in DECOMPOSED:
            table.write(tables[table.name], folder)
        options = {"all": every, "words": str(words_from or "")}
        (folder / "plan.json").write_bytes(msgspec.json.encode({"options": options}))
    return summary


def decompose(questions: pl.DataFrame, corpus: Corpus, workers: int = 1) -> tuple[dict[str, pl.DataFrame], Summary]:
    """Columns of tables/image_questions.ANSWERED -> the tables of tables/image_nodes.py."""
    sets: dict[ImageSet, int] = {}
    gathered, tops = Gathered(), list[Key]()
    steps = 3
    report("decompose", 0, steps)
    programs = [own.parse(program, IMAGES) for program in questions["program"]]
    known = pl.Series([node_type(node) is not None for node in programs], dtype=pl.Boolean)
    asked = questions.filter(known)
    for node, images, said in zip(
        (node for node in programs if node_type(node)), asked["images"].to_list(), asked["question"], strict=True
    ):
        chosen = tuple(sorted(images))
        tops.append((sets.setdefault(chosen, len(sets)), node, number_in(node)))
        gathered.add(tops[-1])
        gathered.wording.setdefault(tops[-1], said)
    order = sorted(gathered.height, key=lambda key: -gathered.height[key])  # stable: first met first
    report("decompose", 1, steps)
    members = list(sets)
    found = execute([key[1] for key in order], [members[key[0]] for key in order], corpus, workers)
    report("decompose", 2, steps)
    answer = [None if value is None else answer_text(value) for value in found.value]
    tables = _tables(gathered, order, answer, members, asked["id"], tops)
    report("decompose", steps, steps)
    return tables, _summary(asked, tables, len(questions) - len(asked))


def _tables(
    gathered: Gathered,
    order: list[Key],
    answer: list[str | None],
    sets: list[ImageSet],
    ids: pl.Series,
    tops: list[Key],
) -> dict[str, pl.DataFrame]:
    number = {key: at for at, key in enumerate(order)}
    columns: dict[str, Any] = {
        "set": [key[0] for key in order],
        "question": [gathered.wording[key] for key in order],
        "program": [own.show(key[1]) for key in order],
        "type": [IMAGE_DAGS.types.index(node_type(key[1]) or "") for key in order],
        "answer": answer,
        "word": [key[2] for key in order],
    }
    edges = [
        (at, IMAGE_DAGS.compositions.index(label), position, number[child])
        for at, key in enumerate(order)
        for position, (label, child) in enumerate(gathered.edges[key])
    ]
    return {
        SETS.name: SETS.frame(pl.DataFrame({"images": sets}, schema=dict(SETS.columns))),
        NODES.name: NODES.frame(pl.DataFrame(columns, schema=dict(NODES.columns))),
        EDGES.name: pl.DataFrame(edges, schema=dict(EDGES.columns), orient="row"),
        TOPS.name: TOPS.frame({"id": ids, "node": [number[key] for key in tops]}),
    }


def _summary(questions: pl.DataFrame, tables: dict[str, pl.DataFrame], unknown: int) -> Summary:
    nodes, edges, tops = tables[NODES.name], tables[EDGES.name], tables[TOPS.name]
    answered = nodes["answer"].gather(tops["node"])
    different = questions["id"].filter(answered.ne_missing(questions["answer"])).to_list()
    types = Counter(IMAGE_DAGS.types[at] for at in nodes["type"])
    undefined = Counter(IMAGE_DAGS.types[at] for at in nodes.filter(pl.col("answer").is_null())["type"])
    inner = edges["parent"].unique()
    leaves = int((~tops["node"].is_in(inner.implode())).sum())
    return Summary(len(tops), unknown, leaves, len(nodes), len(edges), dict(types), dict(undefined), different)
