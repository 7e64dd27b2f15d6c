"""What the tables of a kind of DAG list, as data that can grow: AGQA-Decomp (Tables 1-5 of the paper), image sets."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Literal

from questree.extensions import wrong
from questree.rules.entries import COMPARED, IMAGE_RULES, TIMES, VIDEO_RULES
from questree.rules.rule import Rule


@dataclass
class Scheme:
    """Types and compositions with the rules of the latter; whoever adds an operator adds to these."""

    name: str
    types: list[str]  # of nodes
    compositions: list[str]  # rows of tables, and what the numbers of labels stand for: never reordered
    yes_no: set[str]  # types whose answers rules about yes and no look at
    rules: dict[str, Rule]  # by composition, in the order in which they are reported
    checked: dict[str, tuple[str, ...]]  # row of the table by type -> compositions its IC is the mean over
    mean: Literal["mean", "mean of defined"]  # what a rule that never applied does to a mean of rules
    unscored: set[str] = field(default_factory=set)
    group: dict[str, str] = field(default_factory=dict)  # type -> row of the tables; others keep their name
    groups: list[str] = field(default_factory=list)  # rows of the tables by type
    added: set[str] = field(default_factory=set)  # compositions from outside: reported only where they occur

    @property
    def all_rules(self) -> tuple[str, ...]:
        return tuple(name for rule in self.rules.values() for name in rule.names)

    def names(self, compositions: Iterable[str]) -> list[str]:
        """Names of the rules of some compositions."""
        return [name for each in compositions if each in self.rules for name in self.rules[each].names]

    def group_of(self, type: str) -> str:
        return self.group.get(type, type)


def of_times(*words: str) -> list[str]:
    return [f"{word} {time}" for word in words for time in TIMES]


INTERACTION_TIMES, EXISTS_TIMES = of_times("Interaction"), of_times("Exists")
IGNORED = ["Object", "Action", "First Action", "Last Action", *of_times("Object", "Action")]
ASKED_YES_NO = ["Object Exists", "Relation Exists", "Interaction", "And", "Xor", *INTERACTION_TIMES, *EXISTS_TIMES]
CHOICES = ["Choose", "Longer Choose", "Shorter Choose"]
VIDEO_DAGS = Scheme(
    name="videos",
    types=[
        *(*IGNORED, *ASKED_YES_NO, *CHOICES, "Object Equals", "Action Equals"),  # Equals is not one of yes and no
        *("First Object", "Last Object", "Longest Action", "Shortest Action"),
    ],
    compositions=["Interaction", "First", "Last", "Equals", "And", "Xor", *CHOICES, *TIMES],  # as in Table 4
    yes_no=set(ASKED_YES_NO),
    rules={rule.composition: rule for rule in VIDEO_RULES},
    checked={
        "Interaction": ("Interaction",),
        "Relation Exists": ("Interaction",),
        "Exists Temporal Localization": TIMES,
        "Interaction Temporal Localization": (*TIMES, "Interaction"),
        "Conjunction": ("And", "Xor"),
        "Equals": ("Equals",),
        "Choose": ("Choose",),
    },
    mean="mean",
    unscored=set(IGNORED),  # human agreement under 70 %: supplement, "question types ignored"
    group={
        **dict.fromkeys(INTERACTION_TIMES, "Interaction Temporal Localization"),
        **dict.fromkeys(EXISTS_TIMES, "Exists Temporal Localization"),
        **dict.fromkeys(("And", "Xor"), "Conjunction"),
        **dict.fromkeys(CHOICES, "Choose"),
        **dict.fromkeys(("Object Equals", "Action Equals"), "Equals"),
        **dict.fromkeys(("First Object", "Last Object"), "First/Last"),
        **dict.fromkeys(("Longest Action", "Shortest Action"), "Longest/Shortest Action"),
    },
    groups=[  # as in Table 3
        *("Object Exists", "Relation Exists", "Interaction", "Interaction Temporal Localization"),
        *("Exists Temporal Localization", "First/Last", "Longest/Shortest Action", "Conjunction", "Choose", "Equals"),
    ],
)
IMAGE_TYPES = [
    *("Exists", "Count", "Count Images", "Count Groups", "Verify Count", "Compare Count", "Logic", "Quantifier"),
    *("All Same", "Same Attribute", "Verify Attribute", "Choose Attribute", "Choose Object", "Choose Relation"),
    *("Query Attribute", "Query Object"),
]
IMAGE_DAGS = Scheme(
    name="images",
    types=list(IMAGE_TYPES),
    compositions=[
        *("Modifier", "Positive", "Subset", "Equal", "More", "Less", "At Least", "At Most", "And", "Or", "All", "Some"),
        *("No", "All Same", "Same Attribute", "Verify", "Choose", "Unique"),
    ],
    yes_no={
        *("Exists", "Verify Count", "Compare Count", "Logic", "Quantifier", "All Same", "Same Attribute"),
        "Verify Attribute",
    },
    rules={rule.composition: rule for rule in IMAGE_RULES},
    checked={
        "Exists": ("Modifier",),
        "Count": ("Positive", "Subset"),
        "Count Images": ("Positive", "Subset"),
        "Count Groups": ("Subset",),
        **dict.fromkeys(("Verify Count", "Compare Count"), tuple(COMPARED)),
        "Logic": ("And", "Or"),
        "Quantifier": ("All", "Some", "No"),
        "Same Attribute": ("Same Attribute",),
        "Verify Attribute": ("Verify", "Unique"),
        "Choose Attribute": ("Choose", "Unique"),
        **dict.fromkeys(("Choose Object", "Choose Relation"), ("Choose",)),
        **dict.fromkeys(("Query Attribute", "Query Object"), ("Unique",)),
    },
    mean="mean of defined",
    groups=list(IMAGE_TYPES),
)
SCHEMES = {scheme.name: scheme for scheme in (VIDEO_DAGS, IMAGE_DAGS)}


def scheme_of(types: Sequence[str]) -> Scheme:
    """The scheme that lists most of these types; AGQA-Decomp's for types that nobody lists."""
    return max(SCHEMES.values(), key=lambda scheme: len(set(types) & set(scheme.types)))


