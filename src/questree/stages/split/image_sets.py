"""Splits of questions about image sets: COVR's 21, with train, dev and test, and your own. Chunks write what splits are
drawn from, then which questions are in which part; queries draw, prove and put together."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

from questree.benchmarks.covr.splits import FEW_SHOT, LEXICAL, PROGRAM, ZERO_SHOT
from questree.columns.hashing import Hashes, seeds_of
from questree.faults import BadInput, Fault, refuse
from questree.stages.shard_tables import ShardTables
from questree.stages.split import properties as splits
from questree.stages.split.declared import PLUGGED, File, Split, added, read_file
from questree.stages.split.engine import (
    HELD_OUT,
    PARTS,
    Proof,
    SplitOptions,
    column,
    proofs_of,
    prove,
    write_notes,
    write_parts,
)
from questree.stages.split.language import KINDS, KnownWords, of_images, words_of
from questree.stages.split.lexical import Pair, count_pairs, drawn_pairs, few_pairs, term_pairs
from questree.stages.split.rows import QuestionRows, Truth, image_rows
from questree.tables.image_questions import BALANCED, EMPTY, QuestionChunk, answered, chunks, has_selection
from questree.tables.images import IMAGES
from questree.tables.run import Run, kept_while
from questree.tables.store import new_folder, scratch
from questree.tables.table import Table
from questree.workers import over, processes, whole

NAMES = (*FEW_SHOT, *ZERO_SHOT, PROGRAM, LEXICAL)
LISTED = ("train", "dev", "dev held out", "test")
SPLITS = ("train", "dev", "test")
IID_SIZE = "iid-size"  # as many training questions as a split has, drawn from everything
ALL = 10**9  # examples: all there are
SIDES = Table("split", {"id": pl.String, "part": pl.String})  # RUN/covr/splits/<name>.parquet
LOOKED_AT = ("id", "split", "template", "answer", "form", "words", "images")
VALUES, EXAMPLES, PAIRS = "values", "examples", "pairs"  # folders of what is drawn from


@dataclass(frozen=True)
class DrawnSplits:
    """What was drawn: examples that stay in train, shapes and pairs that are held out; and what it was drawn from."""

    sides: Mapping[str, int] = field(default_factory=dict)  # questions of train, dev and test
    words: Mapping[str, list[str]] = field(default_factory=dict)  # kind -> words that a user's predicates may name
    examples: Mapping[str, list[str]] = field(default_factory=dict)  # few-shot split -> ids
    shapes: Mapping[int, list[str]] = field(default_factory=dict)  # seed -> shapes of programs
    pairs: Mapping[int, list[Pair]] = field(default_factory=dict)  # seed -> pairs of terms
    warnings: Mapping[int, tuple[str, ...]] = field(default_factory=dict)  # seed -> what is said about the pairs


@dataclass(frozen=True)
class SetSplitTask:
    """What every chunk is split with; small enough to send anywhere that sees the run."""

    tables: ShardTables
    options: SplitOptions
    file: File  # the user's splits
    drawn: DrawnSplits = field(default_factory=DrawnSplits)

    def wanted(self, names: Sequence[str]) -> list[str]:
        return [name for name in names if not self.options.names or name in self.options.names]

    @property
    def seeds(self) -> range:
        first = self.options.drawing.seed
        return range(first, first + self.options.draws)


@dataclass(frozen=True)
class MadeOfImages:
    name: str
    file: str
    counts: dict[str, int]  # part -> questions
    filtered: int  # questions taken out of train
    kept: int  # questions with the property that stay in train
    images: dict[str, int]
    warnings: list[str] = field(default_factory=list)
    held_out: list[Any] | None = None


def selected(run: Run, every: bool = False) -> pl.DataFrame:
    """The image questions of a run: the balanced selection, if there is one."""
    table = answered(run)
    if every or not has_selection(run):
        return table
    kept = table.join(BALANCED.read(run.covr), on="id", how="semi", maintain_order="left")
    if kept.is_empty():
        raise BadInput.at(run.covr, EMPTY)
    return kept


def split_run(run: Run, options: SplitOptions, workers: int = 1) -> list[MadeOfImages]:
    """Write RUN/covr/splits."""
    file, parts, target = read_file(options.file), chunks(run), run.covr / "splits"
    known = (*NAMES, *PLUGGED["images"], *file.splits)
    unknown = [name for name in options.names if name not in known]
    refuse([Fault("--name", f"expected a split, got {name!r}; choose from {', '.join(known)}") for name in unknown])
    with new_folder(target) as folder, scratch(target) as place:
        task = SetSplitTask(ShardTables(place), options, file)
        with processes(workers, tasks=min(workers, len(parts))) as pool:
            over(pool, "counting", "questions", parts, write_values, task)
            drawn = whole(draw_splits, task)
            if not drawn.sides:
                raise BadInput.at(run.covr, EMPTY)
            task = replace(task, drawn=drawn)
            every = [*declared(task, {}, lambda kind: drawn.words.get(kind, ()))]
            over(pool, "splitting", "questions", parts, split_chunk, task)
        proofs = proofs_of(every, task.tables)
        prove(proofs, "images", IMAGES.read(run.images)["id"].to_list())
        of_train = drawn.sides.get("train", 0)
        made = [made_of(proof, of_train, options.drawing.few_shot) for proof in proofs]
        for at, proof in enumerate(proofs):
            write_split(task, at, proof, of_train, folder)
        write_plans(task, folder, made)
    return made


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


def write_values(task: SetSplitTask, chunk: QuestionChunk) -> None:
    """What splits are drawn from: sides, shapes and words with how many questions have them; the examples of few-shot
    splits that are drawn first; pairs of terms."""
    drawing = task.options.drawing
    rows, side, hashed = read(chunk.run, chunk, task.options.all, drawing.seed)
    sides = rows.questions["split"].to_list()
    words = {kind: words_of(rows, kind) for kind in (*KINDS, "answer") if PLUGGED["images"] or task.file.splits}
    every = {"side": sides, "shape": splits.shapes_of(rows), **words}
    values = [
        pl.DataFrame({"what": what, "value": [*names]}, {"what": pl.String, "value": pl.String})
        for what, names in every.items()
    ]
    few = [pl.DataFrame(schema={"id": pl.String, "draw": pl.UInt64, "name": pl.String})]
    for split in task.wanted(FEW_SHOT):
        drawn = splits.examples(splits.named(split, rows.position), rows, hashed, side["train"], drawing)
        few.append(drawn.with_columns(name=pl.lit(split)))
    task.tables.write(VALUES, chunk.name, pl.concat(values).group_by("what", "value").agg(n=pl.len()))
    task.tables.write(EXAMPLES, chunk.name, pl.concat(few))
    if task.wanted([LEXICAL]):
        task.tables.write(PAIRS, chunk.name, count_pairs(rows, side["train"], side["test"]))


def draw_splits(task: SetSplitTask) -> DrawnSplits:
    """What is drawn follows from what all chunks have written."""
    drawing, examples = task.options.drawing, task.tables.scan(EXAMPLES)
    values = task.tables.scan(VALUES).group_by("what", "value").agg(pl.col("n").sum()).collect(engine="streaming")
    words = {str(kind): listed["value"].to_list() for (kind,), listed in values.group_by("what")}
    few = {}
    for name in task.wanted(FEW_SHOT):
        first = examples.filter(name=name).sort("draw", maintain_order=True).head(drawing.few_shot)
        few[name] = first.collect()["id"].to_list()
    texts = words.pop("shape", [])
    shapes = {seed: splits.drawn_shapes(texts, seed) for seed in task.seeds}
    drawn = DrawnSplits(dict(values.filter(what="side").select("value", "n").rows()), words, few, shapes)
    if task.wanted([LEXICAL]):
        pairs = term_pairs(task.tables.scan(PAIRS))
        by_seed = {seed: drawn_pairs(pairs, drawing.lexical, seed) for seed in task.seeds}
        warnings = {seed: few_pairs(pairs, listed, drawing.lexical) for seed, listed in by_seed.items()}
        drawn = replace(drawn, pairs=by_seed, warnings=warnings)
    return drawn


def split_chunk(task: SetSplitTask, chunk: QuestionChunk) -> None:
    rows, side, hashed = read(chunk.run, chunk, task.options.all, task.options.drawing.seed)
    columns = rows.questions.select("id", hash=pl.Series(hashed), train=pl.Series(side["train"]))
    write_parts(task.tables, chunk.name, [*declared(task, rows.position)], rows, side, columns)


def write_split(task: SetSplitTask, at: int, proof: Proof, of_train: int, folder: Path) -> None:
    """The parts of a split; as many training questions as it has drawn from everything; and a learning curve, train
    with more and more examples of what is held out: shorter lists are inside longer ones."""
    name, seed, every = proof.split.name, task.options.drawing.seed, task.tables.scan(PARTS)
    train, held = pl.col("train"), pl.col(column(at, HELD_OUT))
    lists = {part: pl.col(column(at, part)) for part in LISTED}
    lists[IID_SIZE] = drawn_first(every, train, min(proof.counts["train"], of_train), splits.draw_by(seed, IID_SIZE))
    for count in task.options.curve:
        examples = min(count, proof.counts[HELD_OUT])
        drawn = drawn_first(every, held, examples, splits.draw_by(seed, splits.few_of(name)))
        lists[curve_part(count)] = (train & ~held) | drawn
    rows = [every.filter(inside).select("id", part=pl.lit(part)) for part, inside in lists.items()]
    Table(slug(name), SIDES.columns).sink(pl.concat(rows), folder)


def drawn_first(every: pl.LazyFrame, among: pl.Expr, count: int, draw: pl.Expr) -> pl.Expr:
    """[question] is it one of so many among these that are drawn first?"""
    if not count:
        return pl.lit(False)
    last = every.filter(among).select(draw.bottom_k(count).max()).collect(engine="streaming").item()
    return among & (draw <= pl.lit(last, pl.UInt64))


def curve_part(count: int) -> str:
    """train, 50 examples"""
    return f"train, {'all' if count == ALL else count} examples"


def slug(name: str) -> str:
    """The name as a file's: has-count-and-rm-v-c."""
    spelled = name.lower().replace("&", "and").replace("|", "or")
    return re.sub(r"[^a-z0-9]+", "-", spelled).strip("-")


