"""Programs of questions as texts, by columns: what is said inside them is written once per row of a side table."""

import re
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import polars as pl

from questree.benchmarks.agqa.templates import ALL, TIMES, Template
from questree.columns.joins import Ints, by_value
from questree.columns.quoting import quoted
from questree.notation.grammar import names
from questree.notation.own import show
from questree.stages.named import DIRECT, INDIRECT, LONGEST, SHORTEST
from questree.stages.question_forms import OP, canonical, reference
from questree.stages.questions import Shard
from questree.tables.questions import WORDED
from questree.tables.table import NO_WORD
from questree.terms import ACTION, OBJECT, RELATION, Kind, Node, Slot, Term, fill, slots

HOLE = re.compile(r"\$([\w.]+)[!?]*")
Holes = dict[str, pl.Series]  # slot -> [row] the text that fills it


def programs(shard: Shard) -> pl.Series:
    """[question] its program in our notation, in order."""
    return WrittenPrograms(shard).written()


def filled(term: Term, holes: Holes, rows: int) -> pl.Series:
    """[row] a term with the texts of its slots."""
    text, *rest = HOLE.split(show(term))
    pieces = [pl.lit(text)]
    for hole, text in zip(rest[::2], rest[1::2], strict=True):
        pieces += [pl.lit(holes[hole]), pl.lit(text)]
    if not rest:
        return pl.repeat(text, rows, dtype=pl.String, eager=True)
    return pl.select(pl.concat_str(pieces)).to_series()


@dataclass
class WrittenPrograms:
    """The programs of a shard."""

    shard: Shard

    @cached_property
    def words(self) -> dict[Kind, pl.Series]:
        """[position] every word as programs write it."""
        known = self.shard.vocabulary
        return {
            kind: pl.Series([*map(quoted, names(kind, known))], dtype=pl.String) for kind in (OBJECT, RELATION, ACTION)
        }

    @cached_property
    def references(self) -> pl.Series:
        """[row of references]"""
        named = self.shard.named
        objects, found = self.words[OBJECT].gather(named.column("references", "object")), []
        shapes, order = named.shapes["references"][:-1], []
        for shape, at in by_value(shapes):
            holes = {"x": objects.gather(at), "x.relation": self._word("relation", RELATION, at)}
            if "time.a" in named.words:
                holes |= {f"x.time.{side}": self._word(f"time.{side}", ACTION, at) for side in "ab"}
            found.append(filled(reference("x", int(shape), {}), holes, len(at)))
            order.append(at)
        return in_order(found, order)

    def _word(self, name: str, kind: Kind, at: Ints) -> pl.Series:
        """Words inside references; of those that have none, the first."""
        return self.words[kind].gather(np.clip(self.shard.named.words[name][at], 0, len(self.words[kind]) - 1))

    @cached_property
    def actions(self) -> pl.Series:
        """[row of action references]"""
        named = self.shard.named
        action, found, order = named.column("action_references", "action"), [], []
        verbs, inner = self.words[RELATION], named.inner
        by_object = OP["to_action"](Slot("verb", RELATION), Slot("object", OBJECT))
        for kind, at in by_value(named.column("action_references", "kind")):
            if kind == DIRECT:
                found.append(self.words[ACTION].gather(action[at]))
            elif kind == INDIRECT:
                verb = verbs.gather(named.words["verb"][at])
                found.append(filled(by_object, {"verb": verb, "object": self.references.gather(inner[at])}, len(at)))
            else:
                assert kind in (LONGEST, SHORTEST)
                found.append(filled(OP["longest" if kind == LONGEST else "shortest"](), {}, len(at)))
            order.append(at)
        return in_order(found, order)

    @cached_property
    def times(self) -> pl.Series:
        """[row of phrases]"""
        named, found, order = self.shard.named, [], []
        for kind, at in by_value(named.column("phrases", "kind")):
            op = OP["whole" if TIMES[kind] == ALL else TIMES[kind]]
            sides = "ab"[: len(op.params)]
            holes = {side: self.actions.gather(named.actions_of(side)[at]) for side in sides}
            found.append(filled(op(*(Slot(side, ACTION) for side in sides)), holes, len(at)))
            order.append(at)
        return in_order(found, order)

    def written(self) -> pl.Series:
        """[question]"""
        asked, found, order = self.shard, [], []
        whole = asked.named.column("phrases", "kind")[asked.row("time")] == TIMES.index(ALL)
        for code, at in by_value(asked.column("template") * 2 + whole):
            template = asked.edition.by_code[code // 2]
            node = template.node
            if code % 2 and "time" in slots(node):
                node = canonical(only_node(fill(node, {"time": OP["whole"]()})))
            holes = {name: self.slot(name, template, at) for name in slots(node)}
            found.append(filled(node, holes, len(at)))
            order.append(at)
        return in_order(found, order)

    def slot(self, name: str, template: Template, at: Ints) -> pl.Series:
        """[question of `at`] what fills a slot of its template."""
        asked, kind = self.shard, template.kinds[name]
        if name == "relation":
            return self._relation(at)
        if name == "time":
            return self.times.gather(asked.row("time")[at])
        if template.every_object or template.every_action:
            return self.words[OBJECT if template.every_object else ACTION].gather(asked.column("x")[at])
        said = self.references if kind == OBJECT.name else self.actions
        return said.gather(asked.row(WORDED[name])[at])

    def _relation(self, at: Ints) -> pl.Series:
        """A word; or (edition 1.0) what was done to an object."""
        asked, none = self.shard, NO_WORD[self.shard.vocabulary.wide]
        done_to = asked.column("done_to")[at] if "done_to" in asked.questions.columns else np.full(len(at), none)
        word = self.words[RELATION].gather(np.where(done_to == none, asked.column("relation")[at], 0))
        if (done_to == none).all():
            return word
        object = self.words[OBJECT].gather(np.where(done_to == none, 0, done_to))
        named = filled(OP["first_done_to"](Slot("object", OBJECT)), {"object": object}, len(at))
        return pl.select(pl.when(pl.lit(pl.Series(done_to == none))).then(word).otherwise(named)).to_series()


def only_node(term: Term) -> Node:
    assert isinstance(term, Node)
    return term


def in_order(parts: list[pl.Series], rows: list[Ints]) -> pl.Series:
    """Texts of some rows each, as one column in the order of all rows."""
    if not parts:
        return pl.Series([], dtype=pl.String)
    inverse = np.empty(sum(map(len, rows)), np.int64)
    inverse[np.concatenate(rows)] = np.arange(len(inverse))
    return pl.concat(parts).gather(inverse)
