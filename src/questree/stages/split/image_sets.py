"""Splits of questions about image sets: COVR's 21, with train, dev and test, and your own."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import polars as pl

from questree.benchmarks.covr.splits import FEW_SHOT, LEXICAL, PROGRAM, ZERO_SHOT
from questree.faults import BadInput, Fault, refuse
from questree.progress import watch
from questree.stages.split import properties as splits
from questree.stages.split.declared import PLUGGED, File, Split, added, read_file
from questree.stages.split.engine import Parts, Proof, SplitOptions, parts_of, prove, see, write_notes
from questree.stages.split.language import of_images
from questree.stages.split.rows import QuestionRows, Truth, image_rows
from questree.stages.split.training_lists import ALL, TrainingLists
from questree.tables.image_questions import BALANCED, answered
from questree.tables.images import IMAGES
from questree.tables.run import Run
from questree.tables.store import new_folder
from questree.tables.table import Table

NAMES = (*FEW_SHOT, *ZERO_SHOT, PROGRAM, LEXICAL)
PARTS = ("train", "dev", "dev held out", "test")
SIDES = Table("split", {"id": pl.String, "part": pl.String})  # RUN/covr/splits/<name>.parquet


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
    if every or not (run.covr / f"{BALANCED.name}.parquet").is_file():
        return table
    kept = table.join(BALANCED.read(run.covr), on="id", how="semi", maintain_order="left")
    if kept.is_empty():
        raise BadInput.at(run.covr, "the balanced selection is empty; `questree balance` makes another, or use --all")
    return kept


def split_run(run: Run, options: SplitOptions) -> list[MadeOfImages]:
    """Write RUN/covr/splits."""
    questions = selected(run, options.all)
    rows, ids = image_rows(questions), questions["id"]
    side = {name: (questions["split"] == name).to_numpy() for name in ("train", "dev", "test")}
    wanted = list(declared(rows, options, read_file(options.file), side))
    found: dict[str, Parts] = {}  # split -> its parts
    lists, known = TrainingLists(ids, side["train"], options.drawing.seed, options.curve), {s.name: s for s in wanted}
    with new_folder(run.covr / "splits") as folder:

        def write(name: str, parts: Parts) -> None:
            found[name] = parts
            held = known[name].test
            assert held is not None
            own = [*((p, ids.filter(pl.Series(parts[p]))) for p in PARTS), *lists.of(name, parts, held.holds(rows))]
            table = pl.concat([pl.DataFrame({"id": listed}).with_columns(part=pl.lit(part)) for part, listed in own])
            Table(slug(name), SIDES.columns).write(table, folder)

        proofs = [Proof(each) for each in wanted]
        for proof in watch(proofs, "splitting", len(wanted)):
            parts = parts_of(proof.split, rows, side)
            see(proof, rows, parts)
            write(proof.split.name, parts)
        prove(proofs, IMAGES.read(run.images)["id"].to_list())
        of_train, few_shot = int(side["train"].sum()), options.drawing.few_shot
        made = [made_of(proof, found[proof.split.name], rows, of_train, few_shot) for proof in proofs]
        used = {"drawing": options.drawing, "draws": options.draws, "names": options.names, "all": options.all}
        used |= {"curve": options.curve} if options.curve else {}
        plan = {m.name: planned(m, ids.filter(pl.Series(found[m.name]["test"])).to_list()) for m in made}
        report = {"options": used | {"file": options.given}, "splits": made}
        write_notes(folder, {"report.json": report, "plan.json": plan})
        if options.curve:
            judged = {name: ids.filter(pl.Series(parts["dev held out"])).to_list() for name, parts in found.items()}
            models = {name: curve_plan(name, options.curve, own) for name, own in judged.items()}
            write_notes(folder, {"curve.json": models})
    return made


def made_of(proof: Proof, parts: Parts, rows: QuestionRows, of_train: int, few_shot: int) -> MadeOfImages:
    """of_train: questions of training images."""
    split = proof.split
    assert split.test is not None
    counts = {part: int(parts[part].sum()) for part in PARTS}
    found = MadeOfImages(
        name=split.name,
        file=f"{slug(split.name)}.parquet",
        counts=counts,
        filtered=of_train - counts["train"],
        kept=int((parts["train"] & split.test.holds(rows)).sum()),
        images={side: len(places) for side, places in proof.counts.places.items()},
        warnings=[*proof.warnings(), *split.warnings],
        held_out=split.drawn,
    )
    found.warnings.extend(empty_handed(found, few_shot))
    return found


def declared(rows: QuestionRows, options: SplitOptions, file: File, side: dict[str, Truth]) -> Iterator[Split]:
    known = (*NAMES, *PLUGGED["images"], *file.splits)
    unknown = [name for name in options.names if name not in known]
    refuse([Fault("--name", f"expected a split, got {name!r}; choose from {', '.join(known)}") for name in unknown])
    wanted = [name for name in NAMES if not options.names or name in options.names]
    for name in wanted:
        if name in FEW_SHOT:
            yield splits.few_shot(splits.named(name, rows), rows, side["train"], options.drawing)
        elif name in ZERO_SHOT:
            yield splits.zero_shot(splits.named(name, rows))
        for seed in range(options.drawing.seed, options.drawing.seed + options.draws):
            if name == PROGRAM:
                held = splits.program_split(rows, seed)
            elif name == LEXICAL:
                held = splits.lexical_split(rows, seed, side["train"], side["test"], options.drawing.lexical)
            else:
                break
            yield splits.zero_shot(held, f"{name} {seed}")
    own = added("images", file, options.file, of_images(rows), set(map(slug, NAMES)))
    yield from (split for split in own if not options.names or split.name in options.names)


def slug(name: str) -> str:
    """The name as a file's: has-count-and-rm-v-c."""
    spelled = name.lower().replace("&", "and").replace("|", "or")
    return re.sub(r"[^a-z0-9]+", "-", spelled).strip("-")


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
    folder = run.covr / "splits"
    there = sorted(path.stem for path in folder.glob("*.parquet"))
    if slug(name) not in there:
        known = f"choose from {', '.join(there)}" if there else "there are none: run `questree split`"
        raise BadInput.at(folder, f"no split {name!r}; {known}")
    table = Table(slug(name), SIDES.columns).read(folder)
    lists = table["part"].unique(maintain_order=True).to_list()
    return {part: table.filter(pl.col("part") == part)["id"] for part in dict.fromkeys([*PARTS, *lists])}
