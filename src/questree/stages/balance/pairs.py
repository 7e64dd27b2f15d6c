"""COVR's balancing (App. C): as many questions of every template, answers as even as can be, then sizes and depths.

Of N questions in T templates each template has room for S = N / T. First come all questions whose text is seen with at
least two answers. Then, again and again, a question with the answer that was used least, and among those one whose
reference's (length, depth) was used least. Where room is left and only one answer, no more of it is taken than the
second most common answer has questions: the paper has more questions of every answer than room.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from heapq import heapify, heappop, heappush
from typing import Any

import msgspec
import numpy as np
import polars as pl

from questree.benchmarks import Recipe, Said, Told
from questree.benchmarks.covr.templates import BY_NAME
from questree.columns.hashing import seed_of, seeds_of
from questree.faults import at_least, refuse
from questree.stages.balance.rejected import read_rejected, rejected
from questree.stages.shard_tables import ShardTables
from questree.tables.image_questions import BALANCED, QuestionChunk, chunks
from questree.tables.run import Run
from questree.tables.store import new_file, scratch
from questree.workers import over, processes, results, whole

SPLITS = ("train", "dev", "test")
COMPARED = ("question", "answer", "length", "depth")  # by which questions are chosen
RANKED, CHOSEN = "ranked", "chosen"  # tables of chunks and of groups
Structure = tuple[int, int]  # length, depth


@dataclass(frozen=True)
class PairsOptions:
    questions: int | None = None  # N, over all splits; without it all there are
    seed: int = 1


@dataclass(frozen=True)
class TemplateRoom:
    split: str
    template: str
    before: int
    two_answers: int  # whose text is seen with at least two answers
    room: int
    kept: int
    alone: str = ""  # the answer of all that are kept, if there are several with one answer


PAPER = PairsOptions()
Group = tuple[str, str]  # split and template: what is balanced by itself


@dataclass(frozen=True)
class PairsTask:
    """What questions are ranked and chosen with; small enough to send anywhere that sees the run."""

    tables: ShardTables
    seed: int


def balance(
    run: Run, options: PairsOptions = PAPER, without: pl.DataFrame | None = None, workers: int = 1
) -> list[TemplateRoom]:
    """Write RUN/covr/balanced.parquet, and its options beside it; `without` the questions with these ids.

    Chunks write what questions are chosen by, and groups choose among all of them."""
    refuse(at_least(1, {"questions": options.questions}))
    parts, target = chunks(run), run.covr / f"{BALANCED.name}.parquet"
    with scratch(target) as place, processes(workers, tasks=min(workers, len(parts))) as pool:
        tables = ShardTables(place)
        task = PairsTask(tables, options.seed)
        over(pool, "reading questions", "questions", parts, rank_chunk, task, without)
        wanted = whole(rooms, tables, options.questions)
        futures = {" ".join(group): pool.submit(choose, task, group, room) for group, room in wanted.items()}
        rows = results(futures, "balancing")
        with new_file(target) as work:
            BALANCED.sink_to(tables.scan(CHOSEN).sort("number"), work)
    with new_file(run.covr / f"{BALANCED.name}.json") as work:
        record = {"options": options} | ({} if without is None else {"without": len(without)})
        work.write_bytes(msgspec.json.format(msgspec.json.encode(record)) + b"\n")
    order = list(dict.fromkeys([*BY_NAME, *sorted(row.template for row in rows)]))  # a file's templates come last
    return sorted(rows, key=lambda row: (SPLITS.index(row.split), order.index(row.template)))


def rooms(tables: ShardTables, questions: int | None) -> dict[Group, int]:
    """How many questions of every group may stay."""
    groups = tables.scan(RANKED).group_by("split", "template").agg(n=pl.len()).collect(engine="streaming")
    splits = groups.with_columns(inside=pl.col("n").sum().over("split"), templates=pl.len().over("split"))
    every = int(groups["n"].sum())
    return {
        (split, template): (inside if questions is None else round(questions * inside / every)) // templates
        for split, template, _, inside, templates in splits.rows()
    }


def rank_chunk(task: PairsTask, chunk: QuestionChunk, without: pl.DataFrame | None) -> None:
    """Write the questions of a chunk, without those that are taken out before."""
    table = chunk.read("number", "id", "split", "template", *COMPARED)
    if without is not None:
        table = table.join(without, on="id", how="anti", maintain_order="left")
    task.tables.write(RANKED, chunk.name, ranked(table, task.seed))


def ranked(questions: pl.DataFrame, seed: int) -> pl.DataFrame:
    """With a rank by which they are drawn, and a number in place of every text."""
    texts = questions["question"].unique()
    number = pl.DataFrame({"question": texts, "text": seeds_of(0, texts)})
    numbered = questions.join(number, on="question", how="left", maintain_order="left")
    return numbered.with_columns(pl.Series("rank", seeds_of(seed, questions["id"])), question="text").drop("text")


def choose(task: PairsTask, group: Group, room: int) -> TemplateRoom:
    """Write the questions of a group that stay; a template of somebody's own may have any name."""
    every = task.tables.scan(RANKED).filter(split=group[0], template=group[1])
    questions = every.collect(engine="streaming").sort("number")
    rows, first = select(questions, room, task.seed)
    chosen = questions[rows]
    task.tables.write(CHOSEN, f"{seed_of(0, chr(0).join(group)):016x}", chosen.select("number", "id"))
    answers = chosen["answer"].unique().to_list()
    alone = answers[0] if len(answers) == 1 and len(rows) > 1 else ""
    return TemplateRoom(*group, len(questions), first, room, len(rows), alone)


