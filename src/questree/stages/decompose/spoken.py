"""The nodes of a shard as they leave the machine, by columns: text, type, program and answer of each."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from string import Formatter
from typing import Any

import numpy as np
import polars as pl

from questree.columns.quoting import quoted
from questree.domains.video import VIDEO
from questree.domains.video.actions import to_action
from questree.domains.video.atoms import happening, interaction
from questree.notation.decomp import DECOMP
from questree.notation.grammar import names
from questree.notation.own import parse, show
from questree.readings.answer import answers_of
from questree.readings.english import RUN_ON, english, spelling
from questree.readings.parts import compared
from questree.stages.decompose.forms import ordered_slots
from questree.tables.nodes import FORMS, NOT_SAID, read_nodes, slots_of
from questree.terms import (
    ACTION,
    BOOL,
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
    fill,
    fold,
    slots,
)

HOLE = re.compile(r"\$(\w+)[!?]*")
VERB, NOUN = "verb", "noun"
NAMED = "named"  # beside the forms of English
FEW = 128  # rows that are said one by one: columns cost more
Values = dict[str, Array]  # slot -> [row]
SpokenPiece = str | tuple[pl.Series, Array]  # a constant text, or words and [row] which of them
FormRows = tuple[slice, str, Node, Values]  # rows of its nodes, type, program, words of each slot


@dataclass
class Texts:
    """Says nodes about videos."""

    vocabulary: Any
    _lists: dict[tuple[str, str], pl.Series] = field(default_factory=dict)
    _english: dict[Node, str] = field(default_factory=dict)
    _programs: dict[Node, str] = field(default_factory=dict)

    @property
    def language(self) -> Language:
        return VIDEO

    def english(self, node: Node, values: Values, rows: int) -> pl.Series:
        """[row] the questions of one form."""
        kinds = {slot.name: slot.kind for slot in ordered_slots(node)}
        pieces: list[SpokenPiece] = []
        for text, name, form, _ in Formatter().parse(self.pattern(node)):
            pieces.append(text)
            if name:
                pieces.append((self.words(kinds[name], form or ""), values[name]))
        said = joined(pieces, rows)
        return said.str.replace_all(*RUN_ON, literal=True) if " between " in self.pattern(node) else said

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

    def programs(self, forms: Sequence[FormRows], nodes: pl.DataFrame) -> pl.Series:
        """[node] its program in AGQA-Decomp's notation, or in ours if it has no form for it."""
        found = [pl.Series(dtype=pl.String)]
        for rows, _, node, values in forms:
            if node not in self._programs:
                self._programs[node] = self._written(node)
            kinds = {slot.name: slot.kind for slot in ordered_slots(node)}
            text, *rest = HOLE.split(self._programs[node])
            pieces: list[SpokenPiece] = [text]
            for hole, text in zip(rest[::2], rest[1::2], strict=True):
                pieces += [self._word(hole, kinds, values), text]
            found.append(joined(pieces, rows.stop - rows.start))
        return pl.concat(found)

    def _written(self, node: Node) -> str:
        try:
            return DECOMP.write(in_pairs(node), self.vocabulary)
        except ProgramError:  # an operator from outside
            return show(node)

    def _word(self, hole: str, kinds: dict[str, Kind], values: Values) -> tuple[pl.Series, Array]:
        """What fills a hole: a slot's word, or the verb or noun of its action."""
        words, (slot, _, part) = self.vocabulary, hole.partition("_")
        kind, at = kinds[slot], values[slot]
        if part == VERB:
            kind, at = RELATION, words.verb_of[words.merged_action[at]]
        elif part == NOUN:
            kind, at = OBJECT, words.noun_of[at]
        return self.named(kind), at

    def named(self, kind: Kind) -> pl.Series:
        """[position] every word of a kind as programs name it."""
        if (kind.name, NAMED) not in self._lists:
            self._lists[kind.name, NAMED] = pl.Series(names(kind, self.vocabulary), dtype=pl.String)
        return self._lists[kind.name, NAMED]

    @property
    def words_of_answers(self) -> Any:
        return self.vocabulary


KEPT = 1 << 18  # texts about image sets


@dataclass
class SetTexts(Texts):
    """Says nodes about sets of images; the vocabulary is the words that nodes have the numbers of."""

    vocabulary: pl.Series
    _said: dict[Node, dict[tuple[int, ...], str]] = field(default_factory=dict)
    _count: int = 0  # of them

    @property
    def language(self) -> Language:
        from questree.domains.images import IMAGES  # takes a moment, and video runs need none

        return IMAGES

    def english(self, node: Node, values: Values, rows: int) -> pl.Series:
        """What graph a program means shows only with its words; equal words are said once, also in other chunks."""
        if self._count > KEPT:
            self._said.clear()
            self._count = 0
        said = self._said.setdefault(node, {})
        kinds, before = {name: slot.kind for name, slot in slots(node).items()}, len(said)
        keys = list(zip(*(column.tolist() for column in values.values()), strict=True)) if values else [()] * rows
        for key in keys:
            if key not in said:
                words = {name: Word(self.vocabulary[at], kinds[name]) for name, at in zip(values, key, strict=True)}
                filled = fill(node, words)
                assert isinstance(filled, Node)
                said[key] = english(filled)
        self._count += len(said) - before
        return pl.Series([said[key] for key in keys], dtype=pl.String)

    def programs(self, forms: Sequence[FormRows], nodes: pl.DataFrame) -> pl.Series:
        """In our notation; one column per place in a form, as there are many forms of few nodes."""
        patterns = [HOLE.split(show(node)) for _, _, node, _ in forms]
        form_of = _repeated(range(len(forms)), forms)
        slot_names, spelled = slots_of(nodes.columns), pl.Series([*map(quoted, self.vocabulary), ""])
        filled = [nodes[name].cast(pl.Int64).fill_null(0).to_numpy() for name in slot_names]
        pieces: list[pl.Series] = [pl.Series([""] * len(nodes), dtype=pl.String)]
        for at in range(max(map(len, patterns), default=0)):
            own = [pattern[at] if at < len(pattern) else "" for pattern in patterns]
            if at % 2 == 0:
                pieces.append(pl.Series(own).gather(form_of))
                continue
            slot_of = np.array([slot_names.index(name) if name else UNKNOWN for name in own])[form_of]
            word = np.select([slot_of == slot for slot in range(len(filled))], filled, len(self.vocabulary))
            pieces.append(spelled.gather(word))
        return pl.select(pl.concat_str(pieces)).to_series()

    def named(self, kind: Kind) -> pl.Series:
        return self.vocabulary

    @property
    def words_of_answers(self) -> Any:
        return self.vocabulary.to_list()


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


