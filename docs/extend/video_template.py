"""A video template: whether a thing was touched and another one, too, over the whole video."""

from questree.plugins import template

template(
    "objTouchedBoth",
    program="both(interacting($first), interacting($second))",
    wordings=["Did they come to touch {first} and likewise {second}?", "Were both {first} and {second} touched?"],
    objects=["direct", "first"],
    rules=["objects are alike", "object is banned here", "more than 8 steps"],
    bans=["object existence"],
    group="exists",
    key="{first}-{second}",
)
