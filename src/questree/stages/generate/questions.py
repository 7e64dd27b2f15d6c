"""Marks of held-out compositions in what a question asks: each a function of cores, named by the templates."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import reduce
from itertools import pairwise
from operator import or_

import numpy as np

from questree.benchmarks.agqa import held_out as mark
from questree.benchmarks.agqa import templates as t
from questree.columns.compiled import njit
from questree.columns.joins import Ints, against, groups
from questree.columns.sets import has, meet, some
from questree.stages.generate.annotated import drop_undecided, needs_relations
from questree.stages.generate.arguments import DirectArguments, arguments
from questree.stages.generate.cores import Core
from questree.stages.generate.localised import VideoChunk
from questree.stages.generate.references import ALL
from questree.stages.generate.rules import CORE, Tally, looks
from questree.stages.generate.unclassed import drop_unsure


def marks(core: Core) -> Ints:
    """[core] those of its direct arguments and its answer; references and time phrases have their own."""
    found = [MARKS[name](core) for name in core.template.held_out]
    return reduce(or_, found) if found else np.zeros(len(core.row), np.int64)


def _pair_asked(core: Core) -> Ints:
    found = core.words.held_out.relation[core.relation]
    for thing in core.things:
        found = found | core.words.held_out.object[thing]
    return found


def _pair_answered(core: Core) -> Ints:
    return core.words.held_out.pair(core.relation, core.answer)


def _pairs_seen(core: Core) -> Ints:
    """The relation, with every held-out object it has in the window."""
    held = core.words.held_out
    found = held.relation[core.relation]
    for thing in np.flatnonzero(held.object):
        found = found | np.where(has(core.local.objects, np.full(len(core.row), thing)), held.object[thing], 0)
    return found


def _contacts_seen(core: Core) -> Ints:
    """The object, with every held-out contact relation it has in the window."""
    held, found = core.words.held_out, np.zeros(len(core.row), np.int64)
    for relation in np.flatnonzero((held.relation > 0) & core.words.groups["contact"]):
        objects = core.local_of(relation).objects
        for thing in core.things:
            found |= np.where(has(objects, thing), held.pair(relation, thing), 0)
    return found


def _relation_first(core: Core) -> Ints:
    return np.where(core.words.held_out.first[core.relation], mark.NC_SUP, 0)


def _by_length(core: Core) -> Ints:
    held = core.words.held_out.action
    return np.where(np.logical_or.reduce([held[deed] for deed in core.deeds or [core.answer]]), mark.NC_DUR, 0)


def _in_order(core: Core) -> Ints:
    """A held-out action, or a relation or contact that amounts to one."""
    held, found = core.words.held_out, np.zeros(len(core.row), bool)
    for deed in core.deeds:
        found |= held.action[deed]
    if "relation" in core.template.features:
        found |= meet(held.supports[core.relation], core.local.objects)
    for relation in np.flatnonzero(some(held.supports) & core.words.groups["contact"]):
        for thing in core.things:
            supported = has(held.supports[np.full(len(thing), relation)], thing)
            found |= supported & has(core.local_of(relation).objects, thing)
    return np.where(found, mark.NC_SEQ, 0)


MARKS: dict[str, Callable[[Core], Ints]] = {
    "pair asked": _pair_asked,
    "pair answered": _pair_answered,
    "pairs seen": _pairs_seen,
    "contacts seen": _contacts_seen,
    "relation first": _relation_first,
    "actions by length": _by_length,
    "actions in order": _in_order,
}


SAME, DIFFERENT, NO_DIRECT, NO_TEMPORAL = range(4)
UNASKED = -1  # instead of an answer
CANDIDATES = 1 << 23  # that are in memory together; a long video has many more
EFFECTS = ("same_ans", "diff_ans", "no_direct", "no_temporal")  # what a time phrase does to the answer (9.1)


Questions = dict[str, Ints]  # columns of one template's questions, sorted by video; with marks instead of flags


def ask(template: t.Template, chunk: VideoChunk, tally: Tally) -> Questions:
    """Both passes: with plain actions, and (some templates) with actions whose object is a reference."""
    return join([in_pass(template, chunk, tally, number) for number in range(2 if template.second_pass else 1)])


def in_pass(template: t.Template, chunk: VideoChunk, tally: Tally, second_pass: int) -> Questions:
    """Answer the cores, drop what the rules reject, word the rest."""
    phrases = chunk.passes[phrased(template, second_pass)]
    steps = (template.steps, chunk.words.edition.most_steps)  # those of the program, and the most there may be
    found = list[Questions]()
    for core, weight in cores(template, chunk, tally, second_pass):
        core, weight = drop_unsure(*drop_undecided(core, weight, tally), tally)
        undefined = core.answer < 0
        if undefined.any():  # a template whose rules do not say so has no such questions either
            tally.reject(t.NO_ANSWER, weight[undefined].sum())
            core, weight = core.take(np.flatnonzero(~undefined)), weight[~undefined]
        words = core.args.wordings
        arrays = (core.row, core.span, words.start, words.steps, phrases.start, phrases.steps)
        rows = _fill(*arrays, *steps, _count(*arrays, *steps), marks(core), words.marks, phrases.marks)
        tally.reject(t.STEPS, weight.sum() - len(rows[0]))
        effect = effects(core.direct, chunk.spans.kind[core.span], core.answer)
        found.append(finish(core, effect, rows, phrased(template, second_pass)))
    return together(found)


def phrased(template: t.Template, second_pass: int) -> int:
    """Which phrases name the time: without a time slot those of the first pass, for the whole video."""
    return second_pass if "time" in template.kinds else 0


def cores(template: t.Template, chunk: VideoChunk, tally: Tally, second_pass: int) -> Iterator[tuple[Core, Ints]]:
    """Cores that pass the rules, with their number of wordings; templates of equal slots and rules share them.

    Mostly one piece; of long videos several, each small enough for the memory, in the order of the arguments.
    """
    program = template.program if any(look.reads_program for _, look in looks(template, CORE)) else ""
    same = replace(template, name="", program=program, group="", local="", published=None, wordings=())
    key = (same, tuple(template.kinds.items()), second_pass, needs_relations(template))
    if key in chunk.sifted:
        core, weight, counts = chunk.sifted[key]
        tally.add(counts)
        yield core.asked_by(template), weight
        return
    counts, count, offered = Tally(), *spans_asked(template, chunk, second_pass)
    weight = np.bincount(chunk.spans.video, count, minlength=chunk.videos).astype(np.int64)
    args = arguments(template, chunk, counts, weight, second_pass)
    cuts = pieces(args, weight, chunk.words.edition.relation_references)
    for begin, end in pairwise(cuts):
        row, span = against(args.video[begin:end], chunk.spans.start)
        kept = offered[span]
        row, span = row[kept] + begin, span[kept]
        core = Core(template, chunk, args, row, span)
        core, weight = sift(core, np.diff(args.wordings.start)[row] * count[span], counts)
        tally.add(counts)
        if len(cuts) == 2:
            chunk.sifted[key] = core, weight, counts
        counts = Tally()
        yield core.asked_by(template), weight


def spans_asked(template: t.Template, chunk: VideoChunk, second_pass: int) -> tuple[Ints, Ints]:
    """[span] the phrases a core will have, and whether there are cores; only the whole video if there is no time."""
    phrases, kind = chunk.passes[phrased(template, second_pass)], chunk.spans.kind
    kinds = np.isin(np.arange(len(t.TIMES)), [t.TIMES.index(time) for time in template.times or (t.ALL,)])
    count = np.diff(phrases.start) * kinds[kind]
    # the whole video has no phrase in the second pass, but a time's effect is what it changes against it
    return count, (count > 0) | (kinds[ALL] & (kind == ALL))


def pieces(args: DirectArguments, weight: Ints, by_relation: bool) -> list[int]:
    """Where pieces of the arguments begin, and the end; a time's effect wants all names of a relation in one piece."""
    total = np.cumsum(np.diff(args.wordings.start) * weight[args.video])
    if not len(total) or total[-1] <= CANDIDATES:
        return [0, len(args.video)]
    cuts = np.searchsorted(total, np.arange(CANDIDATES, total[-1], CANDIDATES))
    if by_relation:
        begin, _ = groups(args.video, args.relation)
        cuts = begin[np.searchsorted(begin, cuts, side="right") - 1]
    return [*np.unique([0, *cuts]).tolist(), len(args.video)]


