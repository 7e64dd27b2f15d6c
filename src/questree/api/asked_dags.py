"""The questions of a run by id, each with its DAG: sub-questions in order, the question last."""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import polars as pl
from numpy.typing import NDArray

from questree.columns.joins import listed, ranges, starts
from questree.faults import BadInput
from questree.metrics.answered import ModelAnswers
from questree.models.stored import of_shards
from questree.stages.decompose.hierarchies import RunHierarchies
from questree.stages.decompose.question_texts import texts_at
from questree.tables.hierarchies import DAGS, ISOLATED, NODES, NOTHING, Hierarchies

Ints = NDArray[np.int64]
SHOWN = 3


class AskedDags:
    def __init__(self, asked: RunHierarchies):
        self.asked, self.hierarchies = asked, with_lonely(asked.hierarchies)
        found = self.hierarchies
        dag_of = np.full(len(found.keys), NOTHING, np.int64)  # [key]
        dag_of[found.nodes["key"].to_numpy()[found.begins["nodes"][1:] - 1]] = np.arange(len(found.dags))
        known = pl.concat(
            [shard.asked.with_columns(pl.col("key") + rows.start) for shard, rows in of_shards(asked.named)]
        )
        table = known.with_columns(dag=pl.Series(dag_of).gather(known["key"])).filter(pl.col("dag") != NOTHING)
        table = table.unique("id", keep="first").sort("id")
        self.ids, self.dag = table["id"], table["dag"].to_numpy()
        self._texts = dict[int, str | None]()  # by key, as they were asked for
        self._places = dict[int, dict[str, int]]()  # by DAG

    def at(self, ids: pl.Series) -> Ints:
        """[row] the DAG of a question."""
        place = self.ids.search_sorted(ids, side="left").to_numpy().astype(np.int64)
        place = np.minimum(place, len(self.ids) - 1)
        strange = ids.filter(self.ids.gather(place).ne_missing(ids))
        if len(strange):
            few = ", ".join(map(repr, strange[:SHOWN]))
            wanted = f"expected ids of decomposed questions like {self.ids[0]!r}"
            raise BadInput.at(self.asked.run.folder, f"{wanted}, got {few} ({len(strange):,} of {len(ids):,})")
        return np.asarray(self.dag[place])

    def texts(self, keys: Ints) -> pl.Series:
        """[row] texts of questions and sub-questions by key; each is made once."""
        new = np.array([key for key in np.unique(keys).tolist() if key not in self._texts], np.int64)
        if len(new):
            self._texts.update(zip(new.tolist(), texts_at(self.asked, new), strict=True))
        return pl.Series([self._texts[key] for key in keys.tolist()], dtype=pl.String)

    def parts(self, dag: int) -> Ints:
        """Keys of the sub-questions, in order."""
        begin, end = self.hierarchies.begins["nodes"][dag : dag + 2].tolist()
        return self.hierarchies.nodes["key"][begin : end - 1].to_numpy().astype(np.int64)

    def answers(self, model: ModelAnswers) -> pl.DataFrame:
        """id, answer, steps: what a model says to every question and its sub-questions."""
        begin = self.hierarchies.begins["nodes"]
        words = pl.Series([*model.words, None], dtype=pl.String)
        said = model.by_key[self.hierarchies.nodes["key"].to_numpy()].astype(np.int64) % len(
            words
        )  # NOTHING is the last
        row, node = ranges(begin[self.dag], begin[self.dag + 1] - 1)
        steps = listed(words.gather(said[node]), starts(row, len(self.dag)))
        return pl.DataFrame({"id": self.ids, "answer": words.gather(said[begin[self.dag + 1] - 1]), "steps": steps})

    def in_order(self, id: str, steps: Mapping[str, str]) -> list[str | None]:
        """The answers to sub-questions that are named by id or text, in order; others are no sub-questions of it."""
        dag = int(self.at(pl.Series([id], dtype=pl.String))[0])
        if dag not in self._places:
            keys = self.parts(dag)
            names = [*map(plain, self.texts(keys)), *self.hierarchies.keys.gather(keys)]
            self._places[dag] = {name: at % len(keys) for at, name in enumerate(names)}
        place, found = self._places[dag], list[str | None]([None] * len(self.parts(dag)))
        for name, said in steps.items():
            at = place.get(name, place.get(plain(name)))
            if at is not None:
                found[at] = said
        return found


def plain(text: str) -> str:
    """A question as it is compared: without case, spaces or punctuation around it."""
    return " ".join(text.casefold().split()).strip(" ?.:")


def with_lonely(found: Hierarchies) -> Hierarchies:
    """Questions without sub-questions as DAGs of one node, after the others."""
    loose, first = found.isolated, len(found.dags)
    row = pl.int_range(pl.len(), dtype=pl.UInt32)
    nodes = loose.select(
        "type", "key", "answer", dag=row + first, text="key", object=pl.lit(NOTHING), parent=pl.lit(False)
    )
    return replace(
        found,
        nodes=pl.concat([found.nodes, NODES.frame(nodes)]),
        dags=pl.concat([found.dags, DAGS.frame(loose)]),
        isolated=ISOLATED.empty(),
    )
