"""COVR's question records read into a run: parts of files become rows on the workers; one worker sees the hashes of all
ids and texts, and parts then write the rows that stay."""

import pickle
from collections import Counter
from collections.abc import Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field
from itertools import accumulate, pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np
import polars as pl

from questree.columns.hashing import seeds_of
from questree.columns.joins import Ints
from questree.domains.images.corpus import Corpus, corpus
from questree.faults import BadInput, Fault, refuse
from questree.formats.covr_fitting import KeptRecord, agreement, fitting, no_template
from questree.formats.covr_parts import CovrPart, parts_of
from questree.notation.covr import CovrShapes
from questree.sources.covr import CovrRecord, read_records
from questree.stages.question_shards import write_piece, write_shards
from questree.tables.image_questions import BALANCED, MADE
from questree.tables.images import Images
from questree.tables.lock import unfinished
from questree.tables.questions import PROGRAM, with_forms
from questree.tables.run import Run, kept_while
from questree.tables.store import new_folder, scratch
from questree.tables.table import Table
from questree.workers import over, processes, results

SPLIT_OF = {"train": "train", "dev": "dev", "val": "dev", "validation": "dev", "test": "test"}
ENDINGS = (".jsonl", ".json", ".jsonl.gz", ".json.gz")
QUESTIONS = "covr/questions"  # the stage of a run
EXAMPLES = 3  # ids named per irregularity
READ = Table(  # rows of a part, before it is known what others have
    "read",
    {
        **{name: dtype for name, dtype in MADE.columns.items() if name not in PROGRAM},
        "program": pl.String,
        "balanced": pl.Boolean,
        "found": pl.String,  # what its program says
        "how": pl.String,  # "same", "other", or why it says nothing
        "record": pl.UInt32,  # number in its part
    },
)
LOOKED_AT = Table(  # all records of a part
    "looked_at",
    {
        "id": pl.String,
        "key": pl.UInt64,  # hash of its id
        "text": pl.UInt64,  # hash of its split and text
        "fault": pl.String,  # why it is left out, null if it is not
        "named": pl.Boolean,  # has it a template?
    },
)
TWICE = "its id is used twice"
PAIR = Table("pair", {"pair": pl.UInt32})  # [record of all parts]


@dataclass
class CovrImported:
    """What was read, counted."""

    questions: dict[str, int] = field(default_factory=dict)  # per file, those that were kept
    faults: Counter[str] = field(default_factory=Counter)  # of records that were left out
    examples: dict[str, list[str]] = field(default_factory=dict)
    answered: dict[str, Counter[str]] = field(default_factory=dict)  # template -> same, other, or why there is none
    differing: list[tuple[str, str, str]] = field(default_factory=list)  # id, its answer, what its program says
    selects: bool = False  # does any record say whether it is in a selection?

    def leave_out(self, fault: str, id: str) -> None:
        self.faults[fault] += 1
        self.examples.setdefault(fault, [])
        self.examples[fault] += [id][: EXAMPLES - len(self.examples[fault])]

    def add(self, other: "CovrImported") -> None:
        """What comes after it."""
        for name, count in other.questions.items():
            self.questions[name] = self.questions.get(name, 0) + count
        self.faults.update(other.faults)
        for fault, ids in other.examples.items():
            self.examples[fault] = [*self.examples.get(fault, []), *ids][:EXAMPLES]
        for template, counts in other.answered.items():
            self.answered.setdefault(template, Counter()).update(counts)
        self.differing += other.differing
        self.selects |= other.selects


@dataclass(frozen=True)
class ImportTask:
    """What parts are read with; small enough to send anywhere that sees the run and the files."""

    run: Path
    groups: bytes  # of attributes, pickled
    scratch: Path

    def read(self, part: CovrPart) -> Path:
        return self.scratch / f"read-{part}"

    def kept(self, part: CovrPart) -> Path:
        return self.scratch / f"kept-{part}"

    @property
    def pairs(self) -> Path:
        return self.scratch / PAIR.name


def question_files(folder: Path) -> dict[str, Path]:
    """split -> file: train.jsonl, val.jsonl or dev.jsonl, test.jsonl, or .json of the same, gzipped or not."""
    found: dict[str, list[Path]] = {}
    for stem, split in SPLIT_OF.items():
        found.setdefault(split, []).extend(folder / f"{stem}{ending}" for ending in ENDINGS)
    there = {split: [path for path in paths if path.is_file()] for split, paths in found.items()}
    if not any(there.values()):
        raise BadInput.at(folder, "no question files: expected train.jsonl, val.jsonl (or dev.jsonl) or test.jsonl")
    several = [(split, ", ".join(path.name for path in paths)) for split, paths in there.items() if len(paths) > 1]
    refuse([Fault(str(folder), f"expected one file of {split}, got {names}") for split, names in several])
    return {split: paths[0] for split, paths in there.items() if paths}


def import_covr(
    folder: Path, run: Run, attribute_groups: Mapping[str, str], replace: bool = False, workers: int = 1
) -> CovrImported:
    """Records into RUN/covr, whole or not at all; what does not fit is left out and counted."""
    files = question_files(folder)
    if run.covr.exists() and not replace and not unfinished(run, QUESTIONS):
        raise BadInput.at(run.covr, "there are image questions already; remove the folder first, or give --replace")
    if not run.images.is_dir():
        raise BadInput.at(run.images, "no images yet; read the questions' images first with `questree ingest gqa`")
    parts = [part for split, path in files.items() for part in parts_of(path, split)]
    tasks = min(workers, len(parts))
    with new_folder(run.covr) as out, scratch(run.covr) as place, processes(workers, tasks=tasks) as pool:
        task = ImportTask(run.folder, pickle.dumps(dict(attribute_groups)), place)
        told = CovrImported({path.name: 0 for path in files.values()})
        for own in read_parts(task, parts, pool):
            told.add(own)
        if not sum(told.questions.values()):
            why = "; ".join(f"{count:,}: {fault}" for fault, count in told.faults.most_common())
            raise BadInput.at(folder, f"no question to import ({why or 'the files are empty'})")
        write_shards([task.kept(part) for part in parts], out, pool)
        if told.selects:
            BALANCED.join([task.kept(part) for part in parts], out)
    return told


