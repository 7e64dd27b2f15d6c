"""Questions about image sets taken apart by chunks of sets: workers write tables of their own, which are joined."""

import pickle
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import msgspec
import numpy as np
import polars as pl

from questree.columns.joins import listed
from questree.domains.images import Corpus, corpus
from questree.domains.images.kinds import PADDING
from questree.faults import BadInput
from questree.rules import IMAGE_DAGS
from questree.search.same_words import SameWords
from questree.search.word_tables import WordTables
from questree.stages.decompose.columns import edge_table, form_table, leaves, node_table
from questree.stages.decompose.dealt_sets import (
    DEALT,
    SCOPE,
    DealTask,
    NumberedSets,
    SeenSets,
    deal,
    expected,
    ids_of,
    look,
    number_sets,
    number_tops,
    pieces_of,
    sorted_sets,
    write_tops,
)
from questree.stages.decompose.expand import expand
from questree.stages.decompose.image_sets import AskedSets, SetFacts, SetWords, all_words, answered_nodes, batches
from questree.stages.decompose.set_nodes import ChunkCounts, RankedForm, place, put_together
from questree.stages.decompose.spoken import SetTexts, say
from questree.tables.image_questions import EMPTY, QuestionChunk
from questree.tables.image_questions import chunks as question_chunks
from questree.tables.images import WORDS as IMAGE_WORDS
from questree.tables.images import Images
from questree.tables.nodes import ASKED_TOPS, FORMS, SETS, WORDS, nodes_about
from questree.tables.owners import part
from questree.tables.run import Run, kept_while
from questree.tables.store import new_folder
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


ChunkTables = dict[str, pl.DataFrame]  # nodes, edges, tops (question, node); nodes and forms numbered by themselves


@dataclass(frozen=True)
class SetsTask:
    """The questions about some sets, small enough to send anywhere that sees the run."""

    run: Path
    groups: bytes  # of attributes, pickled: word tables may lie where only the client sees them
    words: Path  # where the words of all questions lie
    sets: int  # of all questions
    begin: int  # sets begin <= s < end
    end: int
    pieces: tuple[Path, ...]  # where the questions lie
    out: Path


def decompose_run(
    run: Run, words: WordTables, every: bool = False, workers: int = 1, words_from: Path | None = None
) -> ImageDecomposeSummary:
    """Write RUN/covr/decomposed/, whole or not at all; the balanced questions, or every one."""
    chunks = question_chunks(run)
    with new_folder(run.covr / "decomposed") as folder:
        with part(folder / "parts", folder=True) as parts:
            with processes(workers, tasks=min(workers, expected(chunks))) as pool:
                task = DealTask(parts, every)
                seen = over(pool, "reading questions", "questions", chunks, look, task)
                if not any(own.selected for own in seen):
                    raise BadInput.at(run.covr, EMPTY)
                met = words_met(run, words, seen)
                (numbered,) = results({"sets": pool.submit(number_sets, task, chunks, met)}, "numbering sets")
                tasks = dealt(run, task, chunks, numbered, words, pool)
                futures = {f"sets {own.begin}-{own.end - 1}": pool.submit(write_chunk, own) for own in tasks}
                counts = results(futures, "decompose")
                forms = put_together(parts, counts, folder, pool)
                put_tops(task, chunks, numbered, [place(parts, at) for at in range(len(tasks))], pool)
            different = ids_of(task, chunks, numbered, np.sort(np.concatenate([own.different for own in counts])))
            ASKED_TOPS.join([task.tops(chunk) for chunk in chunks], folder)
            SETS.join([own.out for own in tasks], folder)
        WORDS.write(pl.DataFrame({"word": met}), folder)
        FORMS.write(form_rows(forms), folder)
        options = {"all": every, "words": str(words_from or "")}
        (folder / "plan.json").write_bytes(msgspec.json.encode({"options": options}))
    return summary_of(numbered.first[-1], sum(own.selected for own in seen), counts, different)


def words_met(run: Run, words: WordTables, seen: Sequence[SeenSets]) -> list[str]:
    groups = dict.fromkeys(words.attribute_group.values())
    return all_words((own.words for own in seen), IMAGE_WORDS.read(run.images)["word"].to_list(), groups)


def dealt(
    run: Run,
    task: DealTask,
    chunks: Sequence[QuestionChunk],
    numbered: NumberedSets,
    words: WordTables,
    pool: Executor,
) -> list[SetsTask]:
    """Deal the questions by chunks of sets."""
    futures = {
        f"questions {chunk}": pool.submit(deal, task, chunk, first, numbered.cuts)
        for chunk, first in zip(chunks, numbered.first, strict=False)
    }
    results(futures, "dealing questions")
    groups, more = pickle.dumps(words.attribute_group), (task.told(SCOPE), numbered.sets)
    pieces = pieces_of(task, chunks, numbered)
    return [
        SetsTask(run.folder, groups, *more, *sets, tuple(own), task.scratch / f"{at:05d}")
        for at, (sets, own) in enumerate(zip(pairwise(numbered.cuts), pieces, strict=True))
    ]


