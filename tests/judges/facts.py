"""The judge's view of a video: plain sets of facts, read from the tables, and on which frames things hold.

Nothing here looks at the operators' own code. Numbers in brackets are sections of the description of AGQA.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from math import inf

from judges.action_seconds import Done, Unseen
from questree.tables.facts import Facts
from questree.vocabulary import default

WORDS = default()
OBJECTS = {word.id: word for word in WORDS.objects}
RELATIONS = {word.id: word for word in WORDS.relations}
ACTIONS = {word.id: word for word in WORDS.actions}
NO_CONTACT = {"r18", "r19"}  # not contacting, other relationship
PERSON, ANNOTATED, INTERACTING, UNNAMED = "o1", "d1", "d2", "h3"
OTHER = WORDS.other  # nothing in AGQA

Frames = set[int]


class Window(set[int]):
    """Frames, and the seconds between which they lie: by these it is judged which action is done (6.2)."""

    def __init__(self, frames: Iterable[int] = (), since: float = -inf, until: float = inf):
        super().__init__(frames)
        self.since, self.until = since, until


class Undefined(Exception):
    """No answer, or no single one."""


@dataclass(frozen=True)
class Instance:
    action: str
    start: float
    end: float
    frames: range

    @property
    def length(self) -> float:
        return self.end - self.start

    @property
    def over(self) -> float:
        """A moment is not nothing."""
        return max(self.end, self.start + 1e-6)


@dataclass
class Video:
    seconds: list[float] = field(default_factory=list)  # of the annotated frames
    facts: list[set[tuple[str, str]]] = field(default_factory=list)  # per frame: (relation, object)
    instances: list[Instance] = field(default_factory=list)  # in order of time; all have frames
    unseen: list[Done] = field(default_factory=list)  # what was annotated between frames
    released_last: bool = False
    released_between: bool = False
    entries: dict[str, Frames] = field(default_factory=dict)  # per object: where it is entered, visible or not

    @property
    def frames(self) -> Window:
        return Window(range(len(self.seconds)))

    @property
    def done(self) -> list[Done]:
        seen = [(each.action, each.start, each.end) for each in self.instances]
        return [(action, start, max(end, start + 1e-6)) for action, start, end in seen + self.unseen]


def read(facts: Facts, released_last: bool = False, released_between: bool = False) -> list[Video]:
    """The tables as sets. Of an action instance without an annotated frame only its seconds are known (13.1)."""
    videos = [Video(released_last=released_last, released_between=released_between) for _ in range(len(facts.videos))]
    for row in facts.frames.iter_rows(named=True):
        videos[row["video"]].seconds.append(row["seconds"])
        videos[row["video"]].facts.append(set())
    for row in facts.relations.iter_rows(named=True):
        fact = (WORDS.relations[row["relation"]].id, WORDS.objects[row["object"]].id)
        videos[row["video"]].facts[row["frame"]].add(fact)
    for row in facts.objects.iter_rows(named=True):
        videos[row["video"]].entries.setdefault(WORDS.objects[row["object"]].id, set()).add(row["frame"])
    for row in facts.actions.sort("start").iter_rows(named=True):
        if row["first"] is not None:
            seen = range(row["first"], row["last"] + 1)
            instance = Instance(WORDS.actions[row["action"]].id, row["start"], row["end"], seen)
            videos[row["video"]].instances.append(instance)
        else:
            unseen = Unseen(WORDS.actions[row["action"]].id)
            videos[row["video"]].unseen.append((unseen, row["start"], row["end"]))
    return videos


# Words: merged classes (1.1, 1.3) and verbs folded into contact relations (1.2)


def merged(thing: str) -> str:
    return OBJECTS[thing].merged or thing


def folded(relation: str) -> str:
    return RELATIONS[relation].folds or relation


def counted(action: str) -> str:
    return ACTIONS[action].merged or action


def noun(action: str) -> str:
    return ACTIONS[action].noun or ACTIONS[action].object


def pair(action: str) -> tuple[str, str] | None:
    """(relation, object) under which the action's facts are stored (13.1); no place or tool is done to."""
    action = counted(action)
    thing = named(action) if ACTIONS[action].role == "done to" else UNNAMED
    return (folded(ACTIONS[action].verb), thing) if thing else None


def named(action: str) -> str:
    """The class of the object its phrase names, if any."""
    found = noun(counted(action))
    return merged(found) if found else ""


def promised(action: str, first: int, last: int) -> list[str]:
    """Lines of a small world: what augmentation promises about an action with these frames (13.1)."""
    about, there = pair(action), named(action)
    lines = [f"bare {about[1]} {first}-{last}: {about[0]}"] if about else []
    return [*lines, f"{there} {first}-{last}"] if about and about[1] == UNNAMED else lines


# Support: the frames on which something holds (13.2)


def is_contact(relation: str) -> bool:
    return RELATIONS[relation].group == "contact" and relation not in NO_CONTACT


def things(video: Video, relation: str, frame: int) -> set[str]:
    """The objects the relation has on a frame."""
    if relation == INTERACTING:
        return {o for r, o in video.facts[frame] if is_contact(r)}
    return {o for r, o in video.facts[frame] if r == folded(relation)}


