"""What choices between two actions offer, from the tables of a run's DAGs."""

from collections.abc import Iterator

import numpy as np
import polars as pl

from questree.domains.video.actions import longer, shorter
from questree.stages.decompose.hierarchies import RunHierarchies, ShardKeys
from questree.stages.decompose.spoken import by_form
from questree.tables.nodes import FORMS, NODES
from questree.terms import Array, Slot
from questree.vocabulary.words import Vocabulary


def choices_of(asked: RunHierarchies) -> pl.DataFrame:
    """Key and both options of every choice that names its actions, as a sub-question and as a question."""
    words, begin, found = asked.run.vocabulary(), 0, [pl.DataFrame(schema=dict.fromkeys(("key", *ENDS), pl.String))]
    for named in asked.named:
        own = asked.hierarchies.keys.slice(begin, named.nodes + len(named.tops))
        begin += len(own)
        found += list(of_shard(asked, named, own, words))
    return pl.concat(found).unique("key", keep="first", maintain_order=True)


ENDS = ("first", "second")


def of_shard(asked: RunHierarchies, named: ShardKeys, keys: pl.Series, words: Vocabulary) -> Iterator[pl.DataFrame]:
    """`keys`: of the nodes, then of the questions."""
    phrases = pl.Series([action.phrase for action in words.actions], dtype=pl.String)
    folder = asked.run.decomposed / named.shard
    for rows, _, node, values in by_form(FORMS.read(folder), NODES.read(folder)):
        if node.op not in (longer, shorter) or not all(isinstance(arg, Slot) for arg in node.args):
            continue
        offered: list[Array] = [values[arg.name] for arg in node.args if isinstance(arg, Slot)]
        tops = np.flatnonzero((named.tops >= rows.start) & (named.tops < rows.stop))
        place = np.concatenate([np.arange(rows.start, rows.stop), named.nodes + tops])
        which = np.concatenate([np.arange(rows.stop - rows.start), named.tops[tops].astype(np.int64) - rows.start])
        columns = {name: phrases.gather(own[which]) for name, own in zip(ENDS, offered, strict=True)}
        yield pl.DataFrame({"key": keys.gather(place), **columns})
