"""Questions of a template: cores that pass the rules, times their wordings and the phrases of their time.

Of a long video they come in pieces, so that its facts have to fit into memory and its questions have not.
"""

from collections.abc import Iterator
from dataclasses import replace
from itertools import chain, pairwise

import numpy as np

from questree.benchmarks.agqa import templates as t
from questree.columns.compiled import njit
from questree.columns.joins import Ints, against, ranges, starts
from questree.columns.sets import Flags, has
from questree.domains.video.actions import BY_LENGTH, lengths_differ
from questree.rules import NO
from questree.stages.generate.annotated import drop_undecided, needs_relations
from questree.stages.generate.arguments import DirectArguments, filler
from questree.stages.generate.between_frames import may_change
from questree.stages.generate.cores import Core
from questree.stages.generate.localised import VideoChunk
from questree.stages.generate.marks import marks
from questree.stages.generate.references import ALL
from questree.stages.generate.rules import CORE, Tally, looks
from questree.stages.generate.unclassed import drop_unsure

SAME, DIFFERENT, NO_DIRECT, NO_TEMPORAL = range(4)
UNASKED = -1  # instead of an answer
CANDIDATES = 1 << 22  # that are in memory together; a long video has many more
READ = 1 << 19  # other times of candidates that are looked at together
WORDED = 1 << 21  # candidates that are worded together
EFFECTS = ("same_ans", "diff_ans", "no_direct", "no_temporal")  # what a time phrase does to the answer (9.1)


Questions = dict[str, Ints]  # columns of one template's questions, sorted by video; with marks instead of flags


def ask(template: t.Template, chunk: VideoChunk, tally: Tally) -> Iterator[Questions]:
    """Both passes: with plain actions, and (some templates) with actions whose object is a reference.

    Of one video they come piece by piece; those of several are put together, as either pass has some of each video.
    """
    passes = [in_pass(template, chunk, tally, number) for number in range(2 if template.second_pass else 1)]
    if chunk.videos == 1:
        yield from chain.from_iterable(passes)
    else:
        yield join([together(list(found)) for found in passes])


def in_pass(template: t.Template, chunk: VideoChunk, tally: Tally, second_pass: int) -> Iterator[Questions]:
    """Answer the cores, drop what the rules reject, word the rest."""
    phrases = chunk.passes[phrased(template, second_pass)]
    steps = (template.steps, chunk.words.edition.most_steps)  # those of the program, and the most there may be
    for found, weight, plain in cores(template, chunk, tally, second_pass):
        core, weight = settled(found, weight, tally)
        effect, marked, words = effects(core, plain), marks(core), core.args.wordings
        asked = 0
        for few in worded_together(weight):
            arrays = (core.row[few], core.span[few], words.start, words.steps, phrases.start, phrases.steps)
            rows = _fill(*arrays, *steps, _count(*arrays, *steps), marked[few], words.marks, phrases.marks)
            asked += len(rows[0])
            yield finish(core.take(few), effect[few], rows, phrased(template, second_pass))
        tally.reject(t.STEPS, weight.sum() - asked)


def settled(core: Core, weight: Ints, tally: Tally) -> tuple[Core, Ints]:
    """Without what nobody can tell: a template whose rules do not say so has no such questions either."""
    core, weight = sure(core, weight, tally)
    if (undefined := core.answer < 0).any():
        core, weight = without(core, weight, tally, t.NO_ANSWER, undefined)
    return without(core, weight, tally, t.READINGS, readings_differ(core))


def sure(core: Core, weight: Ints, tally: Tally) -> tuple[Core, Ints]:
    core, weight = drop_unsure(*drop_undecided(core, weight, tally), tally)
    return without(core, weight, tally, t.UNSHOWN, may_change(core))


def without(core: Core, weight: Ints, tally: Tally, why: str, failed: Flags) -> tuple[Core, Ints]:
    tally.reject(why, weight[failed].sum())
    kept = np.flatnonzero(~failed)
    return (core.take(kept), weight[kept]) if len(kept) < len(weight) else (core, weight)


def readings_differ(core: Core) -> Flags:
    """[core] would it not be asked, or have another answer, if its time means another instance of a repeated action, or
    its length all of them?"""
    found, start, otherwise = np.zeros(len(core.row), bool), core.chunk.readings, core.chunk.otherwise
    for op in (op for op in BY_LENGTH if op.name in core.template.operators):
        found |= lengths_differ(core.chunk.world.ask(np.arange(core.chunk.videos)), op)[core.args.video[core.row]]
    if otherwise is None or "time" not in core.template.kinds:
        return found
    count = start[core.span + 1] - start[core.span]
    several = np.flatnonzero(count > 0)
    for begin, end in pairwise(cut(count[several], READ, READ)):
        few = several[begin:end]
        found[few] |= read_otherwise(core.take(few), otherwise, start)
    return found


def read_otherwise(core: Core, otherwise: VideoChunk, start: Ints) -> Flags:
    """[core] would it not be asked, or have another answer, in another of the times its own may mean?"""
    row, span = ranges(start[core.span], start[core.span + 1])
    every = Core(core.template, otherwise, core.args, core.row[row], span)
    # what is rejected here is not counted: instead of weights the rows go along
    read, left = sure(*sift(every, np.arange(len(row)), Tally()), Tally())
    same = np.zeros(len(row), bool)
    same[left] = read.answer == core.answer[row[left]]
    found = np.bincount(row[~same], minlength=len(core.row)) > 0
    if "both" in core.template.operators and core.template.features >= {"relation", "objects"}:
        found |= both_in_all(core, row, every)
    return np.asarray(found)


