"""The naive generator: every question of a video by loops over all candidates, from the description of AGQA (3.0-3.6).

Numbers in brackets are its sections. Answers are the judge's. Of the templates under test only the rules' names and the
order in which they are tried are used.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations
from typing import NamedTuple

from judges import naive_references as names
from judges.facts import ACTIONS, RELATIONS, Video, folded, named
from judges.naive_answers import Candidate, Scene
from judges.naive_between_frames import may_change
from judges.naive_references import (
    AFTER,
    ALL,
    BEFORE,
    BETWEEN,
    DIRECT,
    FIRST,
    INDIRECT,
    LAST,
    WHILE,
    WHOLE,
    Deed,
    Thing,
    Time,
)
from judges.naive_rules import RULES, flags
from questree.benchmarks.agqa import templates as t
from questree.benchmarks.agqa.editions import EDITIONS

OBJ4, CV, CVS = (DIRECT, FIRST, LAST, WHOLE), ("contact", "verb"), ("contact", "spatial", "verb")
T5, FIRSTS, LASTS = (BEFORE, AFTER, WHILE, ALL, BETWEEN), (AFTER, ALL, WHILE, BETWEEN), (BEFORE, ALL, WHILE, BETWEEN)


class Shape(NamedTuple):
    """What fills a template (3.1): reference kinds of its object slots, relation groups, times, actions."""

    steps: int
    relations: tuple[str, ...] = ()
    objects: tuple[str, ...] = ()
    slots: int = 0  # for objects
    times: tuple[str, ...] = ()
    actions: int = 0
    any_action: bool = False  # longest, shortest and (second pass) indirect ones too
    second_pass: bool = False


SHAPES = {
    "objExists": Shape(1, slots=1, times=T5),
    "objRelExists": Shape(1, CV, OBJ4, 1, T5),
    "relExists": Shape(1, CV, times=T5),
    "actExists": Shape(1, times=T5, actions=1),  # edition 1.0 only
    "andObjRelExists": Shape(3, CV, OBJ4, 2, T5),
    "xorObjRelExists": Shape(3, CV, OBJ4, 2, T5),
    "objWhatGeneral": Shape(1, times=T5),
    "objWhat": Shape(2, CVS, times=T5),
    "objWhatChoose": Shape(3, CVS, (DIRECT, LAST), 2, T5),
    "actWhatAfterAll": Shape(1, times=(AFTER, ALL)),
    "actWhatBefore": Shape(1, times=(BEFORE,)),
    "objFirst": Shape(2, CVS, times=FIRSTS),
    "objFirstChoose": Shape(3, CVS, (DIRECT, LAST), 2, FIRSTS, second_pass=True),
    "objFirstVerify": Shape(3, CVS, (DIRECT, LAST), 1, FIRSTS),
    "actFirst": Shape(1, times=(AFTER, ALL)),
    "objLast": Shape(2, CVS, times=LASTS),
    "objLastChoose": Shape(3, CVS, (DIRECT, FIRST), 2, LASTS, second_pass=True),
    "objLastVerify": Shape(3, CVS, (DIRECT, FIRST), 1, LASTS),
    "actLast": Shape(1, times=(BEFORE, ALL)),
    "actLengthLongerChoose": Shape(5, actions=2),
    "actLengthShorterChoose": Shape(5, actions=2),
    "actLengthLongerVerify": Shape(5, actions=2),
    "actLengthShorterVerify": Shape(5, actions=2),
    "actLongest": Shape(2),
    "actShortest": Shape(2),
    "actTime": Shape(5, actions=2, any_action=True, second_pass=True),
    "relTime": Shape(5, CV, actions=1, any_action=True, second_pass=True),
    "objTime": Shape(5, (), OBJ4, 1, actions=1, any_action=True),
}


def shape_of(template: str, edition: str) -> Shape:
    """Edition 1.0 asks whether a thing was behind them, too (Figure 3), and of lengths in any time (Figure 7c)."""
    shape = SHAPES[template]
    if edition == "2.0":
        return shape
    shape = shape._replace(relations=CVS) if template == "objRelExists" else shape
    return shape._replace(times=T5) if template in LENGTHS else shape


LENGTHS = ("actLengthLongerChoose", "actLengthShorterChoose", "actLengthLongerVerify", "actLengthShorterVerify")


def most_steps(template: str) -> int:
    """The most steps a question can take: an indirect name everywhere, in a between if there is one."""
    shape = SHAPES[template]
    time = 0 if not shape.times else 5 if BETWEEN in shape.times else 3
    return shape.steps + time + shape.slots * (len(shape.objects) > 1) + shape.actions * shape.any_action


VALID_PAIR = {t.ONE_OBJECT, t.RARE, t.COMMON_SENSE, t.SAME_RELATION}
LOGIC = {t.NEVER_ASKED, *VALID_PAIR, t.TOUCHING, t.TIME_OBJECT, t.ALIKE, t.UNNAMED}
CHOICE = {t.NO_ANSWER, t.NEVER_ASKED, *VALID_PAIR, t.ALIKE, t.TIME_RELATION, t.TIME_OBJECT}
OPEN = {t.NO_ANSWER, t.UNASKABLE, t.NEVER_ASKED, t.TIME_ANSWER, t.TIME_RELATION}
END = OPEN | {t.ONE_CHOICE, *VALID_PAIR} - {t.SAME_RELATION}
VERIFY = {t.NO_ANSWER, t.NEVER_ASKED, *VALID_PAIR, t.BANNED_RELATION, t.TIME_RELATION, t.TIME_OBJECT, t.ONE_CHOICE}
VERIFY |= {t.UNNAMED}
LENGTH = {t.NO_ANSWER, t.TRANSITION}
RULES_OF: dict[str, set[str]] = {  # 3.6
    "objExists": {t.TIME_OBJECT, t.BANNED_OBJECT, t.SIMILAR, t.UNNAMED},
    "objRelExists": {t.NEVER_ASKED, *VALID_PAIR, t.TOUCHING, t.TIME_OBJECT, t.UNNAMED},
    "relExists": {t.BANNED_RELATION, t.NEVER_ASKED, t.ONE_OBJECT, t.TIME_RELATION, t.CONTACTS},
    "actExists": {t.TIME_ACTION},
    "andObjRelExists": LOGIC,
    "xorObjRelExists": LOGIC,
    "objWhatGeneral": {t.NO_ANSWER, t.UNASKABLE, t.TIME_ANSWER},
    "objWhat": OPEN,
    "objWhatChoose": CHOICE | {t.BOTH, t.UNNAMED},
    "actWhatAfterAll": {t.NO_ANSWER, t.TIME_ANSWER},
    "actWhatBefore": {t.NO_ANSWER, t.TIME_ANSWER},
    "objFirst": END,
    "objFirstChoose": CHOICE | {t.NOT_BOTH, t.UNDECIDED},
    "objFirstVerify": VERIFY,
    "actFirst": {t.NO_ANSWER, t.ONE_CHOICE, t.TIME_ANSWER, t.VERB_GIVEN},
    "objLast": END,
    "objLastChoose": CHOICE | {t.NOT_BOTH, t.UNDECIDED},
    "objLastVerify": VERIFY,
    "actLast": {t.NO_ANSWER, t.ONE_CHOICE, t.VERB_GIVEN},
    "actLengthLongerChoose": LENGTH,
    "actLengthShorterChoose": LENGTH,
    "actLengthLongerVerify": LENGTH,
    "actLengthShorterVerify": LENGTH,
    "actLongest": LENGTH,
    "actShortest": LENGTH,
    "actTime": {t.SAME_ACTION, t.NO_ANSWER},
    "relTime": {t.NO_ANSWER, t.TIME_RELATION, t.BANNED_RELATION},
    "objTime": {t.NO_ANSWER, t.TIME_OBJECT, t.BANNED_OBJECT, t.UNNAMED},
}
TEMPLATES = {"2.0": [name for name in SHAPES if name != "actExists"], "1.0": list(SHAPES)}


def rules_of(template: str, edition: str) -> set[str]:
    """In edition 1.0 a first or last choice need not be decided by the real first or last object (0.1.11), an object is
    verified to be first or last of a single one, too (12.8), and a relation reference is not about the object asked,
    nor about the answer (3.6); when an object was touched is asked of any (12.9), where its entries agree. A pair or a
    choice may have an object of the time's action (Figure 7b: "Before opening a box, were they holding a box?")."""
    if edition == "2.0":
        return RULES_OF[template]
    shape, own = SHAPES[template], RULES_OF[template] - {t.UNDECIDED}
    own = own - {t.BANNED_OBJECT} | {t.ENTERED} if template == "objTime" else own
    own = own | {t.TIME_ACTION} if template in LENGTHS else own
    says = template == "objRelExists" or (shape.relations and template.endswith("Choose"))
    own = own - {t.TIME_OBJECT} | {t.TIME_SAYS} if says else own
    own -= {t.ONE_CHOICE} if template.endswith("Verify") else set()
    if not shape.relations or template in ("relExists", "relTime"):
        return own
    return own | {t.ABOUT_OBJECT if shape.slots else t.ABOUT_ANSWER}


