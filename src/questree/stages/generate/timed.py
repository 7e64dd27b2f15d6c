"""Object references with a time of their own (edition 1.0): "the first thing that, before eating, they held"."""

import numpy as np

from questree.columns.joins import Ints, against, bit
from questree.domains.video.objects import the_one
from questree.stages.generate.localised import Localised
from questree.stages.generate.references import FIRST, LAST, WHOLE
from questree.stages.generate.spans import ALL, Spans
from questree.stages.generate.words import Words


def timed_references(words: Words, spans: Spans, local: Localised) -> list[Ints]:
    """Columns video, kind, object, relation, time: the first, last or only object of a relation in a span.

    Of relations with several objects in the video; neither the relation nor the object is part of the time's actions.
    """
    row, span = against(local.video, spans.start)  # as the rows of `local`
    relation = local.relation
    asked = words.groups["contact"] | words.groups["spatial"] | words.groups["verb"]
    asked &= ~(words.never_asked | words.one_object)
    several = np.bitwise_count(local.objects[local.base]) > 1 if len(relation) else np.zeros(0, bool)
    usable = (several & asked[relation])[row] & (spans.kind[span] != ALL) & ~bit(spans.verbs[span], relation[row])
    found = []
    for kind, named in ((FIRST, local.first), (LAST, local.last), (WHOLE, the_one(local.objects))):
        thing = named[:-1]  # the last row is for relations that are not there
        known = usable & (thing >= 0)
        kept = np.flatnonzero(known)
        fits = words.askable[thing[kept]] & ~bit(spans.objects[span[kept]], thing[kept])
        kept = kept[fits]
        at = row[kept]
        found.append((local.video[at], np.full(len(kept), kind), thing[kept], relation[at], spans.packed[span[kept]]))
    return [np.concatenate(column).astype(np.int64) for column in zip(*found, strict=True)]
