"""What the questions about some videos share: what every relation does in every span of its video (its objects, the
first and the last one), what edition 1.0 names by it, references and phrases."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl

from questree.benchmarks.agqa import held_out as mark
from questree.columns.hashing import Hashes, mix
from questree.columns.joins import Ints, against, in_turn, ranges, starts
from questree.columns.sets import Flags, Sets, has, sets_of, size, stacked, the_one, with_none
from questree.domains.video import Videos
from questree.domains.video.atoms import first_done_to
from questree.domains.video.facts import ANY, NEVER, first_frame
from questree.domains.video.objects import first, last, objects
from questree.stages.generate.between_frames import BetweenFrames, Stamps, between_frames, never_shown, stamps
from questree.stages.generate.readings import OtherReadings, other_readings
from questree.stages.generate.references import (
    ALL,
    FIRST,
    LAST,
    WHOLE,
    ActionReferences,
    Phrases,
    References,
    Spans,
    action_references,
    phrases,
    present_objects,
    references,
    spans,
)
from questree.stages.generate.sampling import EVERYTHING, PLENTY, fewer
from questree.stages.generate.unclassed import Related, Silent, done_in, related, silent
from questree.stages.generate.word_columns import WordColumns
from questree.tables.facts import Facts

TOGETHER = 1 << 19  # rows that are looked at together; a long video with many relations has many more
BY_WORD = -1  # the relation is named by its word


@dataclass(frozen=True)
class DoneTo:
    """Names of the relations of `Localised`, sorted by relation: its word first, then objects it was first done to."""

    start: Ints  # [row of relations + 1]
    object: Ints  # BY_WORD, or the object
    marks: Ints

    def named(self, at: Ints) -> tuple[Ints, Ints]:
        """(row, name): every name of these rows of relations."""
        count = self.start[at + 1] - self.start[at]
        row = np.repeat(np.arange(len(at)), count)
        first = np.cumsum(count) - count
        return row, self.start[at][row] + np.arange(len(row)) - first[row]


def done_to(world: Videos, words: WordColumns, relation: Ints, place: Ints, silent: Silent) -> DoneTo:
    """relation: [row of relations]; place: [video, relation] its row."""
    rows, objects = [np.arange(len(relation))], [np.full(len(relation), BY_WORD)]
    if words.edition.relation_references:
        video, thing = present_objects(world, words)
        found = first_done_to.run(world.ask(video), thing)
        known = (found >= 0) & ~silent.about(video, found)
        rows.append(place[video[known], found[known]])
        objects.append(thing[known])
    row, thing = np.concatenate(rows), np.concatenate(objects)
    order = np.lexsort((thing, row))
    row, thing = row[order], thing[order]
    marks = np.where(words.held_out.first[relation[row]], mark.NC_SUP, 0)
    marks |= mark.I_REL | words.held_out.pair(relation[row], thing)
    return DoneTo(starts(row, len(relation)), thing, np.where(thing >= 0, marks, 0))


@dataclass(frozen=True)
class Localised:
    """What a relation does in a span: one row per (relation of a video, span of the video)."""

    relation: Ints  # [row of relations]
    video: Ints  # [row of relations], ascending
    start: Ints  # [video + 1]
    at: Ints  # [video, relation] row of relations, or -1
    base: Ints  # [row of relations] row of its video's first span
    objects: Sets  # [row] its objects; here and below one more row, for what is not there
    first: Ints  # [row] its first object, -1 if undefined
    last: Ints  # [row]
    closing: Sets  # [row] the objects whose first run ends inside the span
    named: DoneTo  # names of the relations


def pieces(rows: int, most: int) -> Iterator[slice]:
    """At least one, small enough for the memory."""
    yield from (slice(begin, min(begin + most, rows)) for begin in range(0, max(rows, 1), most))


def localised(world: Videos, words: WordColumns, spans: Spans, silent: Silent) -> Localised:
    """Relations of every group but attention, the derived ones too, in every span of their video."""
    key_video, key_relation, key_object = world.tracks()
    seen = np.append(~np.isin(np.arange(len(words.vocabulary.relations)), words.vocabulary.group("attention")), False)
    kept = (key_object == ANY) & seen[np.minimum(key_relation, len(seen) - 1)]
    annotated = words.vocabulary.relation_at[words.vocabulary.annotated]
    video, relation = key_video[kept], key_relation[kept]
    row, span = against(video, spans.start)
    window = spans.window[:, :2]
    size = spans.start[video + 1] - spans.start[video]
    at = np.full((len(world.ids), len(words.vocabulary.relations) + 1), -1)  # the last column: no relation
    at[video, relation] = np.arange(len(video))
    base = np.cumsum(size) - size
    superlatives, related = np.full((2, len(row)), -1, np.int32), list[Sets]()
    for piece in pieces(len(row), TOGETHER):
        own = row[piece]
        useful = np.flatnonzero(relation[own] != annotated)  # nobody asks for the first annotated object
        few, asked = world.ask(video[own[useful]]), world.ask(video[own])
        for found, op in zip(superlatives, (first, last), strict=True):
            found[piece][useful] = op.run(few, relation[own[useful]], window[span[piece][useful]])
        related.append(objects.run(asked, relation[own], window[span[piece]]))
    return Localised(
        relation=relation,
        video=video,
        start=starts(video, len(world.ids)),
        at=at,
        base=base,
        objects=with_none(stacked(related)),
        first=np.append(superlatives[0], np.int32(-1)),
        last=np.append(superlatives[1], np.int32(-1)),
        closing=with_none(closing(world, spans, at, base, len(row))),
        named=done_to(world, words, relation, at, silent),
    )


def closing(world: Videos, spans: Spans, at: Ints, base: Ints, rows: int) -> Sets:
    """[row of localised] the objects that stop being related inside the span after they began."""
    video, relation, thing = world.tracks()
    track = np.flatnonzero((thing != ANY) & (relation != ANY))
    track = track[at[video[track], relation[track]] >= 0]
    times = np.diff(spans.start)[video[track]]
    found = [np.zeros((2, 0), np.int32)]
    for few in np.split(track, np.flatnonzero(np.diff(np.cumsum(times) // TOGETHER)) + 1):
        row, span = against(video[few], spans.start)
        own = few[row]
        lo, hi = spans.window[span, :2].T
        begin = first_frame(world.bits, lo, hi, True, own)
        ends = first_frame(world.bits, np.where(begin < 0, hi, begin), hi, False, own) >= 0
        own, span = own[ends], span[ends]
        place = base[at[video[own], relation[own]]] + span - spans.start[video[own]]
        found.append(np.stack([place, thing[own]]).astype(np.int32))
    place, closed = np.concatenate(found, axis=1)
    return sets_of(place, closed, rows, len(world.vocabulary.objects))


def timed_references(
    words: WordColumns,
    spans: Spans,
    local: Localised,
    silent: Silent,
    others: OtherReadings,
    otherwise: Localised,
    hidden: BetweenFrames,
) -> list[Ints]:
    """Columns video, kind, object, relation, time: the first, last or only object of a relation in a span, however that
    is read and whatever its frames do not show.

    Of relations with several objects in the video; neither the relation nor the object is part of the time's actions.
    """
    row, span = against(local.video, spans.start)  # as the rows of `local`
    relation = local.relation
    asked = words.groups["contact"] | words.groups["spatial"] | words.groups["verb"]
    asked &= ~(words.never_asked | words.one_object)
    several = size(local.objects[local.base]) > 1 if len(relation) else np.zeros(0, bool)
    several &= ~silent.about(local.video, relation)
    usable = (several & asked[relation])[row] & (spans.kind[span] != ALL) & ~has(spans.verbs[span], relation[row])
    again, place = ranges(others.start[span], others.start[span + 1])
    place += (otherwise.base - others.spans.start[local.video])[row[again]]
    found = []
    for kind, named, read in (
        (FIRST, local.first, otherwise.first),
        (LAST, local.last, otherwise.last),
        (WHOLE, the_one(local.objects), the_one(otherwise.objects)),
    ):
        thing = named[:-1]  # the last row is for relations that are not there
        known = usable & (thing >= 0)
        known[again[read[place] != thing[again]]] = False
        kept = np.flatnonzero(known)
        kept = kept[~hidden.several(span[kept], relation[row[kept]], thing[kept])]
        fits = words.askable[thing[kept]] & ~has(spans.objects[span[kept]], thing[kept])
        kept = kept[fits]
        at = row[kept]
        found.append((local.video[at], np.full(len(kept), kind), thing[kept], relation[at], spans.packed[span[kept]]))
    return [np.concatenate(column).astype(np.int64) for column in zip(*found, strict=True)]


@dataclass(frozen=True)
class VideoChunk:
    world: Videos
    words: WordColumns
    references: References
    actions: ActionReferences
    spans: Spans
    passes: tuple[Phrases, Phrases]
    localised: Localised
    actions_only: Flags  # [video]
    seeds: Hashes  # [video]
    named: Flags  # [deed] is the action named, or not in the sample?
    entries: pl.DataFrame  # video, frame, object, whether visible there or not
    readings: Ints  # [span + 1] the spans of `otherwise` that it may mean, too
    otherwise: "VideoChunk | None" = None  # the same videos with these, if there are any
    sifted: dict[Any, Any] = field(default_factory=dict)  # cores that several templates share

    @property
    def videos(self) -> int:
        return len(self.world.ids)

    @cached_property
    def present(self) -> Sets:
        """[video] the objects that occur."""
        return sets_of(*present_objects(self.world, self.words), self.videos, len(self.words.vocabulary.objects))

    @cached_property
    def entered(self) -> tuple[Ints, Ints]:
        """[video, object] the first and the last frame it is entered on; what is nowhere ends before it begins."""
        shape = self.videos, len(self.words.vocabulary.objects)
        first, last = np.full(shape, NEVER), np.full(shape, -1)
        video, frame, thing = (self.entries[name].to_numpy().astype(np.int64) for name in ("video", "frame", "object"))
        np.minimum.at(first, (video, thing), frame)
        np.maximum.at(last, (video, thing), frame)
        return first, last

    @cached_property
    def unclassed(self) -> Flags:
        """[span] is something done in it that annotators had no class for?"""
        return done_in(self.world.ask(self.spans.video), self.spans.window)

    @cached_property
    def related(self) -> Related:
        """What has a relation that annotators had no class for."""
        return related(self.world)

    @cached_property
    def between_frames(self) -> BetweenFrames:
        """What may be related to whom in a span though its frames do not show it."""
        return between_frames(self.world, self.spans, self.localised, self.words.rules)

    @cached_property
    def stamps(self) -> Stamps:
        return stamps(self.world, self.words.rules)

    def place(self, video: Ints, at: Ints, row: Ints, span: Ints) -> Ints:
        """[core] row of `localised` for the relation `at` of argument `row`; the last, empty one if there is none."""
        loc = self.localised
        if not len(loc.base):
            return np.full(len(row), -1)
        offset = (loc.base[at] - self.spans.start[video]).astype(np.int32)  # [argument]
        found = offset[row] + span
        missing = at < 0
        return np.where(missing[row], -1, found) if missing.any() else found


def chunk(
    facts: Facts,
    words: WordColumns,
    seeds: Hashes,
    cap: int,
    actions_only: Flags | None = None,
    most_phrases: int | None = None,
    most: Ints | None = None,
) -> VideoChunk:
    """actions_only: [video] may only be asked what follows from actions; references need more. most: [video] how many
    references to objects, actions and times are kept."""
    world = words.edition.read(facts, words.vocabulary)
    bare = np.zeros(len(world.ids), bool) if actions_only is None else actions_only
    video, action = world.deeds()
    sample = np.ones(len(video), bool)
    if most is not None:
        few = np.where(most < EVERYTHING, np.minimum(most, PLENTY), most)
        sample = in_turn(few, video, np.zeros_like(video), mix(seeds[video], action))
    found, unknown = spans(world, words, seeds, most, sample), silent(world, bare)
    local = localised(world, words, found, unknown)
    others = other_readings(world, found)
    otherwise = localised(world, words, others.spans, unknown)
    timed = None
    if words.edition.timed_references:
        hidden = between_frames(world, found, local, words.rules)
        timed = timed_references(words, found, local, unknown, others, otherwise, hidden)
    refs = references(world, words, seeds, cap, timed, unknown, never_shown(world, words.rules), most)
    acts = action_references(world, words, refs, sample)
    named = (phrases(found, acts, words), phrases(found, acts, words, second_pass=True))
    if most_phrases is not None:
        named = fewer(found, named, seeds, most_phrases)
    shown = VideoChunk(world, words, refs, acts, found, named, local, bare, seeds, sample, facts.objects, others.start)
    if not len(others.spans.video):
        return shown
    return replace(shown, otherwise=replace(shown, spans=others.spans, localised=otherwise))
