"""What may fill the slots of a template: relations under all their names, objects, actions and how they are named."""

from dataclasses import dataclass, fields

import numpy as np

from questree.benchmarks.agqa import templates as t
from questree.columns.hashing import mix
from questree.columns.joins import Ints, starts
from questree.columns.sets import Flags, has, sets_of
from questree.domains.video.facts import DEED
from questree.stages.generate.localised import VideoChunk
from questree.stages.generate.references import INDIRECT, NOTHING, present_objects
from questree.terms import OBJECT
from questree.vocabulary.words import NARROW

NONE = -1


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
