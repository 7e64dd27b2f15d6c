"""A candidate question of one video and its answer, by the judge's functions.

Numbers in brackets are sections of the description of AGQA. Nothing here looks at the generator.
"""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from judges import naive_references as names
from judges import operators as judge
from judges.facts import ACTIONS, ANNOTATED, INTERACTING, Video, Window, folded, happening, named, seen
from judges.naive_references import Deed, Thing, Time

Pair = tuple[str, str]  # (relation, object)


@dataclass
class Scene:
    """A video with what its candidates share, looked up once."""

    video: Video
    counts: Counter[Pair]  # frames of the corpus on which a pair is seen
    rare_below: int
    edition: str = "2.0"
    known: dict[tuple[object, ...], Any] = field(default_factory=dict)

    @cached_property
    def things(self) -> list[Thing]:
        return names.things(self.video, timed=self.edition == "1.0")

    @cached_property
    def deeds(self) -> list[Deed]:
        """Of the first pass: all in edition 1.0, which has no second."""
        return names.deeds(self.video) + (self.indirect if self.edition == "1.0" else [])

    @cached_property
    def indirect(self) -> list[Deed]:
        return names.indirect_deeds(self.video, self.things, self.edition)

    @cached_property
    def times(self) -> tuple[list[Time], list[Time]]:
        """Of the first and of the second pass: there every time has an indirect object, and between is off."""
        plain = [names.WHOLE_VIDEO, *names.times(self.video, self.deeds, edition=self.edition)]
        return plain, names.times(self.video, self.indirect, between=False)

    @cached_property
    def done_to(self) -> list[tuple[str, str]]:
        return names.done_to(self.video) if self.edition == "1.0" else []

    @cached_property
    def present(self) -> set[str]:
        return set(names.present(self.video))

    def once(self, how: Callable[..., Any], time: Time, *args: object) -> Any:
        """How(video, *args, window), looked up once."""
        key = (how, time.kind, time.reading, *(deed.action for deed in time.deeds), args)
        if key not in self.known:
            self.known[key] = how(self.video, *args, names.frames(self.video, time))
        return self.known[key]


@dataclass
class Candidate:
    template: str
    base: int  # steps of the template
    scene: Scene
    relation: str
    things: tuple[Thing, ...]
    deeds: tuple[Deed, ...]
    time: Time
    done_to: str = ""  # the object its relation is named by (5.2, edition 1.0)

    @property
    def video(self) -> Video:
        return self.scene.video

    @property
    def window(self) -> Window:
        found: Window = self.scene.once(window, self.time)
        return found

    def answer_of(self, how: Callable[..., Any], *args: object) -> str | None:
        found: str | None = self.scene.once(answer_in, self.time, how, *args)
        return found

    def objects_of(self, relation: str) -> set[str]:
        found: set[str] = self.scene.once(judge.objects, self.time, relation)
        return found

    @property
    def objects(self) -> set[str]:
        """Of its relation in its time."""
        return self.objects_of(self.relation)

    @property
    def named(self) -> list[str]:
        """The classes in its object slots."""
        return [thing.object for thing in self.things]

    @property
    def localisers(self) -> list[str]:
        """The actions that place it in time: those of the time phrase, or what "before or after" compares with."""
        compared = self.deeds if self.template in ("relTime", "objTime") else ()
        return [deed.action for deed in (*self.time.deeds, *compared)]

    @property
    def time_pairs(self) -> list[Pair]:
        """(verb, object they name) of these actions; an action without an object still has a verb."""
        return [(folded(ACTIONS[action].verb), named(action)) for action in self.localisers]

    @cached_property
    def answer(self) -> str | None:
        return ANSWERS[self.template](self)

    @property
    def steps(self) -> int:
        named = sum(thing.steps for thing in self.things) + sum(deed.steps for deed in self.deeds)
        return self.base + named + self.time.steps + bool(self.done_to)


def window(video: Video, frames: Window) -> Window:
    return frames


def answer_in(video: Video, how: Callable[..., Any], *args: Any) -> str | None:
    *rest, window = args
    return names.answer(how, video, *rest, window)


# Answers (6.2)


def yes(true: object) -> str:
    return "yes" if true else "no"


def choice(how: Callable[..., Any], *more: object) -> Callable[[Candidate], str | None]:
    return lambda c: names.answer(how, c.video, c.relation, c.window, *c.named, *more)


def verify(how: Callable[..., Any]) -> Callable[[Candidate], str | None]:
    def answer(c: Candidate) -> str | None:
        found = c.answer_of(how, c.relation)
        return yes(found == c.named[0]) if found else None

    return answer


def order(c: Candidate) -> str | None:
    """Since edition 2.0 the pair of an action must not be seen on the other side (0.1.10)."""
    how = judge.action_order if c.scene.edition == "2.0" else judge.instance_order
    return names.answer(how, c.video, *(deed.action for deed in c.deeds))


def length(sign: int, verified: bool) -> Callable[[Candidate], str | None]:
    def answer(c: Candidate) -> str | None:
        a, b = (deed.action for deed in c.deeds)
        found = c.answer_of(judge.compared_in, a, b, sign) if c.time.deeds else None
        found = found if c.time.deeds else names.answer(judge.compared, c.video, a, b, sign)
        return yes(found == a) if found and verified else found

    return answer


ANSWERS: dict[str, Callable[[Candidate], str | None]] = {
    "objExists": lambda c: yes(c.named[0] in c.objects_of(INTERACTING)),
    "objRelExists": lambda c: yes(c.named[0] in c.objects),
    "relExists": lambda c: yes(c.objects),
    "actExists": lambda c: yes(happening(c.video, c.deeds[0].action) & c.window),
    "andObjRelExists": lambda c: yes(set(c.named) <= c.objects),
    "xorObjRelExists": lambda c: yes(c.named[0] in c.objects and c.named[1] not in c.objects),
    "objWhatGeneral": lambda c: min(found) if len(found := c.objects_of(ANNOTATED)) == 1 else None,
    "objWhat": lambda c: min(c.objects) if len(c.objects) == 1 else None,
    "objWhatChoose": choice(judge.choose),
    "actWhatAfterAll": lambda c: c.answer_of(judge.action_after),
    "actWhatBefore": lambda c: c.answer_of(judge.action_before),
    "objFirst": lambda c: c.answer_of(judge.first, c.relation),
    "objFirstChoose": choice(judge.either, 1),
    "objFirstVerify": verify(judge.first),
    "actFirst": lambda c: c.answer_of(judge.first_action),
    "objLast": lambda c: c.answer_of(judge.last, c.relation),
    "objLastChoose": choice(judge.either, -1),
    "objLastVerify": verify(judge.last),
    "actLast": lambda c: c.answer_of(judge.last_action),
    "actLengthLongerChoose": length(1, False),
    "actLengthShorterChoose": length(-1, False),
    "actLengthLongerVerify": length(1, True),
    "actLengthShorterVerify": length(-1, True),
    "actLongest": lambda c: names.answer(judge.extreme, c.video, 1),
    "actShortest": lambda c: names.answer(judge.extreme, c.video, -1),
    "actTime": order,
    "relTime": lambda c: names.answer(judge.one_side, c.video, seen(c.video, c.relation), c.deeds[0].action),
    "objTime": lambda c: names.answer(
        judge.one_side, c.video, seen(c.video, INTERACTING, c.named[0]), c.deeds[0].action
    ),
}
