"""Splits of questions about image sets: COVR's 21, with train, dev and test, and your own."""

from collections.abc import Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl

from questree.faults import BadInput, Fault, refuse
from questree.stages.split.declared import PLUGGED, read_file
from questree.stages.split.engine import Proof, SplitOptions, prove, write_notes
from questree.stages.split.set_chunks import (
    NAMES,
    PARTS,
    SIDES,
    ChunkParts,
    SetSplitTask,
    declared,
    draw_lists,
    ids_of,
    look,
    slug,
    split_chunk,
    with_draws,
    write_parts,
)
from questree.stages.split.training_lists import ALL, IID_SIZE, Lists, curve_part
from questree.tables.image_questions import BALANCED, EMPTY, QuestionChunk, answered, chunks, has_selection
from questree.tables.images import IMAGES
from questree.tables.run import Run
from questree.tables.store import new_folder, scratch
from questree.tables.table import Table
from questree.workers import over, processes, whole


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
        with processes(workers, tasks=min(workers, len(parts))) as pool:
            task, of_train, proofs = drawn_splits(SetSplitTask(place, options, file), pool, parts)
            found = over(pool, "splitting", "questions", parts, split_chunk, task)
            own = [added_up(proof, each) for proof, each in zip(proofs, zip(*found, strict=True), strict=True)]
            prove(proofs, IMAGES.read(run.images)["id"].to_list())
            write_lists(task, pool, parts, proofs, own, of_train)
        few = options.drawing.few_shot
        made = [made_of(proof, each, of_train, few) for proof, each in zip(proofs, own, strict=True)]
        for each in made:
            pieces = [task.piece(chunk, part) for part in listed(options) for chunk in parts]
            Table(slug(each.name), SIDES.columns).join(pieces, folder)
        write_plans(task, parts, folder, made)
    return made


def write_lists(
    task: SetSplitTask,
    pool: Executor,
    parts: Sequence[QuestionChunk],
    proofs: Sequence[Proof],
    counted: Sequence[ChunkParts],
    of_train: int,
) -> None:
    """Draw the training lists of all splits, and let chunks write what they have of them and of the parts."""
    names, options = tuple(proof.split.name for proof in proofs), task.options
    train, examples = tuple(own.parts["train"] for own in counted), tuple(own.examples for own in counted)
    lists = Lists(options.drawing.seed, names, train, examples, of_train, options.curve)
    last = whole(draw_lists, task, parts, lists)
    over(pool, "writing parts", "questions", parts, write_parts, task, lists, last, [slug(name) for name in names])


def drawn_splits(
    task: SetSplitTask, pool: Executor, parts: Sequence[QuestionChunk]
) -> tuple[SetSplitTask, int, list[Proof]]:
    """The task with what is drawn, how many questions of training images there are, and a proof per split."""
    seen = over(pool, "counting", "questions", parts, look, task)
    if not sum(sum(own.sides.values()) for own in seen):
        raise BadInput.at(parts[0].run / "covr", EMPTY)
    words = {kind: set[str]().union(*(own.words[kind] for own in seen)) for kind in seen[0].words}
    drawn = with_draws(task, seen)
    return drawn, sum(own.sides["train"] for own in seen), list(map(Proof, declared(drawn, {}, words.__getitem__)))


def added_up(proof: Proof, found: Sequence[ChunkParts]) -> ChunkParts:
    """What all chunks counted about a split; the proof sees it too."""
    for own in found:
        proof.counts.add(own.seen)
    counts = {part: sum(own.parts[part] for own in found) for part in PARTS}
    return ChunkParts(proof.counts, counts, sum(own.kept for own in found), sum(own.examples for own in found))


def listed(options: SplitOptions) -> list[str]:
    """Parts and further lists of a split, in their order."""
    return [*PARTS, IID_SIZE, *map(curve_part, options.curve)]


def made_of(proof: Proof, counted: ChunkParts, of_train: int, few_shot: int) -> MadeOfImages:
    """of_train: questions of training images."""
    split = proof.split
    found = MadeOfImages(
        name=split.name,
        file=f"{slug(split.name)}.parquet",
        counts=counted.parts,
        filtered=of_train - counted.parts["train"],
        kept=counted.kept,
        images={side: len(places) for side, places in proof.counts.places.items()},
        warnings=[*proof.warnings(), *split.warnings],
        held_out=split.drawn,
    )
    found.warnings.extend(empty_handed(found, few_shot))
    return found


def write_plans(task: SetSplitTask, parts: Sequence[QuestionChunk], folder: Path, made: list[MadeOfImages]) -> None:
    """How the splits were made, and plans for those who train on them, which name the questions that are judged."""
    options = task.options
    used = {"drawing": options.drawing, "draws": options.draws, "names": options.names, "all": options.all}
    used |= {"curve": options.curve} if options.curve else {}
    plan = {m.name: planned(m, ids_of(task, parts, slug(m.name), "test")) for m in made}
    report = {"options": used | {"file": options.given}, "splits": made}
    write_notes(folder, {"report.json": report, "plan.json": plan})
    if options.curve:
        judged = {m.name: ids_of(task, parts, slug(m.name), "dev held out") for m in made}
        models = {name: curve_plan(name, options.curve, own) for name, own in judged.items()}
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
    return list(dict.fromkeys([*PARTS, *lists]))


def known_split(run: Run, name: str) -> None:
    """Says so if there is none of this name."""
    folder = run.covr / "splits"
    there = sorted(path.stem for path in folder.glob("*.parquet"))
    if slug(name) not in there:
        known = f"choose from {', '.join(there)}" if there else "there are none: run `questree split`"
        raise BadInput.at(folder, f"no split {name!r}; {known}")
