"""AGQA's questions of a run, each alone: what a question file says of them, and what stored models answer."""

from dataclasses import replace
from functools import partial

import polars as pl

from questree.faults import BadInput
from questree.formats.agqa import Imported
from questree.formats.agqa_import import SETS, imported_fields, records_of
from questree.metrics.answers import score_agqa
from questree.metrics.scores import Score
from questree.models.stored import video_predictions
from questree.scoring.compared import ComparedQuestions, Scoring, Tell, for_run, of_records, silent
from questree.scoring.run_scores import COLUMNS, records
from questree.stages.balance.rounds import between, selection
from questree.stages.generate.text import lexicon, texts
from questree.stages.questions import DIRECT_COLUMNS, Bank, direct_equivalents, direct_questions
from questree.tables.facts import SPLIT_UNSAID, VIDEOS
from questree.tables.predictions import samples
from questree.tables.run import Run
from questree.tables.scored import ASKED, QuestionRecords


def of_run(run: Run, split: str, every: bool = False) -> QuestionRecords:
    """The balanced questions of a split, or all; those that were imported with the fields they came with."""
    bank, chosen = Bank(run), None if every else selection(run)
    asked = (given if run.imported.is_dir() and bank.given else generated)(bank, chosen, split)
    if asked.is_empty():
        raise BadInput.at(run.folder, f"no questions for {split}")
    return replace(records_of(asked), texts=partial(texts_of_run, run))


def texts_of_run(run: Run) -> pl.DataFrame:
    """id, question of all questions of a run."""
    bank = Bank(run)
    words, parts = lexicon(bank.vocabulary, bank.edition), list[pl.DataFrame]()
    for folder in bank.folders():
        for shard in bank.pieces(folder):
            parts.append(pl.DataFrame({"id": shard.named_ids, "question": texts(shard, words)}))
    return pl.concat(parts)


def given(bank: Bank, chosen: pl.DataFrame | None, split: str) -> pl.DataFrame:
    own = [Imported.of(bank.run, (name,)) for name in (SETS[:1] if chosen is not None else reversed(SETS))]
    found = [imported_fields(table.filter(split=split)) for source in own if source.sets for table in source.records()]
    return pl.concat([ASKED.empty(), *found]).unique("id", keep="first", maintain_order=True)


def generated(bank: Bank, chosen: pl.DataFrame | None, split: str) -> pl.DataFrame:
    inside = (bank.run.table("facts", VIDEOS)["split"].replace("", SPLIT_UNSAID) == split).to_numpy()
    found = [ASKED.empty()]
    for folder in bank.folders():
        parts = []
        for shard in bank.pieces(folder):
            asked = shard.questions.filter(inside[shard.questions["video"].to_numpy()])
            if chosen is not None:
                asked = asked.join(between(chosen, asked), on=["video", "number"], how="semi")
            parts.append(asked)
        asked, every = pl.concat(parts).sort("video", "number"), DIRECT_COLUMNS.pieces(folder)
        direct = direct_equivalents(asked, direct_questions(every, bank.edition), bank.edition)
        found.append(records(bank, asked.select(list(COLUMNS.columns)), direct))
    return pl.concat(found)


def scored_on(asked: QuestionRecords, run: Run, how: Scoring, say: Tell = silent) -> ComparedQuestions:
    """Questions of a run, with files of predictions or models that are stored in it."""
    alone = of_records(asked, for_run(run, how), say, samples(run))

    def stored(name: str) -> list[tuple[str, pl.DataFrame, list[Score]]]:
        return alone.reader.readings(run.predictions / name, video_predictions(run, name, asked.table["id"]))

    return replace(alone, stored=stored, sampled=lambda said: score_agqa(asked, said, "skip"))