@contextmanager
def unscored(types: Iterable[str]) -> Iterator[None]:
    """Inside, these types are not scored, instead of those that the paper leaves out."""
    before, wanted = {name: scheme.unscored for name, scheme in SCHEMES.items()}, set(types)
    try:
        for scheme in SCHEMES.values():
            scheme.unscored = wanted & {*scheme.types}
        yield
    finally:
        for name, scheme in SCHEMES.items():
            scheme.unscored = before[name]


def extend(scheme: str, types: Iterable[str] = (), compositions: Iterable[str] = (), yes_no: bool = True) -> Scheme:
    """List types and compositions after those that are there; new types are answered yes or no, or otherwise."""
    found = SCHEMES[scheme]
    new = [type for type in dict.fromkeys(types) if type not in found.types]
    found.types += new
    found.yes_no.update(new if yes_no else ())
    found.groups += dict.fromkeys(row for row in map(found.group_of, new) if row not in found.groups)
    found.compositions += [each for each in dict.fromkeys(compositions) if each not in found.compositions]
    return found


def add(rule: Rule, scheme: str, types: Sequence[str] = (), yes_no: bool = True) -> None:
    """A composition with its rule, and the types of questions that it is about. A composition has one rule."""
    if scheme not in SCHEMES:
        raise wrong("rule", rule.composition, f"expected a scheme, got {scheme!r}; choose from {', '.join(SCHEMES)}")
    found = SCHEMES[scheme]
    taken = sorted({rule.composition, *rule.names} & {*found.rules, *found.all_rules})
    if taken:
        known = f"one that {scheme} have a rule for: {', '.join(taken)}"
        raise wrong("rule", rule.composition, f"expected a new composition and new names, got {known}")
    extend(scheme, types, [rule.composition], yes_no).rules[rule.composition] = rule
    found.added.add(rule.composition)
    for row in dict.fromkeys(map(found.group_of, types)):
        found.checked[row] = (*found.checked.get(row, ()), rule.composition)


def sentence(name: str) -> str:
    """What a rule asks of a model's own answers, by the name scores report it under."""
    rules = (rule for scheme in SCHEMES.values() for rule in scheme.rules.values())
    return next(rule.sentence_of(name) for rule in rules if name in rule.names)
