"""What fills the slots of an object template: relations, objects and how they are named; no time yet."""

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from questree.benchmarks.agqa import templates as t
from questree.columns.joins import Ints, against, groups, starts
from questree.domains.video.facts import KEY
from questree.stages.generate.chunk import Chunk
from questree.stages.generate.expand import Wordings
from questree.stages.generate.filters import Rules, Tally, reference_rules, relation_rules
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
    done_to: Ints  # the object that names the relation, NONE if its word does

    @cached_property
    def direct(self) -> Ints:
        """[argument] a number for its direct arguments, the same however its relation is named."""
        key = [(column + 1).astype(np.int64) for column in (self.video, self.relation, self.x, self.y)]
        packed = ((key[0] * KEY + key[1]) * KEY + key[2]) * KEY + key[3]
        return np.asarray(np.unique(packed, return_inverse=True)[1])


def arguments(template: t.Template, chunk: Chunk, tally: Tally, weight: Ints) -> Arguments:
    """weight: [video] how many time phrases each rejected filling would have had."""
    if template.every_object:
        return every_object(chunk)
    if not template.relations:
        video = np.flatnonzero(np.diff(chunk.spans.start) > 0)
        annotated = chunk.words.vocabulary.relation_at[chunk.words.vocabulary.annotated]
        return plain(video, at=chunk.localised.at[video, annotated])
    asked = relations(template, chunk)
    if not template.objects:
        kept = tally.sift(relation_rules(chunk.words, template, asked.relation), weight[asked.video])
        return plain(*(column[kept] for column in asked))
    fill = pairs if "$first" in template.program else singles
    return fill(template, chunk, tally, weight, asked)


class Asked(NamedTuple):
    """Relations to ask about, each under every name it has."""

    video: Ints
    relation: Ints
    at: Ints  # row of `Localised` relations, NONE if the relation does not occur in the video
    done_to: Ints
    marks: Ints  # of its name

    @property
    def steps(self) -> Ints:
        return (self.done_to >= 0).astype(np.int64)


def plain(
    video: Ints,
    relation: Ints | None = None,
    at: Ints | None = None,
    done_to: Ints | None = None,
    marks: Ints | None = None,
    x: Ints | None = None,
) -> Arguments:
    """Arguments that have no other wordings than the name of their relation."""
    none, count = np.full(len(video), NONE), len(video)
    nothing, zero = np.full(count, NOTHING), np.zeros(count, np.int64)
    steps = zero if done_to is None else (done_to >= 0).astype(np.int64)
    return Arguments(
        video,
        none if relation is None else relation,
        none if at is None else at,
        none if x is None else x,
        none,
        Wordings(np.arange(count + 1), nothing, nothing, steps, zero if marks is None else marks),
        none if done_to is None else done_to,
    )


def every_object(chunk: Chunk) -> Arguments:
    """Each of the classes a benchmark knows, whether it occurs or not; the person too, to be rejected by name."""
    classes = np.flatnonzero([not thing.part_only for thing in chunk.words.vocabulary.objects])
    asked = np.flatnonzero(np.diff(chunk.spans.start) > 0)
    video, x = np.repeat(asked, len(classes)), np.tile(classes, len(asked))
    interacting = chunk.words.vocabulary.relation_at[chunk.words.vocabulary.interacting]
    return plain(video, np.full(len(video), interacting), chunk.localised.at[video, interacting], x=x)


def relations(template: t.Template, chunk: Chunk) -> Asked:
    """Those present, or every word of the groups that has an object."""
    allowed = np.logical_or.reduce([chunk.words.groups[group] for group in template.relations])
    loc = chunk.localised
    if not template.every_relation:
        kept = np.flatnonzero(allowed[loc.relation])
        row, name = loc.named.named(kept)
        kept = kept[row]
        return Asked(loc.video[kept], loc.relation[kept], kept, loc.named.object[name], loc.named.marks[name])
    vocabulary = chunk.words.vocabulary
    used = vocabulary.verb_of[vocabulary.object_of >= 0]
    pool = np.flatnonzero(allowed & (chunk.words.groups["contact"] | np.isin(np.arange(len(allowed)), used)))
    asked = np.flatnonzero(np.diff(chunk.spans.start) > 0)
    video, relation = np.repeat(asked, len(pool)), np.tile(pool, len(asked))
    none = np.full(len(video), NONE)
    return Asked(video, relation, loc.at[video, relation], none, np.zeros(len(video), np.int64))


def fillings(template: t.Template, chunk: Chunk, asked: Asked) -> tuple[Ints, Ints, Rules]:
    """(argument, reference) for every reference kind of the template, and the rules about them."""
    refs = chunk.references
    kinds = [t.REFERENCES.index(kind) for kind in template.objects]
    row, ref = against(asked.video, refs.start)
    kept = np.isin(refs.kind[ref], kinds)
    row, ref = row[kept], ref[kept]
    pair = (asked.relation[row], asked.done_to[row], refs.object[ref], refs.relation[ref])
    return row, ref, reference_rules(chunk.words, template, *pair)


def singles(template: t.Template, chunk: Chunk, tally: Tally, weight: Ints, asked: Asked) -> Arguments:
    row, ref, rules = fillings(template, chunk, asked)
    kept = tally.sift(rules, weight[asked.video[row]])
    row, ref = row[kept], ref[kept]
    refs = chunk.references
    order = np.lexsort((ref, refs.object[ref], row))
    row, ref = row[order], ref[order]
    begin, group = groups(row, refs.object[ref])
    words = Wordings(
        starts(group, len(begin)),
        ref - refs.start[refs.video[ref]],
        np.full(len(ref), NOTHING),
        refs.steps[ref] + asked.steps[row],
        refs.marks[ref] | asked.marks[row],
    )
    none = np.full(len(begin), NONE)
    return filled(asked, row[begin], refs.object[ref[begin]], none, words)


def filled(asked: Asked, row: Ints, x: Ints, y: Ints, words: Wordings) -> Arguments:
    return Arguments(asked.video[row], asked.relation[row], asked.at[row], x, y, words, asked.done_to[row])


def pairs(template: t.Template, chunk: Chunk, tally: Tally, weight: Ints, asked: Asked) -> Arguments:
    """Unordered pairs of references, each once, in list order; grouped by their ordered classes."""
    refs, alike = chunk.references, chunk.words.alike
    row, ref, rules = fillings(template, chunk, asked)
    row, ref = sift_pairs(tally, rules, row, ref, weight[asked.video])
    start = starts(row, len(asked.video))
    left, other = against(row, start)
    later = other > left
    left, other = left[later], other[later]
    i, j, row = ref[left], ref[other], row[left]
    kept = tally.sift([(t.ALIKE, alike[refs.object[i], refs.object[j]])], weight[asked.video[row]])
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
        refs.steps[i] + refs.steps[j] + asked.steps[row],
        refs.marks[i] | refs.marks[j] | asked.marks[row],
    )
    return filled(asked, row[begin], x[begin], y[begin], words)


def sift_pairs(tally: Tally, rules: Rules, row: Ints, ref: Ints, weight: Ints) -> tuple[Ints, Ints]:
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
