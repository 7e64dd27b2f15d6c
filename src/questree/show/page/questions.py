"""The questions of a run in memory as small integers: all that filters look at, with what models said to them."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property, partial
from itertools import pairwise

import numpy as np
import polars as pl
from numpy.typing import NDArray

from questree.metrics.answered import beside
from questree.progress import watch
from questree.scoring.as_read import AsRead, policy_of
from questree.scoring.as_read import beside as raw_beside
from questree.scoring.compared import Scoring, stored_models
from questree.show.dag import Ints, Opened, words_of
from questree.show.judged import broken_rules
from questree.show.views import Listed, Mask, Posed, View
from questree.tables.hierarchies import NOTHING, Hierarchies
from questree.tables.predictions import Stored

RIGHT, WRONG, UNKNOWN = 1, 0, -1
EXACT = Scoring()


@dataclass(frozen=True)
class Judgement:
    """What is to be thought of a model's answers; all arrays are [question]."""

    said: NDArray[np.int32]  # number of the predicted word, NOTHING without one
    right: NDArray[np.int8]  # RIGHT, WRONG, or UNKNOWN without a prediction or a truth
    wrong_below: NDArray[np.bool_]  # is a scored sub-question answered wrong?
    broken: NDArray[np.uint64]  # bit = position among the scheme's rules of one that is broken in its DAG

    @classmethod
    def joined(cls, parts: Sequence["Judgement"]) -> "Judgement":
        return cls(*(np.concatenate([getattr(part, each.name) for part in parts]) for each in fields(cls)))

    def at(self, rows: Ints) -> "Judgement":
        return Judgement(*(getattr(self, each.name)[rows] for each in fields(self)))


@dataclass
class StoredModel:
    """One model's stored predictions."""

    name: str
    stored: Stored
    number: NDArray[np.int32]  # [word of the model] its number among all answers, and NOTHING at the end
    judgement: Judgement = field(init=False)

    @classmethod
    def all(cls, view: View, number: dict[str, int], how: Scoring) -> Iterator["StoredModel"]:
        """Every model of a run, its answers as they are read; words are numbered like all answers, new ones after."""
        names = stored_models(view.run, view.benchmark)
        read = policy_of(view.run, view.benchmark.name, how if names else EXACT)
        for name in names:
            stored = read(Stored.of(view.run, name))
            own = [number.setdefault(word, len(number)) for word in stored.words]
            yield cls(name, stored, np.array([*own, NOTHING], np.int32))

    def judge(self, shard: Opened, asked: Hierarchies, number: dict[str, int]) -> Judgement:
        """Of all questions of a shard, in the order of `tops`; `asked` has a row per node, then one per question."""
        top = shard.tops["node"].to_numpy().astype(np.int64)
        said = self.number[np.concatenate(shard.predicted(self.stored))]  # [row]
        model = beside(asked, said, number)
        truth = asked.nodes["answer"].to_numpy()
        right = np.where((said == NOTHING) | (truth == NOTHING), UNKNOWN, said == truth).astype(np.int8)
        broken, rules = np.zeros(len(said), np.uint64), model.scheme.all_rules
        parent = asked.composed["parent"].to_numpy()
        for rule, rows in broken_rules(model):  # one composition, one row per parent
            broken[parent[rows]] |= np.uint64(1 << rules.index(rule))
        count = len(shard.nodes)
        wrong_below = shard.united(((right == WRONG) & model.scored)[:count])[top]
        return Judgement(said[count:], right[count:], wrong_below, broken[count:] | shard.united(broken[:count])[top])


