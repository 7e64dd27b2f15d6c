"""A video operator with a new composition, its rule, and a template: "Were they never holding a cup after ...?"

Its one sub-question is the question without the never, and their answers must differ: that is its rule.
"""

from typing import Any

from questree.plugins import Bool, Case, Categories, Members, Term, Vocabulary, operator, rule, template


def parts(vocabulary: Vocabulary, asked: Term) -> list[tuple[str, Term]]:
    """The sub-questions, each with the name of the composition."""
    return [("Never", asked)]


@operator(
    "video",
    ask="Is the person never {asked}",
    steps=1,
    categories=Categories(structural="verify"),
    type="Never",
    label="Never",
    parts=parts,
)
def never(world: Any, asked: Bool) -> Bool:
    """Yes exactly when the question inside is answered no; every value has one entry per question."""
    return ~asked


@rule("Never", medium="video", sentence="yes exactly when the sub-question is no", types=["Never"])
def opposite(members: Members) -> Case:
    """Member 0 is the question, member 1 its sub-question; the condition holds where the latter says no."""
    return members.case(members.says(1, "no"), members.says(1, "yes")).where(members.decides(1))


template(
    "objRelNever",
    program="never(within(interaction($relation, $object), $time))",
    wordings=["Were they never {relation} {object}{time}?", "{Time}, were they never {relation} {object}?"],
    relations=["contact", "verb"],
    objects=["direct"],
    times=["all", "after"],
    rules=["relation is never asked", "pair is rare", "object of the time's action", "more than 8 steps"],
    group="exists",
    key="{relation}-{object}",
)
