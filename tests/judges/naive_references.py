"""How things can be named in one video, from the description of AGQA: objects, actions and times, as plain lists.

Numbers in brackets are its sections. Nothing here looks at the generator; words are vocabulary ids.
"""

from collections.abc import Callable
from functools import cache
from typing import NamedTuple

from judges import operators as judge
from judges.facts import (
    ACTIONS,
    OBJECTS,
    RELATIONS,
    UNNAMED,
    Undefined,
    Video,
    Window,
    after,
    before,
    counted,
    during,
    folded,
    noun,
    pair,
)
from judges.facts import between as between_two
from judges.facts import named as class_named
from judges.facts import readings as judged_readings
from judges.naive_between_frames import never_shown, unshown

ALL, BEFORE, AFTER, WHILE, BETWEEN = "all", "before", "after", "while", "between"
DIRECT, FIRST, LAST, WHOLE = "direct", "first", "last", "whole"
LENGTHS = LONGEST, SHORTEST = "longest", "shortest"
INDIRECT = "indirect object"

NEVER_SLOT = {"o1", "h1", "h2", "h3"}  # person; hair and hands (1.1); what is not named
NEVER_ASKED = {"r2", "r3", "r18", "r19"}  # not looking at, unsure, not contacting, other relationship (1.4)
# talking, making, photographing, walking, turning, pouring, grasping, cooking (1.4)
ONE_OBJECT = {"v024", "v011", "v013", "v029", "v027", "v015", "v007", "v002"}
FROM_A_BOX, PICTURE = "c044", "o25"

OBJECT_AT = {word: at for at, word in enumerate(OBJECTS)}
RELATION_AT = {word: at for at, word in enumerate(RELATIONS)}
ACTION_AT = {word: at for at, word in enumerate(ACTIONS)}


class Thing(NamedTuple):
    """An object, named by its class or as what a relation was done to."""

    kind: str
    object: str
    relation: str = ""
    time: "Time | None" = None  # of its own (edition 1.0)

    @property
    def steps(self) -> int:
        """The time phrase inside adds its steps (12.21, our reading)."""
        return int(self.kind != DIRECT) + (self.time.steps if self.time else 0)


class Deed(NamedTuple):
    """An action, named by its phrase, by its length, or with another name for its object."""

    kind: str
    action: str
    thing: Thing | None = None

    @property
    def steps(self) -> int:
        return int(self.kind != DIRECT)


class Time(NamedTuple):
    kind: str
    a: Deed | None = None
    b: Deed | None = None
    reading: int | None = None  # one of those it may have; else as it is answered

    @property
    def deeds(self) -> list[Deed]:
        return [deed for deed in (self.a, self.b) if deed]

    @property
    def steps(self) -> int:
        own = {ALL: 0, BETWEEN: 3}.get(self.kind, 2)
        return own + sum(deed.steps for deed in self.deeds)


WHOLE_VIDEO = Time(ALL)


def relations(video: Video, groups: tuple[str, ...]) -> list[str]:
    """Those that hold somewhere, in the order of the vocabulary."""
    found = {r for facts in video.facts for r, _ in facts if RELATIONS[r].group in groups}
    return sorted(found, key=RELATION_AT.__getitem__)


def present(video: Video) -> list[str]:
    """Annotated, or object of any contact, spatial or verb relation; hair and hands excepted (3.0)."""
    found = {o for facts in video.facts for r, o in facts if RELATIONS[r].group != "attention"}
    return sorted(found - NEVER_SLOT, key=OBJECT_AT.__getitem__)


def answer(question: Callable[..., str], *args: object) -> str | None:
    """What a function of the judge says, None if it says nothing."""
    try:
        return question(*args)
    except Undefined:
        return None


def things(video: Video, timed: bool = False) -> list[Thing]:
    """Every name of an object (5.1), by kind, class, relation."""
    found = [Thing(DIRECT, thing) for thing in present(video)]
    for relation in relations(video, ("contact", "spatial", "verb")):
        if relation in NEVER_ASKED | ONE_OBJECT:
            continue
        ever = judge.objects(video, relation, video.frames)
        if len(ever) == 1:
            named = {WHOLE: min(ever)}
        else:
            first, last = (answer(end, video, relation, video.frames) for end in (judge.first, judge.last))
            named = {kind: thing for kind, thing in ((FIRST, first), (LAST, last)) if thing}
        hidden = set() if video.released_between else never_shown(video, relation)
        kept = {kind: thing for kind, thing in named.items() if thing not in NEVER_SLOT and not hidden - {thing}}
        found += [Thing(kind, thing, relation) for kind, thing in kept.items()]
        found += timed_things(video, relation) if timed and len(ever) > 1 else []
    order = (DIRECT, FIRST, LAST, WHOLE)
    return sorted(found, key=lambda t: (order.index(t.kind), OBJECT_AT[t.object], RELATION_AT.get(t.relation, -1)))


def timed_things(video: Video, relation: str) -> list[Thing]:
    """Names with a time of their own; relation and object do not occur in the time's actions (5.1, edition 1.0)."""
    found = []
    for time in times(video, [Deed(DIRECT, action) for action in actions(video)], edition="1.0"):
        named = ends(video, relation, frames(video, time))
        for other in readings(video, time):
            again = ends(video, relation, frames(video, other))
            named = {kind: thing for kind, thing in named.items() if again[kind] == thing}
        verbs = {folded(ACTIONS[deed.action].verb) for deed in time.deeds}
        objects = {word for deed in time.deeds if (word := class_named(deed.action))}
        banned = NEVER_SLOT | objects
        hidden = set() if video.released_between else unshown(video, frames(video, time), time, relation)
        if relation not in verbs:
            told = {kind: o for kind, o in named.items() if o and o not in banned and not hidden - {o}}
            found += [Thing(kind, o, relation, time) for kind, o in told.items()]
    return found


