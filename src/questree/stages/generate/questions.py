"""Questions about objects in a time: cores are answered by the template's program, sifted by its rules, and worded."""

from dataclasses import dataclass, fields

import numpy as np

from questree.benchmarks.agqa import held_out as mark
from questree.benchmarks.agqa import templates as t
from questree.columns.joins import Ints, against, bit
from questree.stages.generate.arguments import arguments
from questree.stages.generate.chunk import Chunk
from questree.stages.generate.cores import Core
from questree.stages.generate.expand import Rows, expand
from questree.stages.generate.filters import Tally
from questree.stages.generate.rules import ON_ANSWERS, sift
from questree.stages.generate.spans import ALL

SAME, DIFFERENT, NO_DIRECT, NO_TEMPORAL = range(4)
UNASKED = -1  # instead of an answer
EFFECTS = ("same_ans", "diff_ans", "no_direct", "no_temporal")  # what a time phrase does to the answer (9.1)


@dataclass(frozen=True)
class Questions:
    """Columns of one template's questions, sorted by video."""

    video: Ints
    relation: Ints
    x: Ints
    y: Ints
    first: Ints  # row of the video's references, or of its action references where the slot is an action
    second: Ints
    phrase: Ints  # row of the video's phrases
    time: Ints  # kind + 256 * (a + 1) + 65536 * (b + 1)
    answer: Ints
    steps: Ints
    marks: Ints
    effect: Ints
    done_to: Ints  # the object that names the relation


def object_questions(template: t.Template, chunk: Chunk, tally: Tally) -> list[Questions]:
    """One table per pass: with plain time phrases, and (some templates) with indirect objects in the time phrase."""
    return [ask(template, chunk, tally, at) for at in range(2 if template.second_pass else 1)]


def ask(template: t.Template, chunk: Chunk, tally: Tally, second_pass: int) -> Questions:
    """Answer the cores, drop what the rules reject, word the rest."""
    core, weight = cores(template, chunk, tally, second_pass)
    phrases = chunk.passes[second_pass]
    rows = expand(
        (core.row, core.span, core_marks(template, core)),
        core.args.wordings,
        (phrases.start, phrases.steps, phrases.marks),
        (template.steps, chunk.words.edition.most_steps),
    )
    tally.reject(t.STEPS, weight.sum() - len(rows.core))
    return finish(core, effects(core.direct, chunk.spans.kind[core.span], core.answer), rows, second_pass)


def cores(template: t.Template, chunk: Chunk, tally: Tally, second_pass: int) -> tuple[Core, Ints]:
    """Cores that pass the rules, with their number of wordings; templates of equal slots and rules share them."""
    program = template.program if ON_ANSWERS & set(template.rules) else ""
    key = (program, template.rules, template.relations, template.objects, template.times, second_pass)
    if key not in chunk.sifted:
        counts = Tally()
        chunk.sifted[key] = (*sift(*candidates(template, chunk, counts, second_pass)), counts)
    core, weight, counts = chunk.sifted[key]
    for rule, count in counts.rejected.items():
        tally.reject(rule, count)
    return core.asked_by(template), weight


def candidates(template: t.Template, chunk: Chunk, tally: Tally, second_pass: int) -> tuple[Core, Tally, Ints]:
    """Every argument in every span that has a phrase."""
    phrases, kind = chunk.passes[second_pass], chunk.spans.kind
    kinds = np.isin(np.arange(5), [t.TIMES.index(time) for time in template.times])
    count = np.diff(phrases.start) * kinds[kind]  # [span] phrases a core will have
    weight = np.bincount(chunk.spans.video, count, minlength=chunk.videos).astype(np.int64)
    args = arguments(template, chunk, tally, weight)
    row, span = against(args.video, chunk.spans.start)
    # the whole video has no phrase in the second pass, but a time's effect is what it changes against it
    kept = ((count > 0) | (kinds[ALL] & (kind == ALL)))[span]
    row, span = row[kept], span[kept]
    return Core(template, chunk, args, row, span), tally, np.diff(args.wordings.start)[row] * count[span]


def effects(argument: Ints, kind: Ints, answer: Ints) -> Ints:
    """[core] does its time phrase change the answer, against the core of its arguments over the whole video?"""
    plain = np.full(int(argument.max(initial=-1)) + 1, UNASKED)
    whole = kind == ALL
    plain[argument[whole]] = answer[whole]
    direct = plain[argument]
    changed = np.where(answer == direct, SAME, DIFFERENT)
    effect = np.where(direct == UNASKED, NO_DIRECT, changed)
    return np.where(whole, NO_TEMPORAL, effect).astype(np.uint8)


def core_marks(template: t.Template, core: Core) -> Ints:
    """Marks of direct arguments: the pairs asked about, and a relation asked for its first object."""
    held = core.chunk.words.held_out
    if template.name == "objExists":
        return contact_marks(core)
    if not template.relations:
        return np.zeros(len(core.row), np.int64)
    marks = held.relation[core.relation]
    if template.name == "relExists":
        for thing in np.flatnonzero(held.object):
            marks = marks | np.where(bit(core.local.objects, np.full(len(core.row), thing)), held.object[thing], 0)
    elif template.objects:
        marks = marks | held.object[core.x]
        marks = marks | (held.object[core.y] if "$second" in template.program else 0)
    else:
        marks = marks | held.object[core.answer]
    return marks | (np.where(held.first[core.relation], mark.NC_SUP, 0) if template.group == "first" else 0)


def contact_marks(core: Core) -> Ints:
    """objExists: the object, with every held-out contact relation it has in the window."""
    held, marks = core.chunk.words.held_out, np.zeros(len(core.row), np.int64)
    for relation in np.flatnonzero((held.relation > 0) & core.chunk.words.groups["contact"]):
        marks |= np.where(bit(core.objects_of(relation), core.x), held.pair(relation, core.x), 0)
    return marks


def finish(core: Core, effect: Ints, rows: Rows, second_pass: int) -> Questions:
    """The expanded rows as question columns; row numbers count from the beginning of the video."""
    args, spans = core.args, core.chunk.spans
    first, phrases = core.chunk.passes[0].start, core.chunk.passes[second_pass]
    base = phrases.start[spans.start[:-1]]  # [video] its first phrase
    if second_pass:  # they come behind those of the first pass
        base = base - (first[spans.start[1:]] - first[spans.start[:-1]])
    row, span = core.row[rows.core], core.span[rows.core]
    video = args.video.astype(np.int32)[row]
    return Questions(
        video=video,
        relation=args.relation.astype(np.uint8)[row],
        x=args.x.astype(np.uint8)[row],
        y=args.y.astype(np.uint8)[row],
        first=args.wordings.first.astype(np.uint16)[rows.wording],
        second=args.wordings.second.astype(np.uint16)[rows.wording],
        phrase=rows.phrase - base.astype(np.int32)[video],
        time=core.chunk.packed_time[span],
        answer=core.answer.astype(np.uint8)[rows.core],
        steps=rows.steps,
        marks=rows.marks,
        effect=effect[rows.core],
        done_to=core.done_to_column(row),
    )


def join(parts: list[Questions]) -> Questions:
    """Several tables of one template as one, sorted by video (stable)."""
    if len(parts) == 1:
        return parts[0]
    columns = {f.name: np.concatenate([getattr(part, f.name) for part in parts]) for f in fields(Questions)}
    order = np.argsort(columns["video"], kind="stable")
    return Questions(**{name: column[order] for name, column in columns.items()})
