"""Answers from answers: rules are applied up and down the DAGs until nothing new follows; every step is remembered."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import polars as pl

from questree.rules import NO, VIDEO_DAGS, YES, Rule
from questree.rules.entail import coded, conclusions
from questree.stages.decompose.expand import Block
from questree.stages.decompose.forms import NodeForms
from questree.stages.decompose.negatives import Negatives
from questree.stages.decompose.spoken import Texts, say
from questree.tables.nodes import KNOWN
from questree.terms import UNKNOWN, Array, Slot

# instead of a composition: nobody knows the answer, a question gives it, a label, or an action that does not occur
NOT_KNOWN, GIVEN, LABEL, NO_ACTION = 255, 254, 253, 252
INDIRECT = -2  # an option that is not a plain word


class Contradiction(NamedTuple):
    node: int
    answer: int  # what is known
    other: int  # what follows too
    label: int  # by this composition
    parent: int  # of this node


@dataclass
class Propagation:
    """Answers of all nodes, how each is known, and what contradicts them."""

    forms: NodeForms
    blocks: list[Block]
    answers: Array  # [node] UNKNOWN where not known
    by: Array  # [node] composition that gave it, or GIVEN, NOT_KNOWN
    parent: Array  # [node] the node whose composition it was
    when: Array  # [node] in which step
    contradictions: list[Contradiction] = field(default_factory=list)
    step: int = 0

    @classmethod
    def of(
        cls, forms: NodeForms, blocks: list[Block], nodes: Array, answers: Array, absent: Negatives | None = None
    ) -> "Propagation":
        """Start from given answers of some nodes, and from what is known not to be there."""
        total = sum(map(len, blocks))
        found = cls(
            forms,
            blocks,
            np.full(total, UNKNOWN, np.int16),
            np.full(total, NOT_KNOWN, np.uint8),
            np.full(total, -1, np.int64),
            np.zeros(total, np.int32),
        )
        found.tell(nodes, answers, GIVEN, nodes)
        for block in blocks if absent else ():
            assert absent is not None
            for label, missing in ((LABEL, absent.labelled(block, forms)), (NO_ACTION, absent.nowhere(block))):
                own = block.first + np.flatnonzero(missing)
                found.tell(own, np.full(len(own), NO, np.int16), label, own)
        return found

    @property
    def known(self) -> Array:
        """[node] how its answer is known, as positions in KNOWN."""
        names = dict.fromkeys(range(len(VIDEO_DAGS.compositions)), "entailed")
        names |= {NOT_KNOWN: "unknown", GIVEN: "asked", LABEL: "labelled", NO_ACTION: "no such action"}
        table = np.zeros(256, np.uint8)
        for by, name in names.items():
            table[by] = KNOWN.index(name)
        return np.asarray(table[self.by])

    def run(self) -> "Propagation":
        """To a fixed point."""
        before = -1
        while (known := int((self.answers != UNKNOWN).sum())) != before:
            before = known
            for block in (*self.blocks, *reversed(self.blocks)):
                self.step += 1
                for composition in compositions(block, self.forms):
                    composition.apply(self)
        return self

    def tell(self, nodes: Array, answers: Array, label: int, parents: Array) -> None:
        """Answers that follow; the first to come is kept, another one is a contradiction."""
        new = np.flatnonzero(self.answers[nodes] == UNKNOWN)[::-1]  # of equal nodes the first is written last
        at = nodes[new]
        self.answers[at], self.by[at], self.parent[at], self.when[at] = answers[new], label, parents[new], self.step
        for row in np.flatnonzero(self.answers[nodes] != answers).tolist():
            self.contradict(int(nodes[row]), int(answers[row]), label, int(parents[row]))

    def contradict(self, node: int, other: int, label: int, parent: int) -> None:
        clash = Contradiction(node, int(self.answers[node]), other, label, parent)
        if clash not in self.contradictions:
            self.contradictions.append(clash)

    def derivation(self, node: int) -> list[tuple[int, int, int]]:
        """(node, its answer, composition) of a node and all it rests on, each once, the node first."""
        found: dict[int, None] = {}
        waiting = [node]
        while waiting:
            own = waiting.pop()
            if own not in found:
                found[own] = None
                waiting += self.premises(own)
        return [(at, int(self.answers[at]), int(self.by[at])) for at in found]

    def premises(self, node: int) -> list[int]:
        """Members of the composition that gave an answer, known before it."""
        if self.by[node] >= len(VIDEO_DAGS.compositions):
            return []
        members = self.members(int(self.parent[node]), int(self.by[node]))
        return [at for at in members if at != node and self.answers[at] != UNKNOWN and self.when[at] < self.when[node]]

    def members(self, parent: int, label: int) -> list[int]:
        """A node and its parts under a composition."""
        if label >= len(VIDEO_DAGS.compositions):
            return [parent]
        block = next(block for block in self.blocks if parent < block.rows.stop)
        parts = [at for at, name in enumerate(block.form.labels) if name == VIDEO_DAGS.compositions[label]]
        return [parent, *block.children[parent - block.first, parts].tolist()]


@dataclass(frozen=True)
class Composition:
    """One composition of all nodes of a form: its members' answers are read as no and yes, and back."""

    rule: Rule
    nodes: tuple[Array, ...]  # per member, [row]: the parent, then its parts
    values: tuple[Array | None, ...]  # per member, [row] the answer that stands for yes; None: it is yes or no
    others: tuple[Array | None, ...]  # the answer that stands for no, if any answer does

    def apply(self, known: Propagation) -> None:
        states = np.stack([self.state(member, known) for member in range(len(self.nodes))], axis=1)
        table, clash = conclusions(self.rule, len(self.nodes))
        code = coded(states)
        found = table[code]  # [row, member]
        new = (found != UNKNOWN) & (states == UNKNOWN)
        label = VIDEO_DAGS.compositions.index(self.rule.composition)
        for member in range(len(self.nodes)):
            self.conclude(member, found[:, member], new[:, member], known, label)
        for row in np.flatnonzero(clash[code]).tolist():  # the members known last contradict the rest
            nodes = [int(own[row]) for own in self.nodes]
            last = max(range(len(nodes)), key=lambda at: (known.when[nodes[at]], at))
            known.contradict(nodes[last], 1 - int(states[row, last]), label, nodes[0])

    def state(self, member: int, known: Propagation) -> Array:
        answers = known.answers[self.nodes[member]]
        yes, no = self.values[member], self.others[member]
        if yes is None:
            return answers
        found = np.where(answers == yes, YES, NO if no is None else np.where(answers == no, NO, UNKNOWN))
        return np.where(answers == UNKNOWN, UNKNOWN, found)

    def conclude(self, member: int, found: Array, new: Array, known: Propagation, label: int) -> None:
        yes, no = self.values[member], self.others[member]
        if yes is None:
            answers, sure = found, new
        else:
            answers = np.where(found == YES, yes, UNKNOWN if no is None else no)
            sure = new & (answers >= 0)
        rows = np.flatnonzero(sure)
        if len(rows):
            known.tell(self.nodes[member][rows], answers[rows], label, self.nodes[0][rows])


