"""Actions and relations that annotators had no class for: nobody asks what such an action may be or do to a thing, or
in which relation a thing may be."""

from dataclasses import dataclass
from functools import reduce
from operator import and_
from typing import Any

import numpy as np

from questree.columns.joins import Ints
from questree.columns.sets import Flags, Sets, has, sets_of, some, the_one
from questree.domains.video import Videos
from questree.domains.video.actions import going_on
from questree.domains.video.facts import ANY, anywhere
from questree.domains.video.time import whole
from questree.stages.generate.rules import Tally
from questree.vocabulary.words import NONE, Vocabulary

UNCLASSED = "an action without a class may do it"  # why a candidate is rejected
UNRELATED = "a relation without a class may be it"


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
class Related:
    """What has a relation without a class somewhere in its video: relations are copied to other frames, and nobody
    knows to which this one would have been."""

    objects: Sets  # [row]
    other: int  # the object that may be any, NONE without

    def at(self, row: Ints) -> "Related":
        return Related(self.objects[row], self.other)

    @property
    def there(self) -> Flags:
        return some(self.objects)

    def about(self, thing: Ints) -> Flags:
        """[row] may it be this thing that has the relation?"""
        found = (thing >= 0) & has(self.objects, np.maximum(thing, 0))
        if self.other != NONE:
            found |= has(self.objects, np.full(len(thing), self.other))
        return np.asarray(found)

    def any_of(self, things: list[Ints], known: Sets | None = None) -> Flags:
        """[row] may it be one of these that has the relation, besides those that are known to have it?"""
        found = np.zeros(len(self.objects), bool)
        for thing in things:
            found |= self.about(thing) if known is None else self.about(thing) & ~has(known, thing)
        return found


def related(world: Videos) -> Related:
    """[video] by row of the videos."""
    words = world.vocabulary
    video, relation, thing = world.tracks()
    own = (relation == words.other_relation_at) & (thing != ANY) & (words.other_relation_at != NONE)
    return Related(sets_of(video[own], thing[own], len(world.ids), len(words.objects)), words.other_at)


@dataclass(frozen=True)
class Silent:
    """Relations that name no object, as it may have others than are known: all in a video with actions alone or with a
    relation without a class, those that actions make hold in one with an action without a class."""

    actions_only: Flags  # [video] also those with a relation without a class
    unclassed: Flags  # [video]
    from_actions: Flags  # [relation]

    def about(self, video: Ints, relation: Ints) -> Flags:
        return np.asarray(self.actions_only[video] | (self.unclassed[video] & self.from_actions[relation]))


def silent(world: Videos, actions_only: Flags) -> Silent:
    everything = world.ask(np.arange(len(world.ids)))
    unknown = actions_only | related(world).there
    return Silent(unknown, done_in(everything, whole.run(everything)), from_actions(world.vocabulary))


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


def unclear(core: Any) -> Flags:
    """[core] would a relation without a class, whatever it is, make its answer wrong?"""
    operators, no = core.template.operators, core.answer == 0
    asked: Related = core.chunk.related.at(core.args.video[core.row])
    if "happening" in operators:
        found = asked.any_of([core.words.vocabulary.done_to[deed] for deed in core.deeds]) & no
    elif "interacting" in operators:
        found = asked.any_of(core.things) & no
    elif "relation" not in core.template.features or "choose" in operators:
        found = asked.any_of(core.things)
    elif "interaction" in operators:
        found = asked.any_of(core.things, core.local.objects)
    elif "doing" in operators:
        found = asked.there & no
    elif {"only", "objects"} <= operators:  # unless what is asked for has it, and nothing else
        found = asked.there & (the_one(asked.objects) != core.answer)
    else:
        found = asked.there
    return np.asarray(found)


LOOKS = (("other_action", UNCLASSED, unsure), ("other_relation", UNRELATED, unclear))


def drop_unsure(core: Any, weight: Ints, tally: Tally) -> tuple[Any, Ints]:
    for declared, why, look in LOOKS:
        if getattr(core.words.vocabulary, declared):
            failed = look(core)
            tally.reject(why, weight[failed].sum())
            kept = np.flatnonzero(~failed)
            core, weight = core.take(kept), weight[kept]
    return core, weight