def joined(pieces: Sequence[SpokenPiece], rows: int) -> pl.Series:
    """[row] words and constant texts put together."""
    parts = [piece for piece in pieces if piece]
    if all(isinstance(piece, str) for piece in parts):
        return pl.Series(["".join(map(str, parts))] * rows, dtype=pl.String)
    if rows <= FEW:
        each = [
            [piece] * rows if isinstance(piece, str) else [piece[0][at] for at in piece[1].tolist()] for piece in parts
        ]
        return pl.Series(["".join(row) for row in zip(*each, strict=True)], dtype=pl.String)
    columns = [pl.lit(piece) if isinstance(piece, str) else piece[0].gather(piece[1]) for piece in parts]
    return pl.select(pl.concat_str(columns)).to_series()


SPOKEN = ("text", "type", "program", "answer")


def spoken(folder: Path, texts: Texts, executed: bool = False) -> pl.DataFrame:
    return say(FORMS.read(folder), read_nodes(folder), texts, executed)


def say(
    forms: pl.DataFrame, nodes: pl.DataFrame, texts: Texts, executed: bool = False, columns: Sequence[str] = SPOKEN
) -> pl.DataFrame:
    """[node] its scope and these columns; the answers are those that are published, or all that execution gives."""
    found = list(by_form(forms, nodes, texts.language))
    ways = {
        "text": lambda: nodes["text"] if "text" in nodes.columns else _english(found, texts),
        "type": lambda: forms["type"].gather(nodes["form"]),
        "program": lambda: texts.programs(found, nodes),
        "answer": lambda: _answers(found, nodes, texts, executed),
        "word": lambda: _words(found, nodes, texts),
    }
    return nodes.select(nodes.columns[0], **{name: ways[name]() for name in columns})


def _answers(found: list[FormRows], nodes: pl.DataFrame, texts: Texts, executed: bool) -> pl.Series:
    value = nodes["answer"].cast(pl.Int64).fill_null(UNKNOWN).to_numpy()
    if not executed:
        value = np.where(nodes["known"].to_numpy() == NOT_SAID, UNKNOWN, value)
    most = int(value.max(initial=0))
    kinds, words = [node.kind for _, _, node, _ in found], texts.words_of_answers
    return _spelled(found, kinds, value, lambda kind: pl.Series(answers_of(kind, words, most), dtype=pl.String))


def _words(found: list[FormRows], nodes: pl.DataFrame, texts: Texts) -> pl.Series:
    """[node] the word it is about, null if it is about none."""
    about, value = [compared(node) for _, _, node, _ in found], np.full(len(nodes), UNKNOWN, np.int64)
    for slot, (rows, _, _, values) in zip(about, found, strict=True):
        if slot:
            value[rows] = values[slot.name]
    return _spelled(found, [slot.kind if slot else BOOL for slot in about], value, texts.named)


def _spelled(found: list[FormRows], kinds: list[Kind], value: Array, words: Callable[[Kind], pl.Series]) -> pl.Series:
    """[node] the word of its number among those of its form's kind; null where it is UNKNOWN."""
    lists = [words(kind) for kind in dict.fromkeys(kinds)]
    begin = dict(zip(dict.fromkeys(kinds), np.cumsum([0, *map(len, lists)]).tolist(), strict=False))
    shift = _repeated([begin[kind] for kind in kinds], found)
    every = pl.concat([pl.Series(dtype=pl.String), *lists])
    unknown = pl.Series(value == UNKNOWN)
    return every.gather(pl.Series(shift + value, dtype=pl.Int64).set(unknown, None))


def _repeated(values: Iterable[int], found: Sequence[FormRows]) -> Array:
    """[node] the value of its form."""
    sizes = [rows.stop - rows.start for rows, *_ in found]
    return np.repeat(np.array([*values], np.int64), np.array(sizes, np.int64))


def english_of(forms: pl.DataFrame, nodes: pl.DataFrame, texts: Texts) -> pl.Series:
    """[node] its text alone."""
    return _english(by_form(forms, nodes, texts.language), texts)


def _english(found: Iterable[FormRows], texts: Texts) -> pl.Series:
    parts = [texts.english(node, values, rows.stop - rows.start) for rows, _, node, values in found]
    return pl.concat([pl.Series(dtype=pl.String), *parts])


def by_form(forms: pl.DataFrame, nodes: pl.DataFrame, language: Language = VIDEO) -> Iterator[FormRows]:
    """(rows of its nodes, type, program, words of each slot) of every form; nodes are ordered by form."""
    size = np.bincount(nodes["form"].to_numpy(), minlength=len(forms))
    ends, words = np.cumsum(size), {name: nodes[name].to_numpy() for name in slots_of(nodes.columns)}
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
