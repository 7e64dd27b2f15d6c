"""An image operator with its rule and a template: "Is the number of red cups odd?"."""

from typing import Any

import numpy as np

from questree.plugins import Bool, Case, Categories, Members, Term, Things, image_template, operator, ops, rule


def parts(vocabulary: Any, things: Term) -> list[tuple[str, Term]]:
    """One sub-question: how many are there? `ops` has every operator of a medium by name."""
    return [("Odd", ops("images")["count"](things))]


@operator(
    "images",
    ask="Is the number of {things:many} odd",
    steps=1,
    categories=Categories(structural="verify"),
    type="Parity",
    label="Odd",
    parts=parts,
)
def odd(world: Any, things: Things) -> Bool:
    """[row] computed from the meaning of another operator."""
    return np.asarray(ops("images")["count"].run(world, things) % 2 == 1)


@rule("Odd", medium="images", sentence="yes exactly when the sub-question counts an odd number", types=["Parity"])
def as_counted(members: Members) -> Case:
    """The number the sub-question is answered with; NaN, and then no rule, if it is none."""
    number = members.number(1)
    return members.case(number % 2 == 1).where(~np.isnan(number))


image_template(
    "ODD",
    program="odd({R})",
    wordings=["Is the number of {R:many} odd?", "Are there an odd number of {R:many}?"],
    asks="is the number of things odd",
)
