"""What fills the slots of a template: relations, objects, actions and how they are named; no time yet."""

from dataclasses import dataclass, fields
from functools import cached_property, reduce
from operator import or_

import numpy as np

from questree.benchmarks.agqa import templates as t
from questree.columns.hashing import mix
from questree.columns.joins import Ints, against, groups, starts
from questree.columns.sets import Flags, has, sets_of
from questree.domains.video.facts import DEED, KEY
from questree.stages.generate.annotated import needs_relations
from questree.stages.generate.localised import VideoChunk
from questree.stages.generate.references import INDIRECT, NOTHING, present_objects
from questree.stages.generate.rules import FILLING, PAIR, Filling, Pair, Tally, looks
from questree.stages.generate.word_columns import WordColumns
from questree.terms import OBJECT
from questree.vocabulary.words import NARROW

NONE = -1


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


@dataclass(frozen=True)
class NamedRelations:
    """Relations to ask about, each under every name it has; one row per video where a template has no relation."""

    video: Ints
    relation: Ints
    at: Ints
    done_to: Ints
    marks: Ints  # of its name

    def where(self, kept: Flags) -> "NamedRelations":
        return NamedRelations(*(getattr(self, each.name)[kept] for each in fields(self)))


@dataclass(frozen=True)
class SlotFillings:
    """What may fill an object or action slot, sorted by video: a class and how it is named."""

    start: Ints  # [video + 1]
    thing: Ints
    row: Ints  # of the references (or action references) of its video; NOTHING where it goes by its word
    inner: Ints  # relation inside a reference to an object, -1 without
    indirect: Ints  # is it an action whose object is a reference?
    steps: Ints
    marks: Ints


def arguments(
    template: t.Template, chunk: VideoChunk, tally: Tally, weight: Ints, second_pass: int = 0
) -> DirectArguments:
    """weight: [video] how many time phrases each rejected filling would have had."""
    asked = relations(template, chunk)
    if chunk.actions_only.any() and needs_relations(template):
        asked = asked.where(~chunk.actions_only[asked.video])
    sides = {at: ways(template, chunk, slot, second_pass) for at, slot in template.sides.items()}
    row, rows = Filler(template, chunk.words, tally, weight, asked, sides).fill(second_pass)
    things = {at: side.thing[rows[at]] for at, side in sides.items()}
    order = np.lexsort([*reversed(rows.values()), *reversed(things.values()), row])
    row, rows, things = row[order], *({at: own[order] for at, own in columns.items()} for columns in (rows, things))
    begin, group = groups(row, *things.values())
    steps, marks = (asked.done_to >= 0).astype(np.int64)[row], asked.marks[row]
    named, classes = [np.full(len(row), NOTHING)] * 2, [np.full(len(begin), NONE)] * 2
    for at, side in sides.items():
        own = rows[at]
        steps, marks = steps + side.steps[own], marks | side.marks[own]
        named[at], classes[at] = side.row[own], things[at][begin]
    words, own = Wordings(starts(group, len(begin)), named[0], named[1], steps, marks), row[begin]
    relation, place, done_to = asked.relation[own], asked.at[own], asked.done_to[own]
    return DirectArguments(asked.video[own], relation, place, classes[0], classes[1], words, done_to)


def relations(template: t.Template, chunk: VideoChunk) -> NamedRelations:
    """Those present, or every word of the groups that has an object."""
    loc, vocabulary = chunk.localised, chunk.words.vocabulary
    asked = np.flatnonzero(np.diff(chunk.spans.start) > 0)
    if not template.relations:
        contact = vocabulary.relation_at[vocabulary.interacting] if template.every_object else NONE
        none = np.full(len(asked), NONE)
        return NamedRelations(asked, np.full(len(asked), contact), none, none, np.zeros(len(asked), np.int64))
    allowed = np.logical_or.reduce([chunk.words.groups[group] for group in template.relations])
    if not template.every_relation:
        kept = np.flatnonzero(allowed[loc.relation])
        row, name = loc.named.named(kept)
        kept = kept[row]
        return NamedRelations(loc.video[kept], loc.relation[kept], kept, loc.named.object[name], loc.named.marks[name])
    used = vocabulary.verb_of[vocabulary.object_of >= 0]
    usable = ~chunk.words.groups["verb"] | np.isin(np.arange(len(allowed)), used)
    video, relation = asked_of(chunk, allowed & usable, chunk.words.occurring[0], (loc.video, loc.relation))
    some = np.isin(video, asked)
    video, relation = video[some], relation[some]
    none = np.full(len(video), NONE)
    return NamedRelations(video, relation, loc.at[video, relation], none, np.zeros(len(video), np.int64))


def ways(template: t.Template, chunk: VideoChunk, slot: str, second_pass: int) -> SlotFillings:
    """What may fill the slot of one side of the template."""
    if template.kinds[slot] == OBJECT.name:
        return every(*all_objects(chunk), chunk.videos) if template.every_object else objects(template, chunk)
    return every(*like_actions(chunk), chunk.videos) if template.every_action else actions(template, chunk, second_pass)


def every(video: Ints, thing: Ints, videos: int) -> SlotFillings:
    """By their words, whether they occur or not."""
    none, zero = np.full(len(video), NONE), np.zeros(len(video), np.int64)
    return SlotFillings(starts(video, videos), thing, np.full(len(video), NOTHING), none, zero > 0, zero, zero)


