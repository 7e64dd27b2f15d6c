"""What every relation does in every span of its video: its objects, the first and the last one."""

from dataclasses import dataclass

import numpy as np

from questree.columns.joins import Ints, against, one, starts
from questree.domains.video import Videos
from questree.domains.video.bits import first_frame
from questree.domains.video.facts import ANY, KEY
from questree.domains.video.objects import first, last, objects
from questree.stages.generate.done_to import DoneTo, done_to
from questree.stages.generate.spans import Spans
from questree.stages.generate.words import Words


@dataclass(frozen=True)
class Localised:
    """What a relation does in a span: one row per (relation of a video, span of the video)."""

    relation: Ints  # [row of relations]
    video: Ints  # [row of relations], ascending
    start: Ints  # [video + 1]
    at: Ints  # [video, relation] row of relations, or -1
    base: Ints  # [row of relations] row of its video's first span
    objects: Ints  # [row] set of its objects; here and below one more row, for what is not there
    first: Ints  # [row] its first object, -1 if undefined
    last: Ints  # [row]
    closing: Ints  # [row] set of the objects whose first run ends inside the span
    named: DoneTo  # names of the relations


def localised(world: Videos, words: Words, spans: Spans) -> Localised:
    """Relations of every group but attention, the derived ones too, in every span of their video."""
    key_video, key_relation, key_object = world.key // (KEY * KEY), world.key // KEY % KEY, world.key % KEY
    seen = np.append(~np.isin(np.arange(len(words.vocabulary.relations)), words.vocabulary.group("attention")), False)
    kept = (key_object == ANY) & seen[np.minimum(key_relation, len(seen) - 1)]
    annotated = words.vocabulary.relation_at[words.vocabulary.annotated]
    video, relation = key_video[kept], key_relation[kept]
    row, span = against(video, spans.start)
    asked = world.ask(video[row])
    window = np.stack([spans.lo[span], spans.hi[span]], axis=1)
    size = spans.start[video + 1] - spans.start[video]
    at = np.full((len(world.ids), KEY), -1)
    at[video, relation] = np.arange(len(video))
    base = np.cumsum(size) - size
    useful = relation[row] != annotated  # nobody asks for the first annotated object
    few = asked.ask(asked.row[useful])
    superlatives = np.full((2, len(row)), -1)
    for found, op in zip(superlatives, (first, last), strict=True):
        found[useful] = op.run(few, relation[row[useful]], window[useful])
    return Localised(
        relation=relation,
        video=video,
        start=starts(video, len(world.ids)),
        at=at,
        base=base,
        objects=np.append(objects.run(asked, relation[row], window), np.uint64(0)),
        first=np.append(superlatives[0], -1),
        last=np.append(superlatives[1], -1),
        closing=np.append(closing(world, spans, at, base, len(row)), np.uint64(0)),
        named=done_to(world, words, relation, at),
    )


def closing(world: Videos, spans: Spans, at: Ints, base: Ints, rows: int) -> Ints:
    """[row of localised] the objects that stop being related inside the span after they began."""
    video, relation, thing = world.key // (KEY * KEY), world.key // KEY % KEY, world.key % KEY
    track = np.flatnonzero((thing != ANY) & (relation != ANY))
    track = track[at[video[track], relation[track]] >= 0]
    row, span = against(video[track], spans.start)
    own = track[row]
    bits, lo, hi = world.bits[own], spans.lo[span], spans.hi[span]
    begin = first_frame(bits, lo, hi, True)
    end = first_frame(bits, np.where(begin < 0, hi, begin), hi, False)
    ends = end >= 0
    place = base[at[video[own], relation[own]]] + span - spans.start[video[own]]
    found = np.zeros(rows, np.uint64)
    np.bitwise_or.at(found, place[ends], one(thing[own[ends]]))
    return found