EVERY_OBJECT = [f"o{number}" for number in range(1, 37)]
VERBS_WITH_OBJECT = {folded(action.verb) for action in ACTIONS.values() if action.object}
EVERY_ACTION = [action for action, word in ACTIONS.items() if not word.merged]
EVERY_RELATION = [r for r, word in RELATIONS.items() if word.group == "contact" or r in VERBS_WITH_OBJECT]


class Question(NamedTuple):
    """What is compared."""

    template: str
    relation: str
    things: tuple[Thing, ...]
    deeds: tuple[Deed, ...]
    time: Time
    answer: str
    steps: int
    flags: tuple[str, ...]
    effect: str = ""
    done_to: str = ""  # the object its relation is named by

    @property
    def direct(self) -> tuple[str, ...]:
        """Template and direct arguments in slot order (9.1)."""
        return (self.template, self.relation, *(t.object for t in self.things), *(d.action for d in self.deeds))


def pair_counts(videos: list[Video]) -> Counter[tuple[str, str]]:
    """On how many frames of the corpus a (relation, object) is seen."""
    return Counter(fact for video in videos for facts in video.facts for fact in facts)


def generate(
    videos: list[Video], rare_below: int, edition: str = "2.0"
) -> tuple[list[Counter[Question]], Counter[tuple[str, str]]]:
    """The questions of every video, and how many candidates each (template, rule) rejected."""
    counts = pair_counts(videos)
    rejected: Counter[tuple[str, str]] = Counter()
    scenes = [Scene(video, counts, rare_below, edition) for video in videos]
    return [Counter(ask(scene, rejected)) for scene in scenes], rejected