def compositions(block: Block, forms: NodeForms) -> Iterator[Composition]:
    """The compositions of a form that rules speak about."""
    groups: dict[str, list[int]] = {}
    for at, label in enumerate(block.form.labels):
        groups.setdefault(label, []).append(at)
    own = np.arange(block.rows.start, block.rows.stop)
    types = [forms[variants[0].form].type for variants in block.form.parts]
    for label, parts in groups.items():
        rule = VIDEO_DAGS.rules.get(label)
        if rule is None or (rule.parents and block.form.type not in rule.parents):
            continue
        if rule.worded is None:
            asked = [at for at in parts if types[at] in VIDEO_DAGS.yes_no]
            if asked and block.form.type in VIDEO_DAGS.yes_no:
                nodes = (own, *(block.children[:, at] for at in asked))
                yield Composition(rule, nodes, (None,) * len(nodes), (None,) * len(nodes))
        elif not VIDEO_DAGS.unscored.intersection(types[at] for at in parts):
            yield worded(rule, block, (own, *(block.children[:, at] for at in parts)))


def options(block: Block) -> tuple[Array, Array]:
    """[row] what a choice is between: before and after, or two objects."""
    if block.form.node.kind.name == "order":
        return np.zeros(len(block), np.int64), np.ones(len(block), np.int64)
    found = [
        block.values[option.name] if isinstance(option, Slot) else np.full(len(block), INDIRECT)
        for option in block.form.node.args[2:]
    ]
    return found[0], found[1]


