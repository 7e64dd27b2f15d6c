"""Everything about a chunk of videos that its questions share: references, spans, phrases, localised relations."""

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from questree.columns.hashing import Hashes
from questree.columns.joins import Ints, one
from questree.domains.video import Videos, videos
from questree.stages.generate.localised import Localised, localised, timed_references
from questree.stages.generate.references import References, references
from questree.stages.generate.spans import ActionReferences, Phrases, Spans, action_references, phrases, spans
from questree.stages.generate.word_columns import WordColumns
from questree.tables.facts import Facts


@dataclass(frozen=True)
class Chunk:
    world: Videos
    words: WordColumns
    references: References
    actions: ActionReferences
    spans: Spans
    passes: tuple[Phrases, Phrases]
    localised: Localised
    sifted: dict[Any, Any] = field(default_factory=dict)  # cores that several templates share

    @property
    def videos(self) -> int:
        return len(self.world.ids)

    @cached_property
    def present(self) -> Ints:
        """[video] set of the objects that occur."""
        refs, found = self.references, np.zeros(self.videos, np.uint64)
        direct = refs.kind == 0
        np.bitwise_or.at(found, refs.video[direct], one(refs.object[direct]))
        return found

    @property
    def packed_time(self) -> Ints:
        """[span] kind and actions as one number."""
        return self.spans.packed

    def place(self, video: Ints, at: Ints, row: Ints, span: Ints) -> Ints:
        """[core] row of `localised` for the relation `at` of argument `row`; the last, empty one if there is none."""
        loc = self.localised
        if not len(loc.base):
            return np.full(len(row), -1)
        offset = (loc.base[at] - self.spans.start[video]).astype(np.int32)  # [argument]
        found = offset[row] + span
        missing = at < 0
        return np.where(missing[row], -1, found) if missing.any() else found


def chunk(facts: Facts, words: WordColumns, seeds: Hashes, cap: int) -> Chunk:
    world = videos(facts, words.vocabulary)
    found = spans(world, words)
    local = localised(world, words, found)
    timed = timed_references(words, found, local) if words.edition.timed_references else None
    refs = references(world, words, seeds, cap, timed)
    acts = action_references(world, words, refs)
    named = (phrases(found, acts, words), phrases(found, acts, words, second_pass=True))
    return Chunk(world, words, refs, acts, found, named, local)
