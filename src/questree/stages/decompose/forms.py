"""Forms: programs whose words are all slots; the sub-questions of a form are worked out once, for all its nodes."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from itertools import product
from typing import Any

import numpy as np

from questree.domains.video.atoms import alone, happening, interaction, noun_of, verb_of
from questree.notation.own import show
from questree.readings.answer import position
from questree.readings.english import english
from questree.readings.forms import lifted
from questree.readings.parts import node_type, options, parts
from questree.tables.nodes import SLOTS
from questree.terms import ACTION, Array, Kind, Node, Slot, Term, Word, walk
from questree.vocabulary.words import NONE

# Programs that say one word twice. In all others every word has a slot of its own, be it by chance the same word:
# so equal programs have equal forms.
REPEATING = ("both", "but_not", "same_action")


@dataclass(frozen=True)
class Variant:
    """A sub-question as a form, and which rows take it."""

    form: Node
    origins: tuple[Term, ...]  # [slot of the form] where its word comes from: a slot of the parent, its verb, a word
    wanted: tuple[tuple[Term, bool], ...] = ()  # an action -> is its phrase that of its verb and noun?


@dataclass(frozen=True)
class NodeForm:
    node: Node
    type: str
    labels: tuple[str, ...]  # [part]
    parts: tuple[tuple[Variant, ...], ...]  # [part] its variants; each row takes one
    height: int  # 0 for a leaf
    text: str  # in our notation

    @cached_property
    def slots(self) -> tuple[Slot, ...]:
        return ordered_slots(self.node)


@lru_cache(1 << 13)  # shards and chunks have most forms in common
def ordered_slots(node: Node) -> tuple[Slot, ...]:
    return tuple(dict.fromkeys(leaf for leaf in walk(node) if isinstance(leaf, Slot)))


def is_leaf(term: Term) -> bool:
    """A word, a slot, or the verb or noun of one."""
    return not isinstance(term, Node) or term.op in (verb_of, noun_of)


@dataclass
class NodeForms:
    """All forms met so far."""

    vocabulary: Any  # of videos a Vocabulary; of image sets their words
    _known: dict[Node, NodeForm] = field(default_factory=dict)
    _variants: dict[tuple[Node, Term | None], tuple[Variant, ...]] = field(default_factory=dict)

    @cached_property
    def said_as_pair(self) -> Array:
        """[action] "holding a phone" reads like an interaction, and then it is that interaction."""
        return np.array([self._is_pair(at) for at in range(len(self.vocabulary.actions))])

    def _is_pair(self, at: int) -> bool:
        words = self.vocabulary
        if words.noun_of[at] == NONE:
            return False
        action = Word(words.actions[at].id, ACTION)
        return english(happening(action), words) == english(pair(action), words)

    @cached_property
    def marked(self) -> dict[Kind, Array]:
        """Kind -> [word] does it change which sub-questions there are? An action without an object does."""
        return {ACTION: self.vocabulary.noun_of == NONE}

    @property
    def width(self) -> int:
        """Bits of a word's position."""
        return 15 if self.vocabulary.wide else 8

    def layout(self, words: int) -> list[int]:
        """How many of the words of a program go into each 64-bit number; its scope goes into the first."""
        first = min(words, SLOTS if self.width == 8 else 2)
        return [first, *(min(4, words - at) for at in range(first, words, 4))]

    def __getitem__(self, node: Node) -> NodeForm:
        if node not in self._known:
            edges = parts(node, self.vocabulary)
            confirmed = options(node, edges)
            found = tuple(self.variants(edge.part, one) for edge, one in zip(edges, confirmed, strict=True))
            height = 1 + max((self[one.form].height for ways in found for one in ways), default=-1)
            labels = tuple(edge.label for edge in edges)
            self._known[node] = NodeForm(node, node_type(node, self.vocabulary), labels, found, height, show(node))
        return self._known[node]

    def variants(self, node: Node, option: Term | None = None) -> tuple[Variant, ...]:
        """The forms a program can have, depending on how its actions read; it may confirm an option."""
        if (node, option) not in self._variants:
            self._variants[node, option] = tuple(self._forms(node, option))
        return self._variants[node, option]

    def _forms(self, node: Node, option: Term | None) -> Iterator[Variant]:
        actions = [
            term.args[0]
            for term in dict.fromkeys(walk(node))
            if isinstance(term, Node) and term.op is happening and is_leaf(term.args[0])
        ]
        actions = [action for action in actions if not alone(self.vocabulary, action)]
        for wanted in product((False, True), repeat=len(actions)):
            chosen = tuple(zip(actions, wanted, strict=True))
            form, origins = self.canonical(as_pairs(node, [action for action, yes in chosen if yes]), option)
            yield Variant(form, origins, chosen)

    def canonical(self, node: Node, option: Term | None = None) -> tuple[Node, tuple[Term, ...]]:
        """The program with slots s0, s1, ... for its words, and the words."""

        def slot(name: str, term: Term) -> Slot:
            return Slot(name, term.kind, self.alone(term), option is not None and term == option)

        return lifted(node, once=node.op.name in REPEATING, leaf=is_leaf, slot=slot)

    def alone(self, term: Term) -> bool:
        """Does the word change which sub-questions there are?"""
        return term.kind == ACTION and alone(self.vocabulary, term)

    def column(self, origin: Term, values: dict[str, Array], rows: int) -> Array:
        """[row] the word a slot is filled with, given the words of the parent's slots."""
        words = self.vocabulary
        if isinstance(origin, Slot):
            return values[origin.name]
        if isinstance(origin, Word):
            return np.full(rows, position(origin, words))
        action = self.column(origin.args[0], values, rows)
        return np.asarray(words.verb_of[words.merged_action[action]] if origin.op is verb_of else words.noun_of[action])


def pair(action: Term) -> Node:
    return interaction(verb_of(action), noun_of(action))


def as_pairs(term: Node, actions: list[Term]) -> Node:
    """The program with these actions happening said as interactions of their verbs and nouns."""
    if term.op is happening and term.args[0] in actions:
        return pair(term.args[0])
    return Node(term.op, tuple(as_pairs(arg, actions) if isinstance(arg, Node) else arg for arg in term.args))
