"""AGQA's questions of a run, each alone: what a question file says of them, and what stored models answer."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import polars as pl

from questree.faults import BadInput
from questree.formats.agqa import Imported
from questree.formats.agqa_import import SETS, imported_fields, records_of
from questree.scoring.run_questions import NEEDED, direct, records, twins_of
from questree.scoring.shard_tasks import EVERY
from questree.scoring.split_rows import is_split, tested
from questree.stages.balance.rounds import has_selection, selected
from questree.stages.decompose.hierarchies import corpus
from questree.stages.direct_equivalents import DIRECT_COLUMNS, direct_equivalents, direct_questions
from questree.stages.generate.text import texts
from questree.stages.questions import Bank
from questree.stages.split import steps
from questree.tables.questions import QUESTIONS
from questree.tables.run import Run
from questree.tables.scored import ASKED, QuestionRecords

ASKED_COLUMNS = QUESTIONS.only(*dict.fromkeys((*NEEDED, *DIRECT_COLUMNS.columns)))


def of_run(run: Run, split: str, every: bool = False, as_released: bool = False) -> QuestionRecords:
    """The balanced questions of a split, or all; those that were imported with the fields they came with. What is held
    out is what the run's splits test; by flags as released, or without splits."""
    bank, chosen = Bank(run), not every and has_selection(run)
    how = split, chosen, most_steps(bank), by_splits(run, as_released)
    asked = pl.concat([ASKED.empty(), *(asked_in(run, name, *how) for name in shard_names(bank))])
    if asked.is_empty():
        raise nothing_asked(run, split)
    return replace(records_of(asked), texts=partial(texts_of_run, run))


def nothing_asked(run: Run, split: str) -> BadInput:
    return BadInput.at(run.folder, f"no questions for {split}")


def with_fields(bank: Bank) -> bool:
    """Did questions come with the fields of records?"""
    return bank.run.imported.is_dir() and bank.given


def shard_names(bank: Bank) -> list[str]:
    """Records that came with their fields lie in other files than shards."""
    return [EVERY] if with_fields(bank) else [folder.name for folder in bank.folders()]


def most_steps(bank: Bank) -> tuple[int, ...]:
    """[template] in train, where the fields of records do not say whether there are more."""
    return () if with_fields(bank) else steps.of_run(bank)


def texts_of_run(run: Run) -> pl.DataFrame:
    """id, question of all questions of a run."""
    return pl.concat([texts_in(run, folder.name) for folder in Bank(run).folders()])


def texts_in(run: Run, name: str) -> pl.DataFrame:
    """The same of one shard."""
    bank, _, _, words, _ = corpus(run.folder)
    parts = [pl.DataFrame(schema={"id": pl.String, "question": pl.String})]
    for shard in bank.pieces(run.questions / name):
        parts.append(pl.DataFrame({"id": shard.named_ids, "question": texts(shard, words)}))
    return pl.concat(parts)


def by_splits(run: Run, as_released: bool) -> bool:
    """Is what is held out read in the run's splits?"""
    return not as_released and is_split(run)


def asked_in(
    run: Run, name: str, split: str, chosen: bool, most: Sequence[int], by_splits: bool = False
) -> pl.DataFrame:
    """The questions of a split in one shard as columns of ASKED; `chosen`: those of the balanced selection alone;
    `most`: [template] steps in train."""
    bank, splits, *_ = corpus(run.folder)
    if name == EVERY:
        asked = given(bank, chosen, split)
        return tested(bank, asked) if by_splits else asked
    folder, own = run.questions / name, pl.Series(splits == split)

    def inside(some: pl.DataFrame) -> pl.DataFrame:
        return some.filter(own.gather(some["video"]))

    parts = map(inside, ASKED_COLUMNS.pieces(folder))
    asked = pl.concat([selected(run, some) if chosen else some for some in parts]).sort("video", "number")
    if by_splits and split == "test":
        twins = direct(twins_of(run, asked["video"]), asked)
    else:
        others = direct_questions(map(inside, DIRECT_COLUMNS.pieces(folder)), bank.edition)
        twins = direct_equivalents(asked, others, bank.edition)
    found = records(bank, asked.select(NEEDED), twins, most)
    return tested(bank, found) if by_splits else found


def given(bank: Bank, chosen: bool, split: str) -> pl.DataFrame:
    own = [Imported.of(bank.run, (name,)) for name in Imported.of(bank.run, SETS[:1] if chosen else SETS[::-1]).sets]
    found = [imported_fields(table.filter(split=split)) for source in own for table in source.records()]
    return pl.concat([ASKED.empty(), *found]).unique("id", keep="first", maintain_order=True)
