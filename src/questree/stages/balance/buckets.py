"""The work of balancing, shared out: shards deal their questions into buckets of content keys, which are files; buckets
count and choose. What comes back are counts, and the few hashes around a threshold."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from questree.columns.hashing import Hashes, mix, seed_of
from questree.columns.joins import Ints
from questree.stages.balance.binary import CELLS, COLUMNS, deal, dealt
from questree.stages.balance.content_keys import Keys, chosen, keys
from questree.stages.balance.levelling import SPLITS, BalanceOptions
from questree.stages.balance.opened import AnswerCounts, AnswerCuts, OpenQuestions, open_questions, runs_of, stays
from questree.stages.balance.structure import KeyCuts
from questree.stages.balance.thresholds import SeenHashes, Windows, seen
from questree.stages.questions import Bank
from questree.stages.rules_alone import RulesAlone
from questree.stages.template_columns import TemplateColumns
from questree.tables.facts import VIDEOS
from questree.tables.run import Run, kept_while
from questree.tables.store import for_others

OPEN_COLUMNS = 7


class BalanceCorpus(NamedTuple):
    """What all tasks share."""

    known: TemplateColumns
    test: NDArray[np.bool_]  # [video]
    seeds: Hashes  # [video]
    alone: RulesAlone | None = None


@kept_while("vocabulary.toml", "raw", "facts", "ledger.json", "questions")
def corpus(run: Path, seed: int) -> BalanceCorpus:
    """Read once per process."""
    bank, videos = Bank(Run(run)), Run(run).table("facts", VIDEOS)
    test = (videos["split"] != "train").to_numpy()  # a video whose source says nothing is for testing
    seeds = np.array([seed_of(seed, f"balance {video}") for video in videos["id"]], np.uint64)
    return BalanceCorpus(bank.templates, test, seeds, RulesAlone.of(bank.run, bank.templates, bank.edition.name))


@dataclass(frozen=True)
class Balancing:
    """What every task is done with; small enough to send anywhere that sees the run."""

    run: Path
    scratch: Path  # for the files of buckets
    options: BalanceOptions
    shards: tuple[str, ...]
    bits: int  # of the number of a bucket
    dealt: tuple[str, ...] = ()  # names of the files that every bucket has, once shards are dealt
    left: tuple[str, ...] = ()  # ... of the open questions that are left

    @property
    def corpus(self) -> BalanceCorpus:
        return corpus(self.run, self.options.seed)

    @property
    def buckets(self) -> range:
        return range(1 << self.bits)

    def put(self, kind: str, bucket: int, name: str, columns: Iterable[Ints]) -> None:
        """Columns of numbers of eight bytes."""
        with for_others(self.scratch / kind / str(bucket) / name) as work, open(work, "wb") as file:
            for column in columns:
                column.tofile(file)

    def take(self, kind: str, bucket: int, names: Sequence[str], width: int) -> Hashes:
        """[column, row] of all these."""
        files = [self.scratch / kind / str(bucket) / name for name in names]
        ends = np.cumsum([0, *(file.stat().st_size // (8 * width) for file in files)])
        found = np.empty((width, ends[-1]), np.uint64)
        for path, (begin, end) in zip(files, pairwise(ends), strict=True):
            with open(path, "rb") as file:
                for column in found:
                    file.readinto(column[begin:end])
        return found


class DealtPiece(NamedTuple):
    name: str  # of its files
    before: Ints  # [split, template] questions
    alone: Ints  # [split, template] whose answers follow from rules alone
    open: AnswerCounts  # by split and template
    width: int  # columns of binary questions


def deal_shard(task: Balancing, shard: str, without: pl.DataFrame | None) -> list[DealtPiece]:
    """Write the questions of a shard by bucket, a piece at a time, without those that are taken out before."""
    folder, rules = task.run / "questions" / shard, task.corpus.alone
    references = rules.references.read(folder) if rules and not task.options.as_released else None
    pieces = enumerate(COLUMNS.pieces(folder))
    return [deal_piece(task, f"{shard}.{at}", questions, references, without) for at, questions in pieces]


def deal_piece(
    task: Balancing, name: str, questions: pl.DataFrame, references: pl.DataFrame | None, without: pl.DataFrame | None
) -> DealtPiece:
    """references: of its shard, if what follows from rules alone is left out."""
    known, test, seeds, rules = task.corpus
    if without is not None:
        questions = questions.join(without, on=["video", "number"], how="anti", maintain_order="left")
    before, alone = counted(questions, test, len(known)), np.zeros((len(SPLITS), len(known)), np.int64)
    if rules and references is not None and (follow := rules.of_questions(questions, references)).any():
        alone = counted(questions.filter(follow), test, len(known))
        questions = questions.filter(~follow)
    template = questions["template"].to_numpy()
    open = open_questions(questions.filter(pl.Series(known.open[template])), test, seeds, known)
    binary = deal(questions, test, known, task.bits, task.options.untimed_keys)
    by_key = dealt(open.columns, mix(np.uint64(0), open.key), task.bits)
    for kind, (columns, start) in (("binary", binary), ("open", by_key)):
        for bucket, (begin, end) in enumerate(pairwise(start)):
            task.put(kind, bucket, name, columns[:, begin:end])
    return DealtPiece(name, before, alone, AnswerCounts.of(open.template, open), len(binary[0]))


def counted(questions: pl.DataFrame, test: NDArray[np.bool_], templates: int) -> Ints:
    """[split, template]"""
    cell = questions["template"].to_numpy().astype(np.int64) + test[questions["video"].to_numpy()] * templates
    return np.bincount(cell, minlength=len(SPLITS) * templates).reshape(len(SPLITS), -1)


def read_open(task: Balancing, bucket: int) -> OpenQuestions:
    return OpenQuestions.of(task.take("open", bucket, task.left, OPEN_COLUMNS))


def look_at_answers(task: Balancing, bucket: int, by: str, runs: Ints, within: Windows) -> SeenHashes:
    """by: column; runs: its value, answer and effect, ascending."""
    open = read_open(task, bucket)
    return seen(np.searchsorted(runs, runs_of(getattr(open, by), open)), open.hash, within)


class LeftAnswers(NamedTuple):
    """Open questions that are left, by split and template."""

    cut: AnswerCounts  # after the cuts
    left: AnswerCounts  # ... and after smoothing the answers of content keys


def smooth_open(task: Balancing, bucket: int, cuts: AnswerCuts, name: str) -> LeftAnswers:
    """Write what is left as a file of this name."""
    open = read_open(task, bucket)
    first = open.where(cuts.stays(open))
    second = first.where(stays(first.key, first, task.options.smoothing))
    task.put("open", bucket, name, second.columns)
    return LeftAnswers(*(AnswerCounts.of(rows.template, rows) for rows in (first, second)))


class CountedBucket(NamedTuple):
    cell: Ints  # so many keys of a cell ...
    size: Ints  # ... have so many binary questions after the first round
    number: Ints


def count_bucket(task: Balancing, bucket: int, width: int) -> CountedBucket:
    """Sort the binary questions by key."""
    found = keys(task.take("binary", bucket, task.dealt, width))
    order = mix(seed_of(task.options.seed, "keys"), found.content)
    task.put("sorted", bucket, "rows", [found.packed, found.place])
    task.put("sorted", bucket, "keys", [found.begin[1:], found.size, found.cell.astype(np.int64), order])
    pairs, number = np.unique(found.size * CELLS + found.cell, return_counts=True)
    return CountedBucket(pairs % CELLS, pairs // CELLS, number)


class SortedKeys(NamedTuple):
    end: Ints  # [key] of its questions
    size: Ints
    cell: Ints
    order: Hashes  # in which keys are visited


def read_keys(task: Balancing, bucket: int) -> SortedKeys:
    end, size, cell, order = task.take("sorted", bucket, ["keys"], 4)
    return SortedKeys(end.view(np.int64), size.view(np.int64), cell.view(np.int64), order)


def look_at_keys(task: Balancing, bucket: int, cuts: KeyCuts, within: Windows) -> SeenHashes:
    """Twice: of those that may keep one more, and of the last one that keeps something."""
    own = read_keys(task, bucket)
    above = own.size > cuts.level[own.cell]
    cell, order = own.cell[above], own.order[above]
    return seen(np.append(cell, CELLS + cell), np.append(order, order), within)


def choose_bucket(task: Balancing, bucket: int, cuts: KeyCuts, at: Hashes) -> Ints:
    """Write the binary questions that stay; returns [cell] how many."""
    own, (packed, place) = read_keys(task, bucket), task.take("sorted", bucket, ["rows"], 2)
    keep = cuts.kept(own.cell, own.size, own.order, at)
    found = Keys(packed, place, np.append(0, own.end), own.size, own.cell.astype(np.uint16))
    task.put("chosen", bucket, "binary", [chosen(found, keep, task.corpus.seeds)])
    return np.bincount(own.cell, keep, CELLS).astype(np.int64)
