"""The templates of AGQA: each with its program, what may fill its slots, and its rules in the order they are tried."""

from dataclasses import dataclass
from functools import cached_property

from questree.domains.video import VIDEO
from questree.notation.own import parse
from questree.program import Categories, Node, fill
from questree.readings.categories import answer_type, categories
from questree.readings.steps import steps

ALL, BEFORE, AFTER, WHILE, BETWEEN = TIMES = ("all", "before", "after", "while", "between")
DIRECT, FIRST, LAST, WHOLE = REFERENCES = ("direct", "first", "last", "whole")
LONGEST, SHORTEST, INDIRECT = "longest", "shortest", "indirect object"
ACTION_REFERENCES = (DIRECT, LONGEST, SHORTEST, INDIRECT)
CONTACT, SPATIAL, VERB = "contact", "spatial", "verb"

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
NO_ANSWER = "no single answer"
UNASKABLE = "answer is never asked"
SIMILAR = "similar object in the video"
CONTACTS = "no touching, but contacts"
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
STEPS = "more than 8 steps"

MOST_STEPS = 8  # since edition 2.0
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

    @cached_property
    def node(self) -> Node:
        return parse(self.program, VIDEO)

    @cached_property
    def whole_video(self) -> Node:
        """The program over the whole video."""
        found = fill(self.node, {"time": VIDEO.ops["whole"]()})
        assert isinstance(found, Node)
        return found

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

LOGIC = (NEVER_ASKED, *PAIR, SAME_RELATION, TOUCHING, ALIKE, TIME_OBJECT, STEPS)
CHOICE = (NEVER_ASKED, *PAIR, SAME_RELATION, ALIKE, TIME_RELATION, TIME_OBJECT)
OPEN = (NEVER_ASKED, TIME_RELATION, NO_ANSWER, UNASKABLE, TIME_ANSWER)
VERIFY = (NEVER_ASKED, BANNED_RELATION, *PAIR, SAME_RELATION, TIME_RELATION, TIME_OBJECT, NO_ANSWER, ONE_CHOICE, STEPS)

