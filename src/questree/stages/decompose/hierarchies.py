"""The DAGs of a run as the tables that scores read: what one would read from the hierarchies it exports."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
import polars as pl

from questree.benchmarks import chosen
from questree.columns.joins import ranges, starts
from questree.domains.video import VIDEO
from questree.faults import BadInput
from questree.progress import watch
from questree.readings.parts import compared
from questree.rules import VIDEO_DAGS
from questree.stages.decompose.answer_words import AnswerWords
from questree.stages.decompose.keys import asked, keyed, parts_of_others
from questree.stages.decompose.occurrences import Compositions, Occurrences
from questree.stages.decompose.spoken import Texts, by_form
from questree.stages.generate.text import Lexicon, lexicon
from questree.stages.questions import Bank
from questree.tables import hierarchies as tables
from questree.tables.facts import SPLIT_UNSAID, VIDEOS
from questree.tables.hierarchies import NOTHING, Hierarchies, together
from questree.tables.nodes import EDGES, FORMS, GIVEN, NEGATIVES, NODES, NOT_SAID, TOPS
from questree.tables.run import Run, kept_while
from questree.tables.store import own_note
from questree.terms import UNKNOWN, Array, Language
from questree.workers import processes


def in_order(found: Hierarchies) -> Hierarchies:
    """As files are read: videos with DAGs by file name, then the others as they come; DAGs by video."""
    with_dags = np.zeros(len(found.videos), bool)
    with_dags[found.dags["video"].to_numpy()] = True
    order = file_order(found.videos, with_dags)
    number = np.empty(len(order), np.uint32)
    number[order] = np.arange(len(order), dtype=np.uint32)
    dags, isolated = (
        table.with_columns(video=pl.Series(number[table["video"].to_numpy()])) for table in (found.dags, found.isolated)
    )
    return by_video(replace(found, dags=dags, isolated=isolated, videos=[found.videos[at] for at in order]))


def file_order(videos: Sequence[str], with_dags: Array) -> list[int]:
    """Videos in the order `in_order` puts them."""
    named = sorted(np.flatnonzero(with_dags).tolist(), key=lambda at: f"{videos[at]}.json")
    return named + np.flatnonzero(~with_dags).tolist()


def by_video(found: Hierarchies) -> Hierarchies:
    """The same DAGs, sorted by video; what belongs to a DAG stands together in every table."""
    video = found.dags["video"].to_numpy()
    if (np.diff(video.astype(np.int64)) >= 0).all():
        return found
    return found.taken(np.argsort(video, kind="stable"))


SPLITS = ("train", "test")


class NothingAsked(BadInput):
    """No question is in the split."""


FEW = 1_000_000  # bytes of nodes; starting processes for less does not pay


class ShardKeys(NamedTuple):
    """The keys of a shard: first those of its nodes, by row, then those of its questions, by row of `tops`."""

    shard: str
    nodes: int
    tops: Array  # [question] its node
    asked: pl.DataFrame  # id and key of every question; those that read alike have one key


@dataclass(frozen=True)
class RunHierarchies:
    run: Run
    hierarchies: Hierarchies
    named: list[ShardKeys]  # keys of the hierarchies, in their order


def shards(run: Run) -> list[Path]:
    """Folders of the decomposed shards, in order."""
    if not run.decomposed.is_dir():
        run.vocabulary()
        raise BadInput.at(run.decomposed, "not there yet; `questree decompose` writes it")
    run.require_plugins(run.questions)
    run.refuse_stale(run.decomposed / "plan.json", "decompose")
    return sorted(path for path in run.decomposed.iterdir() if path.is_dir())


def dags_given(run: Run) -> bool:
    """Were the DAGs of a run imported?"""
    plan = run.decomposed / "plan.json"
    return plan.is_file() and "imported" in own_note(plan)


def run_hierarchies(run: Run, split: str | None = None, workers: int = 2, few: int = FEW) -> RunHierarchies:
    """All DAGs of a run, or of the videos of one split."""
    folders = shards(run)
    Bank(run)  # says so if the questions are of other facts
    tasks = [(run.folder, folder.name, split) for folder in folders]
    if workers > 1 and many(folders, few):
        with processes(workers) as pool:
            found = list(watch(pool.map(part, *zip(*tasks, strict=True)), "hierarchies", len(tasks)))
    else:
        found = [part(*task) for task in watch(tasks, "hierarchies", len(tasks))]
    whole = in_order(together(own.part for own, _ in found))
    if whole.dags.is_empty() and whole.isolated.is_empty():
        raise nothing_asked(run.decomposed, split)
    return RunHierarchies(run, whole, [named for _, named in found])


def nothing_asked(place: Path, split: str | None) -> BadInput:
    return NothingAsked.at(place, f"no questions of the split {split}" if split else "no questions")


def many(folders: Sequence[Path], few: int = FEW) -> bool:
    """Are there enough nodes for processes to pay?"""
    return sum((folder / f"{NODES.name}.parquet").stat().st_size for folder in folders) > few


@kept_while("vocabulary.toml", "facts", "ledger.json", "questions")
def corpus(run: Path) -> tuple[Bank, Array, Texts, Lexicon, AnswerWords]:
    """What all shards share, read once per process."""
    bank = Bank(Run(run))
    split = Run(run).table("facts", VIDEOS)["split"].replace("", SPLIT_UNSAID).to_numpy()
    words = bank.vocabulary
    return bank, split, Texts(words), lexicon(words, bank.edition), AnswerWords(words)


def part(run: Path, name: str, split: str | None) -> tuple[Hierarchies, ShardKeys]:
    """The DAGs of one shard."""
    bank, splits, texts, lexicon, words = corpus(run)
    folder = bank.run.decomposed / name
    forms, nodes, tops = FORMS.read(folder), NODES.read(folder), TOPS.read(folder)
    questions = asked(bank.shard(bank.run.questions / name, tops), tops, lexicon)
    keys, rows = called(folder, questions, forms, nodes, texts, bank)
    known = ShardKeys(name, len(nodes), tops["node"].to_numpy(), questions.select("id", key=pl.Series(rows)))
    questions, edges = questions.select("video", "node", key=pl.Series(rows)), EDGES.read(folder)
    others = negatives(folder, edges, len(nodes), tops)
    if split is not None:
        wanted = pl.Series(splits == split)
        questions, others = (table.filter(wanted.gather(table["video"])) for table in (questions, others))
    made = ShardDags.of(questions, edges, Columns.of(forms, nodes, words), others)
    ids = [bank.ids[at] for at in made.videos.tolist()]
    return made.hierarchies(ids, list(words.number), keys), known


def called(
    folder: Path, questions: pl.DataFrame, forms: pl.DataFrame, nodes: pl.DataFrame, texts: Texts, bank: Bank
) -> tuple[pl.Series, Array]:
    """Keys of all nodes of a shard, then of all questions; and [question] the row of its own."""
    if (folder / f"{GIVEN.name}.parquet").is_file():
        keys = pl.concat([GIVEN.read(folder)["key"], questions.sort("top")["id"]])
        return keys, questions["node"].to_numpy().astype(np.int64)
    return keyed(questions, forms, nodes, texts, bank.names)


def negatives(folder: Path, edges: pl.DataFrame, nodes: int, tops: pl.DataFrame) -> pl.DataFrame:
    """Negatives that are part of no question: they are asked by themselves. Columns as of questions."""
    alone = np.ones(nodes, bool)
    alone[parts_of_others(nodes, edges, tops["node"].to_numpy())] = False
    found = NEGATIVES.read(folder)
    return found.filter(pl.Series(alone[found["node"].to_numpy()])).with_columns(key=pl.col("node").cast(pl.Int64))


@dataclass(frozen=True)
class Columns:
    """What a node brings along wherever it occurs; all but the last are [node]."""

    type: Array  # position in `types`
    answer: Array  # word, NOTHING where none is published
    object: Array  # word, where it asks whether one exists
    types: list[str]

    @classmethod
    def of(
        cls,
        forms: pl.DataFrame,
        nodes: pl.DataFrame,
        words: AnswerWords,
        language: Language = VIDEO,
        known: Sequence[str] = (),
    ) -> "Columns":
        """`known`: types that are listed first."""
        types = list(dict.fromkeys([*known, *forms["type"]]))
        type, answer, thing = (np.full(len(nodes), NOTHING, np.int32) for _ in range(3))
        value, said = nodes["answer"].cast(pl.Int64).fill_null(UNKNOWN).to_numpy(), published(nodes)
        for rows, name, node, values in by_form(forms, nodes, language):
            type[rows] = types.index(name)
            answer[rows] = np.where(said[rows], words.of(node.kind)[np.maximum(value[rows], 0)], NOTHING)
            if word := compared(node):
                thing[rows] = words.named(word.kind)[values[word.name]]
        return cls(type, answer, thing, types)


def published(nodes: pl.DataFrame) -> Array:
    """[node] is its answer told?"""
    there = nodes["answer"].cast(pl.Int64).fill_null(UNKNOWN).to_numpy() != UNKNOWN
    return np.asarray(there & (nodes["known"].to_numpy() != NOT_SAID))


@dataclass(frozen=True)
class ShardDags:
    """The questions of a shard with their DAGs."""

    dags: pl.DataFrame  # questions with sub-questions: video, node, key
    isolated: pl.DataFrame  # those without
    videos: Array  # those that have either
    inner: Array  # [node] does it have sub-questions?
    columns: Columns
    compositions: Compositions
    occurrences: Occurrences

    @classmethod
    def of(
        cls, questions: pl.DataFrame, edges: pl.DataFrame, columns: Columns, others: pl.DataFrame | None = None
    ) -> "ShardDags":
        """`others` are asked without their sub-questions."""
        inner = np.zeros(len(columns.type), bool)
        inner[edges["parent"].to_numpy()] = True
        whole = pl.Series(inner[questions["node"].to_numpy()])
        dags, compositions = questions.filter(whole), Compositions.of(edges)
        occurrences = Occurrences.of(dags["node"].to_numpy().astype(np.int64), len(inner), compositions.edges)
        isolated = questions.filter(~whole)
        isolated = isolated if others is None else pl.concat([isolated, others])
        videos = np.union1d(questions["video"].to_numpy(), isolated["video"].to_numpy())
        return cls(dags, isolated, videos, inner, columns, compositions, occurrences)

    def hierarchies(
        self, ids: list[str], words: list[str], keys: pl.Series, compositions: Sequence[str] = VIDEO_DAGS.compositions
    ) -> Hierarchies:
        """`ids` of the videos; `keys` of all nodes and questions."""
        composed, edges = self.composed()
        return Hierarchies(
            nodes=self.nodes(),
            composed=composed,
            edges=edges,
            dags=tables.DAGS.frame({"video": self.place(self.dags)}),
            isolated=self.loose(),
            videos=ids,
            types=self.columns.types,
            compositions=list(compositions),
            words=words,
            keys=keys.rename("key"),
        )

    def place(self, questions: pl.DataFrame) -> Array:
        """[question] the place of its video in `videos`."""
        return np.searchsorted(self.videos, questions["video"].to_numpy())

    def nodes(self) -> pl.DataFrame:
        """A question has its own key; everything else is that of its node."""
        node, size = self.occurrences.node, self.occurrences.size
        key = node.copy()
        key[np.cumsum(size) - 1] = self.dags["key"].to_numpy()
        columns = {
            "dag": np.repeat(np.arange(len(size)), size),
            "text": key,
            "type": self.columns.type[node],
            "key": key,
            "answer": self.columns.answer[node],
            "object": self.columns.object[node],
        }
        return tables.NODES.frame({**columns, "parent": self.inner[node]})

    def composed(self) -> tuple[pl.DataFrame, pl.DataFrame]:
        node, known, nodes = self.occurrences.node, self.compositions, len(self.columns.type)
        begin = starts(known.parent, nodes)
        row, which = ranges(begin[node], begin[node + 1])
        edge_begin = starts(known.edges["parent"].to_numpy(), nodes)
        first = self.occurrences.first_edge[row] + known.first[which] - edge_begin[node[row]]
        columns = {"parent": row, "composition": known.label[which], "first": first, "edges": known.size[which]}
        _, edge = ranges(edge_begin[node], edge_begin[node + 1])
        edges = {"child": self.occurrences.child, "repeated": known.repeated[edge]}
        return tables.COMPOSED.frame(columns), tables.EDGES.frame(edges)

    def loose(self) -> pl.DataFrame:
        node = self.isolated["node"].to_numpy()
        columns = {"video": self.place(self.isolated), "type": self.columns.type[node], "key": self.isolated["key"]}
        return tables.ISOLATED.frame({**columns, "answer": self.columns.answer[node]})


def hierarchies_in(run: Run, split: str | None = None, benchmark: str = "") -> RunHierarchies:
    """The DAGs of a benchmark of a run."""
    found: RunHierarchies = chosen(run, benchmark, "decomposed").part("hierarchies")(run, split)
    return found
