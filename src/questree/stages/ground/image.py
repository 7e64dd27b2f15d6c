"""What questions about image sets are about: the things their programs visit, image by image."""

from collections.abc import Iterator

import numpy as np

from questree.domains.images import things
from questree.domains.images.batches import Batch, outcomes
from questree.domains.images.corpus import Corpus
from questree.domains.images.evaluate import Outcome
from questree.domains.images.kinds import GROUPS, LINK, LINKS, PADDING, THING, THINGS
from questree.domains.images.sets import ImageSets
from questree.notation.own_shapes import Ints, ProgramShapes
from questree.program import Node, Term, slots, walk
from questree.progress import watch

EVERYTHING = (things.scene, things.anything)
BITS = 64


def visited(programs: ProgramShapes, images: Ints, corpus: Corpus) -> tuple[Ints, Ints]:
    """(question, thing), by both: every thing some part of the question's program found; images: [question, image].

    "Everything" is no finding, and what the condition of a quantifier says of everything is not one either.
    """
    found = [np.zeros((0, 2), np.int64)]
    for node, at in watch(programs.by_shape, "visiting things", len(programs.by_shape)):
        wanted = [inner for inner in dict.fromkeys(walk(node)) if isinstance(inner, Node) and not _anything(inner)]
        begin = 0
        for outcome, world in outcomes(batch(node, at, programs, images, corpus), corpus):
            for inner in wanted:
                for row, thing in _things(inner, outcome, world, corpus):
                    said = outcome.defined[row]
                    found.append(np.stack([at[begin + row[said]], thing[said]], axis=1))
            begin += len(world)
    both = np.unique(np.concatenate(found), axis=0)
    return both[:, 0], both[:, 1]


def batch(node: Node, at: Ints, programs: ProgramShapes, images: Ints, corpus: Corpus) -> Batch:
    """The questions `at` of one shape, to be answered together."""
    columns = {}
    for name, slot in slots(node).items():
        different, inverse = np.unique(programs.filled[at, int(name)], return_inverse=True)
        columns[name] = corpus.positions([programs.words[word] for word in different.tolist()], slot.kind)[inverse]
    return Batch((node,), columns, images[at])


def _anything(term: Term) -> bool:
    """Things out of everything, not out of what has a name."""
    if not isinstance(term, Node) or term.kind not in (THINGS, GROUPS):
        return False
    if term.op is things.find_any:
        return not slots(term)
    return term.op in EVERYTHING or (term.op is not things.with_relation_object and _anything(term.args[0]))


def _things(node: Node, outcome: Outcome, world: ImageSets, corpus: Corpus) -> Iterator[tuple[Ints, Ints]]:
    """(row, thing): the members of a value that is things; of relations, their targets."""
    value, every = outcome.values[node], np.arange(len(world))
    if node.kind in (THINGS, GROUPS):
        bits = np.unpackbits(np.ascontiguousarray(value).view(np.uint8), axis=1, bitorder="little")
        row, place = np.nonzero(bits)
        yield row, corpus.facts.first_thing[world.page[row, place // BITS]] + place % BITS
    elif node.kind == THING:
        yield every, value
    elif node.kind == LINK:
        yield every, corpus.facts.target[value]
    elif node.kind == LINKS:
        row, place = np.nonzero(value != PADDING)
        yield row, corpus.facts.target[value[row, place]]
