"""Indirect references to objects: the first, last or only object of a relation in the whole video, or in a time."""

from dataclasses import dataclass

import numpy as np

from questree.benchmarks.agqa import held_out as mark
from questree.benchmarks.agqa.templates import TIMES
from questree.columns.hashing import Hashes, mix
from questree.columns.joins import Ints, groups, starts
from questree.domains.video import VIDEO, Videos
from questree.domains.video.facts import ANY, KEY
from questree.domains.video.objects import first, last, objects, the_one
from questree.domains.video.time import whole
from questree.notation.own import parse
from questree.readings.categories import steps
from questree.stages.generate.word_columns import WordColumns
from questree.tables.questions import time_actions, time_kind

DIRECT, FIRST, LAST, WHOLE = range(4)
TIMED = 4  # first, last and whole ones with a time of their own share a cap
BEFORE, BETWEEN = TIMES.index("before"), TIMES.index("between")
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


def present_relations(world: Videos, words: WordColumns) -> tuple[Ints, Ints]:
    """(video, relation) of every contact, spatial or verb relation that holds somewhere, sorted."""
    real = words.groups["contact"] | words.groups["spatial"] | words.groups["verb"]
    video, relation, thing = world.key // (KEY * KEY), world.key // KEY % KEY, world.key % KEY
    kept = (thing == ANY) & (relation != ANY)
    kept &= real[np.where(kept, relation, 0)]
    return video[kept], relation[kept]


def present_objects(world: Videos, words: WordColumns) -> tuple[Ints, Ints]:
    """(video, object) of every object that may be asked about and is annotated or has a relation, sorted."""
    video, relation, thing = world.key // (KEY * KEY), world.key // KEY % KEY, world.key % KEY
    kept = (relation == ANY) & (thing != ANY)
    kept &= words.askable[np.where(kept, thing, 0)] & world.bits[:-1].any(1)
    return video[kept], thing[kept]


def references(
    world: Videos, words: WordColumns, seeds: Hashes, cap: int = 3, timed: list[Ints] | None = None
) -> References:
    """Direct classes, and per (object, kind) at most `cap` references, by a keyed hash; timed ones are one kind."""
    video, relation = present_relations(world, words)
    allowed = ~(words.never_asked | words.one_object)[relation]
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
        kept = (referent >= 0) & words.askable[np.maximum(referent, 0)]
        rows.append((video[kept], np.full(kept.sum(), kind), referent[kept], relation[kept]))
    columns = [np.concatenate(column) for column in zip(*rows, strict=True)]
    columns.append(np.zeros(len(columns[0]), np.int64))
    if timed:
        columns = [np.concatenate(pair) for pair in zip(columns, timed, strict=True)]
    return finish(world, words, capped(columns, seeds, cap))


def capped(columns: list[Ints], seeds: Hashes, cap: int) -> list[Ints]:
    """The rows with the smallest hashes of every (video, kind, object), sorted."""
    video, kind, thing, relation, time = columns
    draw = mix(seeds[video], kind, thing, relation + 1)
    draw = np.where(time > 0, mix(draw, time), draw)
    family = np.where(time > 0, TIMED, kind)
    order = np.lexsort((draw, thing, family, video))
    begin, group = groups(video[order], family[order], thing[order])
    kept = order[np.arange(len(video)) - begin[group] < cap]
    rest = [column[kept] for column in columns]
    order = np.lexsort(rest[::-1])
    return [column[order] for column in rest]


def finish(world: Videos, words: WordColumns, columns: list[Ints]) -> References:
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
    )


def time_inside(words: WordColumns, time: Ints) -> tuple[Ints, Ints]:
    """Steps and marks of the time phrase inside a reference, which names its actions by their phrases."""
    kind, (first, _) = time_kind(time), time_actions(time)
    marks = np.where(time > 0, mark.I_TEMP, 0)
    before = (kind == BEFORE) | (kind == BETWEEN)
    return TIME_STEPS[kind], marks | np.where(before & words.held_out.action[first], mark.NC_SEQ, 0)
