"""Looking for contradictions: every question of a shape with all its sub-questions, answered by execution.

A shape is checked on all its rows at once. Noted are the 18 rules (how often applied, how often broken), scored
sub-questions without an answer, and texts that mean two things in one video.
"""

from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from judges.facts import WORDS
from judges.members import Checks, checked
from judges.operators import LISTS
from questree.domains.video import VIDEO, Videos
from questree.readings.answer import answer
from questree.readings.english import english, spelling
from questree.readings.parts import decompose, node_type, nodes
from questree.rules import NO, VIDEO_DAGS, YES
from questree.tables.hierarchies import NOTHING
from questree.terms import UNKNOWN, Array, Kind, Node, Slot, Word, slots

TARGETS = {"choose_first": VIDEO.ops["first"], "choose_last": VIDEO.ops["last"]}
INDIRECT = NOTHING  # an option that is no plain word
Answers = Mapping[Node, Array]


@dataclass
class Findings:
    applied: Counter[str] = field(default_factory=Counter)
    broken: Counter[str] = field(default_factory=Counter)
    undefined: Counter[str] = field(default_factory=Counter)  # scored sub-questions without an answer, by type
    said: dict[tuple[int, str], set[tuple[str, int]]] = field(default_factory=lambda: defaultdict(set))
    relabelled: int = 0

    def note(self, rule: str, applies: Array, kept: Array) -> None:
        self.applied[rule] += int(applies.sum())
        self.broken[rule] += int((applies & ~kept).sum())

    @property
    def clashes(self) -> dict[tuple[int, str], set[tuple[str, int]]]:
        """Texts of one video with two types or two answers."""
        return {key: meanings for key, meanings in self.said.items() if len(meanings) > 1}

    @property
    def contradictions(self) -> int:
        return self.broken.total() + self.undefined.total() + len(self.clashes)


def look(found: Findings, node: Node, world: Videos, rows: Mapping[str, Array], relabel: bool = True) -> None:
    """Check the rows of a shape that have an answer."""
    answers = {part: answer(part, world, rows) for part in nodes(node, WORDS)}
    kept = np.flatnonzero((answers[node] != UNKNOWN) & allowed(node, world, rows))
    answers = {part: values[kept] for part, values in answers.items()}
    rows = {name: column[kept] for name, column in rows.items()}
    for part, values in answers.items():
        if node_type(part, WORDS) not in VIDEO_DAGS.unscored:
            found.undefined[node_type(part, WORDS)] += int((values == UNKNOWN).sum())
    edges: dict[tuple[Node, str], list[Node]] = defaultdict(list)
    for parent, label, part in decompose(node, WORDS):
        edges[parent, label].append(part)
    for (parent, label), parts in edges.items():
        if node_type(parent, WORDS) not in VIDEO_DAGS.unscored:
            check(found, parent, label, parts, answers, rows, relabel)
    listen(found, answers, world.row[kept], rows)


def allowed(node: Node, world: Videos, rows: Mapping[str, Array]) -> Array:
    """A choice of first or last needs the window's first or last object to be one of the two (3.6)."""
    if node.op.name not in ("choose_first", "choose_last"):
        return np.ones(len(world), bool)
    relation, window, a, b = node.args
    target = answer(TARGETS[node.op.name](relation, window), world, rows)
    options = [answer(option, world, rows) if isinstance(option, Node) else rows[option.name] for option in (a, b)]
    return np.asarray((target != UNKNOWN) & np.any([target == option for option in options], axis=0))


def check(
    found: Findings,
    parent: Node,
    label: str,
    parts: list[Node],
    answers: Answers,
    rows: Mapping[str, Array],
    relabel: bool,
) -> None:
    """The rules of one composition of one parent."""
    own, types = answers[parent], [node_type(part, WORDS) for part in parts]
    table = np.stack([answers[part] for part in parts], axis=1)  # [row, part]
    rule = VIDEO_DAGS.rules.get(label)
    if rule is None:
        return
    if label == "Choose" and not VIDEO_DAGS.unscored & set(types):
        times = parent.kind.name == "order"
        options = None if times else [named(part, rows, len(own)) for part in parts]
        note(found, checked(rule, own, table, options, times=times), only=f"Choose {'Temporal' if times else 'Object'}")
    elif label == "Equals" and parent.op.name == "equals":
        plain = parts[0].op.name == "exists"
        thing = [named(parent, rows, len(own))] if plain else None
        note(found, checked(rule, own, table, thing, np.full(len(own), not plain)))
    elif label == "Xor":
        note(found, checked(rule, own, table))
    elif rule.parts == "yes or no" and (asked := [at for at, kind in enumerate(types) if kind in VIDEO_DAGS.yes_no]):
        table = table[:, asked]
        other = relabel & (label == "Between") & (own == NO) & (table == YES).all(1)
        found.relabelled += int(other.sum())
        note(found, checked(rule, own[~other], table[~other]))
        for at, word in enumerate(("After", "Before") if other.any() else ()):
            note(found, checked(VIDEO_DAGS.rules[word], own[other], table[other][:, [at]]))


def note(found: Findings, checks: Checks, only: str = "") -> None:
    for name, (applies, kept) in checks.items():
        if only in ("", name):
            found.note(name, applies, kept)


def named(verify: Node, rows: Mapping[str, Array], length: int) -> Array:
    """[row] the object a verifying question names."""
    thing = verify.args[0]
    return rows[thing.name] if isinstance(thing, Slot) else np.full(length, INDIRECT)


def listen(found: Findings, answers: Answers, video: Array, rows: Mapping[str, Array]) -> None:
    """What every text of a video was said to mean."""
    for part, values in answers.items():
        if (sort := node_type(part, WORDS)) in VIDEO_DAGS.unscored:
            continue
        pattern = english(part, WORDS)
        used = {name: (slot.kind, rows[name]) for name, slot in slots(part).items()}
        for at in range(len(video)):
            text = pattern.format(**{name: Blank(kind, int(column[at])) for name, (kind, column) in used.items()})
            found.said[int(video[at]), text].add((sort, int(values[at])))


@dataclass(frozen=True)
class Blank:
    """A word that fills a blank of a pattern in whatever form is asked for."""

    kind: Kind
    position: int

    def __format__(self, form: str) -> str:
        return spelling(Word(LISTS[self.kind.name][self.position].id, self.kind), form, WORDS)
