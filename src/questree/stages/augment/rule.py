"""What a rule of augmentation is: a number, a name and a pure function, graphs in, graphs out, and what it changed."""

from collections.abc import Callable
from dataclasses import dataclass, fields

from questree.faults import Fault, refuse
from questree.stages.augment.graphs import Graphs
from questree.vocabulary.words import Vocabulary

FACTS, QUESTIONS = "facts", "questions"  # when a rule acts
SHARES = ("duplicate_iou", "height_agreement", "head_share", "action_share", "spatial_share")  # the others are seconds


@dataclass(frozen=True)
class AugmentOptions:
    duplicate_iou: float = 0.5
    """Boxes of two classes that overlap this much are one object (rule 3)."""
    spatial_share: float = 0.6
    """A video with fewer annotations that have a spatial relation loses them all (rule 12)."""
    height_agreement: float = 0.95
    """Above and beneath survive in classes that agree more than this (rule 5)."""
    head_share: float = 0.25
    """The head is this upper part of the person's box (rule 5)."""
    inferred_reach: float = 3.0
    """Seconds between a holding and the frame of an inferred taking or putting (rule 9)."""
    action_share: float = 0.7
    """A contact on this part of the frames of an action belongs to all of it (rule 10)."""
    neighbour_seconds: float = 4.0
    """A relation on two frames no further apart holds between them (rule 10)."""

    def __post_init__(self) -> None:
        bad = [
            Fault(f"--{field.name.replace('_', '-')}", f"expected {wanted}, got {value:g}")
            for field in fields(self)
            for value, share in [(getattr(self, field.name), field.name in SHARES)]
            for wanted in ["a share from 0 to 1" if share else "0 seconds or more"]
            if not 0 <= value <= (1 if share else float("inf"))
        ]
        refuse(bad)


@dataclass(frozen=True)
class Change:
    """Counts for one table; its size grows by added - removed."""

    what: str
    added: int = 0
    removed: int = 0
    changed: int = 0
    concerned: int = 0  # rules that act when questions are made: what they will act on


Apply = Callable[[Graphs, Vocabulary, AugmentOptions], tuple[Graphs, list[Change]]]


@dataclass(frozen=True)
class Rule:
    number: int  # in the list of the paper's fact sheet; the order of work is that of RULES
    name: str
    says: str
    apply: Apply
    when: str = FACTS
