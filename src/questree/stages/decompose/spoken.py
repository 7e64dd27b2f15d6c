"""The nodes of a shard as they leave the machine, by columns: text, type, program and answer of each."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from string import Formatter

import numpy as np
import polars as pl

from questree.domains.video import VIDEO
from questree.domains.video.actions import to_action
from questree.domains.video.atoms import happening, interaction
from questree.notation.decomp import DECOMP
from questree.notation.grammar import names
from questree.notation.own import parse, show
from questree.program import (
    ACTION,
    OBJECT,
    RELATION,
    UNKNOWN,
    Array,
    Kind,
    Language,
    Node,
    ProgramError,
    Slot,
    Term,
    Word,
    fold,
)
from questree.readings.answer import spell
from questree.readings.english import english, spelling
from questree.stages.decompose.columns import NOT_SAID
from questree.stages.decompose.forms import ordered_slots
from questree.tables.nodes import FORMS, NODES, slots_of
from questree.vocabulary.words import Vocabulary

HOLE = re.compile(r"\$(\w+)!?")
VERB, NOUN = "verb", "noun"
Values = dict[str, Array]  # slot -> [row]


@dataclass
class Texts:
    vocabulary: Vocabulary
    _lists: dict[tuple[str, str], pl.Series] = field(default_factory=dict)
    _english: dict[Node, str] = field(default_factory=dict)
    _programs: dict[Node, str] = field(default_factory=dict)

    def english(self, node: Node, values: Values, rows: int) -> pl.Series:
        """[row] the questions of one form."""
        kinds = {slot.name: slot.kind for slot in ordered_slots(node)}
        pieces: list[pl.Series | str] = []
        for text, name, form, _ in Formatter().parse(self.pattern(node)):
            pieces.append(text)
            if name:
                pieces.append(self.words(kinds[name], form or "")[values[name]])
        return joined(pieces, rows)

    def pattern(self, node: Node) -> str:
        """The English of a form, with blanks for its words."""
        if node not in self._english:
            self._english[node] = english(node, self.vocabulary)
        return self._english[node]

    def words(self, kind: Kind, form: str) -> pl.Series:
        """[position] every word of a kind in one of its forms."""
        if (kind.name, form) not in self._lists:
            own = getattr(self.vocabulary, kind.words)
            spelled = [spelling(Word(word.id, kind), form, self.vocabulary) for word in own]
            self._lists[kind.name, form] = pl.Series(spelled, dtype=pl.String)
        return self._lists[kind.name, form]

    def programs(self, node: Node, values: Values, rows: int) -> pl.Series:
        """[row] the programs of one form in AGQA-Decomp's notation, or in ours if it has no form for them."""
        if node not in self._programs:
            try:
                self._programs[node] = DECOMP.write(in_pairs(node), self.vocabulary)
            except ProgramError:  # an operator from outside
                self._programs[node] = show(node)
        kinds = {slot.name: slot.kind for slot in ordered_slots(node)}
        pieces: list[pl.Series | str] = []
        end = 0
        for hole in HOLE.finditer(self._programs[node]):
            pieces += [self._programs[node][end : hole.start()], self._word(hole, kinds, values)]
            end = hole.end()
        return joined([*pieces, self._programs[node][end:]], rows)

    def _word(self, hole: re.Match[str], kinds: dict[str, Kind], values: Values) -> pl.Series:
        """What fills a hole: a slot's word, or the verb or noun of its action."""
        words, (slot, _, part) = self.vocabulary, hole[1].partition("_")
        kind, at = kinds[slot], values[slot]
        if part == VERB:
            kind, at = RELATION, words.verb_of[words.merged_action[at]]
        elif part == NOUN:
            kind, at = OBJECT, words.noun_of[at]
        return pl.Series(names(kind, words), dtype=pl.String)[at]

    def answers(self, kind: Kind, answers: Array) -> pl.Series:
        """[row] as they are printed; null where there is none."""
        counts = {"objects": len(self.vocabulary.objects), "actions": len(self.vocabulary.actions)}
        known = pl.Series(
            [spell(kind, at, self.vocabulary) for at in range(counts.get(kind.words, 2))], dtype=pl.String
        )
        at = pl.Series(np.where(answers == UNKNOWN, 0, answers).astype(np.int64))
        return known.gather(at).set(pl.Series(answers == UNKNOWN), None)


