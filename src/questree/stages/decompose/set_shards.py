"""Questions about image sets taken apart, shard by shard: a shard has the sets whose first image is in a range."""

import os
import pickle
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

import msgspec
import numpy as np
import polars as pl

from questree.columns.joins import Ints, listed
from questree.domains.images import IMAGES, Corpus, corpus
from questree.domains.images.kinds import PADDING
from questree.faults import BadInput
from questree.rules import IMAGE_DAGS
from questree.search.same_words import SameWords
from questree.search.word_tables import WordTables
from questree.stages.decompose.columns import edge_table, form_table, leaves, node_table
from questree.stages.decompose.expand import Block, expand
from questree.stages.decompose.image_sets import (
    AskedSets,
    SetFacts,
    SetWords,
    all_words,
    answered_nodes,
    batches,
    own_words,
)
from questree.stages.decompose.set_hierarchies import image_ids, node_keys, programs_in
from questree.stages.decompose.set_numbers import FIRST, AskedQuestions, LookTask, look, number_sets, sorted_sets
from questree.stages.decompose.spoken import program, say
from questree.tables.image_questions import EMPTY, QuestionChunk
from questree.tables.image_questions import chunks as question_chunks
from questree.tables.images import WORDS as IMAGE_WORDS
from questree.tables.images import Images
from questree.tables.nodes import ANSWERS, ASKED_TOPS, EDGES, FORMS, KEYS, NOT_SAID, SETS, WORDS, nodes_about
from questree.tables.owners import part
from questree.tables.run import Run, kept_while
from questree.tables.store import new_folder
from questree.tables.table import Table
from questree.workers import over, processes, results


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
class SetsTask:
    """What shards are made with, small enough to send anywhere that sees the run."""

    run: Path
    groups: bytes  # of attributes, pickled: word tables may lie where only the client sees them
    numbers: Path  # where the words and sets of all questions lie
    sets: int  # of all questions
    every: bool  # not only the balanced selection
    out: Path


class RankedForm(NamedTuple):
    """A form as it is sorted among others: the highest first."""

    below: int  # minus its height
    program: str
    type: str
    parts: int


class ShardCounts(NamedTuple):
    """What was counted about the nodes of a shard."""

    forms: list[RankedForm]
    nodes: Ints  # [form]
    undefined: Ints  # [form] nodes without an answer
    without_parts: int  # questions
    different: pl.DataFrame  # number, id: questions whose stored answer is not the executed one
    answers: pl.DataFrame  # rows of ANSWERS


def decompose_run(
    run: Run, words: WordTables, every: bool = False, workers: int = 1, words_from: Path | None = None
) -> ImageDecomposeSummary:
    """Write RUN/covr/decomposed/<shard>/, whole or not at all; the balanced questions, or every one."""
    chunks = question_chunks(run)
    with (
        new_folder(run.covr / "decomposed") as folder,
        part(folder / "parts", folder=True) as parts,
        processes(workers, tasks=min(workers, len(chunks))) as pool,
    ):
        task, names = LookTask(parts, every), [str(chunk) for chunk in chunks]
        seen = over(pool, "reading questions", "shard", chunks, look, task)
        selected, questions = (sum(getattr(own, name) for own in seen) for name in ("selected", "questions"))
        if not selected:
            raise BadInput.at(run.covr, EMPTY)
        groups = dict.fromkeys(words.attribute_group.values())
        met = pl.concat([own.words for own in seen]).sort("number", "place")["word"].to_list()
        every_word = all_words([met], IMAGE_WORDS.read(run.images)["word"].to_list(), groups)
        (sets,) = results({"sets": pool.submit(number_sets, task, chunks, every_word)}, "numbering sets")
        made = SetsTask(run.folder, pickle.dumps(words.attribute_group), task.numbers, sets, every, folder)
        counts = over(pool, "decompose", "shard", chunks, write_shard, made)
        number_ids(folder, *results({"ids": pool.submit(repeated_ids, folder, names)}, "comparing ids"))
        WORDS.write(pl.DataFrame({"word": every_word}), folder)
        ANSWERS.write(pl.concat([own.answers for own in counts]).unique().sort("type", "word", "count"), folder)
        options = {"all": every, "words": str(words_from or "")}
        (folder / "plan.json").write_bytes(msgspec.json.encode({"options": options}))
    return summary_of(questions, selected, counts)


