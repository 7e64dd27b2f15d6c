"""Questions about image sets -> the tables of their DAGs, each node answered by execution; and those tables as text."""

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import msgspec
import numpy as np
import polars as pl

from questree.columns.joins import Ints
from questree.domains.images import Corpus, ImageSets, corpus
from questree.domains.images.corpus import padded
from questree.domains.images.english import countable
from questree.domains.images.graph import Graph
from questree.domains.images.kinds import ATTRIBUTE, COUNT, GROUP, LINK_NAME, NOUN
from questree.faults import BadInput
from questree.notation.own_shapes import program_shapes
from questree.progress import report
from questree.readings.answer import answer
from questree.readings.forms import ProgramShapes
from questree.readings.parts import node_type
from questree.rules import IMAGE_DAGS
from questree.search.same_words import SameWords
from questree.search.word_tables import WordTables
from questree.stages.decompose.columns import (
    edge_table,
    executed_blocks,
    form_table,
    node_table,
)
from questree.stages.decompose.expand import Batch, Block, expand, marked_apart
from questree.stages.decompose.forms import NodeForms, Variant
from questree.stages.decompose.spoken import SetTexts, english_of, say
from questree.stages.split.image_sets import selected
from questree.tables.images import Images
from questree.tables.nodes import (
    ASKED_TOPS,
    EDGES,
    EXECUTED,
    FORMS,
    NOT_SAID,
    SETS,
    UNDEFINED,
    WORDS,
    nodes_about,
    slots_of,
)
from questree.tables.run import Run
from questree.tables.store import new_folder
from questree.tables.table import columns_in
from questree.terms import BOOL, UNKNOWN, Array, Kind, Node, Slot, Term, slots

STEPS = 3


@dataclass(frozen=True)
class ImageDecomposeSummary:
    questions: int
    unknown: int  # questions that no template asks: left out
    without_parts: int
    nodes: int
    edges: int
    types: dict[str, int]
    undefined: dict[str, int]  # nodes without an answer, by type
    different: list[str]  # ids of questions whose stored answer is not the executed one


@dataclass(frozen=True)
class SetWords:
    """The words of programs and answers about image sets, and how many sets there are."""

    words: list[str]
    sets: int

    @cached_property
    def at(self) -> dict[str, int]:
        return {word: at for at, word in enumerate(self.words)}