def made_of(proof: Proof, of_train: int, few_shot: int) -> MadeOfImages:
    """of_train: questions of training images."""
    split, counts = proof.split, {part: proof.counts[part] for part in LISTED}
    made = MadeOfImages(
        name=split.name,
        file=f"{slug(split.name)}.parquet",
        counts=counts,
        filtered=of_train - counts["train"],
        kept=proof.left,
        images=dict(proof.places),
        warnings=[*proof.warnings(), *split.warnings],
        held_out=split.drawn,
    )
    made.warnings.extend(empty_handed(made, few_shot))
    return made


def write_plans(task: SetSplitTask, folder: Path, made: list[MadeOfImages]) -> None:
    """How the splits were made, and plans for those who train on them, which name the questions that are judged."""
    options, every = task.options, task.tables.scan(PARTS)

    def ids_of(at: int, part: str) -> list[str]:
        return every.filter(pl.col(column(at, part))).select("id").collect()["id"].to_list()

    used = {"drawing": options.drawing, "draws": options.draws, "names": options.names, "all": options.all}
    used |= {"curve": options.curve} if options.curve else {}
    plan = {m.name: planned(m, ids_of(at, "test")) for at, m in enumerate(made)}
    report = {"options": used | {"file": options.given}, "splits": made}
    write_notes(folder, {"report.json": report, "plan.json": plan})
    if options.curve:
        models = {m.name: curve_plan(m.name, options.curve, ids_of(at, "dev held out")) for at, m in enumerate(made)}
        write_notes(folder, {"curve.json": models})


