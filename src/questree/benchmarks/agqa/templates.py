"""The templates of AGQA: each with its program, what may fill its slots, its rules in the order they are tried, its
wordings and what the paper prints about it."""

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any

from questree.benchmarks.agqa.frames import SHIPPED, Frame, shipped, split
from questree.benchmarks.agqa.frames import parse as parse_frames
from questree.domains.video import VIDEO
from questree.extensions import Registry
from questree.notation.own import parse
from questree.readings.categories import answer_type, categories, steps
from questree.terms import Categories, Node, fill, slots, walk
from questree.vocabulary.words import Lists

ALL, BEFORE, AFTER, WHILE, BETWEEN = TIMES = ("all", "before", "after", "while", "between")
DIRECT, FIRST, LAST, WHOLE = REFERENCES = ("direct", "first", "last", "whole")
LONGEST, SHORTEST, INDIRECT = "longest", "shortest", "indirect object"
ACTION_REFERENCES = (DIRECT, LONGEST, SHORTEST, INDIRECT)
CONTACT, SPATIAL, VERB = "contact", "spatial", "verb"

SIDES = {"object": 0, "first": 0, "a": 0, "second": 1, "b": 1}  # slot for an object or action -> where tables keep it

# rules about a relation, a relation and a reference, or a pair of references: they do not look at the time
NEVER_ASKED = "relation is never asked"
ONE_OBJECT = "relation has a single object"
BANNED_RELATION = "relation is banned here"
BANNED_OBJECT = "object is banned here"
SAME_RELATION = "reference uses the relation"
RARE = "pair is rare"
COMMON_SENSE = "pair is common sense"
TOUCHING = "touching asked of a contact"
ABOUT_OBJECT = "relation reference is about the object"
ALIKE = "objects are alike"
# rules about direct arguments and the time; those that look at the answer come last
TIME_OBJECT = "object of the time's action"
TIME_RELATION = "relation of the time's action"
TIME_SAYS = "the time's action says it"
NO_ANSWER = "no single answer"
UNASKABLE = "answer is never asked"
SIMILAR = "similar object in the video"
CONTACTS = "no touching, but contacts"
UNNAMED = "something unnamed may be it"
ENTERED = "object is entered elsewhere too"
TIME_ANSWER = "answer is in the time's action"
ABOUT_ANSWER = "relation reference is about the answer"
TIME_ACTION = "action of the time itself"
ONE_CHOICE = "only one object to choose from"
BOTH = "both options hold"
NOT_BOTH = "an option never holds"
UNDECIDED = "neither option decides"
VERB_GIVEN = "verb gives the answer away"
TRANSITION = "action is a transition"
SAME_ACTION = "same action twice"
# asked of every template: no rule of its own says so
UNSHOWN = "an action that is not shown may change it"
READINGS = "readings of a time differ"
STEPS = "more than 8 steps"

MOST_STEPS = 8  # since edition 2.0
# what a template may ban, with the words of a vocabulary it means: objects, relations, or verbs of the answer
BANS: dict[str, tuple[str, Callable[[Lists], tuple[str, ...]]]] = {
    "object existence": ("object", lambda lists: lists.object_existence_ban),
    "relation existence": ("relation", lambda lists: lists.relation_existence_ban + lists.obvious_relations),
    "relation time": ("relation", lambda lists: lists.relation_time_ban + lists.never_asked_relations),
    "obvious": ("relation", lambda lists: lists.obvious_relations),
    "taking": ("verb", lambda lists: lists.take_verbs),
    "putting": ("verb", lambda lists: lists.put_verbs[:1]),
}
PAIR = (ONE_OBJECT, RARE, COMMON_SENSE)