def ask(scene: Scene, rejected: Counter[tuple[str, str]]) -> list[Question]:
    """All questions of a video; a candidate is rejected by the first rule it fails."""
    found: list[Question] = []
    own = {template.name: template for template in EDITIONS[scene.edition].templates}
    for template in TEMPLATES[scene.edition] if scene.video.frames else ():
        tried = sorted(rules_of(template, scene.edition), key=own[template].rules.index)
        for candidate in candidates(template, scene):
            failed = first_failed(candidate, tried)
            failed = failed or (t.UNSHOWN if may_change(candidate) else None)
            failed = failed or (t.READINGS if readings_differ(candidate, tried) else None)
            failed = failed or first_failed(candidate, [t.STEPS])
            if failed:
                rejected[template, failed] += 1
            else:
                found.append(question(candidate))
    return effects(found)


def first_failed(candidate: Candidate, rules: list[str]) -> str | None:
    return next((rule for rule in rules if RULES[rule](candidate)), None)


def readings_differ(candidate: Candidate, rules: list[str]) -> bool:
    """Is there another way to read its time in which it would not be asked, or have another answer? Or its length?"""
    sign = {"actLongest": 1, "actShortest": -1}.get(candidate.template)
    if sign and not names.clear_length(candidate.video, sign):
        return True
    times = names.readings(candidate.video, candidate.time)
    others = [replace(candidate, time=time) for time in times]
    return any(other.answer != candidate.answer or first_failed(other, rules) or may_change(other) for other in others)


