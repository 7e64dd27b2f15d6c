"""The text of questions to audit: all of a set, or a fixed number of them chosen by a keyed hash."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from questree.columns.hashing import mix, seed_of
from questree.progress import watch
from questree.stages.audit.counts import answer_codes, selected
from questree.stages.generate.text import lexicon, texts
from questree.stages.questions import Bank


def sample(
    bank: Bank,
    test: NDArray[np.bool_],
    chosen: pl.DataFrame | None,
    shares: tuple[float, float],
    seed: int,
    pool: ThreadPoolExecutor,
) -> pl.DataFrame:
    """question, template, answer, kind, test, hash; shares: of the train and of the test questions that are taken."""
    said = lexicon(bank.vocabulary, bank.edition)
    keys = np.array([seed_of(seed, f"audit {video}") for video in bank.ids], np.uint64)

    def one(folder: Path) -> pl.DataFrame:
        shard = bank.shard(folder)
        table = shard.questions
        video = table["video"].to_numpy()
        hashes = mix(keys[video], table["number"].to_numpy())
        share = np.where(test[video], shares[1], shares[0])
        kept = selected(table, chosen) & ((hashes >> np.uint64(11)).astype(np.float64) < share * 2.0**53)
        few = table.filter(kept)
        return pl.DataFrame(
            {
                "question": texts(shard.where(few), said),
                "template": few["template"],
                "answer": answer_codes(few, bank.templates),
                "kind": bank.templates.answer_kind[few["template"].to_numpy()],
                "test": test[few["video"].to_numpy()],
                "hash": hashes[kept],
            },
            schema_overrides={"answer": pl.Int64, "kind": pl.Int64},
        )

    folders = bank.folders()
    found = watch(pool.map(one, folders), "saying questions", len(folders))
    return pl.concat(list(found)).sort("hash")