class ImageForms(NodeForms):
    """Forms of programs about image sets."""

    vocabulary: SetWords

    @cached_property
    def marked(self) -> dict[Kind, Array]:
        """A noun of what one does not count has other sub-questions."""
        return {NOUN: np.array([not countable(Graph(word)) for word in self.vocabulary.words], bool)}

    @property
    def width(self) -> int:
        return len(self.vocabulary.words).bit_length()

    def layout(self, words: int) -> list[int]:
        first = min(words, (63 - self.vocabulary.sets.bit_length()) // self.width)
        return [first, *(min(63 // self.width, words - at) for at in range(first, words, 63 // self.width))]

    def _forms(self, node: Node, option: Term | None) -> Iterator[Variant]:
        yield Variant(*self.canonical(node, option))

    def alone(self, term: Term) -> bool:
        return isinstance(term, Slot) and term.alone


def decompose_run(
    run: Run, words: WordTables, every: bool = False, workers: int = 1, words_from: Path | None = None
) -> ImageDecomposeSummary:
    """Write RUN/covr/decomposed/, whole or not at all; the balanced questions, or every one."""
    questions, images = selected(run, every), Images.load(run.images)
    same, groups = SameWords.of(images), words.attribute_group
    merged = corpus(same.merged(images), groups) if same else None
    tables, summary = decompose(questions, corpus(images, groups), workers, same, merged)
    with new_folder(run.covr / "decomposed") as folder:
        for name, table in tables.items():
            table.write_parquet(folder / f"{name}.parquet", compression="zstd", compression_level=1)
        options = {"all": every, "words": str(words_from or "")}
        (folder / "plan.json").write_bytes(msgspec.json.encode({"options": options}))
    return summary


def decompose(
    questions: pl.DataFrame,
    corpus: Corpus,
    workers: int = 1,
    same: SameWords | None = None,
    merged: Corpus | None = None,
) -> tuple[dict[str, pl.DataFrame], ImageDecomposeSummary]:
    """Columns of tables/image_questions.ANSWERED -> the tables of tables/nodes.py about sets.

    merged: the corpus with one word for what means the `same`; the answer to a sub-question it changes is not said.
    """
    report("decompose", 0, STEPS)
    programs = program_shapes(questions)
    known = np.array([node_type(shape) in IMAGE_DAGS.types for shape in programs.shapes], bool)[programs.code]
    asked, rows = questions.filter(pl.Series(known)), np.flatnonzero(known)
    numbers: dict[tuple[int, ...], int] = {}
    scope = [numbers.setdefault(tuple(sorted(images)), len(numbers)) for images in asked["images"].to_list()]
    said = SetWords(list(dict.fromkeys([*programs.words, *corpus.words, *corpus.groups])), len(numbers))
    place = np.full(len(questions), UNKNOWN, np.int64)  # [question] its number among those asked
    place[rows] = np.arange(len(rows))
    forms = ImageForms(said)
    blocks, tops = expand(forms, batches(programs, forms, place, np.array(scope, np.int64)), len(rows))
    report("decompose", 1, STEPS)
    answers = executed(blocks, said, corpus, padded(list(numbers)), workers)
    report("decompose", 2, STEPS)
    how = np.where(answers == UNKNOWN, UNDEFINED, EXECUTED).astype(np.uint8)
    if same is not None and merged is not None:
        other = changed(blocks, said, corpus, merged, same, padded(list(numbers)), workers)
        other[tops] = False  # whoever asked knew the answer
        how[other & (how == EXECUTED)] = NOT_SAID
    widest = max((len(block.form.slots) for block in blocks), default=0)
    tables = {
        SETS.name: pl.DataFrame({"images": list(map(list, numbers))}, schema=dict(SETS.columns)),
        WORDS.name: pl.DataFrame({"word": said.words}, schema=dict(WORDS.columns)),
        FORMS.name: form_table(blocks),
        "nodes": node_table(blocks, answers, how, 0, nodes_about("set", widest, pl.UInt32), np.uint32),
        EDGES.name: edge_table(blocks, answers, IMAGE_DAGS.compositions)[0],
        ASKED_TOPS.name: ASKED_TOPS.frame({"id": asked["id"], "node": tops, "question": asked["question"]}),
    }
    report("decompose", STEPS, STEPS)
    return tables, summary_of(asked, tables, len(questions) - len(asked))


def batches(programs: ProgramShapes, forms: ImageForms, place: Ints, scope: Ints) -> Iterator[Batch]:
    """The questions that are asked, by form; `place`: [question] its number among them, `scope`: [number] its set."""
    for shape, every in programs.by_shape:
        every = every[place[every] != UNKNOWN]
        words = {name: programs.filled[every, int(name)] for name in slots(shape)}
        yield from marked_apart(forms, shape, words, scope[place[every]], place[every])


def executed(blocks: list[Block], said: SetWords, corpus: Corpus, images: Ints, workers: int) -> Array:
    """[node] the answer: yes or no, a count, a word; UNKNOWN where there is none. images: [set, image]."""
    return executed_blocks(blocks, runner(blocks, said, corpus, images), workers)


Answering = Callable[[Node, Array, dict[str, Array]], Array]  # (form, [row] set, words of each slot) -> [row] answer


def runner(
    blocks: list[Block], said: SetWords, corpus: Corpus, images: Ints, same: SameWords | None = None
) -> Answering:
    position: dict[Kind, Ints] = {}  # of every word in the facts
    # the word of every position in the facts; the last is that of none
    word_of, group_of = (np.array([*map(said.at.get, own), UNKNOWN]) for own in (corpus.words, corpus.groups))
    for kind in {slot.kind for block in blocks for slot in block.form.slots}:
        words = [word if kind != COUNT or word.lstrip("-").isdigit() else "0" for word in said.words]
        position[kind] = corpus.positions([same.one(word, kind) for word in words] if same else words, kind)

    def run(form: Node, scope: Array, values: dict[str, Array]) -> Array:
        columns = {name: position[slot.kind][values[name]] for name, slot in slots(form).items()}
        own = answer(form, ImageSets(corpus, images[scope]), columns)
        return own if form.kind in (BOOL, COUNT) else (group_of if form.kind == GROUP else word_of)[own]

    return run


def changed(
    blocks: list[Block], said: SetWords, corpus: Corpus, merged: Corpus, same: SameWords, images: Ints, workers: int
) -> Array:
    """[node] is its answer another if words that mean the same are one? Only nodes with such a word are run."""
    kinds = (NOUN, ATTRIBUTE, LINK_NAME)
    one = {kind: np.array([said.at[same.one(word, kind)] for word in said.words]) for kind in kinds}
    several = {kind: np.array([word in same.by_kind[kind] for word in said.words], bool) for kind in kinds}
    first, second = runner(blocks, said, corpus, images), runner(blocks, said, merged, images, same)

    def run(form: Node, scope: Array, values: dict[str, Array]) -> Array:
        found = np.zeros(len(scope), np.int64)
        there = [several[slot.kind][values[name]] for name, slot in slots(form).items() if slot.kind in several]
        rows = np.flatnonzero(np.any(there, axis=0)) if there else np.zeros(0, np.int64)
        if len(rows):
            few = {name: column[rows] for name, column in values.items()}
            own, other = first(form, scope[rows], few), second(form, scope[rows], few)
            if form.kind in one:
                own = np.where(own == UNKNOWN, UNKNOWN, one[form.kind][own])
            found[rows] = own != other
        return found

    return executed_blocks(blocks, run, workers).astype(bool)


def summary_of(questions: pl.DataFrame, tables: dict[str, pl.DataFrame], unknown: int) -> ImageDecomposeSummary:
    nodes, edges, tops = spoken_sets(tables, asked=False), tables[EDGES.name], tables[ASKED_TOPS.name]
    answered = nodes["answer"].gather(tops["node"])
    different = questions["id"].filter(answered.ne_missing(questions["answer"])).to_list()
    types, undefined = Counter(nodes["type"]), Counter(nodes.filter(pl.col("answer").is_null())["type"])
    leaves = int((~tops["node"].is_in(edges["parent"].unique().implode())).sum())
    return ImageDecomposeSummary(
        len(tops), unknown, leaves, len(nodes), len(edges), dict(types), dict(undefined), different
    )


def read_sets(folder: Path) -> dict[str, pl.DataFrame]:
    """The tables of RUN/covr/decomposed by name."""
    if (folder / f"{SETS.name}.parquet").is_file() and not (folder / f"{WORDS.name}.parquet").is_file():
        raise BadInput.at(folder, "expected DAGs of this version, got older ones; run `questree decompose` again")
    tables = {table.name: table.read(folder) for table in (SETS, WORDS, FORMS, EDGES, ASKED_TOPS)}
    path = folder / "nodes.parquet"
    widest = len(slots_of(columns_in(path))) if path.is_file() else 0
    return tables | {"nodes": nodes_about("set", widest, pl.UInt32).read(folder)}


def spoken_sets(tables: dict[str, pl.DataFrame], asked: bool = True, executed: bool = False) -> pl.DataFrame:
    """[node] its set, program, type, answer (also one that is not told if `executed`), the word it is about and, with
    `asked`, the question in English; one that was asked before it was part of another keeps its own words."""
    texts = SetTexts(tables[WORDS.name]["word"])
    forms, nodes = tables[FORMS.name], tables["nodes"]
    said = say(forms, nodes, texts, executed, columns=("program", "type", "answer", "word"))
    if not asked:
        return said
    node, question = own_words(tables)
    others = np.setdiff1d(np.arange(len(nodes)), node)
    every = pl.concat([question, english_of(forms, nodes[others], texts)])
    return said.with_columns(question=every.gather(np.argsort(np.concatenate([node, others]))))


def own_words(tables: dict[str, pl.DataFrame]) -> tuple[Ints, pl.Series]:
    """Nodes that were asked before they were part of another, and the questions they were asked by."""
    tops, edges = tables[ASKED_TOPS.name], tables[EDGES.name]
    asked = np.full(len(tables["nodes"]), len(tops), np.int64)  # [node] the first question that it is
    np.minimum.at(asked, tops["node"].to_numpy(), np.arange(len(tops)))
    below = np.full_like(asked, len(tops))  # [node] the first question that it is below
    parent, child = edges["parent"].to_numpy(), edges["child"].to_numpy()
    before = None
    while before is None or (below != before).any():
        before = below.copy()
        np.minimum.at(below, child, np.minimum(asked, below)[parent])
    node = np.flatnonzero(asked < below)
    return node, tops["question"].gather(asked[node])
