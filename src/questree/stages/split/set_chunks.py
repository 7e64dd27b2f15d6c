"""Questions about image sets split by chunks: what is to be drawn is counted, then every chunk makes all splits, and
writes what is in which part; what comes back are counts."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import NamedTuple

import polars as pl

from questree.benchmarks.covr.splits import FEW_SHOT, LEXICAL, PROGRAM, ZERO_SHOT
from questree.columns.hashing import Hashes, seeds_of
from questree.stages.split import properties as splits
from questree.stages.split.declared import PLUGGED, File, Split, added
from questree.stages.split.engine import Parts, Proof, SplitCounts, SplitOptions, parts_of, see
from questree.stages.split.language import KINDS, KnownWords, of_images, words_of
from questree.stages.split.lexical import Pair, TermCounts, counted_terms, drawn_pairs, few_pairs, term_pairs
from questree.stages.split.rows import QuestionRows, Truth, image_rows
from questree.stages.split.training_lists import IID_SIZE, Lists, curve_part
from questree.tables.image_questions import QuestionChunk
from questree.tables.run import kept_while
from questree.tables.store import for_others, new_folder
from questree.tables.table import Table

NAMES = (*FEW_SHOT, *ZERO_SHOT, PROGRAM, LEXICAL)
PARTS = ("train", "dev", "dev held out", "test")
SPLITS = ("train", "dev", "test")
SIDES = Table("split", {"id": pl.String, "part": pl.String})  # RUN/covr/splits/<name>.parquet
LOOKED_AT = ("id", "split", "template", "answer", "form", "words", "images")


@dataclass(frozen=True)
class DrawnSplits:
    """What was drawn: examples that stay in train, shapes and pairs that are held out."""

    examples: Mapping[str, pl.DataFrame] = field(default_factory=dict)  # few-shot split -> id
    shapes: Mapping[int, list[str]] = field(default_factory=dict)  # seed -> shapes of programs
    pairs: Mapping[int, list[Pair]] = field(default_factory=dict)  # seed -> pairs of terms
    warnings: Mapping[int, tuple[str, ...]] = field(default_factory=dict)  # seed -> what is said about the pairs


@dataclass(frozen=True)
class SetSplitTask:
    """What every chunk is split with; small enough to send anywhere that sees the run."""

    scratch: Path
    options: SplitOptions
    file: File  # the user's splits
    drawn: DrawnSplits = field(default_factory=DrawnSplits)

    def wanted(self, names: Sequence[str]) -> list[str]:
        return [name for name in names if not self.options.names or name in self.options.names]

    @property
    def seeds(self) -> range:
        first = self.options.drawing.seed
        return range(first, first + self.options.draws)

    def place(self, chunk: QuestionChunk) -> Path:
        """A file with the parts of a chunk."""
        return self.scratch / f"{chunk}.arrow"

    def piece(self, chunk: QuestionChunk, part: str) -> Path:
        """A folder with a file for every split."""
        return self.scratch / f"{chunk}" / part


def declared(task: SetSplitTask, position: Mapping[str, int], known: KnownWords | None = None) -> Iterator[Split]:
    """All splits that are wanted. position: of words among those of questions; known: what a user's words are checked
    against."""
    drawn = task.drawn
    for name in task.wanted(NAMES):
        if name in FEW_SHOT:
            yield splits.few_shot(splits.named(name, position), drawn.examples[name])
        elif name in ZERO_SHOT:
            yield splits.zero_shot(splits.named(name, position))
        for seed in task.seeds:
            if name == PROGRAM:
                held = splits.program_split(drawn.shapes[seed], seed)
            elif name == LEXICAL:
                held = splits.lexical_split(drawn.pairs[seed], seed, drawn.warnings[seed])
            else:
                break
            yield splits.zero_shot(held, f"{name} {seed}")
    own = added("images", task.file, task.options.file, of_images(position, known), set(map(slug, NAMES)))
    yield from (split for split in own if split.name in task.wanted([split.name]))


@dataclass(frozen=True)
class SeenQuestions:
    """What was counted in a chunk before anything is drawn."""

    sides: dict[str, int]  # questions of train, dev and test
    examples: dict[str, pl.DataFrame]  # few-shot split -> its examples that are drawn first
    shapes: set[str]
    terms: list[TermCounts]  # none if no split needs them
    words: dict[str, set[str]]  # kind -> words that a user's predicates may name


def look(task: SetSplitTask, chunk: QuestionChunk) -> SeenQuestions:
    drawing, few = task.options.drawing, dict[str, pl.DataFrame]()
    rows, side, hashed = read(chunk.run, chunk, task.options.all, drawing.seed)
    for name in task.wanted(FEW_SHOT):
        few[name] = splits.examples(splits.named(name, rows.position), rows, hashed, side["train"], drawing)
    own = [*PLUGGED["images"], *task.file.splits]
    return SeenQuestions(
        {name: int(inside.sum()) for name, inside in side.items()},
        few,
        splits.shapes_of(rows) if task.wanted([PROGRAM]) else set(),
        [counted_terms(rows, side["train"], side["test"]) for _ in task.wanted([LEXICAL])],
        {kind: set(words_of(rows, kind)) for kind in (*KINDS, "answer") if own},
    )


class ChunkRows(NamedTuple):
    rows: QuestionRows
    side: dict[str, Truth]
    hashed: Hashes  # [question]


@kept_while("covr/questions", "covr/balanced.parquet")
def read(_: Path, chunk: QuestionChunk, every: bool, seed: int) -> ChunkRows:
    """Whoever reads the only chunk of a run twice has it."""
    questions = chunk.selected(every, *LOOKED_AT)
    side = {name: (questions["split"] == name).to_numpy() for name in SPLITS}
    return ChunkRows(image_rows(questions), side, seeds_of(seed, questions["id"]))


def with_draws(task: SetSplitTask, found: Sequence[SeenQuestions]) -> SetSplitTask:
    """What is drawn follows from what all chunks have counted."""
    drawing = task.options.drawing
    few = {name: [own.examples[name] for own in found] for name in task.wanted(FEW_SHOT)}
    shapes = set[str]().union(*(own.shapes for own in found))
    drawn = DrawnSplits(
        {name: splits.first_drawn(own, drawing.few_shot) for name, own in few.items()},
        {seed: splits.drawn_shapes(shapes, seed) for seed in task.seeds},
    )
    if task.wanted([LEXICAL]):
        pairs = term_pairs([terms for own in found for terms in own.terms])
        own_pairs = {seed: drawn_pairs(pairs, drawing.lexical, seed) for seed in task.seeds}
        told = {seed: few_pairs(pairs, own, drawing.lexical) for seed, own in own_pairs.items()}
        drawn = replace(drawn, pairs=own_pairs, warnings=told)
    return replace(task, drawn=drawn)


@dataclass(frozen=True)
class ChunkParts:
    """What was counted about one split in a chunk."""

    seen: SplitCounts
    parts: dict[str, int]  # part -> questions
    kept: int  # questions with what is held out that stay in train
    examples: int  # questions with it of training images


def split_chunk(task: SetSplitTask, chunk: QuestionChunk) -> list[ChunkParts]:
    """Per split, what was counted; which questions are in which part goes to a file."""
    rows, side, hashed = read(chunk.run, chunk, task.options.all, task.options.drawing.seed)
    table = rows.questions.select("id", pl.Series("hash", hashed), pl.Series("train", side["train"]))
    found, columns = list[ChunkParts](), list[pl.Series]()
    for at, split in enumerate(declared(task, rows.position)):
        proof, parts = Proof(split), parts_of(split, rows, side)
        see(proof, rows, parts)
        assert split.test is not None
        held = split.test.holds(rows) & side["train"]
        counts = {part: int(parts[part].sum()) for part in PARTS}
        found.append(ChunkParts(proof.counts, counts, int((parts["train"] & held).sum()), int(held.sum())))
        columns += [pl.Series(f"{at} {name}", inside) for name, inside in ({"held": held} | _written(parts)).items()]
    with for_others(task.place(chunk)) as file:
        table.with_columns(columns).write_ipc(file)
    return found


def _written(parts: Parts) -> Parts:
    return {part: parts[part] for part in PARTS}


def draw_lists(task: SetSplitTask, chunks: Sequence[QuestionChunk], lists: Lists) -> Hashes:
    """[list] the draw of its last question, looked for in what all chunks have written."""
    return lists.last_draws([pl.scan_ipc(task.place(chunk), glob=False).collect() for chunk in chunks])


def write_parts(task: SetSplitTask, chunk: QuestionChunk, lists: Lists, last: Hashes, files: Sequence[str]) -> None:
    """A folder for every part of splits and every list of training questions; files: of every split."""
    table = pl.scan_ipc(task.place(chunk), glob=False).collect()
    curves = [curve_part(count) for count in task.options.curve]
    for part in (*PARTS, IID_SIZE, *curves):
        with new_folder(task.piece(chunk, part)) as folder:
            for at, file in enumerate(files):
                inside = table[f"{at} {part}"] if part in PARTS else lists.inside(at, part, table, last)
                ids = table.select("id").filter(inside).with_columns(part=pl.lit(part))
                Table(file, SIDES.columns).write_piece(ids, folder)


def slug(name: str) -> str:
    """The name as a file's: has-count-and-rm-v-c."""
    spelled = name.lower().replace("&", "and").replace("|", "or")
    return re.sub(r"[^a-z0-9]+", "-", spelled).strip("-")


def ids_of(task: SetSplitTask, chunks: Sequence[QuestionChunk], file: str, part: str) -> list[str]:
    """The questions of a part of a split."""
    pieces = (pl.scan_ipc(task.piece(chunk, part) / f"{file}.arrow", glob=False).collect() for chunk in chunks)
    return [id for piece in pieces for id in piece["id"].to_list()]