def empty_handed(made: MadeOfImages, few_shot: int) -> list[str]:
    """Warnings about a split that holds nothing out of train, or has nothing to test with."""
    found = []
    if made.kept and not made.filtered:
        found.append(f"{made.name}: all {made.kept:,} questions with it stay in train; --few-shot is {few_shot:,}")
    untested = f"{made.name}: test is empty"
    return found + ([] if made.counts["test"] or untested in made.warnings else [untested])


def planned(made: MadeOfImages, test: list[str]) -> dict[str, Any]:
    """A row of the plan that `questree score generalization` reads, with names for files that models will write."""
    own = slug(made.name)
    files = {"text": "text.json", "model": f"{own}.json", "iid-size": f"{own}-iid-size.json", "iid": "iid.json"}
    return files | {"questions": test, "filtered": made.filtered}


def curve_plan(name: str, curve: tuple[int, ...], judged: list[str]) -> dict[str, Any]:
    """A row of the plan that `questree score curve` reads: a file of predictions for every training list."""
    counts = ["all" if count == ALL else str(count) for count in curve]
    return {"models": {count: f"curve-{slug(name)}-{count}.json" for count in counts}, "questions": judged}


def read_split(run: Run, name: str) -> dict[str, pl.Series]:
    """Part -> ids of its questions; the further lists of training questions come after the parts."""
    parts, table = read_parts(run, name), Table(slug(name), SIDES.columns).read(run.covr / "splits")
    return {part: table.filter(pl.col("part") == part)["id"] for part in parts}


def in_parts(run: Run, name: str, ids: pl.Series) -> pl.DataFrame:
    """id, part of the questions with these ids, as often as they are in one."""
    return Table(slug(name), SIDES.columns).read(run.covr / "splits", pl.col("id").is_in(ids.implode()))


def read_parts(run: Run, name: str) -> list[str]:
    """The parts of a split, and the further lists after them."""
    known_split(run, name)
    lists = Table(slug(name), {"part": pl.String}).read(run.covr / "splits")["part"].unique(maintain_order=True)
    return list(dict.fromkeys([*LISTED, *lists]))


def known_split(run: Run, name: str) -> None:
    """Says so if there is none of this name."""
    folder = run.covr / "splits"
    there = sorted(path.stem for path in folder.glob("*.parquet"))
    if slug(name) not in there:
        known = f"choose from {', '.join(there)}" if there else "there are none: run `questree split`"
        raise BadInput.at(folder, f"no split {name!r}; {known}")
