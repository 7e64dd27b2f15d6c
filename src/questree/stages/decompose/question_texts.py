"""The questions behind keys of a run's hierarchies in English, for those who need to know what was asked."""

from collections.abc import Iterator

import numpy as np
import polars as pl

from questree.stages.decompose.hierarchies import RunHierarchies, ShardKeys, corpus
from questree.stages.decompose.image_sets import questions_of
from questree.stages.decompose.keys import asked as asked_questions
from questree.stages.decompose.set_hierarchies import read_sets, set_corpus
from questree.stages.decompose.spoken import say
from questree.tables.nodes import FORMS, TOPS, read_nodes
from questree.tables.predictions import of_image_sets
from questree.terms import Array


def texts_by_id(asked: RunHierarchies, ids: pl.Series) -> pl.Series:
    """[id] the text of its question; null where the run has none of this id."""
    keys = pl.DataFrame({"id": asked.hierarchies.keys}).with_row_index("row").unique("id", keep="first")
    rows = ids.to_frame("id").join(keys, on="id", how="left", maintain_order="left")["row"]
    there = rows.is_not_null()
    known, place = np.unique(rows.filter(there).to_numpy(), return_inverse=True)
    found = pl.Series([None], dtype=pl.String).new_from_index(0, len(ids))
    return found.scatter(there.arg_true(), texts_at(asked, known).gather(place))


def texts_at(asked: RunHierarchies, rows: Array) -> pl.Series:
    """[row] the texts of these keys of the hierarchies, in ascending order."""
    return pl.concat([pl.Series(dtype=pl.String), *_by_shard(asked, rows)])


def _by_shard(asked: RunHierarchies, rows: Array) -> Iterator[pl.Series]:
    begin = 0
    for shard in asked.named:
        middle, end = begin + shard.nodes, begin + shard.nodes + len(shard.tops)
        nodes, tops = rows[(rows >= begin) & (rows < middle)] - begin, rows[(rows >= middle) & (rows < end)] - middle
        if len(nodes) or len(tops):
            yield from (
                [_about_images(asked, shard, nodes)]
                if of_image_sets(shard.shard)
                else _about_videos(asked, shard, nodes, tops)
            )
        begin = end


def _about_videos(asked: RunHierarchies, shard: ShardKeys, nodes: Array, tops: Array) -> Iterator[pl.Series]:
    bank, _, texts, words, _ = corpus(asked.run.folder)
    folder = asked.run.decomposed / shard.shard
    if len(nodes):
        yield say(FORMS.read(folder), read_nodes(folder)[nodes], texts, columns=("text",))["text"]
    if len(tops):
        wanted = TOPS.read(folder)[tops]
        given = bank.shard(asked.run.questions / shard.shard, wanted)
        yield asked_questions(given, wanted, words).sort("top")["text"]


def _about_images(asked: RunHierarchies, shard: ShardKeys, nodes: Array) -> pl.Series:
    corpus = set_corpus(asked.run.folder)
    tables = read_sets(asked.run.covr / "decomposed" / shard.shard)
    return questions_of(tables[FORMS.name], tables["nodes"][nodes], corpus.texts)