def recipe(run: Run, given: Mapping[str, Any], workers: int) -> Told:
    options = PairsOptions(**{name: value for name, value in given.items() if name != "without"})
    without, said = None, list[Said]()
    if "without" in given:
        found = read_rejected(given["without"])
        without = found.filter(found["id"].is_in(there(run, found["id"]).implode()))
        said += rejected(found, without).said()
    rows = balance(run, options, without, workers)
    for split in dict.fromkeys(row.split for row in rows):
        own = [asdict(row) for row in rows if row.split == split]
        shown = {"template": "template", "before": "before", "text with two answers": "two_answers"}
        shown |= {"room": "room", "kept": "kept"}
        said.append((f"{split}: questions", [{name: row[of] for name, of in shown.items()} for row in own]))
    known = [f"{row.split} {row.template} ({row.alone}, {row.kept:,} questions)" for row in rows if row.alone]
    said += [f"warning: one answer alone, more questions would have others: {', '.join(known)}"] if known else []
    said.append(f"kept {sum(row.kept for row in rows):,} of {sum(row.before for row in rows):,} in {run.covr}")
    return Told(said, rows)


RECIPE = Recipe(frozenset({"questions", "seed", "without"}), recipe, shared=True)


def there(run: Run, ids: pl.Series) -> pl.Series:
    """Those of the ids that questions of the run have."""
    return pl.concat([ids.filter(ids.is_in(part.read("id")["id"].implode())) for part in chunks(run)])


def select(questions: pl.DataFrame, room: int, seed: int) -> tuple[list[int], int]:
    """Rows of one split and template, `ranked`, that stay, in the order they were taken; and how many come first."""
    first = questions.select(pl.col("answer").n_unique().over("question") > 1).to_series().to_numpy()
    shelf, most = Shelf.of(questions, seed), ceiling(questions["answer"])
    if first.sum() > room:
        shelf.take(np.flatnonzero(first).tolist(), room, most, together=True)
    else:
        for row in np.flatnonzero(first).tolist():
            shelf.put(row)
        shelf.take(np.flatnonzero(~first).tolist(), room, most)
    return shelf.taken, int(first.sum())


def ceiling(answers: pl.Series) -> int:
    """How often an answer is taken at most: as often as the second most common one is there. One alone says nothing."""
    counts = answers.value_counts()["count"].sort(descending=True)
    return int(counts[1]) if len(counts) > 1 else len(answers)


@dataclass
class Shelf:
    """What was taken so far, and how often each answer and structure was."""

    answer: Sequence[str]  # [question]
    structure: Sequence[Structure]
    text: Sequence[int]
    rank: Sequence[int]  # a hash of the seed and the question: who is drawn first
    seed: int
    taken: list[int] = field(default_factory=list)
    answers: Counter[str] = field(default_factory=Counter)
    structures: Counter[Structure] = field(default_factory=Counter)

    @classmethod
    def of(cls, questions: pl.DataFrame, seed: int) -> "Shelf":
        structure = list(zip(questions["length"], questions["depth"], strict=True))
        answer, text, rank = (questions[name].to_list() for name in ("answer", "question", "rank"))
        return cls(answer, structure, text, rank, seed)

    def put(self, row: int) -> None:
        self.taken.append(row)
        self.answers[self.answer[row]] += 1
        self.structures[self.structure[row]] += 1

    def take(self, rows: Iterable[int], room: int, most: int, together: bool = False) -> None:
        """Until there is no room, of no answer more than `most`; with `together`, each with one of the same text and
        another answer."""
        waiting: dict[str, dict[Structure, list[int]]] = defaultdict(lambda: defaultdict(list))
        texts: dict[int, list[int]] = defaultdict(list)
        for row in sorted(rows, key=lambda row: self.rank[row], reverse=True):  # taken from the end
            waiting[self.answer[row]][self.structure[row]].append(row)
            texts[self.text[row]].append(row)
        gone = set(self.taken)
        tie = {answer: int(seed_of(self.seed, answer)) for answer in waiting}
        queue = [(self.answers[answer], tie[answer], answer) for answer in waiting]
        heapify(queue)
        while queue and len(self.taken) < room:
            used, _, answer = heappop(queue)
            if used < self.answers[answer]:  # its number has grown since it was queued
                heappush(queue, (self.answers[answer], tie[answer], answer))
                continue
            found = self._least_used(waiting[answer], gone) if used < most else None
            if found is None:
                continue
            heappush(queue, (used + 1, tie[answer], answer))
            self._take(found, gone)
            twin = self._twin(found, texts[self.text[found]], gone) if together and len(self.taken) < room else None
            if twin is not None:
                self._take(twin, gone)

    def _take(self, row: int, gone: set[int]) -> None:
        self.put(row)
        gone.add(row)

    def _least_used(self, waiting: dict[Structure, list[int]], gone: set[int]) -> int | None:
        """The first in line of the structure that was used least."""
        for rows in waiting.values():
            while rows and rows[-1] in gone:
                rows.pop()
        lines = [structure for structure, rows in waiting.items() if rows]
        return waiting[min(lines, key=lambda each: (self.structures[each], each))].pop() if lines else None

    def _twin(self, row: int, same_text: list[int], gone: set[int]) -> int | None:
        others = [each for each in same_text if each not in gone and self.answer[each] != self.answer[row]]
        return min(others, key=lambda each: (self.answers[self.answer[each]], self.rank[each]), default=None)
