"""The types, compositions, groups and rules of AGQA-Decomp (Tables 1-5 of the paper), as data."""

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
ALL_RULES = tuple(rule for rules in RULES.values() for rule in rules)
CHECKED: dict[str, tuple[str, ...]] = {  # row of the table by type -> compositions its IC is the mean over
    "Interaction": ("Interaction",),
    "Relation Exists": ("Interaction",),
    "Exists Temporal Localization": TIMES,
    "Interaction Temporal Localization": (*TIMES, "Interaction"),
    "Conjunction": ("And", "Xor"),
    "Equals": ("Equals",),
    "Choose": ("Choose",),
}


def group_of(type: str) -> str:
    return GROUP.get(type, type)
