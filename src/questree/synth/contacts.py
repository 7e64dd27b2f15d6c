"""Which things are annotated in a video, what the person touches in each frame, and what they look at."""

from dataclasses import dataclass

import numpy as np

from questree.synth.habits import Array, Habits, Rng, Role
from questree.synth.scripts import Script

ONLY_PLACE, NOTHING = 0.12, 0.06  # chances of scenery that only stands somewhere, and of scenery with no relation
AGAIN = 0.5  # company of company is rarer


@dataclass(frozen=True)
class Props:
    objects: list[int]  # sorted positions in the vocabulary
    acted: frozenset[int]  # objects of actions and rests
    silent: dict[int, str]  # scenery -> "place" (only spatial relations) or "nothing"


def choose_props(script: Script, habits: Habits, rng: Rng) -> Props:
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


def _company(objects: list[int], habits: Habits, rng: Rng, share: float) -> set[int]:
    return {other for o in objects for other, chance in habits.company.get(o, []) if rng.random() < chance * share}


OTHER = 0.05  # chance that a thing not touched is labelled "other relationship" instead of "not contacting"
BESIDES = {"touching": 0.06, "leaning on": 0.05}  # chances that furniture not acted on is touched all the time
LOOKS = {  # chances of looking at, not looking at, unsure
    "busy": (0.70, 0.20, 0.10),
    "idle": (0.15, 0.70, 0.15),
}


@dataclass(frozen=True)
class Contacts:
    masks: Array  # [frame, object] contact and attention relations
    in_hand: Array  # [frame, object]
    busy: Array  # [frame, object] an action on it goes on, or it is touched


def touch(script: Script, props: Props, seconds: Array, habits: Habits, rng: Rng) -> Contacts:
    shape = (len(seconds), len(props.objects))
    masks, busy, looked = np.zeros(shape, np.int64), np.zeros(shape, bool), np.zeros(shape, bool)
    at = {o: column for column, o in enumerate(props.objects)}
    held = {o: habits.bit("holding") for o in props.objects}  # how a thing is held between taking and putting
    for span in script.spans:
        column = at.get(int(habits.words.noun_of[span.action]))
        alternatives = habits.contacts[span.action]
        mask = alternatives[int(rng.integers(len(alternatives)))]
        if column is None:
            continue
        if habits.role[span.action] == Role.HOLD:
            held[props.objects[column]] = mask
        now = during(seconds, span.start, span.end)
        masks[now, column] |= mask
        busy[now, column] = True
        looked[now, column] |= habits.looked_at[span.action]
    for column, o in enumerate(props.objects):
        for start, end in _held(o, script, habits):
            masks[during(seconds, start, end), column] |= held[o]
    _rest(masks, script, at, seconds, habits)
    _wear(masks, script, props, seconds, habits)
    for relation, implied in enumerate(habits.implied):  # what follows: who carries holds, who holds touches
        if implied and habits.words.relations[relation].group == "contact":
            masks[(masks & (1 << relation)) != 0] |= implied
    masks = _leave_alone(masks, busy, props, habits, rng)
    touching = (masks & habits.bit("touching")) != 0
    movable = np.array([o in habits.movable for o in props.objects], bool)
    in_hand = ((masks & habits.bit("holding")) != 0) & movable
    masks |= _look(looked, busy | touching, props, habits, rng)
    return Contacts(masks, in_hand, busy | touching)


def during(seconds: Array, start: float, end: float) -> Array:
    return (seconds >= start) & (seconds <= end)


def _held(o: int, script: Script, habits: Habits) -> list[tuple[float, float]]:
    """From each taking to the next putting; from the beginning if it is put without having been taken."""
    mine = [s for s in script.spans if habits.words.noun_of[s.action] == o]
    takes, puts, holds = (
        [s for s in mine if habits.role[s.action] == role] for role in (Role.TAKE, Role.PUT, Role.HOLD)
    )
    found = []
    for take in takes:
        later = [s.start for s in puts if s.start >= take.end] or [s.end for s in holds if s.end >= take.end]
        found.append((take.end, min(later, default=script.length)))
    if puts and not takes and not holds:
        found.append((0.0, puts[0].start))
    return found + [(hold.end, put.start) for hold in holds for put in puts if 0 <= put.start - hold.end < 1]


def _rest(masks: Array, script: Script, at: dict[int, int], seconds: Array, habits: Habits) -> None:
    """Seats, and the floor under the feet."""
    resting = np.zeros(len(seconds), bool)
    for rest in script.rests:
        now = during(seconds, rest.start, rest.end)
        masks[now, at[rest.object]] |= habits.bit(rest.posture)
        resting |= now
    floor = at.get(habits.words.object_at["floor"])
    if floor is not None:
        masks[:, floor] |= np.where(resting, habits.bit("touching"), habits.bit("standing on"))


def _wear(masks: Array, script: Script, props: Props, seconds: Array, habits: Habits) -> None:
    """Clothes and shoes are worn unless something else is done with them; before undressing and after dressing."""
    for name in ("clothes", "shoe"):
        o = habits.words.object_at[name]
        if o not in props.objects:
            continue
        column = props.objects.index(o)
        mine = [s for s in script.spans if habits.words.noun_of[s.action] == o]
        worn = np.full(len(seconds), not mine)
        for span in mine:
            verb = habits.words.actions[span.action].verb
            worn |= (seconds > span.end) if verb in habits.lists["dressing"] else False
            worn |= (seconds < span.start) if verb in habits.lists["undressing"] else False
        masks[worn & (masks[:, column] == 0), column] |= habits.bit("wearing")


def _leave_alone(masks: Array, busy: Array, props: Props, habits: Habits, rng: Rng) -> Array:
    """What is not touched: not contacting, now and then another label; some furniture is leant on all along."""
    apart = habits.mask(habits.words.lists.not_touching_contacts)
    masks = np.where(masks & ~apart, masks & ~apart, masks)
    for column, o in enumerate(props.objects):
        label = habits.bit("other relationship" if rng.random() < OTHER else "not contacting")
        draw = rng.random()
        if o not in props.acted and o not in habits.movable and habits.kind[o] in ("furniture", "seat"):
            lean = draw < BESIDES["leaning on"]
            if lean or draw < sum(BESIDES.values()):
                label = habits.bit("touching") | (habits.bit("leaning on") if lean else 0)
        if o not in props.silent:
            masks[masks[:, column] == 0, column] = label
    return masks


def _look(looked: Array, busy: Array, props: Props, habits: Habits, rng: Rng) -> Array:
    looks = [habits.bit(name) for name in ("looking at", "not looking at", "unsure")]
    out = np.zeros(looked.shape, np.int64)
    for column, o in enumerate(props.objects):
        often, seldom = (int(rng.choice(looks, p=LOOKS[kind])) for kind in ("busy", "idle"))
        chosen = np.where(busy[:, column], often, seldom)
        out[:, column] = np.where(looked[:, column], looks[0], chosen)
        if props.silent.get(o) == "nothing":
            out[:, column] = 0
    return out
