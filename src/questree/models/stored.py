"""Predictions kept in a run: written by whoever answers, read by the keys of the run's hierarchies."""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from questree.faults import BadInput
from questree.metrics.answered import ModelAnswers, needed, words_by_key
from questree.metrics.scores import SHOWN, Coverage
from questree.models.predictions import COLUMNS, PREDICTION, Predictions, truths_read
from questree.stages.decompose.hierarchies import RunHierarchies, ShardKeys, shards
from questree.stages.decompose.set_hierarchies import set_shards
from questree.tables.facts import VIDEOS
from questree.tables.hierarchies import NOTHING
from questree.tables.nodes import ASKED_TOPS, NODES, TOPS
from questree.tables.predictions import Stored, write_asked, write_plan, write_shard, write_words
from questree.tables.run import Run
from questree.tables.store import new_file, new_folder
from questree.tables.table import rows_in

Words = NDArray[np.int32]


def said(asked: RunHierarchies, stored: Stored) -> ModelAnswers:
    """A stored model's answers by key."""
    parts = [np.zeros(0, np.int32)]
    for shard in asked.named:
        nodes = stored.shard(shard.shard, shard.nodes)
        parts += [nodes, stored.asked(shard.shard, nodes[shard.tops])]
    return ModelAnswers(stored.words, np.concatenate(parts))


def covered(asked: RunHierarchies, given: ModelAnswers) -> Coverage:
    """Of the questions and sub-questions some metric looks at, those with a prediction."""
    wanted = needed(asked.hierarchies)
    without = wanted[given.by_key[wanted] == NOTHING]
    examples = tuple(asked.hierarchies.keys.gather(without[:SHOWN]).to_list())
    return Coverage(len(wanted), len(wanted) - len(without), 0, examples)


class StoredCounts(NamedTuple):
    questions: int  # questions and sub-questions of the run, by key
    found: int  # of them with a prediction
    unknown: int  # predictions for none of them


def store(run: Run, asked: RunHierarchies, given: Predictions, options: Mapping[str, Any]) -> StoredCounts:
    """Keep somebody's predictions, by the ids of the run's hierarchies."""
    keys, table = asked.hierarchies.keys, given.table
    table = table.with_columns(truths_read(table[PREDICTION], asked.hierarchies.words))
    words = table[PREDICTION].unique(maintain_order=True)
    found, used = words_by_key(keys, table, words), needed(asked.hierarchies, scored=False)
    if not (found[used] != NOTHING).any():
        what = f"none of {len(given.table):,} predictions is for a question of this run"
        ids = f"their ids are like {', '.join(given.table['id'][:2])}; the run's like {keys[int(used[0])]}"
        raise BadInput.at(f"predictions of {given.model}", f"{what}; {ids}")
    is_asked = np.zeros(len(keys), bool)
    is_asked[used] = True
    with new_folder(run.predictions / given.model) as folder:
        write_words(folder, words.to_list())
        for shard, rows in of_shards(asked.named):
            (folder / shard.shard).mkdir()
            nodes, tops = np.split(found[rows].copy(), [shard.nodes])
            alone = np.flatnonzero(~is_asked[rows][shard.tops])[::-1]  # questions that are no part of another one
            nodes[shard.tops[alone]] = tops[alone]  # of several wordings the first stays
            write_shard(folder / shard.shard, nodes)
            write_asked(folder / shard.shard, tops, nodes[shard.tops])
        write_plan(folder, run, options)
    unknown = given.table.join(pl.DataFrame({"id": keys.gather(used)}), on="id", how="anti").height
    return StoredCounts(len(used), int((found[used] != NOTHING).sum()), unknown)


def of_shards(named: list[ShardKeys]) -> Iterator[tuple[ShardKeys, slice]]:
    """The rows of each shard's keys: its nodes, then its questions."""
    begin = 0
    for shard in named:
        end = begin + shard.nodes + len(shard.tops)
        yield shard, slice(begin, end)
        begin = end


def write_lines(path: Path, asked: RunHierarchies, model: ModelAnswers) -> int:
    """{"id", "prediction"} per line, every key of the hierarchies once; how many there are."""
    found, used = asked.hierarchies, needed(asked.hierarchies, scored=False)
    rows = used[model.by_key[used] != NOTHING]
    words = pl.Series(model.words, dtype=pl.String).gather(model.by_key[rows])
    table = pl.DataFrame({"id": found.keys.gather(rows), "prediction": words})
    with new_file(path) as work:
        table.write_ndjson(work)
    return len(table)


def video_predictions(run: Run, model: str, ids: pl.Series) -> Predictions:
    """What a stored model answers to the questions about videos with these ids, as far as it does."""
    return stored_predictions(run, Stored.of(run, model), shards(run), ids)


def stored_predictions(run: Run, stored: Stored, folders: Iterable[Path], ids: pl.Series) -> Predictions:
    """The same in some shards."""
    names, parts = run.table("facts", VIDEOS)["id"], [pl.DataFrame(schema={"id": pl.String, PREDICTION: pl.String})]
    for folder in folders:
        tops = TOPS.read(folder)
        known = tops.select("node", "number", name=names.gather(tops["video"]))
        parts.append(_answered(stored, folder, known.select("node", id=pl.format("{}-{}", "name", "number"))))
    return predictions(stored.folder.name, pl.concat(parts), ids)


def _answered(stored: Stored, folder: Path, tops: pl.DataFrame) -> pl.DataFrame:
    """id and prediction of the questions of a shard that were answered; tops: id, node of all of them."""
    nodes = stored.shard(folder.name, rows_in(folder / f"{NODES.name}.parquet"))
    word = stored.asked(folder.name, nodes[tops["node"].to_numpy()])
    words = pl.Series(stored.words, dtype=pl.String).gather(word[word != NOTHING])
    return tops.filter(pl.Series(word != NOTHING)).select("id", words.alias(PREDICTION))


def predictions(model: str, found: pl.DataFrame, ids: pl.Series) -> Predictions:
    """Of the questions with these ids; `found` has columns id and prediction."""
    own = found.filter(pl.col("id").is_in(ids.implode()))
    rest = [pl.lit(None, dtype).alias(name) for name, dtype in COLUMNS.items() if name not in own.columns]
    return Predictions(model, own.with_columns(rest), 0)


def image_predictions(run: Run, model: str, ids: pl.Series) -> Predictions:
    """What a stored model answers to the questions with these ids; those it does not answer are left out."""
    return stored_image_predictions(Stored.of(run, model), set_shards(run), ids)


def stored_image_predictions(stored: Stored, folders: Iterable[Path], ids: pl.Series) -> Predictions:
    """The same in some shards."""
    parts = [pl.DataFrame(schema={"id": pl.String, PREDICTION: pl.String})]
    parts += [_answered(stored, folder, ASKED_TOPS.only("id", "node").read(folder)) for folder in folders]
    return predictions(stored.folder.name, pl.concat(parts), ids)
