"""Questions about actions: which, how long, before or after; few per video, so the operators are run as they are."""

from collections.abc import Callable

import numpy as np

from questree.benchmarks.agqa import held_out as mark
from questree.benchmarks.agqa import templates as t
from questree.columns.joins import Ints, against, bit, groups, starts
from questree.domains.video.actions import ended, going_on
from questree.readings.answer import answer
from questree.stages.generate.arguments import NONE, plain
from questree.stages.generate.chunk import Chunk
from questree.stages.generate.expand import Rows, Wordings, expand
from questree.stages.generate.filters import Flags, Rules, Tally, relation_rules
from questree.stages.generate.questions import NO_TEMPORAL, Questions, effects
from questree.stages.generate.spans import DIRECT, INDIRECT, NOTHING

ONCE = (np.array([0, 1]), np.zeros(1, np.int64), np.zeros(1, np.int64))  # no time phrase: start, steps, marks


def action_questions(template: t.Template, chunk: Chunk, tally: Tally) -> list[Questions]:
    if template.times:
        return [in_a_time(template, chunk, tally)]
    if not template.actions:
        return [by_length(template, chunk, tally)]
    fill = {"$a": action_pairs, "$relation": with_relation, "$object": with_object}
    how = next(function for slot, function in fill.items() if slot in template.program)
    return [how(template, chunk, tally, second) for second in range(2 if template.second_pass else 1)]


def in_a_time(template: t.Template, chunk: Chunk, tally: Tally) -> Questions:
    """Which action, in a span; the span is all there is to fill."""
    spans, phrases, vocabulary = chunk.spans, chunk.passes[0], chunk.words.vocabulary
    span = np.flatnonzero(np.isin(spans.kind, [t.TIMES.index(time) for time in template.times]))
    world = chunk.world.ask(spans.video[span])
    window = np.stack([spans.lo[span], spans.hi[span]], axis=1)
    found = answer(template.node, world, {"time": window})
    given = vocabulary.lists.take_verbs if template.name == "actFirst" else vocabulary.lists.put_verbs[:1]
    candidates = ended if template.group == "last" else going_on
    tests: dict[str, Callable[[], Flags]] = {
        t.NO_ANSWER: lambda: found < 0,
        t.TIME_ANSWER: lambda: (found == spans.a[span]) | (found == spans.b[span]),
        t.ONE_CHOICE: lambda: np.bincount(candidates(world, window)[0], minlength=len(world)) <= 1,
        t.VERB_GIVEN: lambda: np.isin(vocabulary.verb_of[found], vocabulary.relations_named(given)),
    }
    weight = np.diff(phrases.start)[span]
    alive = tally.sift([(rule, tests[rule]()) for rule in template.rules if rule in tests], weight)
    args = plain(np.arange(chunk.videos))
    kept = np.flatnonzero(alive)
    effect = effects(spans.video[span[kept]], spans.kind[span[kept]], found[kept])
    core = (spans.video[span[kept]], span[kept], np.zeros(len(kept), np.int64))
    limits = (template.steps, chunk.words.edition.most_steps)
    rows = expand(core, args.wordings, (phrases.start, phrases.steps, phrases.marks), limits)
    tally.reject(t.STEPS, weight[kept].sum() - len(rows.core))
    row = kept[rows.core]
    video = spans.video[span[row]]
    phrase = rows.phrase - phrases.start[spans.start[video]]
    return questions(
        video, rows, found[row], phrase=phrase, time=chunk.packed_time[span[row]], effect=effect[rows.core]
    )


def questions(video: Ints, rows: Rows, answer: Ints, **given: Ints) -> Questions:
    """Columns with what a template does not have left empty; without a time phrase the phrase is the whole video's."""
    none, nothing, zero = np.full(len(video), NONE), np.full(len(video), NOTHING), np.zeros(len(video), np.int64)
    empty = dict.fromkeys(("relation", "x", "y", "done_to"), none) | dict.fromkeys(("first", "second"), nothing)
    empty |= {"phrase": zero, "time": zero}
    columns = empty | {"effect": zero + NO_TEMPORAL} | given
    return Questions(video=video, answer=answer, steps=rows.steps, marks=rows.marks, **columns)


