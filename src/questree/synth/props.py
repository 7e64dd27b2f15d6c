"""Which things are annotated in a video: those of its actions, those that go with them, and a little scenery."""

from dataclasses import dataclass

import numpy as np

from questree.synth.habits import Habits
from questree.synth.scripts import Script

ONLY_PLACE, NOTHING = 0.12, 0.06  # chances of scenery that only stands somewhere, and of scenery with no relation
AGAIN = 0.5  # company of company is rarer


@dataclass(frozen=True)
class Props:
    objects: list[int]  # sorted positions in the vocabulary
    acted: frozenset[int]  # objects of actions and rests
    silent: dict[int, str]  # scenery -> "place" (only spatial relations) or "nothing"


def choose_props(script: Script, habits: Habits, rng: np.random.Generator) -> Props:
    nouns = {int(habits.words.noun_of[span.action]) for span in script.spans} - {-1}
    acted = {o for o in nouns if not habits.words.objects[o].part_only} | {rest.object for rest in script.rests}
    if not script.spans:
        return Props([], frozenset(), {})
    present = acted | _company(sorted(nouns | acted), habits, rng, 1.0)
    present |= _company(sorted(present - acted), habits, rng, AGAIN)
    present |= {o for o, chance in habits.anywhere if rng.random() < chance}
    silent: dict[int, str] = {}
    for kind, chance in (("place", ONLY_PLACE), ("nothing", NOTHING)):
        choice = int(rng.choice(habits.scenery))
        if rng.random() < chance and choice not in present | silent.keys():
            silent[choice] = kind
    return Props(sorted(present | silent.keys()), frozenset(acted), silent)


def _company(objects: list[int], habits: Habits, rng: np.random.Generator, share: float) -> set[int]:
    return {other for o in objects for other, chance in habits.company.get(o, []) if rng.random() < chance * share}
