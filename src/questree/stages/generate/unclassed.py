"""Actions that annotators had no class for: nobody asks what such an action may be, or may do to a thing."""

from dataclasses import dataclass
from functools import reduce
from operator import and_
from typing import Any

import numpy as np

from questree.columns.joins import Ints
from questree.columns.sets import Flags, has
from questree.domains.video import Videos
from questree.domains.video.actions import going_on
from questree.domains.video.facts import anywhere
from questree.domains.video.time import whole
from questree.stages.generate.rules import Tally
from questree.vocabulary.words import NONE, Vocabulary

UNCLASSED = "an action without a class may do it"  # why a candidate is rejected


def done_in(world: Videos, window: Ints) -> Flags:
    """[row] is an action without a class done in the window, by its frames or by its seconds?"""
    other = world.vocabulary.other_action_at
    if other == NONE:
        return np.zeros(len(world), bool)
    found = anywhere(world.doing(np.full(len(world), other)) & world.span(window))
    row, instance = going_on(world, window)
    found[row[world.instances["action"][instance] == other]] = True
    return np.asarray(found)


@dataclass(frozen=True)
class Silent:
    """Relations that name no object, as it may have others than are known: all in a video with actions alone, those
    that actions make hold in one with an action without a class."""

    actions_only: Flags  # [video]
    unclassed: Flags  # [video]
    from_actions: Flags  # [relation]

    def about(self, video: Ints, relation: Ints) -> Flags:
        return np.asarray(self.actions_only[video] | (self.unclassed[video] & self.from_actions[relation]))


def silent(world: Videos, actions_only: Flags) -> Silent:
    everything = world.ask(np.arange(len(world.ids)))
    return Silent(actions_only, done_in(everything, whole.run(everything)), from_actions(world.vocabulary))


def from_actions(vocabulary: Vocabulary) -> Flags:
    """[relation] may an action make it hold? Facts of actions are stored under it, or entail it."""
    entailed: dict[int, list[int]] = {}
    for name, names in vocabulary.entailments.items():
        at = int(vocabulary.folded[vocabulary.relation_at[name]])
        entailed.setdefault(at, []).extend(vocabulary.folded[vocabulary.relations_named(names)].tolist())
    reached = np.unique(vocabulary.verb_of).tolist()
    for at in reached:  # grows while it is walked
        reached += [more for more in entailed.get(at, ()) if more not in reached]
    found = np.zeros(len(vocabulary.relations), bool)
    found[reached] = True
    return found


def unsure(core: Any) -> Flags:
    """[core] would an action without a class, whatever it is and is done to, make its answer wrong?"""
    features, words = core.template.features, core.words.vocabulary
    if "which-action" in features:
        return np.asarray(core.answer == words.other_action_at)
    there = core.chunk.unclassed[core.span]
    if "relation" in features:
        there = there & from_actions(words)[core.relation]
    elif "object" not in features:
        happens = {"action", "time", "yes-or-no"} <= features
        return np.asarray(there & (core.answer == 0) & happens)
    if "yes-or-no" not in features or core.template.operators & {"first", "last"}:
        return np.asarray(there)
    if "relation" in features and core.things:
        return np.asarray(there & ~reduce(and_, (has(core.local.objects, thing) for thing in core.things)))
    return np.asarray(there & (core.answer == 0))


def drop_unsure(core: Any, weight: Ints, tally: Tally) -> tuple[Any, Ints]:
    if core.words.vocabulary.other_action_at == NONE:
        return core, weight
    failed = unsure(core)
    tally.reject(UNCLASSED, weight[failed].sum())
    kept = np.flatnonzero(~failed)
    return core.take(kept), weight[kept]
