"""Whether the answer of a question follows from rules alone, in words: what was inserted, and what is always so.

`Asked` is what a question names, by ids: its template, relation, the objects and actions in its slots, its time phrase,
the answer, and what its objects are named by. Of order: taking, holding, putting of one thing; of entailments: the
vocabulary's table, in steps.
"""

from typing import NamedTuple

from judges.facts import ACTIONS, INTERACTING, NO_CONTACT, RELATIONS, WORDS, counted, folded, noun, pair

Done = tuple[str, float, float]  # action, start, end
ROLES = {"taking": 0, "holding": 1, "putting down": 2, "throwing": 2}
NO_ROLE = {"c044", WORDS.other_action}  # taking something from a box does not take the box
ABOUT_ACTIONS = ("actWhat", "actFirst", "actLast", "actLongest", "actShortest", "actLengthLongerC", "actLengthShorterC")
ABOUT_OBJECTS = ("objWhat", "objFirst", "objLast")


class Asked(NamedTuple):
    template: str
    relation: str
    objects: tuple[str, ...]
    actions: tuple[str, ...]
    time: str
    a: str  # action of the time, or nothing
    b: str
    answer: str  # id of an action or object; yes, no, before, after
    names: tuple[
        tuple[str, str, str, str], ...
    ] = ()  # of each object: the relation that names it, and time, a, b of that


def inserted(annotated: list[Done], now: list[Done]) -> set[str]:
    """Actions with an instance during which nobody annotated the action."""
    return {
        action
        for action, start, end in now
        if not any(counted(other) == action and first <= end and last >= start for other, first, last in annotated)
    }


def follows(asked: Asked, made: set[str]) -> bool:
    return rests_on_inserted(asked, made) or always_so(asked) or said_by_a_name(asked)


def said_by_a_name(asked: Asked) -> bool:
    """Whoever carries a thing touches "the thing they carried", when they did."""
    own = (asked.time, asked.a, asked.b)
    said = [
        bool(relation) and (asked.time == "all" or own == time) and asked.relation in entailed(relation)
        for relation, *rest in asked.names
        for time in [tuple(rest)]
    ]
    if asked.template == "objWhatChoose":
        return any(one and thing == asked.answer for one, thing in zip(said, asked.objects, strict=True))
    if asked.template in ("objRelExists", "andObjRelExists"):
        return bool(said) and all(said) and asked.answer == "yes"
    return asked.template == "xorObjRelExists" and said[1:] == [True] and asked.answer == "no"


def answers_with(asked: Asked) -> str:
    if asked.template.endswith("Verify"):
        return ""
    if asked.template.startswith(ABOUT_ACTIONS):
        return "action"
    return "object" if asked.template.startswith(ABOUT_OBJECTS) else ""


def rests_on_inserted(asked: Asked, made: set[str]) -> bool:
    named = {*asked.actions, asked.a, asked.b} | ({asked.answer} if answers_with(asked) == "action" else set())
    if named & made:
        return True
    pairs = {pair(action) for action in made}
    things = [*asked.objects] + ([asked.answer] if answers_with(asked) == "object" else [])
    another = asked.template.endswith(("FirstVerify", "LastVerify")) and asked.answer == "no"
    if asked.relation and (another or not things):
        return asked.relation in {found[0] for found in pairs if found}
    return any((asked.relation, thing) in pairs for thing in things)


def role(action: str) -> int | None:
    return None if action in NO_ROLE or not noun(action) else ROLES.get(RELATIONS[folded(ACTIONS[action].verb)].name)


def order(one: str, other: str) -> bool:
    """Does the one come before the other, being done to the same thing?"""
    if not one or not other or noun(one) != noun(other):
        return False
    first, second = role(one), role(other)
    return first is not None and second is not None and first < second


def always_so(asked: Asked) -> bool:
    if asked.template == "actTime":
        a, b = asked.actions
        return order(a, b) if asked.answer == "before" else order(b, a)
    earlier = asked.a if asked.time in ("after", "between") else ""
    later = {"before": asked.a, "between": asked.b}.get(asked.time, "")
    said = answers_with(asked)
    yes = asked.template in ("objExists", "objRelExists", "actExists", "objFirstVerify", "objLastVerify", "relExists")
    if said == "action" or (asked.template == "actExists" and asked.answer == "yes"):
        done = asked.answer if said else asked.actions[0]
        return order(earlier, done) or order(done, later)
    if said != "object" and not (yes and asked.answer == "yes" and asked.objects):
        return False
    thing, relation = asked.answer if said else asked.objects[0], asked.relation or INTERACTING
    own = ROLES.get(RELATIONS[relation].name)
    for other, is_later in ((earlier, False), (later, True)):
        if other and own is not None and role(other) is not None and (pair(other) or ("", ""))[1] == thing:
            place = role(other)
            if place is not None and (own < place if is_later else place < own):
                return True
    if asked.time == "while" and (found := pair(asked.a)) and found[1] == thing:
        return relation in entailed(found[0])
    return False


def entailed(relation: str) -> set[str]:
    """What whoever does this does, too."""
    found, todo = set[str](), [relation]
    while todo:
        one = todo.pop()
        if one not in found:
            found.add(one)
            for name, others in WORDS.entailments.items():
                if folded(WORDS.relations[WORDS.relation_at[name]].id) == one:
                    todo += [folded(WORDS.relations[WORDS.relation_at[other]].id) for other in others]
    touches = any(RELATIONS[one].group == "contact" and one not in NO_CONTACT for one in found)
    return found | ({INTERACTING} if touches else set())
