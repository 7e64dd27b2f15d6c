"""The rules of AGQA-Decomp (section 4 "Internal Consistency", supplement, Table 5, contrapositives) and of image sets.

a is the answer to a question; s1, s2 those to its sub-questions; v those to its yes/no sub-questions; a number is what
an answer spells. Ground truth is not used. In the rules of image sets a sub-question without the kind of answer its
rule needs (a number, yes or no) leaves the rule out.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from questree.rules.rule import NEVER, Bools, Case, Floats, Members, Rule, Ways
from questree.tables.hierarchies import NOTHING

TIMES = ("After", "Before", "While", "Between")
NEEDED = ("a yes needs every sub-question to be yes", "a sub-question that is no makes it no")
EXACTLY = ("yes exactly when every sub-question is yes", "no exactly when a sub-question is no")
COMPARED: dict[str, tuple[Callable[[Floats, Floats], Any], str]] = {
    "Equal": (np.equal, "is"),
    "More": (np.greater, "is more than"),
    "Less": (np.less, "is less than"),
    "At Least": (np.greater_equal, "is at least"),
    "At Most": (np.less_equal, "is at most"),
}


def every(it: Members) -> Case:
    """Holds: all v = yes. Fails: some v = no."""
    holds, fails, some = (np.full(len(it.nodes[0]), value) for value in (True, False, False))
    for at in it.parts:
        asked = it.yes_no(at)
        some |= asked
        holds &= ~asked | it.says(at, "yes")
        fails |= asked & it.says(at, "no")
    return it.case(holds, fails).where(some)


def first_alone(it: Members) -> Case:
    """s1 = yes and s2 = no."""
    return it.case(it.says(1, "yes") & it.says(2, "no"))


def given(it: Members) -> Case:
    """Child 1 has parts: s1 = s2. It asks whether o exists: s2 = o, and s1 = yes; o that is not there is torn."""
    s1, s2, thing, inner = it.said(1), it.said(2), it.about(1), it.inner(1)
    exists = ~inner & (thing != NOTHING)
    same, named = inner & (s1 == s2) & (s1 != NOTHING), exists & (s2 == thing)
    holds, fails = same | (named & it.says(1, "yes")), ~(same | named)
    case = it.case(holds, fails)
    return Case(case.yes, case.no, holds, fails, torn=~holds & ~fails).where(inner | exists)


def chosen_time_or_object(it: Members) -> Case:
    """before, or the object of child 1: s1 = yes and s2 = no; after, or the object of child 2: s1 = no and s2 = yes."""
    a, one, two = it.said(0), it.option(1), it.option(2)
    before, after = it.says(0, "before"), it.says(0, "after")
    named = ~before & ~after & (a != NOTHING) & (one != NEVER) & (two != NEVER)
    first = before | (named & (one == a))
    second = after | (named & (two == a) & ~first)
    holds, fails = it.says(1, "yes") & it.says(2, "no"), it.says(1, "no") & it.says(2, "yes")
    return Case(first, second, holds, fails, name=np.where(before | after, 0, 1))


def chosen_option(it: Members) -> Case:
    """The option of child 1: s1 = yes. That of child 2: s1 = no and s2 = yes."""
    a, one, two = it.said(0), it.about(1), it.about(2)
    known = (a != NOTHING) & it.decides(1) & it.decides(2)
    first, second = known & (a == one), known & (a == two) & (a != one)
    return Case(first, second, it.says(1, "yes"), it.says(1, "no") & it.says(2, "yes"))


def positive(it: Members) -> Case:
    """a > 0 exactly when s1 = yes."""
    a, holds = it.number(0), it.says(1, "yes")
    return Case(a > 0, a == 0, holds, ~holds).where(~np.isnan(a) & it.decides(1))


def demanded(known: Bools, holds: Bools) -> Case:
    return Case(known, np.zeros_like(known), holds, ~holds)


def at_most(it: Members) -> Case:
    """a <= s1."""
    a, s1 = it.number(0), it.number(1)
    return demanded(~np.isnan(a) & ~np.isnan(s1), a <= s1)


def unique(it: Members) -> Case:
    """Whatever is said of the one thing, s1 = 1."""
    s1 = it.number(1)
    return demanded((it.said(0) != NOTHING) & ~np.isnan(s1), s1 == 1)


def compared(compare: Callable[[Floats, Floats], Any]) -> Callable[[Members], Case]:
    def reads(it: Members) -> Case:
        """s1 compares so with s2, or with the number that the question names."""
        first = it.number(1)
        second = it.number(2) if len(it.parts) > 1 else it.named_number(0)
        return it.case(np.asarray(compare(first, second))).where(~np.isnan(first) & ~np.isnan(second))

    return reads


def first_is(word: str) -> Callable[[Members], Case]:
    def reads(it: Members) -> Case:
        """s1 is this word."""
        return it.case(it.says(1, word)).where(it.decides(1))

    return reads


def either(it: Members) -> Case:
    """s1 or s2 is yes."""
    return it.case(it.says(1, "yes") | it.says(2, "yes")).where(it.decides(1) & it.decides(2))


def as_many(it: Members) -> Case:
    """There are as many things that fulfil the condition (s2) as things (s1)."""
    s1, s2 = it.number(1), it.number(2)
    return it.case(s1 == s2).where(~np.isnan(s1) & ~np.isnan(s2))


def same(it: Members) -> Case:
    """s1 = s2."""
    s1, s2 = it.said(1), it.said(2)
    return it.case(s1 == s2).where((s1 != NOTHING) & (s2 != NOTHING))


def one_way(composition: str) -> Rule:
    return Rule(composition, every, NEEDED, Ways.ONE, parts="yes or no")


AND = Rule("And", every, EXACTLY, parts="yes or no")
VIDEO_RULES = (  # in the order of Table 8
    one_way("Interaction"),
    Rule(
        "Equals",
        given,
        "yes exactly when the sub-questions give one and the same thing",
        parts="scored pair",
        parents=frozenset({"Object Equals"}),
        worded=2,
    ),
    AND,
    Rule("Xor", first_alone, "yes exactly when the first is yes and the second is no", parts="scored pair"),
    Rule(
        "Choose",
        chosen_time_or_object,
        (
            "before: the first is yes, the second no; after: the other way round",
            "the sub-question of what is chosen is yes, the other no",
        ),
        Ways.SAID,
        ("Choose Temporal", "Choose Object"),
        parts="scored pair",
        worded=0,
    ),
    *map(one_way, TIMES[:3]),
    # scored like And, but no sub-questions make it a yes (13.6): only what follows from a yes, or from a no below
    Rule("Between", every, EXACTLY, parts="yes or no", concluded=Ways.ONE),
)
IMAGE_RULES = (  # in the order of the compositions
    one_way("Modifier"),
    Rule(
        "Positive",
        positive,
        ("more than none exactly when the sub-question is yes", "none exactly when the sub-question is no"),
        names=("Positive Some", "Positive None"),  # a count has no yes
    ),
    Rule("Subset", at_most, "no more than its sub-question counts", Ways.SAID),
    *(
        Rule(name, compared(how), f"yes exactly when the first number {words} the second")
        for name, (how, words) in COMPARED.items()
    ),
    AND,
    Rule("Or", either, "yes exactly when one of the sub-questions is yes"),
    Rule("All", as_many, "yes exactly when both sub-questions count the same"),
    Rule("Some", first_is("yes"), "yes exactly when the sub-question is yes"),
    Rule("No", first_is("no"), "yes exactly when the sub-question is no"),
    Rule("Same Attribute", same, "yes exactly when the sub-questions have one answer"),
    Rule("Verify", first_is("yes"), "yes exactly when the sub-question is yes"),
    Rule("Choose", chosen_option, "the sub-question of what is chosen is the first that is yes", Ways.SAID, worded=0),
    Rule("Unique", unique, "whoever speaks of the one thing counts one", Ways.SAID, presupposed=True),
)