def worded(rule: Rule, block: Block, nodes: tuple[Array, ...]) -> Composition:
    """A choice is answered with one of its options. A plain object is given or not; of two open questions only known
    answers can be compared, which is done here."""
    thing = block.form.node.args[0]
    if rule.worded == 0:
        first, second = options(block)
        return Composition(rule, nodes, (first, None, None), (second, None, None))
    if isinstance(thing, Slot):
        return Composition(rule, nodes, (None, None, block.values[thing.name]), (None, None, None))
    return Compared(rule, nodes, (None, None, None), (None, None, None))


class Compared(Composition):
    """Equals of two open questions: yes iff their answers are the same."""

    def apply(self, known: Propagation) -> None:
        own, one, other = self.nodes
        label = VIDEO_DAGS.compositions.index(self.rule.composition)
        a, b = known.answers[one], known.answers[other]
        both = (a != UNKNOWN) & (b != UNKNOWN)
        rows = np.flatnonzero(both)
        known.tell(own[rows], (a == b)[rows].astype(np.int16), label, own[rows])
        yes = known.answers[own] == YES
        for target, values, missing in ((one, b, a), (other, a, b)):
            rows = np.flatnonzero(yes & (missing == UNKNOWN) & (values != UNKNOWN))
            known.tell(target[rows], values[rows], label, own[rows])


MOST = 20  # contradictions told in words per shard; all are counted
GIVEN_BY = {GIVEN: "asked", LABEL: "labelled", NO_ACTION: "no such action"}
GIVING = {GIVEN: "another question", LABEL: "a label", NO_ACTION: "an action that does not occur"}


@dataclass(frozen=True)
class Teller:
    """Says nodes of a shard with their answers."""

    forms: pl.DataFrame
    nodes: pl.DataFrame
    texts: Texts
    videos: Sequence[str]  # [video] its name

    def derived(self, made: Propagation) -> list[str]:
        """The first contradictions between answers that follow from each other."""
        return [self.line(made, clash) for clash in made.contradictions[:MOST]]

    def seen(self, nodes: Array) -> list[str]:
        """The first objects that were labelled absent although facts show them."""
        said = self.said(nodes[:MOST].tolist(), [])
        return [f"{self.place(at)}: {text} (executed) | but not so by {GIVING[LABEL]}" for at, text in said.items()]

    def line(self, made: Propagation, clash: Contradiction) -> str:
        one = made.derivation(clash.node)
        members = [at for at in made.members(clash.parent, clash.label) if at != clash.node]
        other = [step for at in members for step in made.derivation(at)]
        said = self.said([at for at, *_ in one], [at for at, *_ in other])
        first = "; ".join(step(said, at, by) for at, _, by in one)
        if clash.label >= len(VIDEO_DAGS.compositions):
            return f"{self.place(clash.node)}: {first} | but not so by {GIVING[clash.label]}"
        second = "; ".join(dict.fromkeys(step(said, at, by) for at, _, by in other))
        return (
            f"{self.place(clash.node)}: {first} | but not so by {VIDEO_DAGS.compositions[clash.label]} from: {second}"
        )

    def said(self, some: list[int], more: list[int]) -> dict[int, str]:
        """Node -> its text and answer."""
        rows = sorted({*some, *more})
        table = say(self.forms, self.nodes[rows], self.texts, executed=True).select("text", "answer")
        return {at: f"{text} {answer}" for at, (text, answer) in zip(rows, table.iter_rows(), strict=True)}

    def place(self, node: int) -> str:
        return f"video {self.videos[self.nodes['video'][node]]}"


def step(said: dict[int, str], node: int, by: int) -> str:
    names = dict(enumerate(VIDEO_DAGS.compositions)) | GIVEN_BY
    return f"{said[node]} ({names.get(by, 'unknown')})"
