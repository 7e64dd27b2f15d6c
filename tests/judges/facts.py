"""The judge's view of a video: plain sets of facts, read from the tables, and on which frames things hold.

Nothing here looks at the operators' own code. Numbers in brackets are sections of the description of AGQA.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from math import inf

from judges.action_seconds import Done
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


@dataclass
class Video:
    seconds: list[float] = field(default_factory=list)  # of the annotated frames
    facts: list[set[tuple[str, str]]] = field(default_factory=list)  # per frame: (relation, object)
    instances: list[Instance] = field(default_factory=list)  # in order of time; all have frames
    released_last: bool = False
    entries: dict[str, Frames] = field(default_factory=dict)  # per object: where it is entered, visible or not

    @property
    def frames(self) -> Window:
        return Window(range(len(self.seconds)))

    @property
    def done(self) -> list[Done]:
        return [(instance.action, instance.start, instance.end) for instance in self.instances]


def read(facts: Facts, released_last: bool = False) -> list[Video]:
    """The tables as sets. An action instance without an annotated frame is removed (13.1)."""
    videos = [Video(released_last=released_last) for _ in range(len(facts.videos))]
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
    if len(found) != 1:
        raise Undefined
    return found[0]


def the_one(found: set[str]) -> str:
    if len(found) != 1:
        raise Undefined
    return next(iter(found))


# Windows (4): the first instance counts, for between the last one of the first action


def before(video: Video, action: str) -> Window:
    if not (found := instances(video, action)):
        return Window()
    return Window((f for f in video.frames if f <= found[0].frames[0]), until=found[0].start)


def after(video: Video, action: str) -> Window:
    if not (found := instances(video, action)):
        return Window()
    return Window((f for f in video.frames if f > found[0].frames[-1]), since=found[0].end)


def during(video: Video, action: str) -> Window:
    found = instances(video, action)
    return Window(found[0].frames, found[0].start, found[0].end) if found else Window()


def between(video: Video, a: str, b: str) -> Window:
    early, late = instances(video, a), instances(video, b)
    if not early or not late:
        return Window()
    frames = (f for f in video.frames if early[-1].frames[-1] < f < late[0].frames[0])
    return Window(frames, early[-1].end, late[0].start)