@dataclass(frozen=True)
class Template:
    name: str
    program: str  # our notation; slots are direct arguments and the window $time
    group: str  # exists, what, first, last, length, time: balancing works per group
    local: str  # balancing key, by the ids of the direct arguments
    rules: tuple[str, ...]  # in the order they are tried; a rejected candidate counts for the first that fails
    times: tuple[str, ...] = ()
    relations: tuple[str, ...] = ()  # groups a relation slot ranges over (those present in the video)
    every_relation: bool = False  # the relation slot ranges over all words of these groups, present or not
    objects: tuple[str, ...] = ()  # reference kinds of the object slots, in list order
    every_object: bool = False
    actions: tuple[str, ...] = ()  # reference kinds of the action slots
    every_action: bool = False  # the action slot ranges over actions that do not occur, too
    second_pass: bool = False  # also asked with actions whose object is a reference
    bans: tuple[str, ...] = ()  # of BANS: what the rules about banned words look up
    published: float | None = None  # questions in thousands before balancing: Table 14 of the paper (edition 1.0)
    wordings: tuple[str, ...] = ()  # frames as they are written

    def __getstate__(self) -> dict[str, Any]:
        """What was read off the program stays behind: operators do not travel between processes."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    @cached_property
    def node(self) -> Node:
        return parse(self.program, VIDEO)

    @cached_property
    def whole_video(self) -> Node:
        """The program over the whole video."""
        found = fill(self.node, {"time": VIDEO.ops["whole"]()})
        assert isinstance(found, Node)
        return found

    def banned(self, what: str, lists: Lists) -> tuple[str, ...]:
        """The words of a kind of ban."""
        return tuple(word for ban in self.bans if BANS[ban][0] == what for word in BANS[ban][1](lists))

    @cached_property
    def kinds(self) -> dict[str, str]:
        """The slots of the program, with the names of their kinds."""
        return {name: slot.kind.name for name, slot in slots(self.node).items()}

    @cached_property
    def operators(self) -> frozenset[str]:
        return frozenset(term.op.name for term in walk(self.node) if isinstance(term, Node))

    @cached_property
    def sides(self) -> dict[int, str]:
        """The slots for objects and actions, by where the tables keep them: 0 the first, 1 the second."""
        return dict(sorted((SIDES[slot], slot) for slot in self.kinds if slot in SIDES))

    @cached_property
    def paired(self) -> bool:
        """Are its two slots for objects or actions of one kind, so that their order does not matter?"""
        return not {"objects", "actions"}.isdisjoint(self.features)

    @cached_property
    def features(self) -> frozenset[str]:
        """What a rule may need: the slots there are, and what the answer is."""
        count = Counter(self.kinds.values())
        found = {"time" if kind == "window" else kind for kind in count}
        found |= {f"{kind}s" for kind in ("object", "action") if count[kind] == 2}
        kind = self.node.kind
        return frozenset({*found, "yes-or-no" if kind.yes else f"which-{kind.name}"})

    @cached_property
    def held_out(self) -> tuple[str, ...]:
        """Which held-out compositions its questions may contain besides those of references and time phrases: names of
        stages/generate/questions.py."""
        if any(name.endswith("_order") for name in self.operators):
            return ("actions in order",)
        found = ["actions by length"] if self.operators & {"longer", "longer_in", "longest"} else []
        if "relation" in self.features:
            asked = "pair asked" if "object" in self.features else "pair answered"
            found.append(asked if {"object", "which-object"} & self.features else "pairs seen")
        elif "object" in self.features:
            found.append("contacts seen")
        return (*found, *["relation first"] * bool(self.operators & {"first", "choose_first"}))

    @cached_property
    def frames(self) -> tuple[Frame, ...]:
        return tuple(Frame(text, split(text)) for text in self.wordings)

    @property
    def steps(self) -> int:
        return steps(self.whole_video)

    @property
    def categories(self) -> Categories:
        return categories(self.whole_video)

    @property
    def answer_type(self) -> str:
        return answer_type(self.whole_video)


OBJ4 = (DIRECT, FIRST, LAST, WHOLE)
ACT = (DIRECT, LONGEST, SHORTEST)
CVS, CV = (CONTACT, SPATIAL, VERB), (CONTACT, VERB)
T5 = (BEFORE, AFTER, WHILE, ALL, BETWEEN)
FIRSTS, LASTS = (AFTER, ALL, WHILE, BETWEEN), (BEFORE, ALL, WHILE, BETWEEN)

LOGIC = (NEVER_ASKED, *PAIR, SAME_RELATION, TOUCHING, ALIKE, TIME_OBJECT, UNNAMED, STEPS)
CHOICE = (NEVER_ASKED, *PAIR, SAME_RELATION, ALIKE, TIME_RELATION, TIME_OBJECT)
OPEN = (NEVER_ASKED, TIME_RELATION, NO_ANSWER, UNASKABLE, TIME_ANSWER)
VERIFY = (
    *(NEVER_ASKED, BANNED_RELATION, *PAIR, SAME_RELATION, TIME_RELATION, TIME_OBJECT),
    *(NO_ANSWER, ONE_CHOICE, UNNAMED, STEPS),
)


def superlatives(
    which: str, times: tuple[str, ...], other: str, published: tuple[float, float, float]
) -> Iterator[Template]:
    """Which object was first, or last: asked for, chosen, verified; objects may be named by the other superlative."""
    name, program = f"obj{which.capitalize()}", f"{which}($relation, $time)"
    ranges: dict[str, Any] = {"times": times, "relations": CVS}
    named = ranges | {"objects": (DIRECT, other)}
    yield Template(
        name,
        program,
        which,
        "{relation}",
        (NEVER_ASKED, ONE_OBJECT, *OPEN[1:], ONE_CHOICE, RARE, COMMON_SENSE, STEPS),
        **ranges,
        published=published[0],
    )
    yield Template(
        f"{name}Choose",
        f"choose_{which}($relation, $time, $first, $second)",
        which,
        "{relation}-{first}-{second}",
        (*CHOICE, NOT_BOTH, UNDECIDED, NO_ANSWER, STEPS),
        **named,
        second_pass=True,
        published=published[1],
    )
    yield Template(
        f"{name}Verify",
        f"equals($object, {program})",
        which,
        "{relation}-{object}",
        VERIFY,
        **named,
        bans=("obvious",),
        published=published[2],
    )


ASKED = (
    Template(
        "objExists",
        "within(interacting($object), $time)",
        "exists",
        "{object}",
        (BANNED_OBJECT, TIME_OBJECT, SIMILAR, UNNAMED, STEPS),
        times=T5,
        every_object=True,
        bans=("object existence",),
        published=23160.0,  # Table 14 prints 2316.0, but Tables 10, 12 and 13 add up to this
    ),
    Template(
        "objRelExists",
        "within(interaction($relation, $object), $time)",
        "exists",
        "{relation}-{object}",
        (NEVER_ASKED, *PAIR, SAME_RELATION, TOUCHING, TIME_OBJECT, UNNAMED, STEPS),
        times=T5,
        relations=CV,
        objects=OBJ4,
        published=14297.9,
    ),
    Template(
        "relExists",
        "within(doing($relation), $time)",
        "exists",
        "{relation}",
        (NEVER_ASKED, ONE_OBJECT, BANNED_RELATION, TIME_RELATION, CONTACTS, STEPS),
        times=T5,
        relations=CV,
        every_relation=True,
        bans=("relation existence",),
        published=20465.7,
    ),
    *(
        Template(
            f"{word}ObjRelExists",
            f"{op}(within(interaction($relation, $first), $time), within(interaction($relation, $second), $time))",
            "exists",
            f"{word}-{{relation}}-{{first}}-{{second}}",
            LOGIC,
            times=T5,
            relations=CV,
            objects=OBJ4,
            published=26010.4,
        )
        for word, op in (("and", "both"), ("xor", "but_not"))
    ),
    Template(
        "objWhatGeneral",
        "only(annotated($time))",
        "what",
        "object",
        (NO_ANSWER, UNASKABLE, TIME_ANSWER, STEPS),
        times=T5,
        published=34.2,
    ),
    Template(
        "objWhat",
        "only(objects($relation, $time))",
        "what",
        "{relation}",
        (*OPEN, STEPS),
        times=T5,
        relations=CVS,
        published=1796.6,
    ),
    Template(
        "objWhatChoose",
        "choose($relation, $time, $first, $second)",
        "what",
        "{relation}-{first}-{second}",
        (*CHOICE, BOTH, NO_ANSWER, UNNAMED, STEPS),
        times=T5,
        relations=CVS,
        objects=(DIRECT, LAST),
        published=4254.1,
    ),
    Template(
        "actWhatAfterAll",
        "action_after($time)",
        "what",
        "{time}",
        (NO_ANSWER, TIME_ANSWER, STEPS),
        times=(AFTER, ALL),
        published=4.1,
    ),
    Template(
        "actWhatBefore",
        "action_before($time)",
        "what",
        "{time}",
        (NO_ANSWER, TIME_ANSWER, STEPS),
        times=(BEFORE,),
        published=1.4,
    ),
    *superlatives(FIRST, FIRSTS, LAST, (146.2, 992.5, 1213.4)),
    Template(
        "actFirst",
        "first_action($time)",
        "first",
        "{time}",
        (NO_ANSWER, ONE_CHOICE, TIME_ANSWER, VERB_GIVEN, STEPS),
        times=(AFTER, ALL),
        bans=("taking",),
        published=5.3,
    ),
    *superlatives(LAST, LASTS, FIRST, (246.5, 929.8, 5339.0)),
    Template(
        "actLast",
        "last_action($time)",
        "last",
        "action",
        (NO_ANSWER, ONE_CHOICE, VERB_GIVEN, STEPS),
        times=(BEFORE, ALL),
        bans=("putting",),
        published=1.3,
    ),
    *(
        Template(
            f"actLength{word.capitalize()}{form}",
            program,
            "length",
            f"{word}-{{a}}-{{b}}",
            (TRANSITION, NO_ANSWER, STEPS),
            actions=(DIRECT,),
            published=39.3,
        )
        for form, pattern in (("Choose", "{word}($a, $b)"), ("Verify", "same_action($a, {word}($a, $b))"))
        for word in ("longer", "shorter")
        for program in (pattern.format(word=word),)
    ),
    Template("actLongest", "longest()", "length", "longest", (NO_ANSWER, TRANSITION), published=2.3),
    Template("actShortest", "shortest()", "length", "shortest", (NO_ANSWER, TRANSITION), published=0.5),
    Template(
        "actTime",
        "action_order($a, $b)",
        "time",
        "{a}-{b}",
        (SAME_ACTION, NO_ANSWER, STEPS),
        actions=ACT,
        second_pass=True,
        published=921.9,
    ),
    Template(
        "relTime",
        "relation_order($relation, $b)",
        "time",
        "{relation}-{b}",
        (BANNED_RELATION, TIME_RELATION, NO_ANSWER, STEPS),
        relations=CV,
        actions=ACT,
        second_pass=True,
        bans=("relation time",),
        published=391.8,
    ),
    Template(
        "objTime",
        "object_order($object, $b)",
        "time",
        "{object}-{b}",
        (BANNED_OBJECT, TIME_OBJECT, NO_ANSWER, UNNAMED, STEPS),
        objects=OBJ4,
        actions=ACT,
        bans=("object existence",),
        published=6.4,
    ),
)
ASKED_FIRST = Template(  # in edition 1.0 only
    "actExists",
    "within(happening($a), $time)",
    "exists",
    "{a}",
    (TIME_ACTION, STEPS),
    times=T5,
    every_action=True,
    published=66541.1,
)


def said(templates: tuple[Template, ...], edition: str) -> tuple[Template, ...]:
    """The templates with the shipped frames in the words of an edition."""
    texts = parse_frames(shipped(), SHIPPED, {t.name: t.kinds for t in templates}, edition)
    return tuple(replace(template, wordings=texts[template.name]) for template in templates)


*_asked, ACT_EXISTS = said((*ASKED, ASKED_FIRST), "2.0")
TEMPLATES = tuple(_asked)
ADDED: Registry[Template] = Registry("template")  # those of plugins
BY_NAME = {template.name: template for template in TEMPLATES}
