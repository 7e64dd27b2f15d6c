"""Ways to name what a question is about: objects by their relations, actions, and the times it is asked of."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from questree.benchmarks.agqa import held_out as mark
from questree.benchmarks.agqa.templates import TIMES
from questree.columns.hashing import Hashes, mix
from questree.columns.joins import Ints, against, groups, in_turn, ranges, starts
from questree.columns.sets import Flags, Sets, sets_of, the_one
from questree.domains.video import VIDEO, Videos
from questree.domains.video.actions import lengths_differ, longest, shortest
from questree.domains.video.facts import ALWAYS, ANY, DEED, KEY, NEVER
from questree.domains.video.objects import first, last, objects
from questree.domains.video.time import whole
from questree.notation.own import parse
from questree.readings.categories import steps
from questree.stages.generate.between_frames import BetweenFrames
from questree.stages.generate.unclassed import Silent
from questree.stages.generate.word_columns import WordColumns
from questree.tables.questions import NOTHING16, packed_time, time_actions, time_kind

DIRECT, FIRST, LAST, WHOLE = range(4)
TIMED = 4  # first, last and whole ones with a time of their own share a cap
ALL, BEFORE, AFTER, WHILE, BETWEEN = range(len(TIMES))
LONGEST, SHORTEST, INDIRECT = range(1, 4)  # ways to name an action; DIRECT is one, too
NOTHING = NOTHING16  # no row
TIME_STEPS = np.array([0, *(VIDEO.ops[time].steps for time in TIMES[1:])])  # [kind of time]


def steps_more(pattern: str, *names: str) -> Ints:
    """[way of naming] the steps a question takes more than with the first, a plain word."""
    found = np.array([steps(parse(pattern.format(name), VIDEO)) for name in names])
    return np.asarray(found - found[0])


REFERENCE_STEPS = steps_more(
    "exists({})", "$x", "first($r, whole())", "last($r, whole())", "only(objects($r, whole()))"
)


@dataclass(frozen=True)
class References:
    """Ways to name an object, sorted by video, kind, object, relation, time."""

    start: Ints  # [video + 1]
    video: Ints
    kind: Ints
    object: Ints
    relation: Ints  # inside the reference; -1 if direct
    time: Ints  # inside the reference, packed as those of spans; 0 is the whole video
    steps: Ints
    marks: Ints
    every: Ints  # [video] how many there were before sampling


def present_relations(world: Videos, words: WordColumns) -> tuple[Ints, Ints]:
    """(video, relation) of every contact, spatial or verb relation that holds somewhere, sorted."""
    real = words.groups["contact"] | words.groups["spatial"] | words.groups["verb"]
    video, relation, thing = world.tracks()
    kept = (thing == ANY) & (relation != ANY)
    kept &= real[np.where(kept, relation, 0)]
    return video[kept], relation[kept]


def present_objects(world: Videos, words: WordColumns) -> tuple[Ints, Ints]:
    """(video, object) of every object that may be asked about and is annotated or has a relation, sorted."""
    video, relation, thing = world.tracks()
    kept = (relation == ANY) & (thing != ANY)
    kept &= words.askable[np.where(kept, thing, 0)] & world.bits[:-1].any(1)
    return video[kept], thing[kept]


def references(
    world: Videos,
    words: WordColumns,
    seeds: Hashes,
    cap: int,
    timed: list[Ints] | None,
    silent: Silent,
    hidden: BetweenFrames,
    most: Ints | None,
) -> References:
    """Direct classes, and per (object, kind) at most `cap` references, by a keyed hash; timed ones are one kind, of
    which a third is kept: there are most of them. What no frame shows (`hidden`) must not be another referent. most:
    [video] of all of these."""
    video, relation = present_relations(world, words)
    allowed = ~(words.never_asked | words.one_object)[relation] & ~silent.about(video, relation)
    video, relation = video[allowed], relation[allowed]
    asked = world.ask(video)
    window = whole.run(asked)
    single = the_one(objects.run(asked, relation, window))
    several = single < 0
    found = {WHOLE: single} | {
        kind: np.where(several, op.run(asked, relation, window), -1) for kind, op in ((FIRST, first), (LAST, last))
    }
    at, thing = present_objects(world, words)
    rows = [(at, np.full(len(at), DIRECT), thing, np.full(len(at), -1))]
    for kind, referent in found.items():
        kept = (referent >= 0) & words.askable[np.maximum(referent, 0)] & ~hidden.several(video, relation, referent)
        rows.append((video[kept], np.full(kept.sum(), kind), referent[kept], relation[kept]))
    columns = [np.concatenate(column) for column in zip(*rows, strict=True)]
    columns.append(np.zeros(len(columns[0]), np.int64))
    if timed:
        columns = [np.concatenate(pair) for pair in zip(columns, timed, strict=True)]
    return finish(world, words, *capped(columns, seeds, cap, most))


def capped(columns: list[Ints], seeds: Hashes, cap: int, most: Ints | None) -> tuple[list[Ints], Ints]:
    """The rows with the smallest hashes of every (video, kind, object), sorted; and [video] how many that were before
    they were sampled."""
    video, kind, thing, relation, time = columns
    draw = mix(seeds[video], kind, thing, relation + 1)
    draw = np.where(time > 0, mix(draw, time), draw)
    family = np.where(time > 0, TIMED, kind)
    order = np.lexsort((draw, thing, family, video))
    begin, group = groups(video[order], family[order], thing[order])
    kept = order[np.arange(len(video)) - begin[group] < np.where(time[order] > 0, -(-cap // 3), cap)]
    every = np.bincount(video[kept], minlength=len(seeds))
    if most is not None:
        kept = kept[in_turn(most, video[kept], family[kept], draw[kept])]
    rest = [column[kept] for column in columns]
    order = np.lexsort(rest[::-1])
    return [column[order] for column in rest], every


def finish(world: Videos, words: WordColumns, columns: list[Ints], every: Ints) -> References:
    video, kind, thing, relation, time = columns
    inner = kind != DIRECT
    marks = np.where(inner, mark.I_OBJ | words.held_out.pair(relation, thing), 0)
    marks |= np.where((kind == FIRST) & words.held_out.first[relation], mark.NC_SUP, 0)
    more_steps, more = time_inside(words, time)
    return References(
        starts(video, len(world.ids)),
        video,
        kind,
        thing,
        relation,
        time,
        REFERENCE_STEPS[kind] + more_steps,
        marks | more,
        every,
    )


def time_inside(words: WordColumns, time: Ints) -> tuple[Ints, Ints]:
    """Steps and marks of the time phrase inside a reference, which names its actions by their phrases."""
    kind, (first, _) = time_kind(time), time_actions(time)
    marks = np.where(time > 0, mark.I_TEMP, 0)
    before = (kind == BEFORE) | (kind == BETWEEN)
    return TIME_STEPS[kind], marks | np.where(before & words.held_out.action[first], mark.NC_SEQ, 0)


NAME_STEPS = steps_more("happening({})", "$a", "longest()", "shortest()", "to_action($r, first($s, whole()))")


@dataclass(frozen=True)
class ActionReferences:
    """Ways to name an action, sorted by video, kind, action."""

    start: Ints  # [video + 1]
    video: Ints
    kind: Ints
    action: Ints
    reference: Ints  # row of `References` for an indirect object, else NOTHING
    steps: Ints
    marks: Ints


@dataclass(frozen=True)
class Spans:
    """Windows a question may be about, sorted by video, kind, actions."""

    start: Ints  # [video + 1]; the first of a video is the whole video
    video: Ints
    kind: Ints
    a: Ints
    b: Ints
    window: Ints  # [span, 4]
    objects: Sets  # the merged objects of its actions
    verbs: Sets  # the relations of its actions
    every: Ints  # [video] how many there were before sampling

    @cached_property
    def packed(self) -> Ints:
        """[span] kind and actions as one number."""
        return np.asarray(packed_time(self.kind, self.a, self.b))


@dataclass(frozen=True)
class Phrases:
    """Ways to name a span, sorted by span."""

    start: Ints  # [span + 1]
    span: Ints
    a: Ints  # row of `ActionReferences`, or NOTHING
    b: Ints
    steps: Ints
    marks: Ints


def action_references(world: Videos, words: WordColumns, references: References, sample: Flags) -> ActionReferences:
    """sample: [deed] is it one of those that are named?"""
    video, action = world.deeds()
    dropped = (video * DEED + action)[~sample]
    other = words.vocabulary.other_action_at
    named = action != other
    video, action = video[named], action[named]
    rows: list[tuple[Ints, ...]] = [(video, np.full(len(video), DIRECT), action, np.full(len(video), NOTHING))]
    everyone = world.ask(np.arange(len(world.ids)))
    for kind, op in ((LONGEST, longest), (SHORTEST, shortest)):
        found = op.run(everyone)
        there = np.flatnonzero((found >= 0) & (found != other) & ~lengths_differ(everyone, op))
        rows.append((there, np.full(len(there), kind), found[there], np.full(len(there), NOTHING)))
    rows.append(indirect(video, action, words, references))
    columns = [np.concatenate(column) for column in zip(*rows, strict=True)]
    order = np.lexsort(columns[::-1])
    if len(dropped):
        order = order[~np.isin(columns[0][order] * DEED + columns[2][order], dropped)]
    video, named, action, reference = (column[order] for column in columns)
    superlative, inner = np.isin(named, (LONGEST, SHORTEST)), named == INDIRECT
    marks = np.where(superlative, mark.I_ACT, 0) | np.where(inner, mark.I_OBJ, 0)
    marks |= np.where(((named == LONGEST) | inner) & words.held_out.action[action], mark.NC_DUR, 0)
    steps = NAME_STEPS[named]
    return ActionReferences(starts(video, len(world.ids)), video, named, action, reference, steps, marks)


def indirect(video: Ints, action: Ints, words: WordColumns, references: References) -> tuple[Ints, Ints, Ints, Ints]:
    """Actions whose noun is replaced by a reference to its object, where verb and object leave no other action; what is
    done to it goes before what it is the place or tool of."""
    known = words.vocabulary
    kept = known.object_of[action] >= 0
    video, action = video[kept], action[kept]
    thing, in_part = known.object_of[action], known.done_to[action] != known.object_of[action]
    key = (video * KEY + known.verb_of[action]) * KEY + thing
    _, inverse = np.unique(key, return_inverse=True)
    direct, every = (np.bincount(inverse[some], minlength=len(key)) for some in (~in_part, in_part >= 0))
    alone = np.where(in_part, every[inverse], direct[inverse]) == 1
    alone &= words.indirect[action]
    video, action, thing = video[alone], action[alone], thing[alone]
    row, other = against(video, references.start)
    fits = (references.kind[other] > 0) & (references.object[other] == thing[row]) & (references.time[other] == 0)
    fits &= references.relation[other] != words.vocabulary.verb_of[action[row]]
    row, other = row[fits], other[fits]
    return video[row], np.full(len(row), INDIRECT), action[row], other - references.start[video[row]]


def spans(world: Videos, words: WordColumns, seeds: Hashes, most: Ints | None, sample: Flags) -> Spans:
    """Every window that is offered (section 4): not empty, not the whole video by another name, and around an action
    that every instance of it is seen. most: [video] of them, around actions of a sample [deed]."""
    video, action = world.deeds()
    kept = sample & words.localised[action] & (world.actions["unseen"][:-1] == 0)
    video, action = video[kept], action[kept]
    column = {name: values[:-1][kept] for name, values in world.actions.items()}
    frames = world.length[video]
    whole = np.flatnonzero(world.length > 0)
    start = starts(video, len(world.ids))
    first, second = against(video, start)
    zero, none = np.zeros(len(whole), np.int64), np.full(len(whole), -1)
    each, alone = np.zeros(len(video), np.int64), np.full(len(video), -1)
    rows = [
        (whole, zero + ALL, none, none, zero, world.length[whole], zero + ALWAYS, zero + NEVER),
        (video, each + BEFORE, action, alone, each, column["lo"] + 1, each + ALWAYS, column["start"]),
        (video, each + AFTER, action, alone, column["hi"], frames, column["end"], each + NEVER),
        (video, each + WHILE, action, alone, column["lo"], column["hi"], column["start"], column["end"]),
        (
            video[first],
            np.full(len(first), BETWEEN),
            action[first],
            action[second],
            column[world.between_from + "hi"][first],
            column["lo"][second],
            column[world.between_from + "end"][first],
            column["start"][second],
        ),
    ]
    offered = [zero == 0, column["lo"] > 0, column["hi"] < frames, alone < 0, rows[4][5] > rows[4][4]]
    columns = [np.concatenate([c[keep] for c, keep in zip(cs, offered, strict=True)]) for cs in zip(*rows, strict=True)]
    every = np.bincount(columns[0], minlength=len(seeds))
    if most is not None:
        video, kind, a, b = columns[:4]
        chosen = in_turn(most + 1, video, kind, mix(seeds[video], kind, a + 1, b + 1))
        columns = [column[chosen] for column in columns]
    order = np.lexsort((columns[3], columns[2], columns[1], columns[0]))
    video, kind, a, b, *window = (c[order] for c in columns)
    thing, verb = words.vocabulary.object_of, words.vocabulary.verb_of
    row, deed = np.tile(np.arange(len(video)), 2), np.concatenate([a, b])
    row, deed = row[deed >= 0], deed[deed >= 0]
    objects = sets_of(row, thing[deed], len(video), len(words.vocabulary.objects))
    verbs = sets_of(row, verb[deed], len(video), len(words.vocabulary.relations))
    return Spans(starts(video, len(world.ids)), video, kind, a, b, np.stack(window, axis=1), objects, verbs, every)


def phrases(spans: Spans, actions: ActionReferences, words: WordColumns, second_pass: bool = False) -> Phrases:
    """First pass: direct, longest and shortest actions. Second pass: actions with an indirect object, no between. An
    edition that has one pass says everything in the first."""
    usable = ((actions.kind == INDIRECT) & (not words.edition.one_pass)) == second_pass
    span, a = named(spans, spans.a, actions, usable)
    if second_pass:
        kept = spans.kind[span] != BETWEEN
        span, a = span[kept], a[kept]
    pair = spans.kind[span] == BETWEEN
    other_span, b = named(spans, spans.b, actions, usable)
    b_start = np.searchsorted(other_span, np.arange(len(spans.video) + 1))
    row, at = against(span[pair], b_start)
    whole = np.flatnonzero(spans.kind == ALL) if not second_pass else np.zeros(0, np.int64)
    none = np.full(len(whole), -1)
    span_all = np.concatenate([whole, span[~pair], span[pair][row]])
    a_all = np.concatenate([none, a[~pair], a[pair][row]])
    b_all = np.concatenate([none, np.full((~pair).sum(), -1), b[at]])
    order = np.lexsort((b_all, a_all, span_all))
    span, a, b = span_all[order], a_all[order], b_all[order]
    kind = spans.kind[span]
    steps = TIME_STEPS[kind]
    marks = np.where(kind != ALL, mark.I_TEMP, 0)
    before = np.isin(kind, (BEFORE, BETWEEN))  # between counts its first action (12.14)
    marks |= np.where(before & words.held_out.action[spans.a[span]], mark.NC_SEQ, 0)
    own_steps, own_marks = np.append(actions.steps, 0), np.append(actions.marks, 0)  # the last row: no action
    for side in (a, b):
        steps = steps + own_steps[side]
        marks |= own_marks[side]
    first_row = actions.start[spans.video[span]]
    a, b = (np.where(side >= 0, side - first_row, NOTHING) for side in (a, b))
    return Phrases(np.searchsorted(span, np.arange(len(spans.video) + 1)), span, a, b, steps, marks)


def named(spans: Spans, action: Ints, actions: ActionReferences, usable: Ints) -> tuple[Ints, Ints]:
    """(span, row of actions): every usable way to name this action of the span."""
    ways = np.flatnonzero(usable)
    key = actions.video[ways] * DEED + actions.action[ways]
    order = np.argsort(key, kind="stable")
    with_action = np.flatnonzero(action >= 0)
    wanted = spans.video[with_action] * DEED + action[with_action]
    row, at = ranges(*(np.searchsorted(key[order], wanted, side) for side in ("left", "right")))
    return with_action[row], ways[order[at]]
