"""Direct arguments of a template, no time yet: relations and ways to fill the slots, put together as rules allow.

All at once where they are few; else in groups, in the order of the relations and of what fills the first slot.
"""

from dataclasses import dataclass
from functools import cached_property, reduce
from operator import or_

import numpy as np

from questree.benchmarks.agqa import templates as t
from questree.columns.joins import Ints, against, groups, ranges, starts
from questree.columns.sets import Flags
from questree.domains.video.facts import DEED, KEY
from questree.stages.generate.annotated import needs_relations
from questree.stages.generate.fillings import NONE, NamedRelations, SlotFillings, relations, ways
from questree.stages.generate.localised import VideoChunk
from questree.stages.generate.references import NOTHING
from questree.stages.generate.rules import FILLING, PAIR, Filling, Pair, Tally, looks
from questree.stages.generate.word_columns import WordColumns
from questree.terms import OBJECT

TOGETHER = 1 << 21  # fillings that are in memory together


@dataclass(frozen=True)
class Wordings:
    """Ways to fill the object and action slots of an argument, sorted by argument; NOTHING where there is no slot."""

    start: Ints  # [argument + 1]
    first: Ints  # row of the references (or action references) of its video
    second: Ints
    steps: Ints
    marks: Ints


@dataclass(frozen=True)
class DirectArguments:
    """Direct arguments, sorted by video; each with its wordings."""

    video: Ints
    relation: Ints  # position in the vocabulary, NONE without a relation
    at: Ints  # row of `Localised` relations, NONE if the relation does not occur in the video
    x: Ints  # class of the first slot for an object or action, NONE without
    y: Ints
    wordings: Wordings
    done_to: Ints  # the object that names the relation, NONE if its word does

    @cached_property
    def direct(self) -> Ints:
        """[argument] a number for its direct arguments, the same however its relation is named."""
        key = [(column + 1).astype(np.int64) for column in (self.video, self.relation, self.x, self.y)]
        packed = ((key[0] * KEY + key[1]) * DEED + key[2]) * DEED + key[3]
        return np.asarray(np.unique(packed, return_inverse=True)[1])


def filler(template: t.Template, chunk: VideoChunk, tally: Tally, weight: Ints, second_pass: int = 0) -> "Filler":
    """weight: [video] how many time phrases each rejected filling would have had."""
    asked = relations(template, chunk)
    if chunk.actions_only.any() and needs_relations(template):
        asked = asked.where(~chunk.actions_only[asked.video])
    sides = {at: ways(template, chunk, slot, second_pass) for at, slot in template.sides.items()}
    return Filler(template, chunk.words, tally, weight, asked, sides, second_pass)


Rows = dict[int, Ints]  # side -> rows of its ways


@dataclass(frozen=True)
class Leads:
    """Relations with what fills the first side (or nothing), and the rows of the other side to put with it."""

    row: Ints  # of asked
    own: Rows  # of the first side
    begin: Ints  # of the other side's ways; of pairs, of these leads
    end: Ints