def seen(video: Video, relation: str, thing: str | None = None) -> Frames:
    """The frames with the relation, to anything or to one thing."""
    found = {frame: things(video, relation, frame) for frame in video.frames}
    return {frame for frame in found if (thing in found[frame] if thing else found[frame])}


def exists(video: Video, thing: str) -> Frames:
    """Annotated, or object of any relation but those of attention."""
    if thing == PERSON:
        return video.frames
    shown = [{o for r, o in facts if RELATIONS[r].group != "attention"} for facts in video.facts]
    return {frame for frame in video.frames if merged(thing) in shown[frame]}


def instances(video: Video, action: str) -> list[Instance]:
    return [instance for instance in video.instances if instance.action == counted(action)]


def happening(video: Video, action: str) -> Frames:
    return {frame for instance in instances(video, action) for frame in instance.frames}


def once(video: Video, action: str) -> Instance:
    found = instances(video, action)
    if len(found) != 1 or any(unseen == counted(action) for unseen, *_ in video.unseen):
        raise Undefined
    return found[0]


def the_one(found: set[str]) -> str:
    if len(found) != 1:
        raise Undefined
    return next(iter(found))


# Windows (4) around single instances, and how the times of a question are read: the first instances count, as released
# the last one of the first action of two


def before_one(video: Video, one: Instance) -> Window:
    return Window((f for f in video.frames if f <= one.frames[0]), until=one.start)


def after_one(video: Video, one: Instance) -> Window:
    return Window((f for f in video.frames if f > one.frames[-1]), since=one.over)


def during_one(video: Video, one: Instance) -> Window:
    return Window(one.frames, one.start, one.over)


def between_two(video: Video, one: Instance, other: Instance) -> Window:
    frames = (f for f in video.frames if one.frames[-1] < f < other.frames[0])
    return Window(frames, one.over, other.start)


def before(video: Video, action: str) -> Window:
    return before_one(video, found[0]) if (found := instances(video, action)) else Window()


def after(video: Video, action: str) -> Window:
    return after_one(video, found[0]) if (found := instances(video, action)) else Window()


def during(video: Video, action: str) -> Window:
    return during_one(video, found[0]) if (found := instances(video, action)) else Window()


def between(video: Video, a: str, b: str) -> Window:
    early, late = instances(video, a), instances(video, b)
    if not early or not late:
        return Window()
    return between_two(video, early[-1 if video.released_between else 0], late[0])


# The same by seconds: *before* has no frame of the action, and one that is shown by a frame beside it (that of its only
# frames which is no moment of it) lies between that frame and the next one


def beside(video: Video, one: Instance) -> bool:
    return not one.start <= video.seconds[one.frames[0]] < one.over


def ahead(video: Video, one: Instance) -> set[int]:
    """The frames before it."""
    end = one.start if beside(video, one) else video.seconds[one.frames[0]]
    return {frame for frame in video.frames if video.seconds[frame] < end}


def behind(video: Video, one: Instance) -> set[int]:
    start = one.over if beside(video, one) else video.seconds[one.frames[-1]] + 1e-6
    return {frame for frame in video.frames if video.seconds[frame] >= start}


def before_in_seconds(video: Video, one: Instance) -> Window:
    return Window(ahead(video, one), until=one.start)


def after_in_seconds(video: Video, one: Instance) -> Window:
    return Window(behind(video, one), since=one.over)


def between_in_seconds(video: Video, one: Instance, other: Instance) -> Window:
    return Window(behind(video, one) & ahead(video, other), one.over, other.start)


def on_the_other_side(video: Video, one: Instance) -> Window:
    """While it: of the two frames around an action that no frame shows properly the one that is not its own, if any."""
    around = {max(ahead(video, one), default=-1), min(behind(video, one), default=-1)} - {-1, *one.frames}
    return Window(around, one.start, one.over)


def readings(video: Video, kind: str, *actions: str) -> list[Window]:
    """All that a time may mean: any instance of its action, while also all of them together; of two actions the first
    or the last of each, every one of the first with the next of the second, and every one of the second with the one of
    the first before it; each by frames and by seconds. A time without a frame is none, but for an action that no frame
    shows properly: beyond the last frame nobody knows."""
    found = [instances(video, action) for action in actions]
    windows = []
    if kind == "between":
        early, late = found
        for between_both in (between_two, between_in_seconds):
            pairs = [(a, b) for a in (early[0], early[-1]) for b in (late[0], late[-1])]
            pairs += [(a, near) for a in early for near in [b for b in late if between_both(video, a, b)][:1]]
            pairs += [(near, b) for b in late for near in [a for a in early if between_both(video, a, b)][-1:]]
            windows += [between_both(video, a, b) for a, b in pairs]
    else:
        single = {
            "before": (before_one, before_in_seconds),
            "after": (after_one, after_in_seconds),
            "while": (during_one,),
        }[kind]
        windows = [by(video, one) for by in single for one in found[0]]
    if kind == "while":
        frames = {frame for one in found[0] for frame in one.frames}
        windows.append(Window(frames, inf, -inf))  # no stretch of seconds
    others = [on_the_other_side(video, one) for one in found[0] if kind == "while" and beside(video, one)]
    return [window for window in windows if window] + others