def put_tops(
    task: DealTask,
    chunks: Sequence[QuestionChunk],
    numbered: NumberedSets,
    pieces: Sequence[Path],
    pool: Executor,
) -> None:
    """Let chunks write which node each of their questions is; pieces: as in `number_tops`."""
    results({"nodes": pool.submit(number_tops, task, numbered.first[-1], pieces)}, "numbering questions")
    first = zip(chunks, numbered.first, strict=False)
    results({f"questions {own}": pool.submit(write_tops, task, own, at) for own, at in first}, "writing questions")


@kept_while("images")
def set_facts(folder: Path, packed: bytes, words: Path, sets: int) -> SetFacts:
    groups, images = pickle.loads(packed), Images.load(Run(folder).images)
    same, said = SameWords.of(images), SetWords(WORDS.read_piece(words)["word"].to_list(), sets)
    return SetFacts(said, corpus(images, groups), same, corpus(same.merged(images), groups) if same else None)


def write_chunk(task: SetsTask) -> ChunkCounts:
    facts = set_facts(task.run, task.groups, task.words, task.sets)
    table = pl.concat([DEALT.empty(), *map(DEALT.read_piece, task.pieces)])
    scope = table["set"].to_numpy().astype(np.int64) - task.begin
    images, size = sorted_sets(table["images"].gather(np.unique(scope, return_index=True)[1]))
    tables, counts = taken_apart(AskedSets(facts, table, table["row"].to_numpy(), images, scope, task.begin))
    with new_folder(task.out) as folder:
        sets = listed(images[images != PADDING], np.append(0, np.cumsum(size)))
        SETS.write_piece(pl.DataFrame({"images": sets}), folder)
        for name, own in tables.items():
            own.write_ipc(folder / f"{name}.arrow")
    return counts


def decompose(questions: pl.DataFrame, corpus: Corpus) -> dict[str, pl.DataFrame]:
    """Columns of tables/image_questions.ANSWERED -> the tables of tables/nodes.py about sets."""
    asked = AskedSets.of(questions, corpus)
    tables, counts = taken_apart(asked)
    sets = [[int(image) for image in own if image != PADDING] for own in asked.images]
    return tables | {
        SETS.name: pl.DataFrame({"images": sets}, schema=dict(SETS.columns)),
        WORDS.name: pl.DataFrame({"word": asked.facts.said.words}, schema=dict(WORDS.columns)),
        FORMS.name: form_rows(counts.forms),
        ASKED_TOPS.name: ASKED_TOPS.frame(asked.questions.with_columns(tables["tops"]["node"])),
    }


def form_rows(forms: Sequence[RankedForm]) -> pl.DataFrame:
    return pl.DataFrame([form[1:] for form in forms], schema=dict(FORMS.columns), orient="row")


def taken_apart(asked: AskedSets) -> tuple[ChunkTables, ChunkCounts]:
    forms, said = asked.facts.forms, asked.facts.said
    blocks, tops = expand(forms, batches(asked.programs, forms, asked.scope), len(asked.row))
    answers, how = answered_nodes(asked, blocks, tops)
    widest = max((len(block.form.slots) for block in blocks), default=0)
    nodes = node_table(blocks, answers, how, asked.first, nodes_about("set", widest, pl.UInt32), np.uint32)
    tables = {
        "nodes": nodes,
        "edges": edge_table(blocks, answers, IMAGE_DAGS.compositions)[0],
        "tops": pl.DataFrame({"question": asked.row, "node": tops}),
    }
    spoken = say(form_table(blocks), nodes, SetTexts(pl.Series(said.words, dtype=pl.String)), columns=("answer",))
    other = spoken["answer"].gather(tops).ne_missing(asked.questions["answer"]).to_numpy()
    silent = np.bincount(nodes["form"].filter(spoken["answer"].is_null()), minlength=len(blocks))
    ranked = [RankedForm(-own.height, own.text, own.type, len(own.parts)) for own in (block.form for block in blocks)]
    sizes = np.array([len(block) for block in blocks], np.int64)
    return tables, ChunkCounts(ranked, sizes, silent, leaves(blocks, tops), asked.row[other], widest)


def summary_of(
    questions: int, selected: int, counts: Sequence[ChunkCounts], different: list[str]
) -> ImageDecomposeSummary:
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
        different,
    )


def by_type(counts: Counter[RankedForm]) -> dict[str, int]:
    """In the order of the nodes."""
    found = Counter[str]()
    for form in sorted(form for form in counts if counts[form]):
        found[form.type] += counts[form]
    return dict(found)