def objects(template: t.Template, chunk: VideoChunk) -> SlotFillings:
    refs = chunk.references
    at = np.flatnonzero(np.isin(refs.kind, [t.REFERENCES.index(kind) for kind in template.objects]))
    video, direct = refs.video[at], np.zeros(len(at), bool)
    place = at - refs.start[video]
    columns = (refs.object[at], place, refs.relation[at], direct, refs.steps[at], refs.marks[at])
    return SlotFillings(starts(video, chunk.videos), *columns)


def actions(template: t.Template, chunk: VideoChunk, second_pass: int) -> SlotFillings:
    """In the second pass of a template without a time: actions with an indirect object; a second one may be plain."""
    acts = chunk.actions
    kinds = [t.ACTION_REFERENCES.index(kind) for kind in template.actions]
    if second_pass and "time" not in template.kinds:
        kinds = [t.ACTION_REFERENCES.index(t.DIRECT)] * ("actions" in template.features) + [INDIRECT]
    at = np.flatnonzero(np.isin(acts.kind, kinds))
    video, none = acts.video[at], np.full(len(at), NONE)
    place, indirect = at - acts.start[video], acts.kind[at] == INDIRECT
    return SlotFillings(
        starts(video, chunk.videos), acts.action[at], place, none, indirect, acts.steps[at], acts.marks[at]
    )


def all_objects(chunk: VideoChunk) -> tuple[Ints, Ints]:
    """(video, object): each of the classes a benchmark knows; the person too, to be rejected by name."""
    classes = np.array([not thing.part_only for thing in chunk.words.vocabulary.objects])
    return asked_of(chunk, classes, chunk.words.occurring[1], present_objects(chunk.world, chunk.words))


EVERY = 64  # words of a kind that a video is asked about although it does not have them


def asked_of(chunk: VideoChunk, allowed: Flags, occurring: Flags, there: tuple[Ints, Ints]) -> tuple[Ints, Ints]:
    """(video, word): every word. Of many words those a video has, and of those that only other videos have, some by a
    keyed hash: a word that no video has makes questions whose answer is always no."""
    pool = np.flatnonzero(allowed)
    if len(pool) <= EVERY:
        return np.repeat(np.arange(chunk.videos), len(pool)), np.tile(pool, chunk.videos)
    pool = np.flatnonzero(allowed & occurring)
    place = np.full(len(allowed), -1)
    place[pool] = np.arange(len(pool))
    known = place[there[1]] >= 0
    kept = np.zeros((chunk.videos, len(pool)), bool)
    kept[there[0][known], place[there[1][known]]] = True
    drawn = np.where(kept, np.uint64(0xFFFFFFFFFFFFFFFF), mix(chunk.seeds[:, None], EVERY, pool))
    if len(pool) > EVERY:
        others = np.argpartition(drawn, EVERY, axis=1)[:, :EVERY]
        kept[np.arange(chunk.videos)[:, None], others] = True
    else:
        kept[:] = True
    video, at = np.nonzero(kept)
    return video, pool[at]


def like_actions(chunk: VideoChunk) -> tuple[Ints, Ints]:
    """(video, action): every action that shares its verb or its object with an action of the video, or is one; of many
    those a video has, and some others by a keyed hash."""
    words = chunk.words.vocabulary
    done = chunk.world.deeds()
    verbs = sets_of(done[0], words.verb_of[done[1]], chunk.videos, len(words.relations))
    things = sets_of(done[0], words.object_of[done[1]], chunk.videos, len(words.objects))
    pool = np.flatnonzero([not action.merged and action.id != words.other_action for action in words.actions])
    video, action = np.repeat(np.arange(chunk.videos), len(pool)), np.tile(pool, chunk.videos)
    verb, thing = words.verb_of[action], words.object_of[action]
    shared = has(verbs[video], verb) | ((thing >= 0) & has(things[video], np.maximum(thing, 0)))
    video, action = video[shared], action[shared]
    if len(pool) <= NARROW["actions"]:
        return video, action
    own = np.isin(video * DEED + action, chunk.world.action_key)
    order = np.lexsort((mix(chunk.seeds[video], EVERY, action), ~own, video))
    before = np.searchsorted(video, np.arange(chunk.videos)) + np.bincount(video[own], minlength=chunk.videos)
    kept = np.sort(order[np.arange(len(order)) - before[video] < NARROW["actions"]])
    return video[kept], action[kept]


Rows = dict[int, Ints]  # side -> rows of its ways


@dataclass(frozen=True)
class Filler:
    """Puts relations and ways to fill the sides together, as far as the rules about words let them pass."""

    template: t.Template
    words: WordColumns
    tally: Tally
    weight: Ints  # [video]
    asked: NamedRelations
    sides: dict[int, SlotFillings]

    def fill(self, second_pass: int) -> tuple[Ints, Rows]:
        """(row of asked, row of each side) of every filling."""
        row, rows = np.arange(len(self.asked.video)), Rows()
        if self.template.paired:
            return self.pairs(second_pass)
        for at, side in self.sides.items():
            again, new = against(self.asked.video[row], side.start)
            row, rows = row[again], {other: own[again] for other, own in rows.items()} | {at: new}
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

    def pairs(self, second_pass: int) -> tuple[Ints, Rows]:
        """Unordered pairs of ways, each once, in list order."""
        side = self.sides[0]
        row, own = against(self.asked.video, side.start)
        row, own = self.sift_ways(row, own)
        left, right = against(row, starts(row, len(self.asked.video)))
        later = right > left
        left, right = left[later], right[later]
        if second_pass and "time" not in self.template.kinds:  # what the first pass asked is not asked again
            inner = side.indirect[own[left]] | side.indirect[own[right]]
            left, right = left[inner], right[inner]
        row, i, j = row[left], own[left], own[right]
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
