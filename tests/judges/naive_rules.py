"""The rules a candidate question may fail and its flags, from the description of AGQA.

Numbers in brackets are its sections. Nothing here looks at the generator; the rules' names are those of the templates.
"""

from collections.abc import Callable

from judges import naive_references as names
from judges import operators as judge
from judges.facts import ACTIONS, INTERACTING, OTHER, RELATIONS, UNNAMED, is_contact, pair
from judges.naive_answers import Candidate, Pair
from judges.naive_references import ALL, BEFORE, BETWEEN, FIRST, INDIRECT, LONGEST, WHILE
from judges.naive_rules_alone import entailed
from questree.benchmarks.agqa import templates as t

# Special lists (1.4): floor, doorknob, clothes, shoe, hair; similar and forbidden objects; bans

COMMON_SENSE = {("o16", r) for r in ("r21", "r22", "r7", "r6", "r5", "r4")} | {
    ("o14", "v007"),
    *((o, "r22") for o in ("o10", "o30", "h1")),
    *((o, "r24") for o in ("o10", "o30")),
}
SIMILAR = (
    {"o3", "o8", "o31"},
    {"o4", "o10", "o34"},
    {"o5", "o23", "o25"},
    {"o9", "o13", "o27"},
    {"o11", "o12"},
    {"o17", "o18", "o21", "o28"},
    {"o29", "o32"},
)
FORBIDDEN = ({"o17", "o28"}, {"o13", "o15"}, {"o11", "o12"})
BANNED_OBJECTS = {"1.0": {"o10", "o30", "o20", "o16", "o1"}}
BANNED_OBJECTS["2.0"] = BANNED_OBJECTS["1.0"] | {"o15"}  # doorway (0.1.2)
DRESSED = {"r24", "r21"}  # wearing, standing on
BANNED_RELATIONS = {
    "relExists": {"r18", "r2", "v030", "v006", "v009", "v017", "r20", "v019", "v020", "v022"}
    | DRESSED
    | names.ONE_OBJECT,
    "relTime": {"r18", "v016", "r20", "v030", "v006", "v000", "v017", "v019", "v020", "v022", "r13", "v009"}
    | names.NEVER_ASKED,
    "objFirstVerify": DRESSED,
    "objLastVerify": DRESSED,
}
TAKING, PUTTING, TOUCHING = "v023", "v016", "r22"
TRANSITIONS = {"2.0": {"v023", "v016", "v025", "v001", "v012"}, "1.0": {"v023", "v016", "v025", "v001"}}
GRAB_A_PICTURE = "c083"


# Rules (3.6)


def asked_pairs(c: Candidate) -> list[Pair]:
    """(relation, object) for "valid pair": of the slots, or of an open question's answer."""
    return [(c.relation, thing) for thing in (c.named or [c.answer or ""])]


def time_says(c: Candidate) -> bool:
    """Does an action that its frames show say the relation of an object asked about, or entail it?"""
    if c.time.kind not in (BEFORE, WHILE):
        return False
    (verb, about), *_ = c.time_pairs
    return about in c.named and c.relation in entailed(verb)


def similar(c: Candidate) -> bool:
    family: set[str] = next((f for f in SIMILAR if c.named[0] in f), set())
    return c.answer == "no" and bool((family - {c.named[0]}) & c.scene.present)


def one_choice(c: Candidate) -> bool:
    """Not more than one object of the relation in the window; of actions, not more than one candidate (6.2)."""
    if c.relation:
        return len(c.objects) <= 1
    if c.template == "actFirst":
        return sum(end > c.window.since for _, _, end in c.video.done) <= 1
    return sum(end <= c.window.until for _, _, end in c.video.done) <= 1


def transition(c: Candidate) -> bool:
    deeds = [deed.action for deed in c.deeds] or [c.answer or ""]
    return any(ACTIONS[deed].verb in TRANSITIONS[c.scene.edition] or deed == GRAB_A_PICTURE for deed in deeds)