@kept_while("images")
def set_facts(folder: Path, packed: bytes, numbers: Path, sets: int) -> tuple[SetFacts, pl.Series]:
    """What all shards share, and the ids of images."""
    groups, images = pickle.loads(packed), Images.load(Run(folder).images)
    same, words = SameWords.of(images), SetWords(WORDS.read_piece(numbers)["word"].to_list(), sets)
    merged = corpus(same.merged(images), groups) if same else None
    return SetFacts(words, corpus(images, groups), same, merged), images.images["id"]


def write_shard(task: SetsTask, chunk: QuestionChunk) -> ShardCounts:
    """In a worker."""
    facts, names = set_facts(task.run, task.groups, task.numbers, task.sets)
    asked = AskedQuestions.of(chunk, task.every)
    images, size = sorted_sets(asked.table["images"].gather(asked.first))
    made = TakenApart.of(AskedSets(facts, asked.table, images, asked.scope))
    sets = listed(images[images != PADDING], np.append(0, np.cumsum(size)))
    numbers = FIRST.read_piece(task.numbers)["number"].search_sorted(asked.numbers, side="left")
    programs, number = made.programs
    texts = programs.select(pl.format("{}\n{}", "program", pl.col("word").fill_null(""))).to_series()
    keys = node_keys(made.nodes.select("set", number), texts, made.tops, image_ids(sets, names))
    with new_folder(task.out / chunk.name) as folder:
        FORMS.write(form_table(made.blocks), folder)
        made.node_table.write(made.nodes, folder)
        EDGES.write(made.edges, folder)
        ASKED_TOPS.write(made.tops, folder)
        SETS.write(pl.DataFrame({"number": numbers, "images": sets}), folder)
        KEYS.write(pl.DataFrame({"key": keys, "question": made.nodes["question"]}), folder)
    return made.counts


def decompose(questions: pl.DataFrame, corpus: Corpus) -> dict[str, pl.DataFrame]:
    """Columns of tables/image_questions.ANSWERED -> the tables of DAGs, as `read_sets` has them."""
    asked = AskedSets.of(questions, corpus)
    made = TakenApart.of(asked)
    sets = [[int(image) for image in own if image != PADDING] for own in asked.images]
    return {
        WORDS.name: pl.DataFrame({"word": asked.facts.said.words}, schema=dict(WORDS.columns)),
        FORMS.name: form_table(made.blocks),
        "nodes": made.nodes,
        EDGES.name: made.edges,
        ASKED_TOPS.name: made.tops,
        ANSWERS.name: made.counts.answers,
        SETS.name: SETS.frame({"number": range(len(sets)), "images": pl.Series(sets, dtype=pl.List(pl.UInt32))}),
    }