@dataclass(frozen=True)
class Questions:
    """What is asked: every decomposed question, or else the balanced selection, or else all."""

    view: View
    shards: list[str]
    start: Ints  # [shard + 1] where its questions begin
    row: Ints  # [question] its place among those its shard lists
    columns: dict[
        str, Ints
    ]  # [question] key (ascending), template, answer, ...; of decomposed ones type, composition, node
    types: list[str]  # what the type of a question is a position in
    number: dict[str, int]  # answers, and whatever else models say -> their numbers
    models: dict[str, StoredModel]

    @classmethod
    def read(cls, view: View, how: Scoring = EXACT) -> "Questions":
        """Everything at once, so that no page has to wait for it."""
        number, types, shards = dict(view.number), dict[str, int](), view.shards()
        models = {model.name: model for model in StoredModel.all(view, number, how)} if view.decomposed else {}
        parts, judged = list[dict[str, Ints]](), list[dict[str, Judgement]]()
        for shard in watch(shards, f"questions about {view.name}", len(shards)):
            listed = view.listed(shard)
            columns = listed.columns | (dag_columns(listed.opened, types) if listed.opened else {})
            order = np.argsort(columns["key"])
            parts.append({name: column[order] for name, column in columns.items()} | {"row": order.astype(np.int32)})
            judged.append({name: one.at(order) for name, one in judgements(listed, models, number).items()})
        columns = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
        for name, model in models.items():
            model.judgement = Judgement.joined([part[name] for part in judged])
        start = np.cumsum([0, *(len(part["key"]) for part in parts)])
        return cls(view, shards, start, columns.pop("row"), columns, list(types), number, models)

    def __len__(self) -> int:
        return int(self.start[-1])

    @cached_property
    def words(self) -> list[str]:
        """[number of an answer] the answer."""
        return list(self.number)

    def word(self, number: int) -> str | None:
        return self.words[number] if number >= 0 else None

    def shard_of(self, at: int) -> int:
        return int(np.searchsorted(self.start, at, side="right")) - 1

    def question(self, at: int) -> Posed:
        return self.view.find(int(self.columns["key"][at]))

    def find(self, id: str) -> int | None:
        """Row of a question by its id."""
        key = self.view.key(id)
        at = int(np.searchsorted(self.columns["key"], -1 if key is None else key))
        return at if key is not None and at < len(self) and self.columns["key"][at] == key else None

    def in_order(self, masks: Sequence[Mask]) -> Mask:
        """[question] what is said of the questions of each shard as they are listed."""
        spans = zip(masks, pairwise(self.start), strict=True)
        return np.concatenate([mask[self.row[begin:end]] for mask, (begin, end) in spans])

    def texts(self, rows: Ints) -> pl.Series:
        """[row] the text of the questions in some rows."""
        shard = np.searchsorted(self.start, rows, side="right") - 1
        order = np.argsort(shard, kind="stable")
        own = self.row[rows[order]]  # by shard
        parts = [self.view.worded(self.shards[at], own[shard[order] == at]) for at in np.unique(shard)]
        return pl.concat(parts).gather(np.argsort(order)) if parts else pl.Series([], dtype=pl.String)

    @cached_property
    def lower(self) -> pl.Series:
        """[question] its text in small letters; made when words are first looked for."""
        return self.texts(np.arange(len(self))).str.to_lowercase()

    @cached_property
    def text_rank(self) -> Ints:
        """[question] its place by the alphabet."""
        return self.lower.rank("dense").to_numpy()

    def saying(self, words: Sequence[str]) -> Mask:
        """[question] does its text have all of these, each from where a word begins?"""
        found = np.ones(len(self), bool)
        for word in words:
            rows = np.flatnonzero(found)
            there = self.lower.gather(rows).str.contains(word, literal=True).to_numpy()  # what is cheap first
            rows, found = rows[there], np.zeros(len(self), bool)
            found[rows[self.lower.gather(rows).str.contains(rf"(^|\W){re.escape(word)}").to_numpy()]] = True
        return found

    def dag(
        self, at: int, asked: Posed
    ) -> tuple[Opened | None, dict[str, list[str | None]], dict[str, list[str | None]]]:
        """The DAG of the question in a row, what every model says [node], and its own words where they are others."""
        if not self.view.decomposed:
            return self.view.alone(asked), {}, {}
        shard, node = self.view.opened(self.shards[self.shard_of(at)]), int(self.columns["node"][at])
        below, top = shard.below(node)[1:], int(self.row[at])
        said, raw = dict[str, list[str | None]](), dict[str, list[str | None]]()
        for name, model in self.models.items():
            words = [int(model.judgement.said[at]), *model.number[shard.predicted(model.stored)[0][below]].tolist()]
            said[name] = [self.word(number) for number in words]
            if isinstance(model.stored, AsRead):
                raw[name] = raw_beside(model.stored, partial(words_of, shard=shard, nodes=below, top=top))
        return shard.only(node), said, raw


def dag_columns(opened: Opened, types: dict[str, int]) -> dict[str, Ints]:
    """[question] its node, its type as `types` counts them, the compositions of its DAG as bits."""
    node = opened.tops["node"].to_numpy()
    code = np.array([types.setdefault(name, len(types)) for name in opened.columns.types], np.uint8)
    own = opened.composed()
    return {
        "node": node,
        "type": code[opened.columns.type[node]],
        "composition": (own | opened.united(own))[node],
    }


def judgements(listed: Listed, models: dict[str, StoredModel], number: dict[str, int]) -> dict[str, Judgement]:
    if listed.opened is None or not models:
        return {}
    rows = listed.opened.hierarchies(listed.opened.tops["node"].to_numpy().astype(np.int64))
    return {name: model.judge(listed.opened, rows, number) for name, model in models.items()}
