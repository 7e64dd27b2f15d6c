"""Whether an action happens (edition 1.0): asked of what is done in a video, and of what could be mistaken for it."""

import numpy as np

from questree.benchmarks.agqa import templates as t
from questree.columns.joins import Ints, against, bit, one
from questree.domains.video import VIDEO
from questree.notation.own import parse
from questree.readings.answer import answer
from questree.stages.generate.arguments import plain
from questree.stages.generate.chunk import Chunk
from questree.stages.generate.expand import expand
from questree.stages.generate.filters import Tally
from questree.stages.generate.questions import Questions, effects
from questree.stages.generate.sequences import questions
from questree.stages.generate.spans import classes

HAPPENING = parse("happening($a)", VIDEO)


def asked_about(chunk: Chunk) -> tuple[Ints, Ints]:
    """(video, action): every action that shares its verb or its object with an action of the video, or is one."""
    words = chunk.words.vocabulary
    done = classes(chunk.world)
    verbs, objects = np.zeros(chunk.videos, np.uint64), np.zeros(chunk.videos, np.uint64)
    np.bitwise_or.at(verbs, done[0], one(words.verb_of[done[1]]))
    np.bitwise_or.at(objects, done[0], one(words.object_of[done[1]]))
    pool = np.flatnonzero([not action.merged for action in words.actions])
    video, action = np.repeat(np.arange(chunk.videos), len(pool)), np.tile(pool, chunk.videos)
    verb, thing = words.verb_of[action], words.object_of[action]
    shared = bit(verbs[video], verb) | ((thing >= 0) & bit(objects[video], np.maximum(thing, 0)))
    return video[shared], action[shared]


def existence_questions(template: t.Template, chunk: Chunk, tally: Tally) -> list[Questions]:
    """Does an action happen in a span? The span's own actions are not asked about."""
    spans, phrases = chunk.spans, chunk.passes[0]
    video, action = asked_about(chunk)
    args = plain(video, x=action)
    row, span = against(args.video, spans.start)
    weight = np.diff(phrases.start)[span]
    action = args.x[row]
    failed = (action == spans.a[span]) | (action == spans.b[span])
    kept = np.flatnonzero(tally.sift([(t.TIME_ACTION, failed)], weight))
    row, span, action = row[kept], span[kept], action[kept]
    window = np.stack([spans.lo[span], spans.hi[span]], axis=1)
    happens = chunk.world.ask(args.video).doing(args.x)[row]
    found = answer(template.node, chunk.world.ask(spans.video[span]), {"time": window}, {HAPPENING: happens})
    effect = effects(row, spans.kind[span], found)
    limits = (template.steps, chunk.words.edition.most_steps)
    core = (row, span, np.zeros(len(row), np.int64))
    rows = expand(core, args.wordings, (phrases.start, phrases.steps, phrases.marks), limits)
    tally.reject(t.STEPS, weight[kept].sum() - len(rows.core))
    at, video = span[rows.core], spans.video[span[rows.core]]
    phrase = rows.phrase - phrases.start[spans.start[video]]
    said = {"x": action[rows.core], "phrase": phrase, "time": chunk.packed_time[at], "effect": effect[rows.core]}
    return [questions(video, rows, found[rows.core], **said)]
