"""Relations named by what was done first to an object (edition 1.0): "doing the first thing they did to the box"."""

from dataclasses import dataclass

import numpy as np

from questree.benchmarks.agqa import held_out as mark
from questree.columns.joins import Ints, starts
from questree.domains.video import Videos
from questree.domains.video.atoms import first_done_to
from questree.stages.generate.references import present_objects
from questree.stages.generate.words import Words

DIRECT = -1  # the relation is named by its word


@dataclass(frozen=True)
class DoneTo:
    """Names of the relations of `Localised`, sorted by relation: its word first, then objects it was first done to."""

    start: Ints  # [row of relations + 1]
    object: Ints  # DIRECT, or the object
    marks: Ints

    def named(self, at: Ints) -> tuple[Ints, Ints]:
        """(row, name): every name of these rows of relations."""
        count = self.start[at + 1] - self.start[at]
        row = np.repeat(np.arange(len(at)), count)
        first = np.cumsum(count) - count
        return row, self.start[at][row] + np.arange(len(row)) - first[row]


def done_to(world: Videos, words: Words, relation: Ints, place: Ints) -> DoneTo:
    """relation: [row of relations]; place: [video, relation] its row."""
    rows, objects = [np.arange(len(relation))], [np.full(len(relation), DIRECT)]
    if words.edition.relation_references:
        video, thing = present_objects(world, words)
        found = first_done_to.run(world.ask(video), thing)
        known = found >= 0
        rows.append(place[video[known], found[known]])
        objects.append(thing[known])
    row, thing = np.concatenate(rows), np.concatenate(objects)
    order = np.lexsort((thing, row))
    row, thing = row[order], thing[order]
    marks = np.where(words.held_out.first[relation[row]], mark.NC_SUP, 0)
    marks |= mark.I_REL | words.held_out.pair(relation[row], thing)
    return DoneTo(starts(row, len(relation)), thing, np.where(thing >= 0, marks, 0))
