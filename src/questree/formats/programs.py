"""AGQA's program strings by columns: patterns are written once by the notation, then filled with words."""

import re
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import polars as pl

from questree.benchmarks.agqa.templates import ACTION_REFERENCES, ALL, BETWEEN, REFERENCES, TEMPLATES, TIMES, WHOLE
from questree.columns.joins import Ints
from questree.domains.video import VIDEO
from questree.notation.agqa import write
from questree.program import ACTION, OBJECT, RELATION, Node, Slot, Term, fill
from questree.stages.generate.spans import DIRECT, INDIRECT
from questree.stages.questions import canonical
from questree.vocabulary.words import Vocabulary

OP = VIDEO.ops
HOLE = re.compile(r"(\$\w+)")
RELATED, TIMED, OF, TO = Slot("r", RELATION), Slot("time", ACTION), Slot("o", OBJECT), Slot("a", ACTION)
LATER = Slot("b", ACTION)


def inner(outer: str, hole: str, text: str) -> str:
    """What stands in the hole of a pattern that was filled."""
    left, right = outer.split(hole)
    assert text.startswith(left) and text.endswith(right), f"{text} is not {outer}"
    return text[len(left) : len(text) - len(right)]


@dataclass(frozen=True)
class Patterns:
    """How the notation writes what fills a slot, with holes for words."""

    vocabulary: Vocabulary

    def written(self, node: Term) -> str:
        assert isinstance(node, Node)
        return write(canonical(node), self.vocabulary)

    @cached_property
    def event(self) -> str:
        return self.written(OP["doing"](RELATED))

    def window(self, *actions: Term, kind: str) -> str:
        if kind == ALL:
            return "video"
        return inner(self.event, "video", self.written(OP["within"](OP["doing"](RELATED), OP[kind](*actions))))

    def time(self, kind: str) -> str:
        return self.window(*((TO, LATER) if kind == BETWEEN else (TO,)), kind=kind)

    def action(self, action: Node) -> str:
        return inner(self.window(TO, kind="before"), "$a", self.window(action, kind="before"))

    def reference(self, kind: str) -> str:
        whole = OP["whole"]()
        if kind == WHOLE:
            return self.written(OP["only"](OP["objects"](RELATED, whole)))
        return self.written(OP[kind](RELATED, whole))

    def template(self, number: int) -> str:
        """A template's program with a hole for each slot, `$time` for its window."""
        template = TEMPLATES[number]
        if not template.times:
            return self.written(template.node)
        kind = next(kind for kind in template.times if kind not in (ALL, BETWEEN))  # of one action
        text = self.written(fill(template.node, {"time": OP[kind](TIMED)}))
        return text.replace(self.window(TIMED, kind=kind), "$time")


def filled(pattern: str, words: dict[str, pl.Series], rows: int) -> pl.Series:
    """A pattern with a column of words in each hole."""
    parts = [words[piece[1:]] if piece.startswith("$") else pl.lit(piece) for piece in HOLE.split(pattern) if piece]
    if len(parts) == 1 and not isinstance(parts[0], pl.Series):
        return pl.repeat(pattern, rows, eager=True)
    return pl.select(pl.concat_str(parts)).to_series()


@dataclass(frozen=True)
class ProgramWords:
    """The strings that fill the slots of programs, by row of the side tables."""

    patterns: tuple[str, ...]  # per template
    relations: pl.Series  # per relation
    objects: pl.Series  # per object
    references: pl.Series  # per row of references
    actions: pl.Series  # per row of action references
    times: pl.Series  # per row of phrases


def program_words(
    vocabulary: Vocabulary, sides: dict[str, pl.DataFrame], start: dict[str, Ints], first_video: int
) -> ProgramWords:
    """start: where the rows of each video begin in the side tables."""
    patterns = Patterns(vocabulary)
    relations = pl.Series([word.name for word in vocabulary.relations], dtype=pl.String)
    objects = pl.Series([word.name for word in vocabulary.objects], dtype=pl.String)
    references = _references(patterns, sides["references"], relations, objects)
    actions = _actions(patterns, sides["action_references"], references, relations, start["references"], first_video)
    times = _times(patterns, sides["phrases"], actions, start["action_references"], first_video)
    templates = tuple(patterns.template(number) for number in range(len(TEMPLATES)))
    return ProgramWords(templates, relations, objects, references, actions, times)


def _scattered(rows: int, parts: list[tuple[Ints, pl.Series]]) -> pl.Series:
    """One column out of parts that fill its rows."""
    order = np.concatenate([at for at, _ in parts]) if parts else np.zeros(0, np.int64)
    inverse = np.empty(rows, np.int64)
    inverse[order] = np.arange(rows)
    return pl.concat([texts.cast(pl.String) for _, texts in parts]).gather(inverse)


def _references(patterns: Patterns, table: pl.DataFrame, relations: pl.Series, objects: pl.Series) -> pl.Series:
    kind = table["kind"].to_numpy()
    direct = np.flatnonzero(kind == DIRECT)
    parts = [(direct, objects.gather(table["object"].to_numpy()[direct]))]
    for number, name in enumerate(REFERENCES[1:], 1):
        at = np.flatnonzero(kind == number)
        words = {"r": relations.gather(table["relation"].to_numpy()[at])}
        parts.append((at, filled(patterns.reference(name), words, len(at))))
    return _scattered(len(table), parts)


def _actions(
    patterns: Patterns,
    table: pl.DataFrame,
    references: pl.Series,
    relations: pl.Series,
    ref_start: Ints,
    first_video: int,
) -> pl.Series:
    vocabulary = patterns.vocabulary
    kind, action = table["kind"].to_numpy(), table["action"].to_numpy().astype(np.int64)
    phrases = pl.Series([word.phrase for word in vocabulary.actions], dtype=pl.String)
    direct, indirect = np.flatnonzero(kind == DIRECT), np.flatnonzero(kind == INDIRECT)
    parts = [(direct, phrases.gather(action[direct]))]
    for number, name in enumerate(ACTION_REFERENCES[1:3], 1):
        at = np.flatnonzero(kind == number)
        parts.append((at, pl.repeat(patterns.action(OP[name]()), len(at), dtype=pl.String, eager=True)))
    video = table["video"].to_numpy()[indirect].astype(np.int64) - first_video
    row = ref_start[video] + table["reference"].to_numpy()[indirect]
    words = {"r": relations.gather(vocabulary.verb_of[action[indirect]]), "o": references.gather(row)}
    parts.append((indirect, filled(patterns.action(OP["to_action"](RELATED, OF)), words, len(indirect))))
    return _scattered(len(table), parts)


def _times(patterns: Patterns, table: pl.DataFrame, actions: pl.Series, act_start: Ints, first_video: int) -> pl.Series:
    kind, parts = table["kind"].to_numpy(), []
    base = act_start[table["video"].to_numpy().astype(np.int64) - first_video]
    for number, name in enumerate(TIMES):
        at, pattern = np.flatnonzero(kind == number), patterns.time(name)
        slots = [hole[1:] for hole in HOLE.findall(pattern)]
        words = {slot: actions.gather(base[at] + table[slot].to_numpy()[at]) for slot in slots}
        parts.append((at, filled(pattern, words, len(at))))
    return _scattered(len(table), parts)
