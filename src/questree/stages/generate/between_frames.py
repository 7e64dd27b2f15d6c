"""What is done in a time though none of its frames shows it: the stamps of an action reach into the time between two
frames, no frame shows the action at all, or rule 8 may have cut what it had in common with the time's own. A question
is not asked if that would change its answer, and no object is named by what it may then not be alone, or not the first
or last one, with."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from questree.columns.joins import Ints
from questree.columns.sets import Flags, has, size
from questree.domains.video import Videos
from questree.domains.video.actions import bounds, candidates, going_on
from questree.domains.video.facts import ANY, KEY
from questree.stages.rules_alone import KIND_WHILE, NO_ROLE, WordRules
from questree.terms import Slot
from questree.vocabulary.words import NONE

TOGETHER = 1 << 12  # spans that are looked at together, each with all actions of its video


@dataclass(frozen=True)
class BetweenFrames:
    """Of some videos: which relations hold with which things in a span at a time that its frames do not show."""

    key: Ints  # ((span * relations) + relation) * things + thing, ascending
    new: Ints  # those of them that no frame of the span shows
    relations: int
    things: int

    def several(self, span: Ints, relation: Ints, but: Ints | None = None) -> Flags:
        """[row] is there such a thing that no frame shows; or one that is not this one?"""
        key, first = self.new if but is None else self.key, (span * self.relations + relation) * self.things
        found = np.searchsorted(key, first + self.things) - np.searchsorted(key, first)
        return np.asarray(found > (0 if but is None else np.isin(first + but, key) & (but >= 0)))

    def about(self, span: Ints, relation: Ints, thing: Ints, known: bool) -> Flags:
        return np.isin((span * self.relations + relation) * self.things + thing, self.key if known else self.new)


def done_by(rules: WordRules, row: Ints, action: Ints) -> tuple[Ints, Ints, Ints]:
    """(row, relation, thing): all that follows from these actions, each done to something."""
    at, relation = np.nonzero(rules.entails[rules.verb[action]])
    return row[at], relation, rules.object[action[at]]


def never_shown(world: Videos, rules: WordRules) -> BetweenFrames:
    """Of whole videos instead of spans: what actions without a frame say. Nothing where times are read as released."""
    words, known = world.vocabulary, world.instances
    video = np.repeat(np.arange(len(world.ids)), np.diff(world.instance_start))
    action = known["action"]
    kept = (known["last"] < 0) & (words.done_to[action] != NONE) & (not world.released_between)
    row, relation, thing = done_by(rules, video[kept], action[kept])
    key = np.unique((row * len(words.relations) + relation) * len(words.objects) + thing)
    return BetweenFrames(key, key, len(words.relations), len(words.objects))


@dataclass(frozen=True)
class Stamps:
    """From when to when, of whole videos: what actions say, whether frames show it or not."""

    key: Ints  # as those of tracks, ascending
    start: Ints  # the moment it begins for the first time
    end: Ints  # ... and is over for the last time


def stamps(world: Videos, rules: WordRules) -> Stamps:
    words, known = world.vocabulary, world.instances
    kept = np.flatnonzero((words.done_to[known["action"]] != NONE) & (not world.released_between))
    video = np.repeat(np.arange(len(world.ids)), np.diff(world.instance_start))[kept]
    row, relation, thing = done_by(rules, np.arange(len(kept)), known["action"][kept])
    key = (video[row] * KEY + relation) * KEY
    key, row = np.concatenate([key + thing, key + ANY]), np.tile(kept[row], 2)
    order = np.argsort(key, kind="stable")
    key, row = key[order], row[order]
    begin = np.flatnonzero(np.diff(key, prepend=-1))
    if not len(begin):
        return Stamps(key, key, key)
    start, end = known["start"][row], known["end"][row]
    return Stamps(key[begin], np.minimum.reduceat(start, begin), np.maximum.reduceat(end, begin))


def between_frames(world: Videos, spans: Any, local: Any, rules: WordRules) -> BetweenFrames:
    """Nothing where times are read as released."""
    words, known = world.vocabulary, world.instances
    relations, things = len(words.relations), len(words.objects)
    found, new = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    for begin in range(0, 0 if world.released_between else len(spans.video), TOGETHER):
        window = spans.window[begin : begin + TOGETHER]
        row, instance = going_on(world.ask(spans.video[begin : begin + TOGETHER]), window)
        seen = (known["first"][instance] < window[row, 1]) & (known["last"][instance] >= window[row, 0])
        parted, other = cut_apart(world, spans, begin, rules)
        span, action = np.append(begin + row[~seen], parted), known["action"][np.append(instance[~seen], other)]
        span, action = np.unique(np.stack([span, action])[:, words.done_to[action] != NONE], axis=1)
        span, relation, thing = done_by(rules, span, action)
        at = local.at[spans.video[span], relation]
        place = np.append(local.base, 0)[at] + span - spans.start[spans.video[span]]
        place = np.where(at < 0, -1, place)
        found.append((span * relations + relation) * things + thing)
        new.append(found[-1][~has(local.objects[place], thing)])
    every, unseen = (np.unique(np.concatenate(each)) for each in (found, new))
    return BetweenFrames(every, unseen, relations, things)


def cut_apart(world: Videos, spans: Any, begin: int, rules: WordRules) -> tuple[Ints, Ints]:
    """(span, instance): of some spans "while" a thing is taken, held or put what else of these is done with it and
    begins as this ends, or ends as it begins."""
    some = slice(begin, begin + TOGETHER)
    own = begin + np.flatnonzero((spans.kind[some] == KIND_WHILE) & (rules.role[spans.a[some]] != NO_ROLE))
    asked = world.ask(spans.video[own])
    since, until = bounds(asked, spans.window[own])
    row, instance = candidates(asked, lambda row, start, end: (start == until[row]) | (end == since[row]))
    during, other = spans.a[own[row]], world.instances["action"][instance]
    kept = (rules.noun[during] == rules.noun[other]) & (rules.role[during] != rules.role[other])
    return own[row[kept]], instance[kept]


def may_change(core: Any) -> Flags:
    """[core] would its answer be another one?"""
    operators, node = core.template.operators, core.template.node
    hidden, words = core.chunk.between_frames, core.words.vocabulary
    found = np.zeros(len(core.row), bool)
    direct = node.op.name if all(isinstance(arg, Slot) for arg in node.args) else ""
    if direct == "relation_order":
        return on_the_other_side(core, words.folded[core.relation], ANY)
    if direct == "object_order":
        return on_the_other_side(core, words.relation_at[words.interacting], words.merged_object[core.things[0]])
    if node.op.name == "only" and "annotated" in operators:
        return another_touched(core)
    if "interacting" in operators:
        relation = np.full(len(core.row), words.relation_at[words.interacting])
    elif "relation" in core.template.features:
        relation = words.folded[core.relation]
    else:
        return found
    if "doing" in operators or "objects" in operators:
        return np.asarray(hidden.several(core.span, relation) & ((core.answer == 0) | ("doing" not in operators)))
    for op in operators & {"first", "last"}:
        found |= hidden.several(core.span, relation, getattr(core.local, op))
    ordered = not operators.isdisjoint(("choose_first", "choose_last"))
    for thing in core.things if operators.isdisjoint(("first", "last")) else ():
        maybe = hidden.about(core.span, relation, words.merged_object[thing], known=ordered)
        found |= maybe & (thing != core.decisive) if ordered else maybe
    return found


def another_touched(core: Any) -> Flags:
    """[core] is something interacted with that is not the only annotated thing?"""
    if core.words.edition.released_between:
        return np.zeros(len(core.row), bool)
    contact = core.words.vocabulary.relation_at[core.words.vocabulary.interacting]
    touched, hidden = core.local_of(contact).objects, core.chunk.between_frames
    others = size(touched) - ((core.answer >= 0) & has(touched, np.maximum(core.answer, 0)))
    return np.asarray((others > 0) | hidden.several(core.span, np.full(len(core.row), contact), core.answer))


def on_the_other_side(core: Any, relation: Ints | int, thing: Ints | int) -> Flags:
    """[core] is it so at a time that is not before the action, or not after it, as the answer says?"""
    world, (deed,), known = core.world, core.deeds, core.chunk.stamps
    wanted = (world.row * KEY + relation) * KEY + thing
    if not len(known.key):
        return np.zeros(len(wanted), bool)
    at = np.minimum(np.searchsorted(known.key, wanted), len(known.key) - 1)
    start, end = world.action(deed, "start"), world.action(deed, "end")
    wrong = np.where(core.answer == 0, known.end[at] > start, known.start[at] < end)
    return np.asarray((known.key[at] == wanted) & wrong)
