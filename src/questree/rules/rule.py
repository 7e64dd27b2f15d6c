"""What a rule is: a condition on the answers to sub-questions, and how the answer to their question goes with it.

A rule reads columns: the words that a question and its sub-questions were answered with, and the word a node is about.
It says where the question is answered yes or no (or the two things that stand for yes and no in it), where the
sub-questions fulfil the rule's condition, and where they defy it; its `ways` say what follows.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from enum import Enum
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from questree.tables.hierarchies import NOTHING

NO, YES = 0, 1
NEVER = -2  # the number of a word nobody says
Bools = NDArray[np.bool_]
Ints = NDArray[Any]
Floats = NDArray[np.float64]


class Ways(Enum):
    """In which directions a rule is read. A check is (where it applies, where it passes), one per name of the rule."""

    ONE = "a yes needs the condition; sub-questions that defy it make a no"
    BOTH = "yes exactly when the condition holds, no exactly when it is defied"
    SAID = "whatever is answered needs its own condition"


class WordNumbers:
    """The numbers of words."""

    def __init__(self, number: Mapping[str, int]):
        self.number = number

    def __getitem__(self, word: str) -> int:
        return self.number.get(word, NEVER)

    @cached_property
    def spelled(self) -> Floats:
        """[word] the number it spells; NaN for others and, as the last, for no answer."""
        size = max(self.number.values(), default=NOTHING) + 2
        found = np.full(size, np.nan)
        for word in filter(str.isdecimal, self.number):
            if self.number[word] >= 0:
                found[self.number[word]] = float(word)
        return found


@dataclass(frozen=True)
class NodeColumns:
    """What rules see of nodes; all arrays are [node]."""

    words: WordNumbers
    said: Ints  # the word each is answered with, NOTHING without an answer
    about: Ints  # the word it asks about: an object that may exist, an option, a number to compare with; or NOTHING
    yes_no: Bools  # of a scored type that is answered yes or no
    scored: Bools  # of a scored type
    inner: Bools  # it has sub-questions
    options: Callable[[], Ints]  # what its first sub-question under Equals asks about; NEVER without such a composition

    @cached_property
    def option(self) -> Ints:
        return self.options()


@dataclass(frozen=True)
class Members:
    """Questions of one composition with as many sub-questions, side by side: member 0 is the question itself."""

    of: NodeColumns
    nodes: tuple[Ints, ...]  # per member, [row]

    @property
    def parts(self) -> range:
        return range(1, len(self.nodes))

    def said(self, at: int) -> Ints:
        return np.asarray(self.of.said[self.nodes[at]])

    def says(self, at: int, word: str) -> Bools:
        return np.asarray(self.said(at) == self.of.words[word])

    def decides(self, at: int) -> Bools:
        """Is it answered yes or no?"""
        return self.says(at, "yes") | self.says(at, "no")

    def number(self, at: int) -> Floats:
        """The number it is answered with, NaN if it is none."""
        return self.of.words.spelled[self.said(at)]

    def about(self, at: int) -> Ints:
        return np.asarray(self.of.about[self.nodes[at]])

    def named_number(self, at: int) -> Floats:
        return self.of.words.spelled[self.about(at)]

    def option(self, at: int) -> Ints:
        return np.asarray(self.of.option[self.nodes[at]])

    def inner(self, at: int) -> Bools:
        return np.asarray(self.of.inner[self.nodes[at]])

    def yes_no(self, at: int) -> Bools:
        return np.asarray(self.of.yes_no[self.nodes[at]])

    def case(self, holds: Bools, fails: Bools | None = None) -> "Case":
        """A question that is itself answered yes or no."""
        return Case(self.says(0, "yes"), self.says(0, "no"), holds, ~holds if fails is None else fails)


@dataclass(frozen=True)
class Case:
    """What a rule reads in some rows; all arrays are [row]."""

    yes: Bools  # the question says what stands for yes
    no: Bools  # the question says what stands for no
    holds: Bools  # the sub-questions fulfil the condition
    fails: Bools  # the sub-questions defy it
    torn: Bools | None = None  # they contradict a yes and a no alike
    name: Ints | None = None  # position of the rule's name, if it has several for different questions

    def where(self, known: Bools) -> "Case":
        """In all other rows the rule does not speak."""
        masked = {each: getattr(self, each) & known for each in ("yes", "no", "holds", "fails")}
        return replace(self, **masked, torn=None if self.torn is None else self.torn & known)

    def needs(self, ways: Ways) -> list[tuple[Bools, Bools]]:
        """(applies, passes) per direction: for a yes and for a no, or for whatever is said."""
        if ways is Ways.ONE:
            return [(self.yes, self.holds), (self.fails, self.no)]
        if ways is Ways.SAID:
            return [(self.yes | self.no, np.where(self.yes, self.holds, self.fails))]
        torn = False if self.torn is None else self.torn
        return [
            (self.yes | self.holds | torn, self.yes & self.holds),
            (self.no | self.fails | torn, self.no & self.fails),
        ]

    def at_most_one(self, ways: Ways) -> tuple[Bools, Bools]:
        """(applies, passes): a yes is checked by its own side, a no by its own, anything else by what its parts say."""
        if ways is Ways.ONE:
            return self.yes | self.fails, np.where(self.yes, self.holds, self.no)
        applies = np.logical_or.reduce([applies for applies, _ in self.needs(ways)])
        return applies, (self.yes & self.holds) | (self.no & self.fails)


@dataclass(frozen=True)
class Rule:
    """The rule of a composition."""

    composition: str
    reads: Callable[[Members], Case]
    sentence: str | tuple[str, ...]  # for a person; one for each name, or one for all of them
    ways: Ways = Ways.BOTH
    names: tuple[str, ...] = ()  # as scores report its directions
    parts: Literal["yes or no", "scored pair", "all"] = "all"  # the sub-questions it looks at
    parents: frozenset[str] = frozenset()  # types of questions it is about; all of them if none is named
    concluded: Ways | None = None  # the ways by which answers may be concluded, if scores are stricter
    worded: int | None = None  # the member whose yes is the word of part 1, its no that of part 2 or any other
    presupposed: bool = False  # whoever asks takes it for granted that the condition holds

    def __post_init__(self) -> None:
        sides = ("",) if self.ways is Ways.SAID else (" Yes", " No")
        object.__setattr__(self, "names", self.names or tuple(self.composition + side for side in sides))

    def checks(self, case: Case, ways: Ways | None = None) -> dict[str, tuple[Bools, Bools]]:
        """Name -> (applies, passes): a question can be checked by several, by one, or by none."""
        found = case.needs(ways or self.ways)
        if case.name is None:
            return dict(zip(self.names, found, strict=True))
        ((applies, passes),) = found
        return {name: (applies & (case.name == at), passes) for at, name in enumerate(self.names)}

    def allows(self, members: Members) -> Bools:
        """[row] may these answers stand together?"""
        found = self.reads(members).needs(self.concluded or self.ways)
        return np.asarray(np.logical_and.reduce([~applies | passes for applies, passes in found]))

    def sentence_of(self, name: str) -> str:
        return self.sentence if isinstance(self.sentence, str) else self.sentence[self.names.index(name)]
