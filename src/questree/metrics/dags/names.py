"""The types, compositions, groups and rules of AGQA-Decomp (Tables 1-5 of the paper) and of image sets, as data."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from questree.tables import image_nodes

TIMES = ("After", "Before", "While", "Between")
OVERALL = "Overall"

UNSCORED = frozenset(  # human agreement under 70 %: supplement, "question types ignored"
    ["Object", "Action", "First Action", "Last Action"]
    + [f"{kind} {time}" for kind in ("Object", "Action") for time in TIMES]
)
YES_NO = frozenset(  # Equals is not one
    ["Object Exists", "Relation Exists", "Interaction", "And", "Xor"]
    + [f"{kind} {time}" for kind in ("Interaction", "Exists") for time in TIMES]
)
GROUP = {  # node type -> row of the tables; every other type keeps its name
    **{f"Interaction {time}": "Interaction Temporal Localization" for time in TIMES},
    **{f"Exists {time}": "Exists Temporal Localization" for time in TIMES},
    **dict.fromkeys(("And", "Xor"), "Conjunction"),
    **dict.fromkeys(("Choose", "Longer Choose", "Shorter Choose"), "Choose"),
    **dict.fromkeys(("Object Equals", "Action Equals"), "Equals"),
    **dict.fromkeys(("First Object", "Last Object"), "First/Last"),
    **dict.fromkeys(("Longest Action", "Shortest Action"), "Longest/Shortest Action"),
}
GROUPS = (  # rows in the order of Table 3
    "Object Exists",
    "Relation Exists",
    "Interaction",
    "Interaction Temporal Localization",
    "Exists Temporal Localization",
    "First/Last",
    "Longest/Shortest Action",
    "Conjunction",
    "Choose",
    "Equals",
)
COMPOSITIONS = (  # rows in the order of Table 4
    "Interaction",
    "First",
    "Last",
    "Equals",
    "And",
    "Xor",
    "Choose",
    "Longer Choose",
    "Shorter Choose",
    *TIMES,
)
ONE_WAY = ("Interaction", "After", "Before", "While")  # a yes needs all children yes; a no child needs a no
BOTH_WAYS = ("And", "Between")  # yes if and only if all children are yes
RULES: dict[str, tuple[str, ...]] = {  # composition -> its rules, in the order of Table 8
    "Interaction": ("Interaction Yes", "Interaction No"),
    "Equals": ("Equals Yes", "Equals No"),
    "And": ("And Yes", "And No"),
    "Xor": ("Xor Yes", "Xor No"),
    "Choose": ("Choose Temporal", "Choose Object"),
    **{time: (f"{time} Yes", f"{time} No") for time in TIMES},
}
CHECKED: dict[str, tuple[str, ...]] = {  # row of the table by type -> compositions its IC is the mean over
    "Interaction": ("Interaction",),
    "Relation Exists": ("Interaction",),
    "Exists Temporal Localization": TIMES,
    "Interaction Temporal Localization": (*TIMES, "Interaction"),
    "Conjunction": ("And", "Xor"),
    "Equals": ("Equals",),
    "Choose": ("Choose",),
}

IMAGE_RULES: dict[str, tuple[str, ...]] = {  # composition -> its rules; All Same has none
    name: (name,) if name in ("Subset", "Choose", "Unique") else (f"{name} Yes", f"{name} No")
    for name in image_nodes.COMPOSITIONS
    if name != "All Same"
}
IMAGE_RULES["Positive"] = ("Positive Some", "Positive None")  # a count has no yes
COMPARED = ("Equal", "More", "Less", "At Least", "At Most")
IMAGE_CHECKED: dict[str, tuple[str, ...]] = {
    "Exists": ("Modifier",),
    "Count": ("Positive", "Subset"),
    "Count Images": ("Positive", "Subset"),
    "Count Groups": ("Subset",),
    **dict.fromkeys(("Verify Count", "Compare Count"), COMPARED),
    "Logic": ("And", "Or"),
    "Quantifier": ("All", "Some", "No"),
    "Same Attribute": ("Same Attribute",),
    "Verify Attribute": ("Verify", "Unique"),
    "Choose Attribute": ("Choose", "Unique"),
    **dict.fromkeys(("Choose Object", "Choose Relation"), ("Choose",)),
    **dict.fromkeys(("Query Attribute", "Query Object"), ("Unique",)),
}


@dataclass(frozen=True)
class Scheme:
    """What the tables of a kind of decomposition list."""

    groups: tuple[str, ...]
    compositions: tuple[str, ...]
    yes_no: frozenset[str]
    rules: Mapping[str, tuple[str, ...]]
    checked: Mapping[str, tuple[str, ...]]
    one_way: tuple[str, ...]
    both_ways: tuple[str, ...]
    mean: Literal["mean", "mean of defined"]  # what a rule that never applied does to a mean of rules
    unscored: frozenset[str] = frozenset()
    group: Mapping[str, str] = field(default_factory=dict)

    @property
    def all_rules(self) -> tuple[str, ...]:
        return tuple(rule for rules in self.rules.values() for rule in rules)

    def group_of(self, type: str) -> str:
        return self.group.get(type, type)


AGQA_DECOMP = Scheme(
    GROUPS, COMPOSITIONS, YES_NO, RULES, CHECKED, ONE_WAY, BOTH_WAYS, "mean", unscored=UNSCORED, group=GROUP
)
IMAGE_SETS = Scheme(
    image_nodes.TYPES,
    image_nodes.COMPOSITIONS,
    image_nodes.YES_NO,
    IMAGE_RULES,
    IMAGE_CHECKED,
    ("Modifier",),
    ("And",),
    "mean of defined",
)


def scheme_of(types: Sequence[str]) -> Scheme:
    """The image sets' if all types are theirs; none is a type of AGQA-Decomp."""
    return IMAGE_SETS if types and set(types) <= set(image_nodes.TYPES) else AGQA_DECOMP
