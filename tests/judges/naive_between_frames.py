"""Which answers an action may change that goes on in the time asked about on none of its frames, by plain sets, that
cleaning may have cut off it, or that is done to what is not annotated; and on which side of another action something
is done, in seconds."""

from typing import TYPE_CHECKING

from judges import operators as judge
from judges.facts import INTERACTING, Video, Window, folded, merged, noun, once, pair
from judges.naive_rules_alone import entailed, role

if TYPE_CHECKING:
    from judges.naive_answers import Candidate
    from judges.naive_references import Time

ORDERED = {"First": judge.first, "Last": judge.last}


def unshown(video: Video, window: Window, time: "Time", relation: str) -> set[str]:
    """What has the relation in these seconds because of actions that no frame of the window shows."""
    spans = [(each.action, each.start, each.over, {*each.frames}) for each in video.instances]
    spans += [(str(action), start, end, set[int]()) for action, start, end in video.done[len(spans) :]]
    found = set[str]()
    for action, start, end, frames in spans:
        goes_on = start < window.until and end > window.since
        if goes_on and not frames & window and (done := pair(action)) and relation in entailed(done[0]):
            found.add(done[1])
    return found | (cut_apart(video, window, time.deeds[0].action, relation) if time.kind == "while" else set())


def cut_apart(video: Video, window: Window, during: str, relation: str) -> set[str]:
    """What has the relation because of another taking, holding or putting of the thing just before or after one."""
    found = set[str]()
    for action, start, end in video.done:
        meets = abs(start - window.until) < 5e-7 or abs(end - window.since) < 5e-7
        places = {role(action), role(during)}
        if meets and len(places - {None}) == 2 and noun(action) == noun(during) and (done := pair(action)):
            found |= {done[1]} if relation in entailed(done[0]) else set()
    return found


def never_shown(video: Video, relation: str) -> set[str]:
    """What has the relation because of actions without a frame."""
    done = [about for action, *_ in video.unseen if (about := pair(action))]
    return {thing for verb, thing in done if relation in entailed(verb)}


def on_the_other_side(c: "Candidate", relation: str) -> bool:
    """Is it done, or done to the thing, at a time that is not on the side of the action that is the answer?"""
    only = once(c.video, c.deeds[0].action)
    found = [(pair(action), start, end) for action, start, end in c.video.done]
    spans = [
        (start, end)
        for done, start, end in found
        if done and relation in entailed(done[0]) and (not c.things or done[1] == merged(c.named[0]))
    ]
    if c.answer == "before":
        return any(end > only.start for _, end in spans)
    return any(start < only.over for start, _ in spans)


def may_change(c: "Candidate") -> bool:
    if c.template in ("relTime", "objTime") and not c.video.released_between:
        return on_the_other_side(c, folded(c.relation) if c.relation else INTERACTING)
    if c.template == "objWhatGeneral" and not c.video.released_between:
        touched = c.objects_of(INTERACTING) | unshown(c.video, c.window, c.time, INTERACTING)
        return bool(touched - {c.answer})
    relation = INTERACTING if c.template == "objExists" else c.relation and folded(c.relation)
    if not relation or c.video.released_between:
        return False
    hidden, named = unshown(c.video, c.window, c.time, relation), {merged(thing) for thing in c.named}
    new = hidden - c.objects_of(relation)
    for end, decides in ORDERED.items():
        if c.template.startswith(f"obj{end}"):
            others = hidden - {c.answer_of(decides, relation)}
            return bool(others & named if c.template.endswith("Choose") else others)
    if c.template == "relExists":
        return c.answer == "no" and bool(new)
    return bool(new if c.template == "objWhat" else new & named)
