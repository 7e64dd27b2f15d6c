"""The rules of generation: one entry each, with its name, the slots it needs, what it looks at and what it rejects.

A rule rejects columns of candidates: fillings of the slots (words and references, no time yet), pairs of objects, or
cores (direct arguments in a time, with the answer). A rule that can look at several of these lists the ways; a template
uses the first whose slots it has. `add` takes a further rule.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import reduce
from operator import or_
from typing import Any

import numpy as np

from questree.benchmarks.agqa import templates as t
from questree.columns.joins import Ints
from questree.columns.sets import Flags, Sets, has, meet, size, some
from questree.domains.video.actions import ended, going_on
from questree.extensions import Registry
from questree.stages.generate.word_columns import WordColumns
from questree.vocabulary.words import NONE

FILLING, PAIR, CORE = "filling", "pair", "core"


@dataclass
class Tally:
    """Rejected candidates per rule, and the questions that are left."""

    rejected: dict[str, int] = field(default_factory=dict)
    kept: int = 0

    def reject(self, rule: str, count: int) -> None:
        self.rejected[rule] = self.rejected.get(rule, 0) + int(count)

    def add(self, other: "Tally") -> None:
        self.kept += other.kept
        for rule, count in other.rejected.items():
            self.reject(rule, count)

    def sift(self, rules: list[tuple[str, Flags]], weight: Ints) -> Flags:
        """Apply rules in order; every candidate counts for the first rule that rejects it."""
        alive = np.ones(len(weight), bool)
        for name, failed in rules:
            self.reject(name, weight[alive & failed].sum())
            alive &= ~failed
        return alive


@dataclass(frozen=True)
class Filling:
    """Relations to ask about, each with a way to name an object where the template has an object slot."""

    template: t.Template
    words: WordColumns
    relation: Ints
    done_to: Ints  # the object that names the relation, -1 if its word does
    thing: Ints  # the class of the object
    inner: Ints  # the relation by which it is named, -1 if its word does


@dataclass(frozen=True)
class Look:
    """One way of a rule: what it is given (a Filling, a Pair's two classes with the words, a Core), and what fails."""

    at: str  # FILLING, PAIR or CORE
    needs: str  # of Template.features
    fails: Callable[[Any], Flags]
    reads_program: bool = True  # templates of equal slots share cores that were sifted by rules that do not


@dataclass(frozen=True)
class Pair:
    words: WordColumns
    x: Ints
    y: Ints


RULES: Registry[tuple[Look, ...]] = Registry("rule of generation")


def add(name: str, *looks: Look) -> None:
    """A further rule; templates name it."""
    RULES.add(name, looks)


def look(template: t.Template, name: str) -> Look | None:
    """The way of a rule that the template's slots allow."""
    return next((look for look in RULES[name] if set(look.needs.split()) <= template.features), None)


def looks(template: t.Template, at: str) -> list[tuple[str, Look]]:
    """What the template's rules look at on one level, in their order."""
    found = [(name, look(template, name)) for name in template.rules]
    return [(name, way) for name, way in found if way and way.at == at]


def _in(words: Sets, thing: Ints) -> Flags:
    """Is the word in the set? What is not there (-1) is not."""
    return (thing >= 0) & has(words, np.maximum(thing, 0))


def _any(columns: list[Ints], test: Callable[[Ints], Any]) -> Flags:
    return reduce(or_, map(test, columns))


def _few_actions(core: Any) -> Flags:
    """Is there at most one action to choose from?"""
    world = core.world
    candidates = ended if "last_action" in core.template.operators else going_on
    return np.asarray(np.bincount(candidates(world, core.window)[0], minlength=len(world)) <= 1)


def _both(core: Any) -> Flags:
    return has(core.local.objects, core.x) & has(core.local.objects, core.y)


def _undecided(core: Any) -> Flags:
    return np.asarray((core.decisive != core.x) & (core.decisive != core.y))


def _contacts(core: Any) -> Flags:
    """Touching nothing, although some other contact is there."""
    vocabulary = core.words.vocabulary
    contacts = core.local_of(vocabulary.relation_at[vocabulary.interacting]).objects
    return np.asarray((core.answer == 0) & core.words.touching[core.relation] & some(contacts))


def _open(core: Any) -> Flags:
    """Is the relation done to something unnamed, or without a class, in the time?"""
    words, found = core.words.vocabulary, np.zeros(len(core.row), bool)
    for thing in {words.unnamed_at, words.other_at} - {NONE}:
        found |= has(core.local.objects, np.full(len(core.row), thing))
    return found


def _maybe(core: Any) -> Flags:
    """What is unnamed may be the object asked about; of a first or last object only if it is that one itself."""
    for end in core.template.operators & {"first", "last"}:
        words, thing = core.words.vocabulary, getattr(core.local, end)
        return np.asarray(_open(core) & ((thing == words.unnamed_at) | (thing == words.other_at)))
    return np.asarray(_open(core) & ~has(core.local.objects, core.x))


def _touched(core: Any) -> Flags:
    """Something without a class is touched in the time and may be the object: a no may be wrong, and when it was."""
    vocabulary = core.words.vocabulary
    if vocabulary.other_at == NONE:
        return np.zeros(len(core.row), bool)
    contacts = core.local_of(vocabulary.relation_at[vocabulary.interacting]).objects
    touched = has(contacts, np.full(len(core.row), vocabulary.other_at))
    return touched & (core.answer == 0) if "yes-or-no" in core.template.features else touched


def _shown(core: Any) -> Flags:
    """Does an action that the time shows do this, or what this follows from, to the object? *Before* shows the first
    frame of its action."""
    spans, words = core.chunk.spans, core.words.vocabulary
    kind, action = spans.kind[core.span], np.maximum(spans.a[core.span], 0)
    shown = np.isin(kind, (t.TIMES.index(t.BEFORE), t.TIMES.index(t.WHILE)))
    shown &= core.words.rules.entails[words.verb_of[action], core.relation]
    return np.asarray(shown & _any(core.things, lambda thing: words.object_of[action] == thing))


def _similar(core: Any) -> Flags:
    present = core.chunk.present[core.args.video[core.row]]
    return np.asarray((core.answer == 0) & _any(core.things, lambda x: meet(core.words.similar[x], present)))


def _entered(core: Any) -> Flags:
    """Is the object entered, visible or not, during the action or on the side that is not the answer?"""
    world, (thing,), (deed,) = core.world, core.things, core.deeds
    first, last = (frames[world.row, thing] for frames in core.chunk.entered)
    return np.asarray(np.where(core.answer == 0, last >= world.action(deed, "lo"), first < world.action(deed, "hi")))


def _banned_object(core: Any) -> Flags:
    banned = core.words.banned("object", core.template)
    return _any(core.things, lambda x: banned[x])


def _verb_given(core: Any) -> Flags:
    verb = core.words.vocabulary.verb_of[core.answer]
    return np.asarray(core.words.banned("verb", core.template)[verb])


def _touching(f: Filling) -> Flags:
    return np.asarray(f.words.touching[f.relation] & (f.inner >= 0) & f.words.groups["contact"][f.inner])


def _banned_relation(f: Filling) -> Flags:
    return np.asarray(f.words.banned("relation", f.template)[f.relation])


# about words: a relation, a relation and a way to name an object, two objects
add(t.NEVER_ASKED, Look(FILLING, "relation", lambda f: f.words.never_asked[f.relation]))
add(t.ONE_OBJECT, Look(FILLING, "relation", lambda f: f.words.one_object[f.relation]))
add(t.BANNED_RELATION, Look(FILLING, "relation", _banned_relation))
add(
    t.RARE,  # of an open question the pair is the relation and the answer
    Look(FILLING, "relation object", lambda f: f.words.rare[f.relation, f.thing]),
    Look(CORE, "relation which-object", lambda core: core.words.rare[core.relation, core.answer]),
)
add(
    t.COMMON_SENSE,
    Look(FILLING, "relation object", lambda f: f.words.common_sense[f.relation, f.thing]),
    Look(CORE, "relation which-object", lambda core: core.words.common_sense[core.relation, core.answer]),
)
add(t.SAME_RELATION, Look(FILLING, "relation object", lambda f: f.inner == f.relation))
add(t.TOUCHING, Look(FILLING, "relation object", _touching))
add(t.ABOUT_OBJECT, Look(FILLING, "relation object", lambda f: f.done_to == f.thing))
add(t.ALIKE, Look(PAIR, "objects", lambda pair: pair.words.alike[pair.x, pair.y]))
# about direct arguments and the time, the actions of which are those of the time phrase or of the action slots
add(t.BANNED_OBJECT, Look(CORE, "object", _banned_object))
add(
    t.TIME_OBJECT,
    *(
        Look(CORE, needs, lambda core: _any(core.things, lambda x: _in(core.time_objects, x)), reads_program=False)
        for needs in ("object time", "object action")
    ),
)
add(
    t.TIME_RELATION,
    *(
        Look(CORE, needs, lambda core: has(core.time_verbs, core.relation), reads_program=False)
        for needs in ("relation time", "relation action")
    ),
)
add(
    t.TIME_SAYS,
    *(Look(CORE, needs, _shown, reads_program=False) for needs in ("relation object time", "relation objects time")),
)
add(t.TIME_ACTION, Look(CORE, "action time", lambda core: _any(core.deeds, core.in_time)))
add(t.SAME_ACTION, Look(CORE, "actions", lambda core: core.x == core.y))
add(t.BOTH, Look(CORE, "relation objects time", _both))
add(t.NOT_BOTH, Look(CORE, "relation objects time", lambda core: ~_both(core)))
add(t.UNDECIDED, Look(CORE, "relation objects time", _undecided))
add(
    t.ONE_CHOICE,
    Look(CORE, "relation time", lambda core: size(core.local.objects) <= 1),
    Look(CORE, "time which-action", _few_actions),
)
add(
    t.TRANSITION,
    Look(CORE, "action", lambda core: _any(core.deeds, lambda deed: core.words.transition[deed])),
    Look(CORE, "which-action", lambda core: core.words.transition[core.answer]),
)
# about the answer
add(t.NO_ANSWER, Look(CORE, "", lambda core: core.answer < 0))
add(t.UNASKABLE, Look(CORE, "which-object", lambda core: ~core.words.askable[core.answer]))
add(
    t.TIME_ANSWER,
    Look(CORE, "time which-object", lambda core: _in(core.time_objects, core.answer)),
    Look(CORE, "time which-action", lambda core: core.in_time(core.answer)),
)
add(t.ABOUT_ANSWER, Look(CORE, "relation which-object", lambda core: core.done_to == core.answer))
add(t.SIMILAR, Look(CORE, "object yes-or-no", _similar))
add(t.CONTACTS, Look(CORE, "relation time yes-or-no", _contacts))
add(
    t.UNNAMED,
    Look(CORE, "relation objects time", lambda core: _open(core) & ~_both(core), reads_program=False),
    Look(CORE, "relation object time", _maybe),
    *(Look(CORE, needs, _touched) for needs in ("object time yes-or-no", "object action")),
)
add(t.ENTERED, Look(CORE, "object action", _entered))
add(t.VERB_GIVEN, Look(CORE, "which-action", _verb_given))
add(t.STEPS, Look("steps", "", lambda core: np.zeros(0, bool)))  # the limit is kept where wordings are multiplied