def read_parts(task: ImportTask, parts: Sequence[CovrPart], pool: Executor) -> list[CovrImported]:
    """Write what stays of every part, and tell of it; what is wrong with a part is told of its whole file."""
    try:
        records = over(pool, "reading records", "records", parts, read_part, task)
    except BadInput:
        for path in dict.fromkeys(part.path for part in parts):
            results({path.name: pool.submit(look_over, path)}, "reading records")
        raise
    first = list(accumulate(records, initial=0))
    (twice,) = results({"ids": pool.submit(compare, task, parts)}, "comparing ids")
    futures = {
        f"records {part}": pool.submit(write_kept, task, part, begin, own)
        for part, begin, own in zip(parts, first, twice, strict=False)
    }
    return results(futures, "writing records")


def look_over(path: Path) -> None:
    """Say what is wrong with a file, by the numbers of its lines."""
    read_records(path)


class Known(NamedTuple):
    corpus: Corpus
    shapes: CovrShapes


@kept_while("images")
def known(folder: Path, packed: bytes) -> Known:
    return Known(corpus(Images.load(Run(folder).images), pickle.loads(packed)), CovrShapes())


def read_part(task: ImportTask, part: CovrPart) -> int:
    """Write the records of a part that fit, as rows, and what others must know of all; how many there are."""
    facts, records = known(task.run, task.groups), part.records()
    found = [no_template(record) or fitting(record, facts.corpus, facts.shapes) for record in records]
    kept = {at: each for at, each in enumerate(found) if isinstance(each, KeptRecord)}
    again = agreement([*kept.values()], facts.corpus)
    rows = [
        each.row() | said._asdict() | {"split": part.split, "record": at}
        for (at, each), said in zip(kept.items(), again, strict=True)
    ]
    with new_folder(task.read(part)) as folder:
        READ.write_piece(pl.DataFrame(rows, schema=dict(READ.columns)), folder)
        LOOKED_AT.write_piece(looked_at(records, found, part.split), folder)
    return len(records)


def looked_at(records: Sequence[CovrRecord], found: Sequence[KeptRecord | str], split: str) -> pl.DataFrame:
    """found: [record] itself, or why it is left out."""
    texts = (f"{split}\0{record.utterance or record.question or record.id}" for record in records)
    columns = {
        "id": [record.id for record in records],
        "key": seeds_of(0, (record.id for record in records)),
        "text": seeds_of(0, texts),
        "fault": [each if isinstance(each, str) else None for each in found],
        "named": [not no_template(record) for record in records],
    }
    return pl.DataFrame(columns, schema=dict(LOOKED_AT.columns))


def compare(task: ImportTask, parts: Sequence[CovrPart]) -> list[Ints]:
    """[part] its records whose ids earlier ones have that stay; the pairs of all records are written."""
    looked = [pl.col("key"), pl.col("text"), pl.col("fault").is_null().alias("fits"), pl.col("named")]
    pieces = [LOOKED_AT.read_piece(task.read(part)).select(looked) for part in parts]
    table = pl.concat(pieces).with_row_index("row")
    first = table.filter("fits").group_by("key").agg(first=pl.col("row").min())
    table = table.join(first, on="key", how="left", maintain_order="left")
    table = table.with_columns(twice=pl.col("named") & (pl.col("row") > pl.col("first")).fill_null(False))
    number = table.filter(pl.col("fits") & ~pl.col("twice")).select("text").unique(maintain_order=True)
    pairs = table.join(number.with_row_index("pair"), on="text", how="left", maintain_order="left")["pair"]
    with new_folder(task.pairs) as folder:
        PAIR.write_piece(pairs.fill_null(0).to_frame(), folder)
    rows = np.flatnonzero(table["twice"].to_numpy())
    ends = accumulate(map(len, pieces), initial=0)
    return [rows[(rows >= begin) & (rows < end)] - begin for begin, end in pairwise(ends)]


def write_kept(task: ImportTask, part: CovrPart, first: int, twice: Ints) -> CovrImported:
    """Write the rows of a part that stay. first: number of its first record; twice: records whose id others have."""
    looked = LOOKED_AT.read_piece(task.read(part)).with_row_index("record")
    pairs = PAIR.read_piece(task.pairs)["pair"][first : first + len(looked)]
    again = pl.col("record").is_in(pl.Series(twice, dtype=pl.UInt32).implode())
    rows = READ.read_piece(task.read(part)).filter(~again)
    rows = rows.with_columns(pair=rows["pair"].fill_null(pairs.gather(rows["record"])))
    with new_folder(task.kept(part)) as folder:
        write_piece(with_forms(rows), folder)
        BALANCED.write_piece(rows.filter(pl.col("balanced").fill_null(False)), folder)
    told = CovrImported({part.path.name: len(rows)}, selects=bool(rows["balanced"].is_not_null().any()))
    left = looked.select("id", fault=pl.when(again).then(pl.lit(TWICE)).otherwise("fault")).drop_nulls("fault")
    for id, fault in left.iter_rows():
        told.leave_out(fault, id)
    for id, template, given, how, found in rows.select("id", "template", "answer", "how", "found").iter_rows():
        told.answered.setdefault(template, Counter())[how] += 1
        if how != "same":
            told.differing.append((id, given, found if how == "other" else how))
    return told