def sift(core: Core, weight: Ints, tally: Tally) -> tuple[Core, Ints]:
    """Drop what the rules reject; a later rule only looks at what is left."""
    for name, look in looks(core.template, CORE):
        failed = look.fails(core)
        tally.reject(name, weight[failed].sum())
        if failed.any():
            kept = np.flatnonzero(~failed)
            core, weight = core.take(kept), weight[kept]
    return core, weight


def effects(argument: Ints, kind: Ints, answer: Ints) -> Ints:
    """[core] does its time phrase change the answer, against the core of its arguments over the whole video?"""
    plain = np.full(int(argument.max(initial=-1)) + 1, UNASKED)
    whole = kind == ALL
    plain[argument[whole]] = answer[whole]
    direct = plain[argument]
    changed = np.where(answer == direct, SAME, DIFFERENT)
    effect = np.where(direct == UNASKED, NO_DIRECT, changed)
    return np.where(whole, NO_TEMPORAL, effect).astype(np.uint8)


@njit(cache=True)
def _count(argument, span, words, word_steps, phrases, phrase_steps, base, most):  # type: ignore[no-untyped-def]
    total = 0
    for core in range(len(argument)):
        for wording in range(words[argument[core]], words[argument[core] + 1]):
            left = most - base - word_steps[wording]
            for phrase in range(phrases[span[core]], phrases[span[core] + 1]):
                total += phrase_steps[phrase] <= left
    return total