def decided(c: Candidate) -> bool:
    """Is the window's first (or last) object one of the options?"""
    return c.answer_of(judge.first if c.template == "objFirstChoose" else judge.last, c.relation) in c.named


def unsure(c: Candidate) -> bool:
    """Something unnamed has the relation and may be what is asked about: what is not known to hold may hold."""
    if c.template in ("objExists", "objTime"):
        return OTHER in c.objects_of(INTERACTING) and c.answer != "yes"
    if c.template in ("objFirstVerify", "objLastVerify"):
        return c.answer_of(judge.first if c.template == "objFirstVerify" else judge.last, c.relation) in (
            UNNAMED,
            OTHER,
        )
    return bool({UNNAMED, OTHER} & c.objects) and not set(c.named) <= c.objects


def entered_elsewhere(c: Candidate) -> bool:
    """By the printed program (3.3) the answer is where the object is among a frame's objects, which keep a flag whether
    they are visible (2.1): is it there during the action or on its other side?"""
    frames = next(done.frames for done in c.video.instances if done.action == c.deeds[0].action)
    entries = c.video.entries.get(c.named[0], set())
    return any(at >= frames.start if c.answer == "before" else at < frames.stop for at in entries)


RULES: dict[str, Callable[[Candidate], bool]] = {
    t.NEVER_ASKED: lambda c: c.relation in names.NEVER_ASKED,
    t.ONE_OBJECT: lambda c: c.relation in names.ONE_OBJECT,
    t.BANNED_RELATION: lambda c: c.relation in BANNED_RELATIONS[c.template],
    t.BANNED_OBJECT: lambda c: c.named[0] in BANNED_OBJECTS[c.scene.edition],
    t.SAME_RELATION: lambda c: any(thing.relation == c.relation for thing in c.things),
    t.RARE: lambda c: any(c.scene.counts[asked] < c.scene.rare_below for asked in asked_pairs(c)),
    t.COMMON_SENSE: lambda c: any((thing, relation) in COMMON_SENSE for relation, thing in asked_pairs(c)),
    t.TOUCHING: lambda c: (
        c.relation == TOUCHING
        and any(thing.relation and RELATIONS[thing.relation].group == "contact" for thing in c.things)
    ),
    t.ABOUT_OBJECT: lambda c: c.done_to in c.named,
    t.ABOUT_ANSWER: lambda c: c.done_to == c.answer,
    t.ALIKE: lambda c: c.named[0] == c.named[1] or set(c.named) in FORBIDDEN,
    t.TIME_OBJECT: lambda c: any(thing in c.named for _, thing in c.time_pairs),
    t.TIME_SAYS: time_says,
    t.TIME_RELATION: lambda c: any(verb == c.relation for verb, _ in c.time_pairs),
    t.NO_ANSWER: lambda c: c.answer is None,
    t.UNASKABLE: lambda c: c.answer in names.NEVER_SLOT,
    t.SIMILAR: similar,
    t.UNNAMED: unsure,
    t.ENTERED: entered_elsewhere,
    t.CONTACTS: lambda c: c.relation == TOUCHING and c.answer == "no" and bool(c.objects_of(INTERACTING)),
    t.TIME_ANSWER: lambda c: c.answer in c.localisers or any(thing == c.answer for _, thing in c.time_pairs),
    t.TIME_ACTION: lambda c: any(deed.action in c.localisers for deed in c.deeds),
    t.ONE_CHOICE: one_choice,
    t.BOTH: lambda c: set(c.named) <= c.objects,
    t.NOT_BOTH: lambda c: not set(c.named) <= c.objects,
    t.UNDECIDED: lambda c: not decided(c),
    t.VERB_GIVEN: lambda c: ACTIONS[c.answer or ""].verb == (TAKING if c.template == "actFirst" else PUTTING),
    t.TRANSITION: transition,
    t.SAME_ACTION: lambda c: c.deeds[0].action == c.deeds[1].action,
    t.STEPS: lambda c: c.steps >= 9 and c.scene.edition == "2.0",  # 0.1.7
}


