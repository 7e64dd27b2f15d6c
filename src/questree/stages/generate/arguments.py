"""What fills the slots of an object template: relations, objects and how they are named; no time yet."""

from dataclasses import dataclass

import numpy as np

from questree.benchmarks.agqa import templates as t
from questree.stages.generate.chunk import Chunk
from questree.stages.generate.expand import Wordings
from questree.stages.generate.filters import Tally, reference_rules, relation_rules
from questree.stages.generate.joins import Ints, against, groups, starts
from questree.stages.generate.spans import NOTHING

NONE = -1


@dataclass(frozen=True)
class Arguments:
    """Direct arguments, sorted by video; each with its wordings."""

    video: Ints
    relation: Ints  # position in the vocabulary, NONE without a relation
    at: Ints  # row of `Localised` relations, NONE if the relation does not occur in the video
    x: Ints
    y: Ints
    wordings: Wordings


def arguments(template: t.Template, chunk: Chunk, tally: Tally, weight: Ints) -> Arguments:
    """weight: [video] how many time phrases each rejected filling would have had."""
    if template.every_object:
        return every_object(chunk)
    if not template.relations:
        asked = np.flatnonzero(np.diff(chunk.spans.start) > 0)
        annotated = chunk.words.vocabulary.relation_at[chunk.words.vocabulary.annotated]
        return plain(asked, at=chunk.localised.at[asked, annotated])
    video, relation, at = relations(template, chunk)
    kept = np.ones(len(video), bool)
    if not template.objects:
        kept = tally.sift(relation_rules(chunk.words, template, relation), weight[video])
        return plain(video[kept], relation[kept], at[kept])
    if "$first" in template.program:
        return pairs(template, chunk, tally, weight, video, relation, at)
    return singles(template, chunk, tally, weight, video, relation, at)


def plain(video: Ints, relation: Ints | None = None, at: Ints | None = None, x: Ints | None = None) -> Arguments:
    """Arguments that can be worded in one way only."""
    none, count = np.full(len(video), NONE), len(video)
    nothing, zero = np.full(count, NOTHING), np.zeros(count, np.int64)
    return Arguments(
        video,
        none if relation is None else relation,
        none if at is None else at,
        none if x is None else x,
        none,
        Wordings(np.arange(count + 1), nothing, nothing, zero, zero),
    )


def every_object(chunk: Chunk) -> Arguments:
    """Each of the classes a benchmark knows, whether it occurs or not; the person too, to be rejected by name."""
    classes = np.flatnonzero([not thing.part_only for thing in chunk.words.vocabulary.objects])
    asked = np.flatnonzero(np.diff(chunk.spans.start) > 0)
    video, x = np.repeat(asked, len(classes)), np.tile(classes, len(asked))
    interacting = chunk.words.vocabulary.relation_at[chunk.words.vocabulary.interacting]
    return plain(video, np.full(len(video), interacting), chunk.localised.at[video, interacting], x)


def relations(template: t.Template, chunk: Chunk) -> tuple[Ints, Ints, Ints]:
    """(video, relation, row of localised): those present, or every word of the groups that has an object."""
    allowed = np.logical_or.reduce([chunk.words.groups[group] for group in template.relations])
    loc = chunk.localised
    if not template.every_relation:
        kept = np.flatnonzero(allowed[loc.relation])
        return loc.video[kept], loc.relation[kept], kept
    vocabulary = chunk.words.vocabulary
    used = vocabulary.verb_of[vocabulary.object_of >= 0]
    pool = np.flatnonzero(allowed & (chunk.words.groups["contact"] | np.isin(np.arange(len(allowed)), used)))
    asked = np.flatnonzero(np.diff(chunk.spans.start) > 0)
    video, relation = np.repeat(asked, len(pool)), np.tile(pool, len(asked))
    return video, relation, loc.at[video, relation]


def fillings(
    template: t.Template, chunk: Chunk, video: Ints, relation: Ints
) -> tuple[Ints, Ints, list[tuple[str, Ints]]]:
    """(argument, reference) for every reference kind of the template, and the rules about them."""
    refs = chunk.references
    kinds = [t.REFERENCES.index(kind) for kind in template.objects]
    row, ref = against(video, refs.start)
    kept = np.isin(refs.kind[ref], kinds)
    row, ref = row[kept], ref[kept]
    return row, ref, reference_rules(chunk.words, template, relation[row], refs.object[ref], refs.relation[ref])


def singles(
    template: t.Template, chunk: Chunk, tally: Tally, weight: Ints, video: Ints, relation: Ints, at: Ints
) -> Arguments:
    row, ref, rules = fillings(template, chunk, video, relation)
    kept = tally.sift(rules, weight[video[row]])
    row, ref = row[kept], ref[kept]
    refs = chunk.references
    order = np.lexsort((ref, refs.object[ref], row))
    row, ref = row[order], ref[order]
    begin, group = groups(row, refs.object[ref])
    head = row[begin]
    words = Wordings(
        starts(group, len(begin)),
        ref - refs.start[refs.video[ref]],
        np.full(len(ref), NOTHING),
        refs.steps[ref],
        refs.marks[ref],
    )
    return Arguments(video[head], relation[head], at[head], refs.object[ref[begin]], np.full(len(begin), NONE), words)


def pairs(
    template: t.Template, chunk: Chunk, tally: Tally, weight: Ints, video: Ints, relation: Ints, at: Ints
) -> Arguments:
    """Unordered pairs of references, each once, in list order; grouped by their ordered classes."""
    refs, alike = chunk.references, chunk.words.alike
    row, ref, rules = fillings(template, chunk, video, relation)
    row, ref = sift_pairs(tally, rules, row, ref, weight[video])
    start = starts(row, len(video))
    left, other = against(row, start)
    later = other > left
    left, other = left[later], other[later]
    i, j, row = ref[left], ref[other], row[left]
    kept = tally.sift([(t.ALIKE, alike[refs.object[i], refs.object[j]])], weight[video[row]])
    i, j, row = i[kept], j[kept], row[kept]
    x, y = refs.object[i], refs.object[j]
    order = np.lexsort((j, i, y, x, row))
    i, j, row, x, y = i[order], j[order], row[order], x[order], y[order]
    begin, group = groups(row, x, y)
    first_row = refs.start[refs.video[i]]
    words = Wordings(
        starts(group, len(begin)),
        i - first_row,
        j - first_row,
        refs.steps[i] + refs.steps[j],
        refs.marks[i] | refs.marks[j],
    )
    head = row[begin]
    return Arguments(video[head], relation[head], at[head], x[begin], y[begin], words)


def sift_pairs(tally: Tally, rules: list[tuple[str, Ints]], row: Ints, ref: Ints, weight: Ints) -> tuple[Ints, Ints]:
    """Keep the good references; a pair counts for the first rule that either of its references fails."""
    alive = np.ones(len(row), bool)
    count = _pairs(np.bincount(row, minlength=len(weight)))
    for name, failed in rules:
        alive &= ~failed
        left = _pairs(np.bincount(row[alive], minlength=len(weight)))
        tally.reject(name, ((count - left) * weight).sum())
        count = left
    return row[alive], ref[alive]


def _pairs(count: Ints) -> Ints:
    return np.asarray(count * (count - 1) // 2)
