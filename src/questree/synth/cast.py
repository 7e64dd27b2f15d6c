"""Which actions a video shows: as many, as often and in such company as the statistics say."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from questree.synth.habits import Habits, Role
from questree.synth.statistics import Tables

REPEAT = 0.035  # chance that the next action is one that is there already, if one can be repeated
TRIES = 50  # before a video is content with fewer actions
SOCIABLE = 0.8  # how much company counts: at 1 actions that go together would be together too often
COMPLETE = 0.2  # chance that what is held is also taken, and that it is also put away or thrown
PARTNER = 0.25  # chance that an action brings the one it shares verb and object with
ALONE = 0.3  # chance that a taking or putting of something not held is passed over


def draw_cast(tables: Tables, habits: Habits, rng: np.random.Generator) -> list[int]:
    """Actions (positions in the vocabulary); one that occurs twice in the list is done twice."""
    number = int(np.searchsorted(tables.counts, rng.random(), side="right"))
    cast: list[int] = []
    for _ in range(number * TRIES):
        if len(cast) >= number:
            break
        again = [a for a in cast if _repeatable(a, cast, habits)] if rng.random() < REPEAT else []
        action = _pick(again, tables.repeats, rng) if again else _next(cast, tables, rng)
        if again or (action not in cast and not _passed_over(action, cast, habits, rng)):
            cast += [action, *_brought(action, cast, tables, habits, rng)]
    return cast[:number]


def _next(cast: list[int], tables: Tables, rng: np.random.Generator) -> int:
    """Somebody new, often seen, and often seen with those who are there."""
    likely = np.log(tables.instances) + SOCIABLE * tables.affinity[cast].sum(0)
    likely[cast] = -np.inf
    chances = np.cumsum(np.exp(likely - likely.max()))
    return int(np.searchsorted(chances, rng.random() * chances[-1], side="right"))


def _passed_over(action: int, cast: list[int], habits: Habits, rng: np.random.Generator) -> bool:
    held = any(habits.role[a] == Role.HOLD and habits.family[a] == habits.family[action] for a in cast)
    alone = habits.role[action] in (Role.TAKE, Role.PUT) and not held and _holdable(action, habits)
    return alone and rng.random() < ALONE


def _holdable(action: int, habits: Habits) -> bool:
    noun = habits.words.noun_of
    return any(r == Role.HOLD and noun[a] == noun[action] for a, r in enumerate(habits.role))


def _brought(action: int, cast: list[int], tables: Tables, habits: Habits, rng: np.random.Generator) -> list[int]:
    """The taking and putting that go with a holding of the same thing, or an action's partner."""
    if action in cast:
        return []
    noun, ends = habits.words.noun_of, []
    for role in (Role.TAKE, Role.PUT) if habits.role[action] == Role.HOLD else ():
        same = [a for a, r in enumerate(habits.role) if r == role and noun[a] == noun[action] and a not in cast]
        if same and rng.random() < COMPLETE:
            ends.append(_pick(same, tables.instances, rng))
    partner = habits.partners.get(action)
    return [*ends, partner] if partner is not None and partner not in cast and rng.random() < PARTNER else ends


def _pick(actions: list[int], chances: NDArray[Any], rng: np.random.Generator) -> int:
    weights = chances[actions] + 1e-3
    return int(rng.choice(actions, p=weights / weights.sum()))


def _repeatable(action: int, cast: list[int], habits: Habits) -> bool:
    """Done at most twice; something is taken again only if it was put away."""
    role = habits.role[action]
    if cast.count(action) > 1 or role not in (Role.FREE, Role.USE, Role.WALK, Role.TAKE):
        return False
    family = habits.family[action]
    again = any(cast.count(a) > 1 and habits.family[a] == family for a in cast if habits.role[a] == Role.TAKE)
    put = any(habits.role[a] == Role.PUT and habits.family[a] == family for a in cast)
    return role != Role.TAKE or (put and not again)