def word(template: t.Template, chunk: Chunk, tally: Tally, wordings: Wordings, kept: Ints, marks: Ints) -> Rows:
    """Every wording of the kept arguments, within the steps."""
    limits = (template.steps, chunk.words.edition.most_steps)
    rows = expand((kept, np.zeros(len(kept), np.int64), marks[kept]), wordings, ONCE, limits)
    tally.reject(t.STEPS, np.diff(wordings.start)[kept].sum() - len(rows.core))
    return rows


def by_length(template: t.Template, chunk: Chunk, tally: Tally) -> Questions:
    """The longest or shortest action of a video."""
    video = np.flatnonzero(np.diff(chunk.spans.start) > 0)
    found = answer(template.node, chunk.world.ask(video), {})
    rules: Rules = [(t.NO_ANSWER, found < 0), (t.TRANSITION, chunk.words.transition[found])]
    kept = np.flatnonzero(tally.sift(rules, np.ones(len(video), np.int64)))
    held = chunk.words.held_out.action[found] & (template.name == "actLongest")
    rows = word(template, chunk, tally, plain(video).wordings, kept, np.where(held, mark.NC_DUR, 0))
    return questions(video[kept[rows.core]], rows, found[kept[rows.core]])


def usable(template: t.Template, second_pass: int, kind: Ints) -> Flags:
    """Which action references fill a slot: in the second pass direct ones and those with an indirect object."""
    wanted = (DIRECT, INDIRECT) if second_pass else [t.ACTION_REFERENCES.index(name) for name in template.actions]
    return np.isin(kind, wanted)


def action_pairs(template: t.Template, chunk: Chunk, tally: Tally, second_pass: int) -> Questions:
    """Two actions: how long they last, or which comes first; each unordered pair of references once, in list order."""
    acts, words = chunk.actions, chunk.words
    ref = np.flatnonzero(usable(template, second_pass, acts.kind))
    left, right = against(acts.video[ref], starts(acts.video[ref], chunk.videos))
    later = right > left
    i, j = ref[left[later]], ref[right[later]]
    if second_pass:
        inner = (acts.kind[i] == INDIRECT) | (acts.kind[j] == INDIRECT)
        i, j = i[inner], j[inner]
    order = np.lexsort((j, i, acts.action[j], acts.action[i], acts.video[i]))
    i, j = i[order], j[order]
    begin, group = groups(acts.video[i], acts.action[i], acts.action[j])
    video, a, b = acts.video[i[begin]], acts.action[i[begin]], acts.action[j[begin]]
    base = acts.start[acts.video[i]]
    marks = acts.marks[i] | acts.marks[j]
    wordings = Wordings(starts(group, len(begin)), i - base, j - base, acts.steps[i] + acts.steps[j], marks)
    found = answer(template.node, chunk.world.ask(video), {"a": a, "b": b})
    tests = {
        t.SAME_ACTION: a == b,
        t.TRANSITION: words.transition[a] | words.transition[b],
        t.NO_ANSWER: found < 0,
    }
    rules: Rules = [(rule, tests[rule]) for rule in template.rules if rule in tests]
    kept = np.flatnonzero(tally.sift(rules, np.diff(wordings.start)))
    held = words.held_out.action[a] | words.held_out.action[b]
    flag = mark.NC_SEQ if template.group == "time" else mark.NC_DUR if "Longer" in template.name else 0
    rows = word(template, chunk, tally, wordings, kept, np.where(held, flag, 0))
    row = kept[rows.core]
    sides = {"first": wordings.first[rows.wording], "second": wordings.second[rows.wording]}
    return questions(video[row], rows, found[row], x=a[row], y=b[row], **sides)


