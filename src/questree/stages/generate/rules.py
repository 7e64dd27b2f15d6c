"""The validity rules about direct arguments in a time, by name, on columns."""

from collections.abc import Callable

import numpy as np

from questree.benchmarks.agqa import templates as t
from questree.columns.joins import Ints, bit
from questree.stages.generate.cores import Core
from questree.stages.generate.filters import Flags, Tally

Rule = Callable[[Core], Flags]

RULES: dict[str, Rule] = {
    t.BANNED_OBJECT: lambda core: core.words.banned_object[core.x],
    t.TIME_OBJECT: lambda core: _in(core.time_objects, core.x) | _in(core.time_objects, core.y),
    t.TIME_RELATION: lambda core: bit(core.time_verbs, core.relation),
    t.NO_ANSWER: lambda core: core.answer < 0,
    t.UNASKABLE: lambda core: ~core.words.askable[core.answer],
    t.TIME_ANSWER: lambda core: _in(core.time_objects, core.answer),
    t.ABOUT_ANSWER: lambda core: core.done_to == core.answer,
    t.SIMILAR: lambda core: (core.answer == 0) & ((core.words.similar[core.x] & core.present) != 0),
    t.CONTACTS: lambda core: (core.answer == 0) & (core.relation == core.touching) & (core.contacts != 0),
    t.ONE_CHOICE: lambda core: np.bitwise_count(core.local.objects) <= 1,
    t.BOTH: lambda core: bit(core.local.objects, core.x) & bit(core.local.objects, core.y),
    t.NOT_BOTH: lambda core: ~RULES[t.BOTH](core),
    t.UNDECIDED: lambda core: (core.decisive != core.x) & (core.decisive != core.y),
}
ANSWERS: dict[str, Rule] = {  # of open questions: the pair is the relation and the answer
    t.RARE: lambda core: core.words.rare[core.relation, core.answer],
    t.COMMON_SENSE: lambda core: core.words.common_sense[core.relation, core.answer],
}
ON_ANSWERS = {t.NO_ANSWER, t.UNASKABLE, t.TIME_ANSWER, t.ABOUT_ANSWER, t.SIMILAR, t.CONTACTS, *ANSWERS}


def core_rules(template: t.Template) -> list[tuple[str, Rule]]:
    """In the template's order."""
    rules = RULES if template.objects else RULES | ANSWERS
    return [(name, rules[name]) for name in template.rules if name in rules]


def sift(core: Core, tally: Tally, weight: Ints) -> tuple[Core, Ints]:
    """Drop what the rules reject; a later rule only looks at what is left."""
    for name, rule in core_rules(core.template):
        failed = rule(core)
        if failed.any():
            tally.reject(name, weight[failed].sum())
            kept = np.flatnonzero(~failed)
            core, weight = core.take(kept), weight[kept]
        else:
            tally.reject(name, 0)
    return core, weight


def _in(mask: Ints, thing: Ints) -> Flags:
    """Is the word in the set? A slot that is not there (-1) is not."""
    return (thing >= 0) & bit(mask, np.maximum(thing, 0))