def question(candidate: Candidate) -> Question:
    c, answer = candidate, candidate.answer
    assert answer
    slots = (c.relation, c.things, c.deeds, c.time)
    return Question(c.template, *slots, answer, c.steps, flags(c), done_to=c.done_to)


def candidates(template: str, scene: Scene) -> Iterator[Candidate]:
    """The full product of the slots (3.0); the second pass has only what contains an indirect object of an action. In
    edition 1.0 these stand wherever actions are named: so the printed questions of Figures 6 and 7."""
    shape = shape_of(template, scene.edition)
    for second_pass in (False, True)[: 1 + (shape.second_pass and scene.edition == "2.0")]:
        times = [t for t in scene.times[second_pass] if t.kind in shape.times] if shape.times else [names.WHOLE_VIDEO]
        for relation, done_to in relations(template, scene):
            for things in object_slots(template, scene):
                for deeds in action_slots(template, scene, second_pass):
                    for time in times:
                        yield Candidate(template, shape.steps, scene, relation, things, deeds, time, done_to)


def relations(template: str, scene: Scene) -> list[tuple[str, str]]:
    """Each with the object it is named by, if any."""
    if template == "relExists":
        return [(relation, "") for relation in EVERY_RELATION]
    groups = shape_of(template, scene.edition).relations
    direct = [(relation, "") for relation in names.relations(scene.video, groups)]
    return [*direct, *scene.done_to] if groups else [("", "")]


def object_slots(template: str, scene: Scene) -> list[tuple[Thing, ...]]:
    """Every choice of as many names as there are slots, each unordered pair once, in list order."""
    if template == "objExists":
        return [(Thing(DIRECT, thing),) for thing in EVERY_OBJECT]
    shape = SHAPES[template]
    return list(combinations([thing for thing in scene.things if thing.kind in shape.objects], shape.slots))


def action_slots(template: str, scene: Scene, second_pass: bool) -> list[tuple[Deed, ...]]:
    shape = SHAPES[template]
    if not shape.actions:
        return [()]
    if template == "actExists":
        return [(Deed(DIRECT, action),) for action in EVERY_ACTION if alike(action, scene.video)]
    direct = [deed for deed in scene.deeds if deed.kind == DIRECT]
    if second_pass:
        found = combinations(direct + scene.indirect, shape.actions)
        return [deeds for deeds in found if any(deed.kind == INDIRECT for deed in deeds)]
    return list(combinations(scene.deeds if shape.any_action else direct, shape.actions))


def alike(action: str, video: Video) -> bool:
    """Does the video share its verb or its object (3.1)? What is done in the video does."""
    verbs = {folded(ACTIONS[i.action].verb) for i in video.instances}
    objects = {thing for i in video.instances if (thing := named(i.action))}
    return folded(ACTIONS[action].verb) in verbs or named(action) in objects


def effects(questions: list[Question]) -> list[Question]:
    """What the time phrase does to the answer, against the first question of the same arguments without one (9.1)."""
    plain: dict[tuple[str, ...], str] = {}
    for q in questions:
        if q.time.kind == ALL:
            plain.setdefault(q.direct, q.answer)

    def effect(q: Question) -> str:
        if q.time.kind == ALL:
            return "no_temporal"
        if q.direct not in plain:
            return "no_direct"
        return "same_ans" if plain[q.direct] == q.answer else "diff_ans"

    return [q._replace(effect=effect(q)) for q in questions]