# Flags (8, 3.5, 10)

HELD_OUT_ACTIONS = {"c154", "c097", "c016", "c048", "c141", "c101"}
HELD_OUT_FIRSTS = {"r7", "r9", "r16", "r10", "r8", "r15"}
HELD_OUT_PAIRS = {
    ("r25", "o32"),
    ("r25", "o12"),
    ("r5", "o32"),
    ("r5", "o12"),
    ("r6", "o17"),
    ("r10", "o23"),
    ("r16", "o8"),
}


def flags(c: Candidate) -> tuple[str, ...]:
    deeds = [*c.deeds, *c.time.deeds]
    found = {
        "i_obj": any(thing.relation for thing in c.things) or any(deed.kind == INDIRECT for deed in deeds),
        "i_rel": bool(c.done_to),
        "i_act": any(deed.kind in names.LENGTHS for deed in deeds),
        "i_temp": any(time.kind != ALL for time in times(c)),
        "nc_seq": bool(befores(c) & HELD_OUT_ACTIONS),
        "nc_sup": bool(firsts(c) & HELD_OUT_FIRSTS),
        "nc_dur": bool(lengths(c) & HELD_OUT_ACTIONS),
        "nc_objrel": bool(pairs(c) & HELD_OUT_PAIRS),
    }
    return tuple(flag for flag, is_set in found.items() if is_set)


def times(c: Candidate) -> list[names.Time]:
    """Of the question, and of its references (edition 1.0)."""
    return [c.time, *(thing.time for thing in c.things if thing.time)]


def befores(c: Candidate) -> set[str]:
    """Actions after "before"; between adds its first one (12.14). Of what supports an answer, only held-out ones."""
    found = {deed.action for time in times(c) for deed in time.deeds[:1] if time.kind in (BEFORE, BETWEEN)}
    if c.template in ("actTime", "relTime", "objTime"):
        found |= {deed.action for deed in c.deeds}
    support: set[Pair] = set()  # what the answer to "before or after?" rests on
    if c.template == "relTime":
        support = {(c.relation, thing) for thing in c.objects}
    if c.template == "objTime":
        support = {fact for facts in c.video.facts for fact in facts if is_contact(fact[0]) and fact[1] == c.named[0]}
    return found | {action for action in HELD_OUT_ACTIONS if pair(action) in support}


def firsts(c: Candidate) -> set[str]:
    own = {c.relation} if c.template in ("objFirst", "objFirstChoose", "objFirstVerify") else set()
    own |= {c.relation} if c.done_to else set()
    return own | {thing.relation for thing in c.things if thing.kind == FIRST}


def lengths(c: Candidate) -> set[str]:
    """Actions whose length matters; an action with an indirect object counts too (as released)."""
    own: set[str | None] = {deed.action for deed in c.deeds if c.template.startswith("actLengthLonger")}
    own |= {c.answer} if c.template == "actLongest" else set()
    return {a for a in own if a} | {d.action for d in (*c.deeds, *c.time.deeds) if d.kind in (LONGEST, INDIRECT)}


def pairs(c: Candidate) -> set[Pair]:
    """Every object with every relation the question or one of its references mentions (12.15)."""
    relations = {thing.relation for thing in c.things} | {c.relation}
    objects = {*c.named, c.done_to}
    if c.template == "objExists":
        facts = {fact for frame in c.window for fact in c.video.facts[frame]}
        relations |= {r for r, thing in facts if thing == c.named[0] and RELATIONS[r].group == "contact"}
    if c.template == "relExists":
        objects |= c.objects
    if c.template in ("objWhat", "objFirst", "objLast"):
        objects |= {c.answer or ""}
    return {(relation, thing) for relation in relations for thing in objects}