@dataclass(frozen=True)
class TakenApart:
    """The DAGs of questions."""

    asked: AskedSets
    blocks: list[Block]
    top: Ints  # [question] its node
    nodes: pl.DataFrame  # with `question`: the words it was asked in before it was part of another
    edges: pl.DataFrame

    @classmethod
    def of(cls, asked: AskedSets) -> "TakenApart":
        forms = asked.facts.forms
        blocks, top = expand(forms, batches(asked.programs, forms, asked.scope), len(asked.questions))
        answers, how = answered_nodes(asked, blocks, top)
        nodes = node_table(blocks, answers, how, 0, _node_table(blocks), np.uint32)
        edges = edge_table(blocks, answers, IMAGE_DAGS.compositions)[0]
        words = own_words(len(nodes), asked.questions.select("question", node=pl.Series(top)), edges)
        return cls(asked, blocks, top, nodes.with_columns(question=words), edges)

    @property
    def node_table(self) -> Table:
        return _node_table(self.blocks)

    @cached_property
    def tops(self) -> pl.DataFrame:
        return ASKED_TOPS.frame(self.asked.questions.with_columns(node=pl.Series(self.top)))

    @cached_property
    def programs(self) -> tuple[pl.DataFrame, pl.Series]:
        """Different programs with the word each is about, and [node] which of them it has."""
        different, number = programs_in(self.nodes)
        return self.said(different, "program", "word"), number

    def said(self, nodes: pl.DataFrame, *columns: str) -> pl.DataFrame:
        """Also answers that are not told."""
        return say(form_table(self.blocks), nodes, self.asked.facts.texts, executed=True, columns=columns)

    @property
    def counts(self) -> ShardCounts:
        tops, place = np.unique(self.top, return_inverse=True)
        other = self.said(self.nodes[tops], "answer")["answer"].gather(place).ne_missing(self.asked.questions["answer"])
        untold = (self.nodes["known"] == NOT_SAID) | self.nodes["answer"].is_null()
        few = self.nodes.unique(["form", "answer"], maintain_order=True)
        counted = [program(block.form.text, IMAGES).kind.words == "number" for block in self.blocks]
        count = pl.Series(counted, dtype=pl.Boolean).gather(few["form"])
        about = self.programs[0].select(type=pl.lit(""), word="word", count=pl.lit(False))
        answers = self.said(few, "type", "answer").select("type", word="answer", count=count)
        return ShardCounts(
            [RankedForm(-own.height, own.text, own.type, len(own.parts)) for own in (one.form for one in self.blocks)],
            np.array([len(block) for block in self.blocks], np.int64),
            np.bincount(self.nodes["form"].filter(untold), minlength=len(self.blocks)),
            leaves(self.blocks, self.top),
            self.asked.questions.filter(other).select("number", "id"),
            pl.concat([answers, about]).drop_nulls().unique(),
        )


def _node_table(blocks: Sequence[Block]) -> Table:
    return nodes_about("set", max((len(block.form.slots) for block in blocks), default=0), pl.UInt32)


def repeated_ids(folder: Path, names: Sequence[str]) -> pl.DataFrame:
    """In a worker: shard, node and id of sub-questions whose id, which is short, another has before them."""
    keys = [
        pl.scan_parquet(os.fspath(folder / name / f"{KEYS.name}.parquet"), glob=False)
        .with_row_index("node")
        .with_columns(shard=pl.lit(name))
        for name in names
    ]
    every = pl.concat(keys).select("shard", "node", "key")
    several = every.group_by("key").len().filter(pl.col("len") > 1).collect(engine="streaming")["key"]
    same = every.filter(pl.col("key").is_in(several.implode())).collect(engine="streaming").sort("shard", "node")
    same = same.with_columns(at=pl.int_range(pl.len()).over("key") + 1).filter(pl.col("at") > 1)
    return same.select("shard", "node", key=pl.format("{}-{}", "key", "at"))


def number_ids(folder: Path, again: pl.DataFrame) -> None:
    """Of ids that are the same the second gets a number."""
    for (name,), own in again.group_by("shard", maintain_order=True):
        keys = KEYS.read(folder / str(name))
        KEYS.write(keys.with_columns(keys["key"].scatter(own["node"], own["key"])), folder / str(name))


def summary_of(questions: int, selected: int, counts: Sequence[ShardCounts]) -> ImageDecomposeSummary:
    nodes, undefined = Counter[RankedForm](), Counter[RankedForm]()
    for own in counts:
        nodes.update(dict(zip(own.forms, own.nodes.tolist(), strict=True)))
        undefined.update(dict(zip(own.forms, own.undefined.tolist(), strict=True)))
    return ImageDecomposeSummary(
        questions,
        selected - questions,
        sum(own.without_parts for own in counts),
        nodes.total(),
        sum(form.parts * number for form, number in nodes.items()),
        by_type(nodes),
        by_type(undefined),
        pl.concat([own.different for own in counts]).sort("number")["id"].to_list(),
    )


def by_type(counts: Counter[RankedForm]) -> dict[str, int]:
    """In the order of the nodes."""
    found = Counter[str]()
    for form in sorted(form for form in counts if counts[form]):
        found[form.type] += counts[form]
    return dict(found)
