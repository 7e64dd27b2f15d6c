"""What a reader of the annotation would say: seconds of actions, relations on frames; no window of frames, no cleaning.

A time is read with every instance of its actions; one in which no frame lies is left to the others.

What is annotated on a frame holds at that second, and between two frames that follow each other if both have it.
"""

from collections.abc import Callable, Iterator
from math import inf
from typing import NamedTuple

from judges.facts import INTERACTING, folded, merged, pair
from judges.naive_generator import Question
from judges.naive_rules_alone import entailed

Done = tuple[str, float, float]  # action, start, end
Stretch = tuple[float, float]
Tied = tuple[str, float, float]  # thing, since when, until when


class Film(NamedTuple):
    seconds: list[float]  # of the frames
    ties: list[tuple[int, str, str]]  # frame, relation, thing
    done: list[Done]


def overlap(one: Stretch, other: Stretch) -> bool:
    """A moment lies in a stretch from its start up to its end."""
    (start, end), (since, until) = one, other
    return since <= start < until if start == end else max(start, since) < min(end, until)


def tied(film: Film, relation: str, anything: bool = False) -> list[Tied]:
    """What has the relation, and when; of anything two frames may show different things."""
    done = [(*about, start, end) for action, start, end in film.done if (about := pair(action))]
    found = [(thing, start, end) for verb, thing, start, end in done if relation in entailed(verb)]
    shown = {(frame, thing) for frame, own, thing in film.ties if relation in entailed(folded(own))}
    found += [(thing, film.seconds[frame], film.seconds[frame]) for frame, thing in shown]
    for thing, start, end in [*found]:
        shown |= {(at, thing) for at, second in enumerate(film.seconds) if start <= second < end}
    shown |= {(frame, "") for frame, _ in shown} if anything else set()
    following = [(frame, thing) for frame, thing in shown if (frame + 1, thing) in shown]
    return found + [(thing, film.seconds[frame], film.seconds[frame + 1]) for frame, thing in following]


def times(film: Film, kind: str, *actions: str) -> list[Stretch]:
    spans = [[(start, end) for other, start, end in film.done if other == action] for action in actions]
    if kind == "all":
        return [(-inf, inf)]
    if kind == "between":
        found = [(end, start) for _, end in spans[0] for start, _ in spans[1] if end < start]
    else:
        found = [{"before": (-inf, s), "after": (e, inf), "while": (s, e)}[kind] for s, e in spans[0]]
    shown = [span for span in found if any(overlap((second, second), span) for second in film.seconds)]
    return shown or found


def within(found: list[Tied], span: Stretch) -> dict[str, Stretch]:
    """Of each thing the first and the last second in this time."""
    seen: dict[str, Stretch] = {}
    for thing, start, end in found:
        if overlap((start, end), span):
            first, last = seen.get(thing, (inf, -inf))
            seen[thing] = min(first, max(start, span[0])), max(last, min(end, span[1]))
    return seen


def yes(true: object) -> str:
    return "yes" if true else "no"


def best(seen: dict[str, Stretch], last: bool, among: tuple[str, ...] = ()) -> str:
    """The only thing that is first, or last; nothing if there are two."""
    few = {thing: span for thing, span in seen.items() if not among or thing in among}
    ends = {thing: -until if last else since for thing, (since, until) in few.items()}
    found = [thing for thing, end in ends.items() if end == min(ends.values())]
    return found[0] if len(found) == 1 else ""


def side(film: Film, relation: str, thing: str, action: str) -> str:
    """On which side of the action it is done, if on one."""
    ((start, end),) = ((start, end) for other, start, end in film.done if other == action)
    spans = [(since, until) for other, since, until in tied(film, relation) if not thing or other == thing]
    if all(until <= start for _, until in spans):
        return "before"
    return "after" if all(since >= end for since, _ in spans) else ""


Named = tuple[str, ...]
SAID: dict[str, Callable[[dict[str, Stretch], Named], str]] = {
    "objExists": lambda seen, named: yes(named[0] in seen),
    "objRelExists": lambda seen, named: yes(named[0] in seen),
    "relExists": lambda seen, named: yes(seen),
    "andObjRelExists": lambda seen, named: yes({*named} <= {*seen}),
    "xorObjRelExists": lambda seen, named: yes(named[0] in seen and named[1] not in seen),
    "objWhat": lambda seen, named: min(seen) if len(seen) == 1 else "",
    "objWhatChoose": lambda seen, named: min(both) if len(both := {*named} & {*seen}) == 1 else "",
    "objFirst": lambda seen, named: best(seen, last=False),
    "objLast": lambda seen, named: best(seen, last=True),
    "objFirstChoose": lambda seen, named: best(seen, False, named),
    "objLastChoose": lambda seen, named: best(seen, True, named),
    "objFirstVerify": lambda seen, named: yes(found == named[0]) if (found := best(seen, last=False)) else "",
    "objLastVerify": lambda seen, named: yes(found == named[0]) if (found := best(seen, last=True)) else "",
}


def answers(film: Film, asked: Question) -> Iterator[str]:
    """One for every way to read it; those that say nothing, of a first or last thing, are empty."""
    relation = INTERACTING if asked.template in ("objExists", "objTime") else folded(asked.relation)
    named = tuple(merged(thing.object) for thing in asked.things)
    if asked.template in ("relTime", "objTime"):
        yield side(film, relation, named[0] if named else "", asked.deeds[0].action)
        return
    found = tied(film, relation, anything=asked.template == "relExists")
    for span in times(film, asked.time.kind, *(deed.action for deed in asked.time.deeds)):
        yield SAID[asked.template](within(found, span), named)


def referents(film: Film, asked: Question) -> Iterator[tuple[str, str]]:
    """(what is meant, what it would be) of every object that is named by what was done to it in the whole video."""
    deeds = [deed.thing for deed in (*asked.deeds, *asked.time.deeds) if deed.thing]
    for thing in (*asked.things, *deeds):
        if thing.relation:
            seen = within(tied(film, folded(thing.relation)), (-inf, inf))
            only = min(seen) if len(seen) == 1 else ""
            yield thing.object, only if thing.kind == "whole" else best(seen, last=thing.kind == "last")
