"""Marks of held-out compositions in what a question asks: each a function of cores, named by the templates."""

from collections.abc import Callable
from functools import reduce
from operator import or_

import numpy as np

from questree.benchmarks.agqa import held_out as mark
from questree.columns.joins import Ints
from questree.columns.sets import has, meet, some
from questree.stages.generate.cores import Core


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
