"""What questions about image sets are about: the things their answers rest on, image by image."""

from functools import reduce

import numpy as np

from questree.domains.images.batches import CHUNK
from questree.domains.images.corpus import Corpus
from questree.domains.images.sets import ImageSets
from questree.notation.own_shapes import Ints, ProgramShapes
from questree.progress import watch
from questree.readings.evidence import evidence


def visited(programs: ProgramShapes, images: Ints, corpus: Corpus) -> tuple[Ints, Ints]:
    """(question, thing), by both: every thing some part of the question's program found; images: [question, image]."""
    found = [np.zeros((0, 2), np.int64)]
    for node, every in watch(programs.by_shape, "visiting things", len(programs.by_shape)):
        for at in np.split(every, range(CHUNK, len(every), CHUNK)):
            world = ImageSets(corpus, images[at])
            grounds = evidence(node, world, programs.columns(node, at, corpus.positions))
            row, thing = world.members(reduce(np.bitwise_or, grounds.values(), world.everything * 0))
            found.append(np.stack([at[row], thing], axis=1))
    both = np.concatenate(found)
    both = both[np.lexsort((both[:, 1], both[:, 0]))]
    return both[:, 0], both[:, 1]