def ends(video: Video, relation: str, window: Window) -> dict[str, str | None]:
    """What each kind of name means in a time."""
    ever = judge.objects(video, relation, window)
    only = min(ever) if len(ever) == 1 else None
    return {
        FIRST: answer(judge.first, video, relation, window),
        LAST: answer(judge.last, video, relation, window),
        WHOLE: only,
    }


def done_to(video: Video) -> list[tuple[str, str]]:
    """(relation, object): relations that can be named as what was done first to an object (5.2, edition 1.0)."""
    found = [(answer(judge.first_done_to, video, thing), thing) for thing in present(video)]
    return [(relation, thing) for relation, thing in found if relation]


def actions(video: Video) -> list[str]:
    return sorted({instance.action for instance in video.instances}, key=ACTION_AT.__getitem__)


def deeds(video: Video) -> list[Deed]:
    """Every name of an action but the indirect ones (5.3)."""
    lengths = ((LONGEST, 1), (SHORTEST, -1))
    extremes = [(kind, answer(judge.extreme, video, sign)) for kind, sign in lengths if clear_length(video, sign)]
    return [Deed(DIRECT, a) for a in actions(video)] + [Deed(kind, action) for kind, action in extremes if action]


def clear_length(video: Video, sign: int) -> bool:
    """Is what takes longest (shortest) at a time also what takes longest in all? As released only the first counts."""
    single, in_all = (answer(how, video, sign) for how in (judge.extreme, judge.extreme_in_all))
    return single == in_all or video.released_between


def indirect_deeds(video: Video, named: list[Thing], edition: str = "2.0") -> list[Deed]:
    """Actions whose noun is replaced by the name of its object (5.3). In edition 1.0 that may be a place or tool
    (Figure 6a: "tidied up with the first thing they went behind")."""
    found = []
    for action in actions(video):
        if not replaceable(action, edition):
            continue
        verb, thing = folded(ACTIONS[action].verb), class_named(action)
        # verb and object must name this action and no other one of the video (5.3, 13.4; 3.0: no program twice)
        others = [other for other in actions(video) if other != action and folded(ACTIONS[other].verb) == verb]
        done_to = pair(action) == (verb, thing)
        if any(
            (pair(other) or ("", ""))[1] == thing or (not done_to and class_named(other) == thing) for other in others
        ):
            continue
        names = [name for name in named if name.kind != DIRECT and name.object == thing and name.relation != verb]
        names = [name for name in names if name.time is None]  # a time inside a time is not said (5.4)
        found += [Deed(INDIRECT, action, name) for name in names]
    return found


@cache
def replaceable(action: str, edition: str) -> bool:
    """May the noun of its phrase be replaced, whatever the video?"""
    about = pair(action)
    if about is None or action == FROM_A_BOX or about[1] == PICTURE or (about[1] == UNNAMED and edition == "2.0"):
        return False
    name = OBJECTS[noun(action)].name
    several = {pair(other) for other in ACTIONS if folded(ACTIONS[counted(other)].verb) == about[0]}
    several -= {None, (about[0], UNNAMED)}
    return len(several) > 1 and bool({name, f"{name}s"} & set(ACTIONS[action].phrase.split()))


def frames(video: Video, time: Time) -> Window:
    """The window (4)."""
    if time.reading is not None:
        return judged_readings(video, time.kind, *(deed.action for deed in time.deeds))[time.reading]
    windows: dict[str, Callable[..., Window]] = {
        BEFORE: before,
        AFTER: after,
        WHILE: during,
        BETWEEN: between_two,
    }
    return windows[time.kind](video, *(deed.action for deed in time.deeds)) if time.deeds else video.frames


def readings(video: Video, time: Time) -> list[Time]:
    """What it may mean; nothing else is asked about a time that is read as released."""
    if not time.deeds or video.released_between:
        return []
    every = judged_readings(video, time.kind, *(deed.action for deed in time.deeds))
    return [time._replace(reading=at) for at in range(len(every))]


def times(video: Video, named: list[Deed], between: bool = True, edition: str = "2.0") -> list[Time]:
    """Every time that can be said with these names of actions; none that is empty, and none around an action that is
    also done where no frame shows it. Edition 1.0 says "before taking something from a box" (Figure 7b)."""
    banned = {*([FROM_A_BOX] if edition == "2.0" else []), *(action for action, *_ in video.unseen)}
    usable = [deed for deed in named if deed.action not in banned]
    found = [Time(kind, deed) for kind in (BEFORE, AFTER, WHILE) for deed in usable if offered(video, kind, deed)]
    if between:
        found += [Time(BETWEEN, a, b) for a in usable for b in usable if a.action != b.action]
    return [time for time in found if frames(video, time)]


def offered(video: Video, kind: str, deed: Deed) -> bool:
    """Not before what happens on the first frame, not after what lasts to the last."""
    only = during(video, deed.action)
    return {BEFORE: min(only) > min(video.frames), AFTER: max(only) < max(video.frames)}.get(kind, True)