def with_relation(template: t.Template, chunk: Chunk, tally: Tally, second_pass: int) -> Questions:
    """A relation (to anything) before or after an action."""
    acts, words, loc = chunk.actions, chunk.words, chunk.localised
    allowed = np.logical_or.reduce([words.groups[group] for group in template.relations])
    at = np.flatnonzero(allowed[loc.relation])
    asked, name = loc.named.named(at)
    at = at[asked]
    wanted = acts.kind == INDIRECT if second_pass else usable(template, 0, acts.kind)
    row, ref = against(loc.video[at], acts.start)
    row, ref = row[wanted[ref]], ref[wanted[ref]]
    order = np.lexsort((ref, acts.action[ref], row))
    row, ref = row[order], ref[order]
    begin, group = groups(row, acts.action[ref])
    own, action = at[row[begin]], acts.action[ref[begin]]
    video, relation, done_to = loc.video[own], loc.relation[own], loc.named.object[name[row[begin]]]
    wordings = action_wordings(chunk, starts(group, len(begin)), ref, name[row])
    found = answer(template.node, chunk.world.ask(video), {"relation": relation, "b": action})
    tests = dict(relation_rules(words, template, relation)) | {
        t.TIME_RELATION: words.vocabulary.verb_of[action] == relation,
        t.NO_ANSWER: found < 0,
    }
    rules: Rules = [(rule, tests[rule]) for rule in template.rules if rule in tests]
    kept = np.flatnonzero(tally.sift(rules, np.diff(wordings.start)))
    whole = loc.objects[loc.base[own]]
    held = words.held_out.action[action] | ((whole & words.held_out.supports[relation]) != 0)
    rows = word(template, chunk, tally, wordings, kept, np.where(held, mark.NC_SEQ, 0))
    row = kept[rows.core]
    sides = {"second": wordings.first[rows.wording], "done_to": done_to[row]}
    return questions(video[row], rows, found[row], relation=relation[row], y=action[row], **sides)


def action_wordings(chunk: Chunk, start: Ints, ref: Ints, name: Ints) -> Wordings:
    """Names of an action, each beside a name of the relation."""
    acts, named = chunk.actions, chunk.localised.named
    steps, marks = acts.steps[ref] + (named.object[name] >= 0), acts.marks[ref] | named.marks[name]
    return Wordings(start, ref - acts.start[acts.video[ref]], np.full(len(ref), NOTHING), steps, marks)


def with_object(template: t.Template, chunk: Chunk, tally: Tally, second_pass: int) -> Questions:
    """Contact with an object before or after an action."""
    acts, refs, words = chunk.actions, chunk.references, chunk.words
    wanted = usable(template, second_pass, acts.kind)
    ref, act = against(refs.video, acts.start)
    ref, act = ref[wanted[act]], act[wanted[act]]
    order = np.lexsort((act, ref, acts.action[act], refs.object[ref], refs.video[ref]))
    ref, act = ref[order], act[order]
    begin, group = groups(refs.video[ref], refs.object[ref], acts.action[act])
    video, x, action = refs.video[ref[begin]], refs.object[ref[begin]], acts.action[act[begin]]
    wordings = Wordings(
        starts(group, len(begin)),
        ref - refs.start[refs.video[ref]],
        act - acts.start[acts.video[act]],
        refs.steps[ref] + acts.steps[act],
        refs.marks[ref] | acts.marks[act],
    )
    found = answer(template.node, chunk.world.ask(video), {"object": x, "b": action})
    tests = {
        t.BANNED_OBJECT: words.banned_object[x],
        t.TIME_OBJECT: words.vocabulary.object_of[action] == x,
        t.NO_ANSWER: found < 0,
    }
    rules: Rules = [(rule, tests[rule]) for rule in template.rules if rule in tests]
    kept = np.flatnonzero(tally.sift(rules, np.diff(wordings.start)))
    held = words.held_out.action[action] | contact_supports(chunk, video, x)
    rows = word(template, chunk, tally, wordings, kept, np.where(held, mark.NC_SEQ, 0))
    row = kept[rows.core]
    sides = {"first": wordings.first[rows.wording], "second": wordings.second[rows.wording]}
    return questions(video[row], rows, found[row], x=x[row], y=action[row], **sides)


def contact_supports(chunk: Chunk, video: Ints, x: Ints) -> Flags:
    """Does a contact with the object amount to a held-out action?"""
    held, loc = chunk.words.held_out, chunk.localised
    found = np.zeros(len(video), bool)
    for relation in np.flatnonzero((held.supports > 0) & chunk.words.groups["contact"]):
        at = loc.at[video, relation]
        there = (at >= 0) & bit(np.full(len(x), held.supports[relation]), x)
        found |= there & bit(loc.objects[loc.base[np.maximum(at, 0)]], x)
    return found