def in_pairs(node: Node) -> Node:
    """Actions as AGQA-Decomp writes them, by verb and noun: slots `s0_verb`, `s0_noun`."""

    def leaf(term: Slot | Word) -> Term:
        if not isinstance(term, Slot) or term.kind != ACTION or term.alone:
            return term
        return to_action(Slot(f"{term.name}_{VERB}", RELATION), Slot(f"{term.name}_{NOUN}", OBJECT))

    def combine(node: Node, kids: dict[str, Term]) -> Term:
        made = Node(node.op, tuple(kids.values()))
        action = made.args[0] if made.op is happening else None
        return interaction(*action.args) if isinstance(action, Node) and action.op is to_action else made

    found = fold(node, leaf, combine)
    assert isinstance(found, Node)
    return found


def joined(pieces: list[pl.Series | str], rows: int) -> pl.Series:
    """[row] columns and constant texts put together."""
    parts = [
        pl.lit(piece) if isinstance(piece, str) else piece for piece in pieces if not isinstance(piece, str) or piece
    ]
    if not any(isinstance(piece, pl.Series) for piece in parts):
        return pl.repeat("".join(piece for piece in pieces if isinstance(piece, str)), rows, eager=True)
    return pl.select(pl.concat_str(parts)).to_series()


SPOKEN = {"video": pl.UInt32, "text": pl.String, "type": pl.String, "program": pl.String, "answer": pl.String}


def spoken(folder: Path, texts: Texts, executed: bool = False) -> pl.DataFrame:
    """[node] columns of SPOKEN; the answers are those that are published, or all that execution gives."""
    return say(FORMS.read(folder), NODES.read(folder), texts, executed)


def say(forms: pl.DataFrame, nodes: pl.DataFrame, texts: Texts, executed: bool = False) -> pl.DataFrame:
    answers = nodes["answer"].cast(pl.Int16).fill_null(UNKNOWN).to_numpy()
    if not executed:
        answers = np.where(nodes["known"].to_numpy() == NOT_SAID, UNKNOWN, answers)
    parts = []
    for rows, type, node, values in by_form(forms, nodes):
        size = rows.stop - rows.start
        said = {
            "video": nodes["video"].to_numpy()[rows],
            "text": texts.english(node, values, size),
            "type": pl.repeat(type, size, dtype=pl.String, eager=True),
            "program": texts.programs(node, values, size),
            "answer": texts.answers(node.kind, answers[rows]),
        }
        parts.append(pl.DataFrame(said, schema_overrides=SPOKEN))
    return pl.concat(parts) if parts else pl.DataFrame(schema=SPOKEN)


def english_of(forms: pl.DataFrame, nodes: pl.DataFrame, texts: Texts) -> pl.Series:
    """[node] its text alone."""
    parts = [texts.english(node, values, rows.stop - rows.start) for rows, _, node, values in by_form(forms, nodes)]
    return pl.concat([pl.Series(dtype=pl.String), *parts])


def by_form(
    forms: pl.DataFrame, nodes: pl.DataFrame, language: Language = VIDEO
) -> Iterator[tuple[slice, str, Node, Values]]:
    """(rows of its nodes, type, program, words of each slot) of every form; nodes are ordered by form."""
    size = np.bincount(nodes["form"].to_numpy(), minlength=len(forms))
    ends, words = np.cumsum(size), {name: nodes[name].to_numpy() for name in slots_of(nodes)}
    programs, types = forms["program"].to_list(), forms["type"].to_list()
    for at in np.flatnonzero(size).tolist():
        node, rows = program(programs[at], language), slice(int(ends[at] - size[at]), int(ends[at]))
        yield (
            rows,
            types[at],
            node,
            {slot.name: words[slot.name][rows].astype(np.int64) for slot in ordered_slots(node)},
        )


@cache
def program(text: str, language: Language = VIDEO) -> Node:
    """Shards have many programs in common."""
    return parse(text, language)