def both_in_all(core: Core, row: Ints, every: Core) -> Flags:
    """[core] of two objects no reading has both, but all together have: "while" may mean that, too."""
    both = core.answer == NO
    for side in "xy":
        ever = has(core.local.objects, getattr(core, side))
        ever[row[has(every.local.objects, getattr(every, side))]] = True
        both &= ever
    return np.asarray(both)


def phrased(template: t.Template, second_pass: int) -> int:
    """Which phrases name the time: without a time slot those of the first pass, for the whole video."""
    return second_pass if "time" in template.kinds else 0


def cores(
    template: t.Template, chunk: VideoChunk, tally: Tally, second_pass: int
) -> Iterator[tuple[Core, Ints, Ints | None]]:
    """Cores that pass the rules, with their number of wordings; templates of equal slots and rules share them.

    Mostly one piece; of long videos several, each small enough for the memory, in the order of the arguments. With a
    piece that has not all names of its relations come the answers of its arguments over the whole video.
    """
    program = template.program if any(look.reads_program for _, look in looks(template, CORE)) else ""
    same = replace(template, name="", program=program, group="", local="", published=None, wordings=())
    key = (same, tuple(template.kinds.items()), needs_relations(template), second_pass)
    if key in chunk.sifted:
        core, own, counts = chunk.sifted[key]
        tally.add(counts)
        yield core.asked_by(template), own, None
        return
    for other in [other for other in chunk.sifted if other[:-1] != key[:-1]]:  # those that share stand side by side
        del chunk.sifted[other]
    counts, count, offered = Tally(), *spans_asked(template, chunk, second_pass)
    weight = np.bincount(chunk.spans.video, count, minlength=chunk.videos).astype(np.int64)
    near = np.flatnonzero(offered)  # with few phrases most times are none of these
    first = starts(chunk.spans.video[near], chunk.videos)
    fillings = filler(template, chunk, counts, weight, second_pass)
    groups = fillings.groups()
    for group in groups:
        args = fillings.arguments(group)
        cuts = pieces(args, weight)
        plain = None
        if len(cuts) > 2 and chunk.words.edition.relation_references:
            plain = plain_answers(template, chunk, args, offered)
        for begin, end in pairwise(cuts):
            row, at = against(args.video[begin:end], first)
            row, span = row + begin, near[at]
            core = Core(template, chunk, args, row, span)
            core, own = sift(core, np.diff(args.wordings.start)[row] * count[span], counts)
            tally.add(counts)
            if len(groups) == 1 and len(cuts) == 2:
                chunk.sifted[key] = core, own, counts
            else:
                counts.rejected.clear()
            yield core.asked_by(template), own, plain


def plain_answers(template: t.Template, chunk: VideoChunk, args: DirectArguments, offered: Ints) -> Ints:
    """[direct arguments] the answer over the whole video, whatever their relation is called."""
    row, span = np.arange(len(args.video)), chunk.spans.start[args.video]
    kept = offered[span]
    core = Core(template, chunk, args, row[kept], span[kept])
    core, _ = settled(*sift(core, np.zeros(len(core.row), np.int64), Tally()), Tally())
    return plain_of(core, int(args.direct.max()) + 1)


def plain_of(core: Core, size: int) -> Ints:
    """[direct arguments] the answer of their core over the whole video, if it is there."""
    plain, whole = np.full(size, UNASKED), core.chunk.spans.kind[core.span] == ALL
    plain[core.direct[whole]] = core.answer[whole]
    return plain


def spans_asked(template: t.Template, chunk: VideoChunk, second_pass: int) -> tuple[Ints, Ints]:
    """[span] the phrases a core will have, and whether there are cores; only the whole video if there is no time."""
    phrases, kind = chunk.passes[phrased(template, second_pass)], chunk.spans.kind
    kinds = np.isin(np.arange(len(t.TIMES)), [t.TIMES.index(time) for time in template.times or (t.ALL,)])
    count = np.diff(phrases.start) * kinds[kind]
    # the whole video has no phrase in the second pass, but a time's effect is what it changes against it
    return count, (count > 0) | (kinds[ALL] & (kind == ALL))


def pieces(args: DirectArguments, weight: Ints) -> list[int]:
    """Where pieces of the arguments begin, and the end; smaller ones where templates cannot share the whole anyway."""
    return cut(np.diff(args.wordings.start) * weight[args.video], CANDIDATES, CANDIDATES // 4)


def worded_together(weight: Ints) -> Iterator[slice]:
    """At least one."""
    yield from (slice(begin, end) for begin, end in pairwise(cut(weight, WORDED, WORDED)))


def cut(weight: Ints, most: int, each: int) -> list[int]:
    """Where pieces of rows of such weights begin, and the end: one piece if all is not more than `most`."""
    total = np.cumsum(weight)
    if not len(total) or total[-1] <= most:
        return [0, len(total)]
    return [*np.unique([0, *np.searchsorted(total, np.arange(each, total[-1], each))]).tolist(), len(total)]


def sift(core: Core, weight: Ints, tally: Tally) -> tuple[Core, Ints]:
    """Drop what the rules reject; a later rule only looks at what is left."""
    for name, look in looks(core.template, CORE):
        failed = look.fails(core)
        tally.reject(name, weight[failed].sum())
        if failed.any():
            kept = np.flatnonzero(~failed)
            core, weight = core.take(kept), weight[kept]
    return core, weight


def effects(core: Core, plain: Ints | None = None) -> Ints:
    """[core] does its time phrase change the answer, against the core of its arguments over the whole video?

    plain: their answers over it, where these are not all among the cores.
    """
    argument, whole = core.direct, core.chunk.spans.kind[core.span] == ALL
    if plain is None:
        plain = plain_of(core, int(argument.max(initial=-1)) + 1)
    direct = plain[argument]
    changed = np.where(core.answer == direct, SAME, DIFFERENT)
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