@dataclass(frozen=True)
class Filler:
    """Puts relations and ways to fill the sides together, as far as the rules about words let them pass."""

    template: t.Template
    words: WordColumns
    tally: Tally
    weight: Ints  # [video]
    asked: NamedRelations
    sides: dict[int, SlotFillings]
    second_pass: int

    @cached_property
    def leads(self) -> Leads:
        """Of pairs those that pass the rules, each with the ones behind it: unordered pairs, in list order."""
        row, own = np.arange(len(self.asked.video)), Rows()
        if not self.sides:
            return Leads(row, own, row, row + 1)
        first, *others = self.sides
        row, own[first] = against(self.asked.video, self.sides[first].start)
        if self.template.paired:
            row, own[first] = self.sift_ways(row, own[first])
            return Leads(row, own, np.arange(len(row)) + 1, starts(row, len(self.asked.video))[row + 1])
        if not others:
            return Leads(row, own, np.arange(len(row)), np.arange(len(row)) + 1)
        video, start = self.asked.video[row], self.sides[others[0]].start
        return Leads(row, own, start[video], start[video + 1])

    def groups(self) -> list[Ints]:
        """Leads whose fillings are in memory together; mostly there is one group. A time's effect is the same whatever
        the relation is called, so all its names are in one."""
        leads = self.leads
        count = leads.end - leads.begin
        if count.sum() <= TOGETHER:
            return [np.arange(len(count))]
        thing = [self.sides[at].thing[own] for at, own in leads.own.items()]
        order = np.lexsort((*thing, leads.row))
        row = leads.row[order]
        kind = [self.asked.video[row], self.asked.relation[row]]
        if not self.words.edition.relation_references:
            kind = [row, *(each[order] for each in thing)]
        begin, _ = groups(*kind)
        total = np.cumsum(count[order])
        cuts = np.searchsorted(total, np.arange(TOGETHER, total[-1], TOGETHER))
        cuts = np.unique(begin[np.searchsorted(begin, cuts, side="right") - 1])
        return [few for few in np.split(order, cuts) if len(few)]

    def arguments(self, group: Ints) -> DirectArguments:
        """Those of some leads, sorted, each with its wordings."""
        asked, (row, rows) = self.asked, self.fill(group)
        things = {at: side.thing[rows[at]] for at, side in self.sides.items()}
        order = np.lexsort([*reversed(rows.values()), *reversed(things.values()), row])
        row, rows, things = row[order], *({at: own[order] for at, own in columns.items()} for columns in (rows, things))
        begin, number = groups(row, *things.values())
        steps, marks = (asked.done_to >= 0).astype(np.int64)[row], asked.marks[row]
        named, classes = [np.full(len(row), NOTHING)] * 2, [np.full(len(begin), NONE)] * 2
        for at, side in self.sides.items():
            own = rows[at]
            steps, marks = steps + side.steps[own], marks | side.marks[own]
            named[at], classes[at] = side.row[own], things[at][begin]
        words, own = Wordings(starts(number, len(begin)), named[0], named[1], steps, marks), row[begin]
        relation, place, done_to = asked.relation[own], asked.at[own], asked.done_to[own]
        return DirectArguments(asked.video[own], relation, place, classes[0], classes[1], words, done_to)

    def fill(self, group: Ints) -> tuple[Ints, Rows]:
        """(row of asked, row of each side) of every filling."""
        leads = self.leads
        lead, other = ranges(leads.begin[group], leads.end[group])
        lead = group[lead]
        if self.template.paired:
            return self.pairs(lead, other)
        row, rows = leads.row[lead], {at: own[lead] for at, own in leads.own.items()}
        rows |= dict.fromkeys(list(self.sides)[1:], other)
        kept = self.tally.sift(self.rejected(row, rows), self.weight[self.asked.video[row]])
        return row[kept], {at: own[kept] for at, own in rows.items()}

    def rejected(self, row: Ints, rows: Rows) -> list[tuple[str, Flags]]:
        """[filling] per rule: does it reject the relation, or the name of an object?"""
        fillings = [self.filling(row, at, rows[at]) for at in self.objects if at in rows] or [self.filling(row)]
        return [(name, reduce(or_, map(look.fails, fillings))) for name, look in looks(self.template, FILLING)]

    @property
    def objects(self) -> list[int]:
        """The sides that are objects."""
        return [at for at, slot in self.template.sides.items() if self.template.kinds[slot] == OBJECT.name]

    def filling(self, row: Ints, side: int = 0, own: Ints | None = None) -> Filling:
        none = np.full(len(row), NONE)
        thing, inner = (none, none) if own is None else (self.sides[side].thing[own], self.sides[side].inner[own])
        return Filling(self.template, self.words, self.asked.relation[row], self.asked.done_to[row], thing, inner)

    def pairs(self, left: Ints, right: Ints) -> tuple[Ints, Rows]:
        """Pairs of leads."""
        side, own = self.sides[0], self.leads.own[0]
        if self.second_pass and "time" not in self.template.kinds:  # what the first pass asked is not asked again
            inner = side.indirect[own[left]] | side.indirect[own[right]]
            left, right = left[inner], right[inner]
        row, i, j = self.leads.row[left], own[left], own[right]
        pair = Pair(self.words, side.thing[i], side.thing[j])
        rules = [(name, look.fails(pair)) for name, look in looks(self.template, PAIR)]
        kept = self.tally.sift(rules, self.weight[self.asked.video[row]])
        return row[kept], {0: i[kept], 1: j[kept]}

    def sift_ways(self, row: Ints, own: Ints) -> tuple[Ints, Ints]:
        """Keep the good ways; a pair counts for the first rule that either of its ways fails."""
        alive, size = np.ones(len(row), bool), len(self.asked.video)
        weight = self.weight[self.asked.video]
        count = _pairs(np.bincount(row, minlength=size))
        for name, failed in self.rejected(row, {0: own}):
            alive &= ~failed
            left = _pairs(np.bincount(row[alive], minlength=size))
            self.tally.reject(name, ((count - left) * weight).sum())
            count = left
        return row[alive], own[alive]


def _pairs(count: Ints) -> Ints:
    return np.asarray(count * (count - 1) // 2)