@njit(cache=True)
def _fill(  # type: ignore[no-untyped-def]
    argument, span, words, word_steps, phrases, phrase_steps, base, most, total, core_marks, word_marks, phrase_marks
):
    """Cores times wordings times phrases, less what takes too many steps: core, wording, phrase, steps, marks."""
    cores, wordings, named = np.empty(total, np.int32), np.empty(total, np.int32), np.empty(total, np.int32)
    steps, marks = np.empty(total, np.uint8), np.empty(total, np.uint32)
    row = 0
    for core in range(len(argument)):
        for wording in range(words[argument[core]], words[argument[core] + 1]):
            so_far = base + word_steps[wording]
            for phrase in range(phrases[span[core]], phrases[span[core] + 1]):
                if so_far + phrase_steps[phrase] <= most:
                    cores[row], wordings[row], named[row] = core, wording, phrase
                    steps[row] = so_far + phrase_steps[phrase]
                    marks[row] = core_marks[core] | word_marks[wording] | phrase_marks[phrase]
                    row += 1
    return cores, wordings, named, steps, marks


def finish(core: Core, effect: Ints, rows: tuple[Ints, ...], second_pass: int) -> Questions:
    """Rows of `_fill` as columns of questions; row numbers count from the beginning of the video."""
    of_core, wording, phrase, steps, marks = rows
    args, spans = core.args, core.chunk.spans
    first, phrases = core.chunk.passes[0].start, core.chunk.passes[second_pass]
    base = phrases.start[spans.start[:-1]]  # [video] its first phrase
    if second_pass:  # they come behind those of the first pass
        base = base - (first[spans.start[1:]] - first[spans.start[:-1]])
    row, span = core.row[of_core], core.span[of_core]
    video = args.video.astype(np.int32)[row]
    word = np.uint16 if core.words.vocabulary.wide else np.uint8
    named = core.words.edition.relation_references  # where an edition has no such names the column takes no room
    return {
        "video": video,
        **{name: getattr(args, name).astype(word)[row] for name in ("relation", "x", "y")},
        **{name: getattr(args.wordings, name).astype(np.uint16)[wording] for name in ("first", "second")},
        "phrase": phrase - base.astype(np.int32)[video],
        "time": spans.packed[span],
        "answer": core.answer.astype(word)[of_core],
        "steps": steps,
        "marks": marks,
        "effect": effect[of_core],
        "done_to": args.done_to.astype(word)[row] if named else np.broadcast_to(np.iinfo(word).max, len(row)),
    }


def join(parts: list[Questions]) -> Questions:
    """Several tables of one template as one, sorted by video (stable)."""
    columns = together(parts)
    if len(parts) == 1:
        return columns
    order = np.argsort(columns["video"], kind="stable")
    return {name: column[order] for name, column in columns.items()}


def together(parts: list[Questions]) -> Questions:
    """One below the other; the parts are emptied, as both would take much room."""
    if len(parts) == 1:
        return parts[0]
    return {name: np.concatenate([part.pop(name) for part in parts]) for name in list(parts[0])}