TEMPLATES = (
    Template(
        "objExists",
        "within(interacting($object), $time)",
        "exists",
        "{object}",
        (BANNED_OBJECT, TIME_OBJECT, SIMILAR, STEPS),
        times=T5,
        every_object=True,
    ),
    Template(
        "objRelExists",
        "within(interaction($relation, $object), $time)",
        "exists",
        "{relation}-{object}",
        (NEVER_ASKED, *PAIR, SAME_RELATION, TOUCHING, TIME_OBJECT, STEPS),
        times=T5,
        relations=CV,
        objects=OBJ4,
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
    ),
    Template(
        "andObjRelExists",
        "both(within(interaction($relation, $first), $time), within(interaction($relation, $second), $time))",
        "exists",
        "and-{relation}-{first}-{second}",
        LOGIC,
        times=T5,
        relations=CV,
        objects=OBJ4,
    ),
    Template(
        "xorObjRelExists",
        "but_not(within(interaction($relation, $first), $time), within(interaction($relation, $second), $time))",
        "exists",
        "xor-{relation}-{first}-{second}",
        LOGIC,
        times=T5,
        relations=CV,
        objects=OBJ4,
    ),
    Template(
        "objWhatGeneral",
        "only(annotated($time))",
        "what",
        "object",
        (NO_ANSWER, UNASKABLE, TIME_ANSWER, STEPS),
        times=T5,
    ),
    Template(
        "objWhat",
        "only(objects($relation, $time))",
        "what",
        "{relation}",
        (*OPEN, STEPS),
        times=T5,
        relations=CVS,
    ),
    Template(
        "objWhatChoose",
        "choose($relation, $time, $first, $second)",
        "what",
        "{relation}-{first}-{second}",
        (*CHOICE, BOTH, NO_ANSWER, STEPS),
        times=T5,
        relations=CVS,
        objects=(DIRECT, LAST),
    ),
    Template(
        "actWhatAfterAll",
        "action_after($time)",
        "what",
        "{time}",
        (NO_ANSWER, TIME_ANSWER, STEPS),
        times=(AFTER, ALL),
    ),
    Template(
        "actWhatBefore",
        "action_before($time)",
        "what",
        "{time}",
        (NO_ANSWER, TIME_ANSWER, STEPS),
        times=(BEFORE,),
    ),
    Template(
        "objFirst",
        "first($relation, $time)",
        "first",
        "{relation}",
        (NEVER_ASKED, ONE_OBJECT, *OPEN[1:], ONE_CHOICE, RARE, COMMON_SENSE, STEPS),
        times=FIRSTS,
        relations=CVS,
    ),
    Template(
        "objFirstChoose",
        "choose_first($relation, $time, $first, $second)",
        "first",
        "{relation}-{first}-{second}",
        (*CHOICE, NOT_BOTH, UNDECIDED, NO_ANSWER, STEPS),
        times=FIRSTS,
        relations=CVS,
        objects=(DIRECT, LAST),
        second_pass=True,
    ),
    Template(
        "objFirstVerify",
        "equals($object, first($relation, $time))",
        "first",
        "{relation}-{object}",
        VERIFY,
        times=FIRSTS,
        relations=CVS,
        objects=(DIRECT, LAST),
    ),
    Template(
        "actFirst",
        "first_action($time)",
        "first",
        "{time}",
        (NO_ANSWER, ONE_CHOICE, VERB_GIVEN, STEPS),
        times=(AFTER, ALL),
    ),
    Template(
        "objLast",
        "last($relation, $time)",
        "last",
        "{relation}",
        (NEVER_ASKED, ONE_OBJECT, *OPEN[1:], ONE_CHOICE, RARE, COMMON_SENSE, STEPS),
        times=LASTS,
        relations=CVS,
    ),
    Template(
        "objLastChoose",
        "choose_last($relation, $time, $first, $second)",
        "last",
        "{relation}-{first}-{second}",
        (*CHOICE, NOT_BOTH, UNDECIDED, NO_ANSWER, STEPS),
        times=LASTS,
        relations=CVS,
        objects=(DIRECT, FIRST),
        second_pass=True,
    ),
    Template(
        "objLastVerify",
        "equals($object, last($relation, $time))",
        "last",
        "{relation}-{object}",
        VERIFY,
        times=LASTS,
        relations=CVS,
        objects=(DIRECT, FIRST),
    ),
    Template(
        "actLast",
        "last_action($time)",
        "last",
        "action",
        (NO_ANSWER, ONE_CHOICE, VERB_GIVEN, STEPS),
        times=(BEFORE, ALL),
    ),
    *(
        Template(
            f"actLength{word.capitalize()}{form}",
            program,
            "length",
            f"{word}-{{a}}-{{b}}",
            (TRANSITION, NO_ANSWER, STEPS),
            actions=(DIRECT,),
        )
        for form, pattern in (("Choose", "{word}($a, $b)"), ("Verify", "same_action($a, {word}($a, $b))"))
        for word in ("longer", "shorter")
        for program in (pattern.format(word=word),)
    ),
    Template("actLongest", "longest()", "length", "longest", (NO_ANSWER, TRANSITION)),
    Template("actShortest", "shortest()", "length", "shortest", (NO_ANSWER, TRANSITION)),
    Template(
        "actTime",
        "action_order($a, $b)",
        "time",
        "{a}-{b}",
        (SAME_ACTION, NO_ANSWER, STEPS),
        actions=ACT,
        second_pass=True,
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
    ),
    Template(
        "objTime",
        "object_order($object, $b)",
        "time",
        "{object}-{b}",
        (BANNED_OBJECT, TIME_OBJECT, NO_ANSWER, STEPS),
        objects=OBJ4,
        actions=ACT,
    ),
)
ACT_EXISTS = Template(  # asked in edition 1.0 only
    "actExists",
    "within(happening($a), $time)",
    "exists",
    "{a}",
    (TIME_ACTION, STEPS),
    times=T5,
    every_action=True,
)
BY_NAME = {template.name: template for template in TEMPLATES}
CODES = {name: code for code, name in enumerate((*BY_NAME, ACT_EXISTS.name))}  # the same in every edition
